"""Gradient flow of one neuron on spiked inputs, run by gradient descent and solved as an ODE."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.learners.flow._descent import descend_fresh, descend_reused
from learnability.learners.flow._equations import FLOWS, Landscape, landscape, solve
from learnability.learners.flow._population import Population, geometry
from learnability.learners.marked import (
    checked_weights,
    correlations,
    order_parameters,
    random_weights,
)
from learnability.learners.networks.activations import checked_activation, checked_positive
from learnability.learners.protocol import checked_seeds, dataset
from learnability.targets.protocol import checked_memory
from learnability.targets.spiked_index import Spike, SpikedIndex

if TYPE_CHECKING:
    import xarray

__all__ = ["GradientFlow"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GradientFlow:
    """One neuron sigma(w.x) that descends the squared loss E(sigma(w.x) - y)^2 of spiked inputs.

    Parameters
    ----------
    activation : str, Link or callable
        The function sigma, continuous, such as "relu(z)".
    flow : {"spherical", "normalised", "whitened"}
        On the unit sphere; with the output sigma(w.x / tau), tau^2 = w^T Sigma w; or the latter
        with Sigma^-1 in front of the gradient.
    step : float
        Step of the descent in units of time.
    batch : int
        Samples of a step.
    reuse : bool
        Use the same samples in every step (the flow on n samples) instead of fresh ones.

    References
    ----------
    Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023.

    Examples
    --------
    >>> target = SpikedIndex("He3(z)/sqrt(6)", spike=10.0)
    >>> found = GradientFlow("tanh(z)").landscape(target)
    >>> [round(S, 4) for S in found.maxima]
    [0.2139]
    """

    activation: str | Link | Callable[[Any], Any] = "relu(z)"
    flow: str = "spherical"
    step: float = 0.02
    batch: int = 20_000
    reuse: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "activation", checked_activation(self.activation))
        object.__setattr__(self, "step", checked_positive("step", self.step))
        if self.flow not in FLOWS:
            raise LearnabilityError(
                f"`flow` was given as {self.flow!r}, but {', '.join(FLOWS)} are accepted."
            )
        whole = isinstance(self.batch, int | np.integer) and not isinstance(self.batch, bool)
        if not whole or self.batch < 1:
            raise LearnabilityError(
                f"`batch` was given as {self.batch!r}, but a whole number of samples from 1 is "
                "accepted."
            )
        if not isinstance(self.reuse, bool):
            raise LearnabilityError(
                f"`reuse` was given as {self.reuse!r}, but True and False are accepted."
            )

    def simulate(
        self,
        target: SpikedIndex,
        *,
        d: int,
        time: ArrayLike,
        seeds: int | Sequence[int] = 1,
        start: tuple[float, float, float] | None = None,
    ) -> xarray.Dataset:
        """Descend in dimension d; fresh batches cost the same at every d.

        Parameters
        ----------
        target : SpikedIndex
            Where the samples come from.
        d : int
            Dimension, at least 4.
        time : float or sequence of float
            When to look, not decreasing; time / step steps are taken.
        seeds : int or sequence of int
            Number of runs, or their seeds.
        start : (m, s, q), optional
            <w, beta>, <w, mu> and |w|^2 at time 0; by default those of random unit weights.

        Returns
        -------
        xarray.Dataset
            By seed, at the last time and along `time` (names that end in ``_trace``): `overlap`
            <w, beta>, `spike_overlap` <w, mu>, `length` |w|^2, `correlation` rho of w.x with the
            argument of the label, `error` in the population; `status` ("finished" or "diverged").
        """
        target, spike = self._checked(target, d)
        times, chosen = _times(time), checked_seeds(seeds)
        steps = np.rint(np.atleast_1d(times) / self.step).astype(np.int64)
        descend = descend_reused if self.reuse else descend_fresh
        needed = 8.0 * self.batch * (3 * d if self.reuse else 12)
        checked_memory(f"{self.batch} samples a step", needed, "use a smaller `batch`")
        rules = (self.flow, self._link, self.step, int(self.batch))
        found = np.array(
            [
                descend(target, d, *rules, self._start(spike, d, seed, start), steps, seed)
                for seed in chosen
            ]
        )
        return self._result(target, "simulate", d, times, order_parameters(found, spike), chosen)

    def predict(
        self,
        target: SpikedIndex,
        *,
        d: int,
        time: ArrayLike,
        seeds: int | Sequence[int] = 1,
        start: tuple[float, float, float] | None = None,
    ) -> xarray.Dataset:
        """Solve the population flow.

        Parameters
        ----------
        target, time
            As in `simulate`.
        d : int
            Dimension, which fixes the spike and the random start.
        seeds : int or sequence of int
            Of the random starts, those of `simulate`.
        start : (m, s, q), optional
            At time 0; the result then has no seeds.

        Returns
        -------
        xarray.Dataset
            As from `simulate`; `status` is "solved".
        """
        target, spike = self._checked(target, d)
        times, chosen = _times(time), checked_seeds(seeds)
        population = Population(target.link, self._link)
        starts = chosen if start is None else [0]
        paths = []
        for seed in starts:
            first = order_parameters(self._start(spike, d, seed, start), spike)
            paths.append(solve(population, spike, self.flow, tuple(first), np.atleast_1d(times)))
        seeds_kept = chosen if start is None else None
        return self._result(target, "predict", d, times, np.array(paths), seeds_kept)

    def landscape(self, target: SpikedIndex) -> Landscape:
        """Where the spherical flow of an aligned spike turns and ends, as the spike grows.

        Parameters
        ----------
        target : SpikedIndex
            Aligned: its label depends on the direction of the spike.

        Returns
        -------
        Landscape
            `maxima` (separatrices) and `minima` of the loss in S = theta <w, beta>^2. A flow
            from S between the last maximum and the last minimum recovers.
        """
        if (
            not isinstance(target, SpikedIndex)
            or abs(target.alignment) < 1
            or target.alignment_exponent
        ):
            raise LearnabilityError(
                "The landscape was asked for, but it is known for a SpikedIndex with alignment 1."
            )
        return landscape(Population(target.link, self._link))

    def recovery_probability(self, target: SpikedIndex, *, d: int) -> float:
        """Chance of a random start beyond the separatrix of the spherical flow.

        Parameters
        ----------
        target : SpikedIndex
            Aligned.
        d : int
            Dimension: random weights have theta m^2 = theta / d times a chi-square variable.

        Returns
        -------
        float
            P(S > S_c), halved for a link that is not even, for which the sign counts; 0 where
            there is no separatrix and the loss increases from S = 0 on.
        """
        from scipy.stats import chi2

        found, spike = self.landscape(target), target.at(d)
        z = np.linspace(0.1, 4, 40)[:, None]
        even = np.allclose(target.link(z), target.link(-z))
        share = 1.0 if even else 0.5
        if found.maxima:
            strength = max(spike.strength, 1e-300)
            return share * float(chi2.sf(found.maxima[-1] * d / strength, 1))
        return 0.0 if found.minima[:1] == (0.0,) or not found.minima else share

    @property
    def _link(self) -> Link:
        assert isinstance(self.activation, Link)
        return self.activation

    def _checked(self, target: Any, d: int) -> tuple[SpikedIndex, Spike]:
        if not isinstance(target, SpikedIndex):
            raise LearnabilityError(
                f"The target was given as {type(target).__name__}, but gradient flows accept a "
                "SpikedIndex: without a spike, SpikedIndex(link, spike=0)."
            )
        spike = target.at(d)
        if d < 4:
            raise LearnabilityError(f"`d` was given as {d}, but a dimension from 4 is accepted.")
        return target, spike

    def _start(self, spike: Spike, d: int, seed: int, start: Any) -> Array:
        weights = random_weights(seed, d) if start is None else checked_weights(start, spike)
        if self.flow == "spherical" and not math.isclose(float(weights @ weights), 1.0):
            raise LearnabilityError(
                f"`start` gives |w|^2 = {float(weights @ weights):.6g}, but weights on the sphere "
                "have length 1."
            )
        return weights

    def _result(
        self,
        target: SpikedIndex,
        verb: str,
        d: int,
        times: Array,
        paths: Array,
        seeds: list[int] | None,
    ) -> xarray.Dataset:
        """Label paths (S, T, 3) of (m, s, q)."""
        spike = target.at(d)
        rho = correlations(paths, spike)
        known = np.isfinite(rho)
        error = np.full(rho.shape, np.nan)
        population = Population(target.link, self._link)
        for place in zip(*np.nonzero(known), strict=True):
            tau = geometry(spike, *paths[place])[1] if self.flow == "spherical" else 1.0
            error[place] = population.loss(float(rho[place]), tau) + target.noise
        fine = "finished" if verb == "simulate" else "solved"
        traces = {
            "spike_overlap": paths[..., 1],
            "length": paths[..., 2],
            "correlation": rho,
            "error": error,
        }
        variables: dict[str, tuple[tuple[str, ...], Any]] = {}
        for name, values in traces.items():
            variables[name] = (("seed",), values[:, -1])
            variables[f"{name}_trace"] = (("seed", "time"), values)
        overlap = paths[..., 0][..., None, None]
        variables["overlap"] = (("seed", "estimate", "index"), overlap[:, -1])
        variables["overlap_trace"] = (("seed", "time", "estimate", "index"), overlap)
        variables["status"] = (("seed",), np.where(known[:, -1], fine, "diverged"))
        coordinates: dict[str, Any] = {"seed": ("seed", seeds), "time": ("time", times)}
        if times.ndim == 0:
            coordinates["time"] = float(times)
            variables = {
                k: (tuple(x for x in dims if x != "time"), v[:, 0] if "time" in dims else v)
                for k, (dims, v) in variables.items()
            }
        if seeds is None:
            del coordinates["seed"]
            variables = {k: (dims[1:], v[0]) for k, (dims, v) in variables.items()}
        return dataset(
            self, target, verb, None, variables, coordinates, d=int(d),
            spike=spike.strength, alignment=spike.alignment,
        )  # fmt: skip


def _times(time: ArrayLike) -> Array:
    """Times as an array of shape () or (k,), or a sentence."""
    try:
        values = np.asarray(time, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    flat = np.atleast_1d(values).ravel()
    fine = values.ndim <= 1 and values.size and np.isfinite(flat).all()
    if not fine or flat[0] < 0 or (np.diff(flat) < 0).any():
        raise LearnabilityError(
            f"`time` was given as {time!r}, but finite times from 0 on that do not decrease are "
            "accepted."
        )
    return values
