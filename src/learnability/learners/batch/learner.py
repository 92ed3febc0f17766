"""Gradient descent on one batch, read again at every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.batch._descent import descend
from learnability.learners.batch._generalisation import error_path
from learnability.learners.batch._mean_field import mean_field, planned
from learnability.learners.batch._network import LOSSES, Network
from learnability.learners.batch._observables import PATHS, observables
from learnability.learners.batch._start import Matrix, as_matrices, start_at
from learnability.learners.networks.starts import Start, weights_at
from learnability.learners.protocol import checked_alphas, checked_seeds, checked_target, dataset
from learnability.progress import tracked
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_sizes

if TYPE_CHECKING:
    import xarray

__all__ = ["BatchGD"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BatchGD:
    """Full-batch gradient descent on the first layer of sum_j a_j sigma(w_j . x).

    All n samples are read at every step: W <- (1 - step ridge) W - (step / d) sum_i G_i x_i^T, with
    G_i the derivative of the loss of sample i in the fields W x_i. The first step sees what a
    fresh batch would show; from the second on the network has met its samples before.

    Parameters
    ----------
    steps : int
        Number of iterations.
    step : float
        Step size, in units of 1/d.
    width : int
        Number of neurons p.
    activation : str, Link or callable
        The function sigma of one variable, as text like a link; a callable takes an (..., 1) array,
        and for `predict` must be one that JAX can trace.
    loss : {"squared", "correlation"}
        Half the squared error, or -f y.
    ridge : float
        Of the first layer, with the penalty (d / 2) ridge |W|^2 beside the sum of the losses.
    second_layer : float or sequence of float, optional
        The fixed weights a, one number for all or one each; by default 1 / sqrt(p) with signs that
        alternate.
    start : pair of matrices (Q, M), optional
        W W^T and W W*^T of the first weights, of shapes (p, p) and (p, r), met exactly at every d;
        by default orthonormal rows without overlap.
    samples : int
        Points drawn for the expectations of the theory.

    References
    ----------
    Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala, arXiv:2402.03220.

    Examples
    --------
    >>> theory = BatchGD(steps=2, activation="tanh(z)", samples=2**14).predict("He3(z)", alpha=3.0)
    >>> theory.overlap_trace.squeeze().values.round(1) + 0.0
    array([ 0. ,  0. , -0.1])
    """

    steps: int = 6
    step: float = 0.2
    width: int = 1
    activation: str | Link | Callable[[Any], Any] = "relu(z)"
    loss: str = "squared"
    ridge: float = 0.0
    second_layer: float | Sequence[float] | None = None
    start: tuple[Matrix, Matrix] | None = None
    samples: int = 2**20

    def __post_init__(self) -> None:
        for name in ("steps", "width", "samples"):
            object.__setattr__(self, name, _whole(name, getattr(self, name)))
        if not _number(self.step) or self.step <= 0:
            raise LearnabilityError(
                f"`step` was given as {self.step!r}, but a finite number above 0 is accepted."
            )
        if not _number(self.ridge) or self.ridge < 0:
            raise LearnabilityError(
                f"`ridge` was given as {self.ridge!r}, but a finite number from 0 is accepted."
            )
        if self.loss not in LOSSES:
            raise LearnabilityError(
                f"`loss` was given as {self.loss!r}, but {' and '.join(LOSSES)} are accepted."
            )
        sigma = self._sigma
        if sigma.r != 1:
            raise LearnabilityError(
                f"`activation` was given as {self.activation!r}, with {sigma.r} variables, but a "
                'function of one is accepted, such as "relu(z)".'
            )
        if sigma.derivative().polynomial == {}:
            raise LearnabilityError(
                f"`activation` was given as {self.activation!r}, but its derivative is zero "
                "wherever it exists, so that no gradient moves the weights: take a smooth one."
            )
        if self.second_layer is not None:
            layer: Any = self.second_layer
            given = (layer,) * self.width if _number(layer) else tuple(np.ravel(layer).tolist())
            if len(given) != self.width or not all(map(_number, given)):
                raise LearnabilityError(
                    f"`second_layer` was given as {layer!r}, but a finite number for all neurons, "
                    f"or {self.width} of them, is accepted."
                )
            object.__setattr__(self, "second_layer", tuple(map(float, given)))
        if self.start is not None:
            object.__setattr__(self, "start", as_matrices(self.start))

    @property
    def network(self) -> Network:
        """What is trained."""
        layer: Any = self.second_layer
        if layer is None:
            layer = tuple((-1) ** j / math.sqrt(self.width) for j in range(self.width))
        return Network(self._sigma, layer, self.loss)

    @property
    def _sigma(self) -> Link:
        given = self.activation
        return Link(given) if isinstance(given, str | Link) else Link(given, r=1)

    def simulate(
        self,
        target: MultiIndex | Link | str,
        *,
        d: int,
        alpha: ArrayLike,
        seeds: int | Sequence[int] = 1,
    ) -> xarray.Dataset:
        """Run gradient descent on samples, in float32.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from.
        d : int
            Dimension, at least p + r.
        alpha : float or sequence of float
            Samples over dimension.
        seeds : int or sequence of int
            Number of runs, or their seeds.

        Returns
        -------
        xarray.Dataset
            By alpha and seed: `overlap` and `cosine` (estimate, index), `subspace_overlap`,
            `error`, `train_error` at the last step; `overlap_trace`, `gram_trace` (estimate,
            other), `error_trace` and `train_error_trace` by `time`, the iteration; `status`
            ("finished", or "diverged": then paths are NaN from there on, and the attribute `note`
            says what to do).
        """
        target = checked_target(target)
        alphas, chosen = checked_alphas(alpha), checked_seeds(seeds)
        start = start_at(self.start, self.width, target.r)
        flat = np.atleast_1d(alphas)
        for a in flat:
            checked_sizes(target.r, None, d, float(a), np.float32)
        if d < target.r + self.width:
            raise LearnabilityError(
                f"`d` was given as {d!r}, but {self.width} neurons and {target.r} hidden "
                f"directions need at least {target.r + self.width}."
            )
        tasks = [(float(a), seed) for a in flat for seed in chosen]
        with ThreadpoolController().limit(limits=1, user_api="blas"):  # Thin products gain none.
            runs = [
                self._run(target, d, *task, start) for task in tracked(tasks, "gradient descent")
            ]
        paths = {
            name: np.array([run[name] for run in runs]).reshape(
                len(flat), len(chosen), *runs[0][name].shape
            )
            for name in PATHS
        }
        return self._labelled(
            target, "simulate", alphas, paths, {"seed": ("seed", chosen)}, d=int(d)
        )

    def _run(
        self, target: MultiIndex, d: int, alpha: float, seed: int, start: Start
    ) -> dict[str, Array]:
        """One run on one sample."""
        X, y, W, _ = target.sample(seed, d=d, alpha=alpha, dtype=np.float32)
        if not np.isfinite(y).all():
            raise LearnabilityError(
                f"{target.link!r} gives labels that are not finite: gradient descent cannot run."
            )
        weights = weights_at(np.random.default_rng([seed, 3]), W, start)
        path = descend(
            X,
            y,
            self.network,
            weights,
            W,
            step=self.step,
            ridge=self.ridge,
            steps=self.steps,
        )
        error = error_path(target.channel, self.network, path.gram, path.overlap, seed)
        return {**path._asdict(), "error": error}

    def predict(self, target: MultiIndex | Link | str, *, alpha: ArrayLike) -> xarray.Dataset:
        """Dynamical mean-field theory: what gradient descent does in the limit of large d.

        Parameters
        ----------
        target : MultiIndex, Link or str
            Where the samples come from.
        alpha : float or sequence of float
            Samples over dimension.

        Returns
        -------
        xarray.Dataset
            By alpha, the variables of `simulate`, each but `status` with its standard error under
            the name with ``_stderr`` at its end.
        """
        target = checked_target(target)
        alphas = checked_alphas(alpha)
        start = start_at(self.start, self.width, target.r)
        plan = planned(self.samples, self.width, target.r, self.steps)
        found = [
            mean_field(
                target.channel,
                self.network,
                float(a),
                start,
                step=self.step,
                ridge=self.ridge,
                steps=self.steps,
                plan=plan,
            )
            for a in tracked(np.atleast_1d(alphas).tolist(), "mean-field theory")
        ]
        paths = {name: np.array([getattr(f, name) for f in found]) for name in PATHS}
        return self._labelled(
            target, "predict", alphas, paths, {}, samples=plan.replicates * 2**plan.log2_block
        )

    def _labelled(
        self,
        target: MultiIndex,
        verb: str,
        alphas: Array,
        paths: dict[str, Array],
        coordinates: dict[str, Any],
        **attributes: Any,
    ) -> xarray.Dataset:
        """The result of paths (alpha, seed, time, ...); for theory a seed is a replicate."""
        found, lost = observables(paths, replicates=verb == "predict")
        note = ""
        if lost is not None:
            note = (
                f"The weights grew without bound, the first by iteration {lost}: take a `step` "
                f"smaller than {self.step:g}."
            )
        return dataset(
            self,
            target,
            verb,
            alphas,
            found,
            {**coordinates, "time": ("time", np.arange(self.steps + 1))},
            note=note,
            **attributes,
        )


def _number(value: Any) -> bool:
    """Whether a value is a finite real number."""
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return real and bool(np.isfinite(value))


def _whole(name: str, value: Any) -> int:
    """A whole number from 1, or a sentence."""
    if not _number(value) or value != int(value) or value < 1:
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but a whole number from 1 is accepted."
        )
    return int(value)
