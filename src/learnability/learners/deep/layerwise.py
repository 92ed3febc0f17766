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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.learners.deep._blocks import ROWS, Samples
from learnability.learners.deep._checks import (
    checked_hierarchical,
    checked_layers,
    checked_samples,
)
from learnability.learners.deep._theory import predictions
from learnability.learners.deep.first_layer import SphericalFirstLayer
from learnability.learners.deep.mehler_stages import MehlerReadout, MehlerSecondLayer
from learnability.learners.deep.observables import (
    first_layer_overlap,
    first_layer_rank,
    on_fresh_samples,
)
from learnability.learners.deep.stages import Blocks, PreconditionedSecondLayer, RidgeReadout
from learnability.learners.protocol import checked_seeds, dataset
from learnability.progress import tracked
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.protocol import checked_memory

if TYPE_CHECKING:
    import xarray

__all__ = ["Layerwise", "Network", "TwoLayer"]

FRESH_BATCH = 500_000
"""Number of the batch at which the samples of the later layers begin, when they are fresh."""


class Network(NamedTuple):
    """A trained network.

    Attributes
    ----------
    W : array, shape (p, d)
        First layer.
    outputs : callable
        Inputs (n, d) -> (n, 2): the fitted function of the second stage, and the network's output.
    functions : callable
        Inputs -> the functions (n, k) that the second stage has found.
    ridges : tuple of float
        Of the stages after the first.
    """

    W: NDArray[np.float32]
    outputs: Callable[[NDArray[Any]], NDArray[Any]]
    functions: Callable[[NDArray[Any]], NDArray[Any]]
    ridges: tuple[float, ...]


@dataclass(frozen=True)
class Layerwise:
    """Layers that are trained one after the other.

    Parameters
    ----------
    layers : sequence
        A first layer (`SphericalFirstLayer`, `SpectralFirstLayer`, ...), any number of
        `PreconditionedSecondLayer` or `MehlerSecondLayer`, and a readout (`RidgeReadout` or
        `MehlerReadout`).
    fresh : bool
        Whether the layers after the first get n samples of their own (2 n in total); otherwise all
        layers read the same n.

    Notes
    -----
    alpha = n / d. On reused samples the leave-one-out errors are optimistic when n is not far above
    n*: below d^1.6 or so use fresh ones.
    """

    numerics_version: ClassVar[int] = 2  # 2: Mehler readouts in float32.

    layers: tuple[Any, ...] = (SphericalFirstLayer(), PreconditionedSecondLayer(), RidgeReadout())
    fresh: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", checked_layers(self.layers))
        if not isinstance(self.fresh, bool):
            raise LearnabilityError(
                f"`fresh` was given as {self.fresh!r}, but True and False are accepted."
            )

    def simulate(
        self,
        target: Hierarchical,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Train on samples, in float32.

        Parameters
        ----------
        target : Hierarchical
            Where the samples come from.
        d : int
            Dimension.
        alpha : float or sequence of float
            Samples n of a layer over dimension; any power of d may be given.
        seeds : int or sequence of int
            Number of runs, or their seeds.

        Returns
        -------
        xarray.Dataset
            By alpha and seed: `error` on 10000 fresh samples; `two_layer_error`, that of the
            function fitted by the second stage; `first_layer_overlap` (M_W), `first_layer_rank`
            (participation ratio); by `index` of the feature also `feature_overlap` (M_h) and
            `robust_feature_overlap`; `n_first`, `n_second`, `n_third`, samples that each stage
            reads, and `n_total` of different ones; `kappa` = log n / log d. The attribute
            `label_variance` makes errors relative.
        """
        target = checked_hierarchical(target)
        alphas, sizes = checked_samples(target, d, alpha)
        chosen = checked_seeds(seeds)
        tasks = [(n, seed) for n in sizes for seed in chosen]
        found = [self._run(target, n, int(d), seed) for n, seed in tracked(tasks, "networks")]
        shape = (len(sizes), len(chosen))

        def stacked(name: str) -> NDArray[Any]:
            rows = np.array([one[name] for one in found])
            return rows.reshape(*shape, *rows.shape[1:])

        axes = ("alpha", "seed")
        variables: dict[str, tuple[tuple[str, ...], Any]] = {
            name: ((*axes, "index") if "feature" in name else axes, stacked(name))
            for name in found[0]
        }
        variables |= _accounting(self, sizes)
        variables["kappa"] = (("alpha",), np.log(sizes) / math.log(d))
        return dataset(
            self, target, "simulate", alphas, variables, {"seed": ("seed", chosen)}, d=int(d),
            polynomial=target.polynomial.text, label_variance=target.at(d).label_variance,
        )  # fmt: skip

    def _run(self, target: Hierarchical, n: int, d: int, seed: int) -> dict[str, Any]:
        network = self.train(target, n=n, d=d, seed=seed)
        hidden = next(target.batches(seed, 1, d, dtype=np.float32)).W
        seen = on_fresh_samples(target, seed, d, network.outputs)
        return {
            "error": seen.error[1],
            "two_layer_error": seen.error[0],
            "first_layer_overlap": first_layer_overlap(network.W, hidden),
            "first_layer_rank": first_layer_rank(network.W),
            "feature_overlap": seen.overlap[0],
            "robust_feature_overlap": seen.robust_overlap[0],
            "status": "trained" if np.isfinite(seen.error).all() else "diverged",
        }

    def train(self, target: Hierarchical, *, n: int, d: int, seed: int = 0) -> Network:
        """Train one network.

        Parameters
        ----------
        target : Hierarchical
            Where the samples come from.
        n, d, seed : int
            Samples of a layer, dimension and seed.

        Returns
        -------
        Network
        """
        target = checked_hierarchical(target)
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
            raise LearnabilityError(
                f"`n` was given as {n!r}, but a whole number of at least 2 is accepted."
            )
        checked_memory(f"A batch of {ROWS} samples and its features", 4.0 * ROWS * (d + 4096))
        batch = Samples(target, seed, d, n)
        W = self.layers[0].learn(batch)
        later = Samples(target, seed, d, n, FRESH_BATCH) if self.fresh else batch
        return self.over(W, later)

    def over(self, W: NDArray[np.float32], samples: Samples) -> Network:
        """Train the layers after the first on samples, given the first.

        Parameters
        ----------
        W : array, shape (p, d)
            First layer.
        samples : Samples
            Of the later layers.
        """
        y = samples.labels

        def first() -> Iterable[NDArray[Any]]:
            return (X @ W.T for X, _ in samples)

        below: Blocks = first
        trained = []
        for place, layer in enumerate(self.layers[1:], 1):
            one = layer.learn(below, y, samples.seed, place)
            trained.append(one)
            below = _one_block(one.left_out)

        def functions(X: NDArray[Any]) -> NDArray[Any]:
            return trained[0].functions(X @ W.T)

        def outputs(X: NDArray[Any]) -> NDArray[Any]:
            fitted = functions(X)
            u = trained[0].spread(fitted)
            for one in trained[1:]:
                u = one.forward(u)
            return np.concatenate([fitted[:, :1], u], axis=1)

        return Network(W, outputs, functions, tuple(one.ridge for one in trained))

    def predict(
        self, target: Hierarchical, *, alpha: ArrayLike, d: int, third: bool | None = None
    ) -> xarray.Dataset:
        """What the finite-size theory expects in dimension d.

        Parameters
        ----------
        target : Hierarchical
            Where the samples come from.
        alpha : float or sequence of float
            Samples of a layer over dimension.
        d : int
            Dimension.
        third : bool, optional
            Whether to compute the upper estimate of the error of three layers, from samples; by
            default for networks that have them.

        Returns
        -------
        xarray.Dataset
            By alpha: `first_layer_overlap`; `kernel_error` (I), the best Mehler kernel in d
            dimensions; `two_layer_error` (II) and `feature_overlap` (M_h, by `index`) of the
            spectral first layer with a Mehler ridge, at the ridge of the learner's second stage if
            that is a `MehlerReadout` or `MehlerSecondLayer` and else at the best one;
            `three_layer_bound`, an upper estimate of III; `error` is the one of these that belongs
            to the learner's depth. Attributes:
            `label_variance`, `n_star`, `plateau_kernel` (degree 1 and 2 learned),
            `plateau_two_layer` (degree 3 learned) and `plateau_three_layer`, the limits of
            the scenarios at this size.

        Notes
        -----
        Exact in law for n well above n*: within 0.03 of Var y for n >= 4 n*; near n* finite d
        rounds the transition.
        """
        target = checked_hierarchical(target)
        alphas, sizes = checked_samples(target, d, alpha)
        deep = len(self.layers) > 2
        fitted = self.layers[1]
        ridge = fitted.ridge if isinstance(fitted, MehlerReadout | MehlerSecondLayer) else None
        variables, attributes = predictions(
            target.at(d), int(d), sizes, ridge, deep, deep if third is None else third
        )
        return dataset(
            self, target, "predict", alphas, variables, None, d=int(d),
            polynomial=target.polynomial.text, **attributes,
        )  # fmt: skip


@dataclass(frozen=True)
class TwoLayer(Layerwise):
    """The twin with two layers: a first layer and a readout of its features.

    Parameters
    ----------
    layers : sequence
        A first layer and a readout.
    fresh : bool
        As in `Layerwise`.
    """

    layers: tuple[Any, ...] = (SphericalFirstLayer(), RidgeReadout())

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.layers) != 2:
            raise LearnabilityError(
                f"`layers` has {len(self.layers)} layers, but a two-layer network has a first "
                "layer and a readout."
            )


def _one_block(values: NDArray[Any]) -> Blocks:
    """Values that are held, read like blocks."""
    return lambda: [values]


def _accounting(learner: Layerwise, sizes: Sequence[int]) -> dict[str, Any]:
    """Samples that each stage reads, and how many of them are different."""
    n = np.asarray(sizes)
    deep = len(learner.layers) > 2
    total = (2 if learner.fresh else 1) * n
    counts = {"n_first": n, "n_second": n, "n_third": n if deep else 0 * n, "n_total": total}
    return {name: (("alpha",), value) for name, value in counts.items()}
