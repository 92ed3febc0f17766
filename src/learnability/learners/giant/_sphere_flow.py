"""Neurons that descend the empirical loss in coordinates in which the samples are white.

With the empirical covariance S = X^T X / n, a neuron sigma(w . x / tau), tau^2 = w^T S w, that
follows S^-1 times minus the gradient of the mean squared error moves u = S^(1/2) w / tau by

    du/dt = 2 (I - u u^T) (1/n) sum_i (y_i - sigma(u . g_i)) sigma'(u . g_i) g_i,  g = S^(-1/2) x:

a flow on the unit sphere. With infinitely many samples only the correlation rho of its field with
the argument of the label changes, d rho / dt = 2 zeta'(rho) (1 - rho^2), zeta(rho) = E[f sigma],
and the rest of u keeps its direction.

n samples change that in two ways. At the start the gradient has a noise of length s = sqrt(d v / n)
with v = E[(y - sigma)^2 sigma'^2]; the flow is that of the population where s is small compared to
|zeta'(rho)|, which is the condition n >> d rho^(-2 (k - 1)) of the theorem for a link of
information exponent k. At the end, where rho = +-1 in the population, all neurons of one sign meet
in the minimiser of the empirical loss: its distance e from the label's direction has e^2 = (d / n)
v / zeta'(+-1)^2 to the first order in d / n, and rho = +-(1 + e^2)^(-1/2).

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023, algorithm 1 and theorem 7; van der Vaart,
Asymptotic Statistics (1998), theorem 5.23, for the minimiser.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.sections import Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.labels.link import Link
from learnability.learners.networks.population import Population

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = ["Meeting", "descend", "flowed", "meeting", "pull_table", "start_noise", "whitening"]

Array = NDArray[np.float64]

_KNOTS, _REACH = 81, 5.0
_SETTLED, _MOST_NODES = 1e-5, 10_000


def whitening(X: NDArray[np.float32]) -> tuple[Array, Array]:
    """Return S^(1/2) and S^(-1/2) of the empirical covariance of samples (n, d), n > d."""
    S = np.asarray(X.T @ X, dtype=float) / len(X)
    values, vectors = np.linalg.eigh(S)
    roots = np.sqrt(values)
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T


def descend(
    U: NDArray[np.float32],
    G: NDArray[np.float32],
    y: NDArray[np.float32],
    activation: Link,
    step: float,
    count: int,
) -> NDArray[np.float32]:
    """Return neurons (N, d) of unit length after steps of the flow on white samples.

    Parameters
    ----------
    U : array, shape (N, d)
        Neurons, of unit length.
    G, y : array, shapes (n, d) and (n,)
        White samples and labels.
    activation : Link
        The function sigma.
    step : float
        Time of a step.
    count : int
        Number of steps.
    """
    slope = activation.derivative()
    with np.errstate(all="ignore"):  # Divergence is reported by the status.
        for _ in range(count):
            H = (G @ U.T)[..., None]
            C = (y[:, None] - activation(H)) * slope(H)
            move = (C.astype(np.float32).T @ G) / np.float32(len(y))
            move -= np.sum(move * U, axis=1, keepdims=True) * U
            U = U + np.float32(2 * step) * move
            U /= np.linalg.norm(U, axis=1, keepdims=True)
    return U


def pull_table(population: Population) -> CubicSpline:
    """Return zeta'(tanh x) as a function of x = artanh(rho), up to |x| = 5."""
    from scipy.interpolate import CubicSpline

    knots = np.linspace(-_REACH, _REACH, _KNOTS)
    return CubicSpline(knots, [population.normalised_pull(math.tanh(x)) for x in knots])


def flowed(pulls: CubicSpline, rho: Array, time: float) -> Array:
    """Return correlations (N,) after a time of the flow in the population.

    Parameters
    ----------
    pulls : CubicSpline
        What `pull_table` returns.
    rho : array, shape (N,)
        Correlations at time 0.
    time : float
        The time at which the flow ends.
    """
    from scipy.integrate import solve_ivp

    # In x the flow is dx/dt = 2 zeta'(tanh x), which no step can take beyond |rho| = 1.
    found = solve_ivp(
        lambda _, x: 2 * pulls(np.clip(x, -_REACH, _REACH)),
        (0.0, time),
        np.arctanh(rho),
        rtol=1e-8,
        atol=1e-9,
        max_step=time / 20,
    )
    return np.asarray(np.tanh(np.clip(found.y[:, -1], -_REACH, _REACH)))


def start_noise(link: Link, activation: Link, noise: float) -> float:
    """Return v = E[(y - sigma)^2 sigma'^2], noise included, with field and label independent."""
    both = tuple((f, 1.0) for f in _both(activation))
    z, weights = _line(both, Section.whole(activation).breakpoints)
    u, shares = _line(((link, 1.0),), Section.whole(link).breakpoints)
    value, slope = (np.asarray(f(z[:, None]), dtype=float) for f in _both(activation))
    label = np.asarray(link(u[:, None]), dtype=float)
    mean, square = float(shares @ label), float(shares @ label**2) + noise
    return float((weights * slope**2) @ (square - 2 * mean * value + value**2))


class Meeting(NamedTuple):
    """e^2 n / d at rho = 1 and at rho = -1."""

    plus: float
    minus: float


def meeting(population: Population, noise: float) -> Meeting:
    """Return how far the minimisers of the empirical loss are from the direction of the label.

    Parameters
    ----------
    population : Population
        Link and activation.
    noise : float
        Variance of the noise of the label.
    """
    link, activation = population.link, population.activation
    found = []
    for sign in (1.0, -1.0):
        breaks = [Section.whole(f).breakpoints * s for f, s in ((link, 1.0), (activation, sign))]
        pair = tuple((f, sign) for f in _both(activation))
        u, weights = _line(((link, 1.0), *pair), np.unique(np.concatenate(breaks)))
        value, slope = (np.asarray(f(sign * u[:, None]), dtype=float) for f in _both(activation))
        error = (np.asarray(link(u[:, None]), dtype=float) - value) ** 2 + noise
        pull = population.normalised_pull(sign)
        found.append(float(weights @ (error * slope**2)) / max(pull**2, 1e-300))
    return Meeting(*found)


def _line(functions: tuple[tuple[Link, float], ...], breaks: Array) -> tuple[Array, Array]:
    """Nodes and weights of the normal law that integrate the squares of functions f(sign z).

    Raises
    ------
    LearnabilityError
        When one of them oscillates too fast.
    """

    def values(z: Array) -> Array:
        return np.stack([np.asarray(f(sign * z), dtype=float) for f, sign in functions])

    axis = settled_axes(values, [breaks], 64, _SETTLED, _MOST_NODES)
    if axis is None:
        raise LearnabilityError(
            f"{functions[0][0]!r} oscillates too fast for {_MOST_NODES} nodes of its integrals, so "
            "that the noise of the flow is not known: use `simulate`."
        )
    return axis[0]


def _both(activation: Link) -> tuple[Link, Link]:
    return activation, activation.derivative()
