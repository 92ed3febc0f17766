"""One-pass SGD on fresh samples, run at any dimension and predicted by its equations of motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.networks.activations import checked_activation
from learnability.learners.online._checks import (
    check_count,
    check_overlap,
    check_size,
    checked_layer,
    checked_times,
)
from learnability.learners.online._engines import Recipe
from learnability.learners.online._equations import Equations
from learnability.learners.online._marked_chain import NORMALISATIONS
from learnability.learners.online._marked_paths import (
    paths_on_spikes,
    predicted_recovery_on_spikes,
)
from learnability.learners.online._marked_runs import recovery_on_spikes, runs_on_spikes
from learnability.learners.online._results import divergence, labelled_paths, labelled_runs
from learnability.learners.online._reuse import LOSSES, RULES
from learnability.learners.online._runs import recover, run
from learnability.learners.online._starts import Start, checked_start, random_start
from learnability.learners.protocol import checked_seeds, checked_target, dataset
from learnability.targets.multi_index import MultiIndex
from learnability.targets.protocol import checked_sizes
from learnability.targets.spiked_index import SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["OnlineSGD"]

Array = NDArray[np.float64]
_CHOICES = (
    ("loss", LOSSES),
    ("rule", RULES),
    ("engine", ("reduced", "full")),
    ("normalisation", NORMALISATIONS),
)


@dataclass(frozen=True)
class OnlineSGD:
    """A network sum_j a_j sigma(w_j . x) that sees every sample in one step and never again.

    Parameters
    ----------
    width : int
        Number p of neurons.
    activation : str, Link or callable
        sigma, as a link of one variable.
    loss : {"squared", "correlation"}
        (f - y)^2 / 2, or -f y.
    step : float
        Step size of the first layer in units of 1 / d.
    rule : {"plain", "extragradient", "repetition", "sam", "lookahead"}
        What a step does with its sample: one gradient; the gradient at a point moved by
        `look_ahead` down the gradient of the same sample; `repetitions` steps on it; the
        gradient after a climb of length look_ahead / sqrt(d); or `step` times the sum of the
        gradients on `repetitions` fast steps of size `look_ahead`.
    look_ahead : float
        Size of the moves within a step in units of 1 / d (of 1 / sqrt(d) for "sam"); negative
        ones climb.
    repetitions : int
        How often "repetition" and "lookahead" use a sample.
    batch : int
        Fresh samples a step.
    spherical : bool
        Bring every w_j back to unit length after every step.
    second_layer : float or sequence of float
        a_j at the start: one number for all, or one each.
    second_step : float
        Step size of the second layer in units of 1 / d; 0 keeps it fixed.
    schedule : str, Link or callable, optional
        Factor of the steps as a function of the time steps / d, such as ``"1/(1 + z)"``.
    engine : {"reduced", "full"}
        The exact Markov chain of the order parameters, in double precision and at a cost that
        does not depend on d; or all d coordinates, in single precision.
    normalisation : {"none", "normalised", "whitened"}
        For a SpikedIndex: the field w.x, or w.x / tau with tau^2 = w^T Sigma w, whose gradient
        is taken times tau^2; "whitened" puts Sigma^-1 in front of it.

    References
    ----------
    Saad and Solla, Phys. Rev. E 52 (1995); Ben Arous, Gheissari, Jagannath, JMLR 22 (2021);
    Arnaboldi, Dandi, Krzakala, Pesce, Stephan, arXiv:2405.15459.

    Examples
    --------
    >>> learner = OnlineSGD(activation="tanh(z)", step=0.5)
    >>> theory = learner.predict("tanh(z)", time=4.0, start=(1.0, 0.1))
    >>> round(float(theory.overlap.squeeze()), 2)
    0.51
    """

    width: int = 1
    activation: str | Link | Callable[[Any], Any] = "relu(z)"
    loss: str = "squared"
    step: float = 0.1
    rule: str = "plain"
    look_ahead: float = 0.0
    repetitions: int = 2
    batch: int = 1
    spherical: bool = False
    second_layer: float | Sequence[float] = 1.0
    second_step: float = 0.0
    schedule: str | Link | Callable[[Any], Any] | None = None
    engine: str = "reduced"
    normalisation: str = "none"

    def __post_init__(self) -> None:
        for name, accepted in _CHOICES:
            if getattr(self, name) not in accepted:
                raise LearnabilityError(
                    f"`{name}` was given as {getattr(self, name)!r}, but {', '.join(accepted)} "
                    "are accepted."
                )
        for name in ("width", "batch", "repetitions"):
            check_count(name, getattr(self, name))
        for name in ("step", "look_ahead", "second_step"):
            check_size(name, getattr(self, name), signed=name == "look_ahead")
        for name in ("activation", "schedule"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_activation(getattr(self, name), name))
        object.__setattr__(self, "second_layer", checked_layer(self.second_layer, self.width))

    # ---- runs

    def simulate(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        d: int,
        time: ArrayLike,
        seeds: int | Sequence[int] = 1,
        start: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> xarray.Dataset:
        """Run SGD in dimension d, all seeds at once.

        Parameters
        ----------
        target : MultiIndex, SpikedIndex, Link or str
            Where the samples come from.
        d : int
            Dimension, at least width + r for the reduced engine.
        time : float or sequence of float
            When to look: steps over d, not decreasing.
        seeds : int or sequence of int
            Number of runs, or their seeds.
        start : (Q, M), optional
            Order parameters W W^T (p, p) and W W*^T (p, r) at time 0. Default: rows of W that
            are N(0, I_d / d), of unit length on the sphere. For a SpikedIndex (Q, m, s), m and s
            the overlaps with the hidden direction and with the spike.

        Returns
        -------
        xarray.Dataset
            By seed, at the last time: `overlap` (estimate, index), the weights times W*^T,
            `cosine`, `subspace_overlap`, `error` and `status` ("finished" or "diverged", from
            where on all is NaN); by `time`: `overlap_trace`, `cosine_trace`, `gram_trace`
            (W W^T), `second_layer_trace` and `error_trace`. For a SpikedIndex, instead of cosines
            and errors, `spike_overlap` with the direction of the spike and `correlation` of w.x
            with the argument of the label, also along `time`.
        """
        if isinstance(target, SpikedIndex):
            times, chosen = checked_times(time), checked_seeds(seeds)
            return runs_on_spikes(self, target, d, times, chosen, start)
        target = checked_target(target)
        times, chosen = checked_times(time), checked_seeds(seeds)
        d = self._checked_dimension(target, d, len(chosen))
        steps = np.rint(np.atleast_1d(times) * d).astype(np.int64)
        given = self._start(target, start)
        runs = run(self._recipe(target), self._rates, target, d, steps, chosen, given, self.engine)
        return labelled_runs(self, target, times, runs, chosen, d)

    def simulate_recovery(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        d: int,
        time: float,
        seeds: int | Sequence[int] = 1,
        start: tuple[ArrayLike, ArrayLike] | None = None,
        overlap: float = 0.5,
    ) -> xarray.Dataset:
        """When a neuron first has an overlap with a hidden direction.

        Parameters
        ----------
        target, d, seeds, start
            As in `simulate`.
        time : float
            Most time (steps over d) given to a run; runs that are there earlier end.
        overlap : float
            What to reach: |cosine| of any neuron with any hidden direction, below 1; for a
            SpikedIndex |correlation| of w.x with the argument of the label.

        Returns
        -------
        xarray.Dataset
            By seed `recovery_time` (steps over d, infinite if not reached) and `status`
            ("recovered", "stopped" at the last time, "diverged").
        """
        last, chosen = checked_times(time), checked_seeds(seeds)
        check_overlap(overlap)
        if isinstance(target, SpikedIndex):
            target.at(d)  # Before d is used: a bad one ends in a sentence.
            end = int(np.rint(float(last.max()) * d))
            return recovery_on_spikes(self, target, d, end, chosen, start, overlap)
        target = checked_target(target)
        d = self._checked_dimension(target, d, len(chosen))
        reached, diverged = recover(
            self._recipe(target, watched=True),
            self._rates,
            target,
            d,
            int(np.rint(float(last.max()) * d)),
            chosen,
            self._start(target, start),
            self.engine,
            overlap,
        )
        status = np.where(reached >= 0, "recovered", np.where(diverged, "diverged", "stopped"))
        found = np.where(reached >= 0, reached / d, np.inf)
        return dataset(
            self,
            target,
            "simulate_recovery",
            None,
            {"recovery_time": (("seed",), found), "status": (("seed",), status)},
            {"seed": ("seed", chosen)},
            d=d,
            note=divergence(int(diverged.sum()), len(chosen)),
        )

    # ---- theory

    def predict(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        time: ArrayLike,
        d: int | None = None,
        seeds: int | Sequence[int] = 1,
        start: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> xarray.Dataset:
        """Solve the equations of motion of the order parameters.

        Parameters
        ----------
        target : MultiIndex, SpikedIndex, Link or str
            Where the samples come from.
        time : float or sequence of float
            When to look: steps over d, not decreasing.
        d : int, optional
            Dimension whose random starts to take, those of `simulate` with the same seeds; the
            equations themselves are those of large d. A SpikedIndex needs it, for its spike; the
            equations hold where (1 + theta) / d is small, and are refused above 0.1.
        seeds : int or sequence of int
            Of the random starts.
        start : (Q, M), optional
            Order parameters at time 0; one of `d` and `start` is needed. The result then has no
            seeds. For a SpikedIndex (Q, m, s), as in `simulate`.

        Returns
        -------
        xarray.Dataset
            As from `simulate`; `status` is "solved" or "diverged". `overlap_error` and
            `gram_error` are the standard errors of the paths from averages over the fields, 0
            where those are exact to many digits; the attribute `method` says how they are taken.
        """
        if isinstance(target, SpikedIndex):
            times, chosen = checked_times(time), checked_seeds(seeds)
            return paths_on_spikes(self, target, d, times, chosen, start)
        target = checked_target(target)
        times, chosen = checked_times(time), checked_seeds(seeds)
        starts = self._starts(target, d, chosen, start)
        equations = Equations(self._recipe(target), target.noise, self._rates, self._schedule)
        paths = [equations.solve(s, self._second, np.atleast_1d(times)) for s in starts]
        if start is not None:
            return labelled_paths(self, target, times, paths, None, method=equations.method)
        return labelled_paths(
            self, target, times, paths, chosen, method=equations.method, d=int(d or 0)
        )

    def predict_recovery(
        self,
        target: MultiIndex | SpikedIndex | Link | str,
        *,
        time: float,
        d: int | None = None,
        seeds: int | Sequence[int] = 1,
        start: tuple[ArrayLike, ArrayLike] | None = None,
        overlap: float = 0.5,
    ) -> xarray.Dataset:
        """When a neuron first has an overlap with a hidden direction, by the equations of motion.

        Parameters
        ----------
        target, d, seeds, start
            As in `predict`; a typical start of one neuron is ``start=(1, d**-0.5)``.
        time : float
            Where to stop.
        overlap : float
            What to reach: |cosine| of any neuron with any hidden direction, below 1; for a
            SpikedIndex |correlation| of w.x with the argument of the label.

        Returns
        -------
        xarray.Dataset
            `recovery_time` (steps over d, infinite if not reached by `time`) and `status`. For
            one neuron and one direction the attribute `scaling` says how the number of steps
            from m ~ d^(-1/2) grows: "d", "d log d" or "d^(k-1)".
        """
        if isinstance(target, SpikedIndex):
            last, chosen = checked_times(time), checked_seeds(seeds)
            check_overlap(overlap)
            return predicted_recovery_on_spikes(
                self, target, d, float(last.max()), chosen, start, overlap
            )
        target = checked_target(target)
        last, chosen = checked_times(time), checked_seeds(seeds)
        check_overlap(overlap)
        starts = self._starts(target, d, chosen, start)
        equations = Equations(self._recipe(target), target.noise, self._rates, self._schedule)
        end = float(last.max())
        found = np.array([equations.recovery(s, self._second, end, overlap) for s in starts])
        status = np.where(np.isfinite(found), "recovered", "stopped")
        axes: tuple[str, ...] = ("seed",)
        coordinates: dict[str, Any] = {"seed": ("seed", chosen)}
        if start is not None:
            axes, coordinates, found, status = (), {}, found[0], status[0]
        return dataset(
            self,
            target,
            "predict_recovery",
            None,
            {"recovery_time": (axes, found), "status": (axes, status)},
            coordinates,
            scaling=equations.scaling(self._second),
            method=equations.method,
        )

    # ---- what the two share

    @property
    def _second(self) -> Array:
        return np.broadcast_to(np.asarray(self.second_layer, dtype=float), self.width).copy()

    @property
    def _rates(self) -> tuple[float, float, float]:
        return float(self.step), float(self.look_ahead), float(self.second_step)

    @property
    def _schedule(self) -> Link | None:
        assert self.schedule is None or isinstance(self.schedule, Link)
        return self.schedule

    def _recipe(self, target: MultiIndex | SpikedIndex, watched: bool = False) -> Recipe:
        if self.normalisation != "none" and not isinstance(target, SpikedIndex):
            raise LearnabilityError(
                f"`normalisation` was given as {self.normalisation!r}, but it is for spiked data: "
                "give a SpikedIndex."
            )
        assert isinstance(self.activation, Link)
        return Recipe(
            target.link,
            target.noise > 0,
            self.activation,
            self.loss,
            self.rule,
            int(self.repetitions),
            int(self.width),
            int(self.batch),
            bool(self.spherical),
            self.second_step > 0,
            self._schedule,
            watched,
        )

    def _start(
        self, target: MultiIndex, start: tuple[ArrayLike, ArrayLike] | None
    ) -> tuple[Start | None, Array]:
        given = None
        if start is not None:
            given = checked_start(start, self.width, target.r, self.spherical)
        return given, self._second

    def _starts(
        self,
        target: MultiIndex,
        d: int | None,
        seeds: list[int],
        start: tuple[ArrayLike, ArrayLike] | None,
    ) -> list[Start]:
        if (d is None) == (start is None):
            raise LearnabilityError(
                "The equations of motion need a start: give either `d`, for random weights in "
                "that dimension, or `start` = (Q, M), not both or neither."
            )
        if start is not None:
            return [checked_start(start, self.width, target.r, self.spherical)]
        _, size = checked_sizes(target.r, 1, d, None, np.float64)
        p, r = self.width, target.r
        return [random_start(seed, p, r, size, self.spherical) for seed in seeds]

    def _checked_dimension(self, target: MultiIndex, d: int, seeds: int) -> int:
        _, size = checked_sizes(target.r, 1, d, None, np.float32)
        if self.engine == "full":
            checked_sizes(
                target.r, seeds * (self.width + target.r + self.batch), d, None, np.float32
            )
        elif size < self.width + target.r:
            raise LearnabilityError(
                f"`d` was given as {d!r}, but the reduced engine needs at least width + r = "
                f'{self.width + target.r}; engine="full" accepts less.'
            )
        return size
