"""Layer-wise learning of hierarchical targets: first layer, preconditioned second, readout.

Each layer is trained once and then frozen. Two layers (first layer and readout) fit a polynomial of
the hidden directions. A preconditioned second layer turns that fit into one function q, on which
the readout refits the labels: so the third layer learns g with few more samples.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from learnability.errors import LearnabilityError
from learnability.fields import declare, flag, number, record, whole
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.deep._layers import Layers
from learnability.learners.deep.first_layer import (
    OracleFirstLayer,
    SpectralFirstLayer,
    SphericalFirstLayer,
    Steps,
)
from learnability.learners.deep.mehler_stages import MehlerReadout, MehlerSecondLayer
from learnability.learners.deep.network import train
from learnability.learners.deep.observables import (
    first_layer_overlap,
    first_layer_rank,
    on_fresh_samples,
)
from learnability.learners.deep.samples import sample_sizes
from learnability.learners.deep.stage_theory import Setting, predictions
from learnability.learners.deep.stages import PreconditionedSecondLayer, RidgeReadout
from learnability.statuses import Status

__all__ = ["Layerwise", "TwoLayer"]

_ALONE = {"layers": (None,)}


@record
class Layerwise(Learner):
    """Layers that are trained one after the other.

    Without `layers` there are three: a first layer, a preconditioned step, and a readout. Without a
    `width` either the first is spectral and the second has infinitely many neurons, those of a
    Mehler kernel: the learner whose theory is known. With a `width` they are a network of relu
    neurons, the first layer by spherical steps.

    Notes
    -----
    alpha = n / d. On reused samples the leave-one-out errors are optimistic when n is not far above
    n*: below d^1.6 or so use fresh ones. The attribute `label_variance` makes errors relative.

    The theory is a finite-size one, direction by direction, for any g, P, signs, N, depth of the
    target and number of features. It is that of a `SpectralFirstLayer(None)` or
    `OracleFirstLayer(None)` with a `MehlerReadout` or `MehlerSecondLayer` on fresh samples; what
    other layers learn is not predicted, except for the overlap of a first layer that is spectral
    and for `kernel_error`, the best Mehler kernel in all d dimensions (I). `two_layer_error` (II)
    and the overlaps are held to 0.03 (of Var y) and three standard errors of runs on random targets
    (the guide says how many agree), and so is the `error` of three layers (III), which lies between
    `three_layer_floor` and `three_layer_bound`. A number is NaN where it is not known, and the
    attribute `note` says why.
    """

    name: ClassVar[str] = "layerwise"
    numerics_version: ClassVar[int] = 6  # 6: no prediction where rare labels hold the variance.
    supports: ClassVar[Support] = Support(targets=("hierarchical",))
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What a network has learned, stage by stage.",
            ("two_layer_error", "first_layer_overlap", "feature_overlap", "kappa"),
            simulate=Side(
                needs=("d", "alpha"),
                observables=(
                    "error", "first_layer_rank", "robust_feature_overlap", "status",
                    "n_first", "n_second", "n_third", "n_total",
                ),
            ),
            predict=Side(
                needs=("d", "alpha"),
                takes=("third",),
                observables=("error", "kernel_error", "three_layer_bound", "three_layer_floor"),
            ),
        ),
    )  # fmt: skip

    layers: Sequence[Any] | None = declare(
        None, Layers(), optional=True,
        help="The layers themselves, in place of what `width`, `steps` and `ridge` say of them.",
    )  # fmt: skip
    fresh: bool = flag(
        True,
        help="The layers after the first get n samples of their own (2 n in total); otherwise all "
        "layers read the same n.",
    )
    width: int | None = whole(
        None, optional=True, when=_ALONE,
        help="Number of neurons of the first layer; None for eigenvectors and a Mehler kernel.",
    )  # fmt: skip
    steps: int | str = declare(
        "log", Steps(), when=_ALONE,
        help='Number of steps of a first layer with a width; "log" is log d, rounded up.',
    )  # fmt: skip
    ridge: float | None = number(
        None, at_least=0, optional=True, when=_ALONE,
        help="With a width, ridge of every regression over the mean eigenvalue of its Gram matrix, "
        "by default the one of least leave-one-out error; else that of the kernel, by default 1.",
    )  # fmt: skip

    def check(self) -> None:
        """Refuse steps of a first layer that takes none.

        Raises
        ------
        LearnabilityError
            When they were given without a width.
        """
        if self.layers is None and self.width is None and self.steps != "log":
            raise LearnabilityError(
                f"`steps` was given as {self.steps}, but a first layer without a `width` is "
                "spectral and takes none: give `width` too."
            )

    @property
    def stack(self) -> tuple[Any, ...]:
        """The layers, also where they were not given."""
        if self.layers is not None:
            return tuple(self.layers)
        if self.width is None:
            return SpectralFirstLayer(None), *self._kernel
        first = SphericalFirstLayer(self.width, self.steps)
        return first, *self._middle, RidgeReadout(self.ridge)

    @property
    def _kernel(self) -> tuple[Any, ...]:
        """The layers above the first one when there is no width."""
        return MehlerSecondLayer(ridge=self._kernel_ridge), RidgeReadout()

    @property
    def _kernel_ridge(self) -> float:
        return 1.0 if self.ridge is None else self.ridge

    @property
    def _middle(self) -> tuple[Any, ...]:
        return (PreconditionedSecondLayer(ridge=self.ridge),)

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse fewer than two samples."""
        sample_sizes(at)

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Train on samples, in float32."""
        d, (n,) = at["d"], sample_sizes(at)
        network = train(self, target, n=n, d=d, seed=seed)
        hidden = next(target.batches(seed, 1, d, dtype=np.float32)).W
        seen = on_fresh_samples(target, seed, d, network.outputs)
        values = {
            "error": seen.error[1],
            "two_layer_error": seen.error[0],
            "first_layer_overlap": first_layer_overlap(network.W, hidden),
            "first_layer_rank": first_layer_rank(network.W),
            "feature_overlap": seen.overlap[0],
            "robust_feature_overlap": seen.robust_overlap[0],
            "status": str(Status.TRAINED if np.isfinite(seen.error).all() else Status.DIVERGED),
            "n_first": n,
            "n_second": network.sizes[0],
            "n_third": network.sizes[1] if len(self.stack) > 2 else 0,
            "n_total": 2 * n if self.fresh else n,
            "kappa": np.log(n) / math.log(d),
        }
        return Found(values, attrs={"label_variance": target.at(d).label_variance})

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the finite-size theory of every stage."""
        first, fitted, *further = self.stack
        exact, spectral = (
            isinstance(first, kind) for kind in (OracleFirstLayer, SpectralFirstLayer)
        )
        ridge = fitted.ridge if isinstance(fitted, MehlerReadout | MehlerSecondLayer) else None
        third = len(further) == 1 and bool(at.get("third", True))
        setting = Setting(
            exact,
            exact or spectral,
            ridge if (exact or spectral) and first.width is None else None,
            self.fresh or exact,
            third,
            "two_layer_error" if not further else "three_layer_error" if third else "",
        )
        values, attrs = predictions(target.at(at["d"]), at["d"], sample_sizes(at), setting)
        return Found(values, attrs=attrs)


@record
class TwoLayer(Layerwise):
    """The twin with two layers: a first layer and a readout of its features.

    Notes
    -----
    What is returned, and the theory, are those of `Layerwise`.
    """

    name: ClassVar[str] = "two-layer"

    @property
    def _kernel(self) -> tuple[Any, ...]:
        return (MehlerReadout(self._kernel_ridge),)

    @property
    def _middle(self) -> tuple[Any, ...]:
        return ()

    def check(self) -> None:
        """Refuse more than two layers, and steps that are not taken.

        Raises
        ------
        LearnabilityError
            When either was given.
        """
        super().check()
        if len(self.stack) != 2:
            raise LearnabilityError(
                f"`layers` has {len(self.stack)} layers, but a two-layer network has a first "
                "layer and a readout."
            )
