"""Gradient descent on one batch, read again at every step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from learnability.errors import LearnabilityError
from learnability.learners.batch._descent import descend, starting_weights
from learnability.learners.batch._generalisation import error_path, explained
from learnability.learners.batch._mean_field import mean_field, planned
from learnability.learners.batch._network import LOSSES, Network
from learnability.learners.protocol import checked_alphas, checked_seeds, checked_target, dataset
from learnability.links.link import Link
from learnability.progress import tracked
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_sizes

if TYPE_CHECKING:
    import xarray

__all__ = ["BatchGD"]

Array = NDArray[np.float64]

_LARGEST = 1e8
"""Squared lengths of weights beyond this count as divergence."""
_PATHS = ("overlap", "gram", "error", "train_error")
_MATRIX = {"overlap": ("estimate", "index"), "gram": ("estimate", "other")}


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
    activation : str or Link
        The function sigma of one variable, as text like a link.
    loss : {"squared", "correlation"}
        Half the squared error, or -f y.
    ridge : float
        Of the first layer, with the penalty (d / 2) ridge |W|^2 beside the sum of the losses.
    second_layer : sequence of float, optional
        The fixed weights a; by default 1 / sqrt(p) with signs that alternate.
    start_overlap : float or array_like, shape (p, r)
        W W*^T of the first weights, whose rows are orthonormal; a number stands for neuron k with
        direction k.
    samples : int
        Points drawn for the expectations of the theory.

    References
    ----------
    Dandi, Troiani, Arnaboldi, Pesce, Zdeborova, Krzakala, arXiv:2402.03220.

    Examples
    --------
    >>> theory = BatchGD(steps=2, activation="tanh(z)", samples=2**14).predict("He3(z)", alpha=3.0)
    >>> theory.overlap_trace.squeeze().values.round(1) + 0.0
    array([ 0. , -0. , -0.1])
    """

    steps: int = 6
    step: float = 0.2
    width: int = 1
    activation: str | Link = "relu(z)"
    loss: str = "squared"
    ridge: float = 0.0
    second_layer: Sequence[float] | None = None
    start_overlap: float | Sequence[Sequence[float]] = 0.0
    samples: int = 2**20

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("width", 1), ("samples", 1)):
            _whole(name, getattr(self, name), least)
        for name in ("step", "ridge"):
            value = getattr(self, name)
            least = "above 0" if name == "step" else "from 0"
            if not _number(value) or value < 0 or (name == "step" and value == 0):
                raise LearnabilityError(
                    f"`{name}` was given as {value!r}, but a finite number {least} is accepted."
                )
        if self.loss not in LOSSES:
            raise LearnabilityError(
                f"`loss` was given as {self.loss!r}, but {' and '.join(LOSSES)} are accepted."
            )
        sigma = Link(self.activation)
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
            given = tuple(np.atleast_1d(np.asarray(self.second_layer, dtype=object)).tolist())
            if len(given) != self.width or not all(map(_number, given)):
                raise LearnabilityError(
                    f"`second_layer` was given as {self.second_layer!r}, but `width` = "
                    f"{self.width} finite numbers are accepted."
                )
            object.__setattr__(self, "second_layer", tuple(map(float, given)))
        if not _number(self.start_overlap):
            object.__setattr__(self, "start_overlap", _rows(self.start_overlap))

    @property
    def network(self) -> Network:
        """What is trained."""
        layer = self.second_layer
        if layer is None:
            layer = [(-1) ** j / math.sqrt(self.width) for j in range(self.width)]
        return Network(Link(self.activation), tuple(layer), self.loss)

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
        start = self._start(target.r)
        flat = np.atleast_1d(alphas)
        for a in flat:
            checked_sizes(target.r + self.width, None, d, float(a), np.float32)
        tasks = [(float(a), seed) for a in flat for seed in chosen]
        with ThreadpoolController().limit(limits=1, user_api="blas"):  # Thin products gain none.
            runs = [
                self._run(target, d, *task, start) for task in tracked(tasks, "gradient descent")
            ]
        paths = {
            name: np.array([run[name] for run in runs]).reshape(
                len(flat), len(chosen), *runs[0][name].shape
            )
            for name in _PATHS
        }
        return self._labelled(
            target, "simulate", alphas, paths, {"seed": ("seed", chosen)}, d=int(d)
        )

    def _run(
        self, target: MultiIndex, d: int, alpha: float, seed: int, start: Array
    ) -> dict[str, Array]:
        """One run on one sample."""
        X, y, W, _ = target.sample(seed, d=d, alpha=alpha, dtype=np.float32)
        if not np.isfinite(y).all():
            raise LearnabilityError(
                f"{target.link!r} gives labels that are not finite: gradient descent cannot run."
            )
        weights = starting_weights(np.random.default_rng([seed, 3]), W, start)
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
        start = self._start(target.r)
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
        paths = {name: np.array([getattr(f, name) for f in found]) for name in _PATHS}
        return self._labelled(
            target, "predict", alphas, paths, {}, samples=plan.replicates * 2**plan.log2_block
        )

    def _start(self, r: int) -> Array:
        """The overlap of the first weights, shape (p, r)."""
        if _number(self.start_overlap):
            start = float(self.start_overlap) * np.eye(self.width, r)  # type: ignore[arg-type]
        else:
            start = np.array(self.start_overlap)
        if start.shape != (self.width, r) or np.linalg.norm(start, 2) > 1 + 1e-9:
            raise LearnabilityError(
                f"`start_overlap` was given as {self.start_overlap!r}, but a number from -1 to 1 or "
                f"a matrix of shape ({self.width}, {r}) and spectral norm at most 1 is accepted."
            )
        return start

    def _labelled(
        self,
        target: MultiIndex,
        verb: str,
        alphas: Array,
        paths: dict[str, Array],
        coordinates: dict[str, Any],
        **attributes: Any,
    ) -> xarray.Dataset:
        """The result of paths (alpha, seed or replicate, time, ...); replicates are averaged."""
        lost = ~_bounded(paths["gram"])
        paths = {
            name: np.where(lost.reshape(lost.shape + (1,) * (v.ndim - 3)), np.nan, v)
            for name, v in paths.items()
        }
        cosine, share = explained(paths["gram"][:, :, -1], paths["overlap"][:, :, -1])
        values = {f"{name}_trace": path for name, path in paths.items()}
        values |= {name: paths[name][:, :, -1] for name in ("overlap", "error", "train_error")}
        values |= {"cosine": cosine, "subspace_overlap": share}
        theory = verb == "predict"
        axes = ("alpha",) if theory else ("alpha", "seed")
        variables: dict[str, tuple[tuple[str, ...], Any]] = {}
        for name, value in values.items():
            base = name.removesuffix("_trace")
            dims = (*axes, *(("time",) if base != name else ()), *_MATRIX.get(base, ()))
            if base == "cosine":
                dims = (*axes, *_MATRIX["overlap"])
            if theory:
                variables[name] = (dims, value.mean(axis=1))
                error = value.std(axis=1, ddof=1) / math.sqrt(value.shape[1])
                variables[f"{name}_stderr"] = (dims, error)
            else:
                variables[name] = (dims, value)
        ended = lost.any(axis=(1, 2)) if theory else lost.any(axis=2)
        variables["status"] = (axes, np.where(ended, "diverged", "finished"))
        note = ""
        if ended.any():
            first = int(lost.any(axis=(0, 1)).argmax())
            note = (
                f"The weights grew without bound, the first of them by iteration {first}: take a "
                f"`step` smaller than {self.step:g}."
            )
        coordinates = {**coordinates, "time": ("time", np.arange(self.steps + 1))}
        return dataset(self, target, verb, alphas, variables, coordinates, note=note, **attributes)


def _bounded(gram: Array) -> NDArray[np.bool_]:
    """Whether a path of W W^T is still bounded; once it is not, it never is again."""
    with np.errstate(invalid="ignore"):
        good = (np.abs(gram) <= _LARGEST).all(axis=(-1, -2))
    return np.logical_and.accumulate(good, axis=-1)


def _number(value: Any) -> bool:
    """Whether a value is a finite real number."""
    real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return real and bool(np.isfinite(value))


def _whole(name: str, value: Any, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise LearnabilityError(
            f"`{name}` was given as {value!r}, but a whole number from {least} is accepted."
        )


def _rows(matrix: Any) -> tuple[tuple[float, ...], ...]:
    """A matrix as nested tuples, which can be compared and hashed."""
    try:
        values = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        raise LearnabilityError(
            f"`start_overlap` was given as {matrix!r}, but a number or a matrix of finite numbers "
            "is accepted."
        )
    return tuple(tuple(row) for row in values.tolist())
