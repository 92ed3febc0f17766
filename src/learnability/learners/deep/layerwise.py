"""Layer-wise learning of hierarchical targets: first layer, preconditioned second, readout.

Each layer is trained once and then frozen. Two layers (first layer and readout) fit a polynomial of
the hidden directions; a preconditioned second layer makes of that fit one function q, on which the
readout refits the labels: the third layer learns g with few more samples.

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
from learnability.learners.deep.first_layer import SphericalFirstLayer, Steps
from learnability.learners.deep.mehler_stages import MehlerReadout, MehlerSecondLayer
from learnability.learners.deep.network import train
from learnability.learners.deep.observables import (
    first_layer_overlap,
    first_layer_rank,
    on_fresh_samples,
)
from learnability.learners.deep.samples import sample_sizes
from learnability.learners.deep.stage_theory import predictions
from learnability.learners.deep.stages import PreconditionedSecondLayer, RidgeReadout
from learnability.statuses import Status

__all__ = ["Layerwise", "TwoLayer"]

_ALONE = {"layers": (None,)}


@record
class Layerwise(Learner):
    """Layers that are trained one after the other.

    Without `layers` there are three: spherical steps, a preconditioned step, and a readout.

    Notes
    -----
    alpha = n / d. On reused samples the leave-one-out errors are optimistic when n is not far above
    n*: below d^1.6 or so use fresh ones. The attribute `label_variance` makes errors relative.

    The theory is that of a spectral first layer with a Mehler ridge, at the ridge of the learner's
    second stage if that is a `MehlerReadout` or `MehlerSecondLayer` and else at the best one. It is
    exact in law for n well above n*: within 0.03 of Var y for n >= 4 n*; near n* finite d rounds
    the transition. Of `kernel_error` (I), `two_layer_error` (II) and `three_layer_bound` (an upper
    estimate of III) `error` is the one that belongs to the learner's depth. The attributes
    `plateau_kernel` (degree 1 and 2 learned), `plateau_two_layer` (degree 3 learned) and
    `plateau_three_layer` are the limits of the scenarios at this size.
    """

    name: ClassVar[str] = "layerwise"
    numerics_version: ClassVar[int] = 2  # 2: Mehler readouts in float32.
    supports: ClassVar[Support] = Support(targets=("hierarchical",))
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What a network has learned, stage by stage.",
            ("error", "two_layer_error", "first_layer_overlap", "feature_overlap", "kappa"),
            simulate=Side(
                needs=("d", "alpha"),
                observables=(
                    "first_layer_rank", "robust_feature_overlap", "status",
                    "n_first", "n_second", "n_third", "n_total",
                ),
            ),
            predict=Side(
                needs=("d", "alpha"),
                takes=("third",),
                observables=("kernel_error", "three_layer_bound"),
            ),
        ),
    )  # fmt: skip

    layers: Sequence[Any] | None = declare(
        None, Layers(), optional=True,
        help="The layers themselves, in place of what `width`, `steps` and `ridge` say of them.",
    )  # fmt: skip
    fresh: bool = flag(
        False,
        help="The layers after the first get n samples of their own (2 n in total); otherwise all "
        "layers read the same n.",
    )
    width: int = whole(1000, when=_ALONE, help="Number of neurons of the first layer.")
    steps: int | str = declare(
        "log", Steps(), when=_ALONE,
        help='Number of steps of the first layer; "log" is log d, rounded up.',
    )  # fmt: skip
    ridge: float | None = number(
        None, at_least=0, optional=True, when=_ALONE,
        help="Ridge of every regression over the mean eigenvalue of its Gram matrix; the default "
        "is the one of least leave-one-out error.",
    )  # fmt: skip

    @property
    def stack(self) -> tuple[Any, ...]:
        """The layers, also where they were not given."""
        if self.layers is not None:
            return tuple(self.layers)
        first = SphericalFirstLayer(self.width, self.steps)
        return first, *self._middle, RidgeReadout(self.ridge)

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
            "n_second": n,
            "n_third": n if len(self.stack) > 2 else 0,
            "n_total": 2 * n if self.fresh else n,
            "kappa": np.log(n) / math.log(d),
        }
        return Found(values, attrs={"label_variance": target.at(d).label_variance})

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """The finite-size theory of every stage."""
        layers = self.stack
        deep, fitted = len(layers) > 2, layers[1]
        ridge = fitted.ridge if isinstance(fitted, MehlerReadout | MehlerSecondLayer) else None
        values, attrs = predictions(
            target.at(at["d"]), at["d"], sample_sizes(at), ridge, deep, at.get("third", deep)
        )
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
    def _middle(self) -> tuple[Any, ...]:
        return ()

    def check(self) -> None:
        """Refuse more than two layers.

        Raises
        ------
        LearnabilityError
            When there are more.
        """
        if len(self.stack) != 2:
            raise LearnabilityError(
                f"`layers` has {len(self.stack)} layers, but a two-layer network has a first "
                "layer and a readout."
            )
