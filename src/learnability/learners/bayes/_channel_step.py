"""The channel step of message passing: g_out of all samples, in blocks of samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.labels.channel import Channel
from learnability.labels.posterior import (
    COARSE,
    BoxPosterior,
    LinePosterior,
    PlanarScore,
    scheme_of,
    traceable,
)
from learnability.learners.bayes._level_step import LevelStep, step_on_levels
from learnability.learners.bayes._surface_step import SurfaceStep

__all__ = ["ChannelStep"]

# Blocks of one size compile once for every number of samples; their temporaries stay in cache.
_BLOCK: dict[type[Any], int] = {BoxPosterior: 512, LinePosterior: 256}
_PLANAR_BLOCK = 2500
_FEW = 512
"""Up to so many samples of one direction, NumPy takes a step as fast as compiled code."""
_IMPLAUSIBLE = 1e-4
"""Below this probability of its label g_out of a sample is computed in logarithms."""


class ChannelStep:
    """g_out(y_i, omega_i, V) for the labels of one data set, in single precision.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    y : array, shape (n,)
        Labels.
    """

    def __init__(self, channel: Channel, y: NDArray[Any]) -> None:
        self._on_levels = step_on_levels(channel, y)
        if self._on_levels is not None:
            return
        self.channel, scheme = channel, scheme_of(channel)
        self._few = channel.link.r == 1 and len(y) <= _FEW
        y = np.asarray(y, dtype=float)
        self._data = {name: v.astype(np.float32) for name, v in scheme.prepare(y).items()}
        self._block = _BLOCK.get(type(scheme), 128)
        self._scores = (
            [PlanarScore(scheme, y[rows], np.float32) for rows in _slices(len(y), _PLANAR_BLOCK)]
            if isinstance(scheme, BoxPosterior) and scheme.is_planar
            else None
        )

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float32]:
        """Return g_out, shape (r, n), for means (r, n) and their common covariance (r, r)."""
        if self._on_levels is not None:
            return self._on_levels(omega, V)
        omega, n = np.asarray(omega, dtype=np.float32), omega.shape[1]
        if self._scores is None:
            return self._in_logarithms(omega, V, np.arange(n))
        g, plausible = self._scored(PlanarScore.__call__, omega, V)
        rare = np.nonzero(plausible < _IMPLAUSIBLE)[0]
        if len(rare):
            g[:, rare] = self._in_logarithms(omega, V, rare)
        return g

    def with_information(
        self, omega: NDArray[Any], V: NDArray[Any]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64] | None]:
        """Return g_out, and minus the sum of its derivatives (r, r), or None where it would cost.

        Both take one pass over the posteriors, but on cells that are no boxes, whose scores do
        without second moments.
        """
        if isinstance(self._on_levels, LevelStep | SurfaceStep):
            return self._on_levels.with_information(omega, V)
        if self._on_levels is not None:
            return self._on_levels(omega, V), None
        omega, r = np.asarray(omega, dtype=np.float32), len(omega)
        step = _compiled_information(self.channel, self._few)
        if self._scores is None:
            found = self._by_blocks(step, omega, V, np.arange(omega.shape[1]))
            return found[:r], found[r:].sum(axis=1, dtype=float).reshape(r, r)
        g, plausible, slopes = self._scored(PlanarScore.with_information, omega, V)
        rare = np.nonzero(plausible < _IMPLAUSIBLE)[0]
        if len(rare):
            found = self._by_blocks(step, omega, V, rare)
            g[:, rare], slopes[..., rare] = found[:r], found[r:].reshape(r, r, -1)
        return g, slopes.sum(axis=-1, dtype=float)

    def _scored(
        self, score: Callable[..., Any], omega: NDArray[Any], V: NDArray[Any]
    ) -> tuple[NDArray[np.float32], ...]:
        """What a method of the scores on boxes returns, for all samples."""
        assert self._scores is not None
        slices = _slices(omega.shape[1], _PLANAR_BLOCK)
        found = [
            score(own, omega[:, rows], V) for own, rows in zip(self._scores, slices, strict=True)
        ]
        return tuple(np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))

    def log_evidence(self, omega: NDArray[Any], V: NDArray[Any]) -> float:
        """Return the sum of log Z_out(y_i, omega_i, V) over samples."""
        if self._on_levels is not None:
            return self._on_levels.log_evidence(omega, V)
        omega = np.asarray(omega, dtype=np.float32)
        found = self._by_blocks(
            _compiled_evidence(self.channel, self._few), omega, V, np.arange(omega.shape[1])
        )
        return float(found.sum(dtype=float))

    def _in_logarithms(
        self, omega: NDArray[Any], V: NDArray[Any], samples: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """The same for some samples, whose labels may be however improbable."""
        return self._by_blocks(_compiled(self.channel, self._few), omega, V, samples)

    def _by_blocks(
        self,
        step: Callable[..., Any],
        omega: NDArray[Any],
        V: NDArray[Any],
        samples: NDArray[np.intp],
    ) -> NDArray[np.float32]:
        covariance = V.astype(np.float32)
        found = []
        for rows in _slices(len(samples), self._block):
            # The last block is filled up with its first sample.
            chosen = samples[rows]
            chosen = np.concatenate([chosen, np.repeat(chosen[:1], self._block - len(chosen))])
            data = {name: v[..., chosen] for name, v in self._data.items()}
            found.append(np.asarray(step(data, omega[:, chosen], covariance)))
        return np.concatenate(found, axis=-1)[..., : len(samples)]


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, n, size)]


@lru_cache(maxsize=16)
def _compiled(channel: Channel, few: bool) -> Callable[..., Any]:
    scheme = scheme_of(channel)

    def step(xp: Any, data: dict[str, Any], omega: Any, V: Any) -> Any:
        _, first, _ = scheme.moments(data, omega, V, xp, COARSE)
        return xp.linalg.solve(V, first)

    return _for_samples(step, channel, few)


@lru_cache(maxsize=16)
def _compiled_information(channel: Channel, few: bool) -> Callable[..., Any]:
    """The step to g_out (r rows) and -dg / d omega (r^2 rows) of each sample."""
    scheme = scheme_of(channel)

    def step(xp: Any, data: dict[str, Any], omega: Any, V: Any) -> Any:
        _, first, second = scheme.moments(data, omega, V, xp, COARSE)
        r, inverse = len(V), xp.linalg.inv(V)
        turned = xp.einsum("ik,kln,lj->ijn", inverse, second - first[:, None] * first, inverse)
        known = xp.einsum("iin->n", second) > 0  # A label that cannot occur says nothing.
        information = xp.where(known, inverse[:, :, None] - turned, 0.0)
        return xp.concatenate([inverse @ first, information.reshape(r * r, -1)])

    return _for_samples(step, channel, few)


@lru_cache(maxsize=16)
def _compiled_evidence(channel: Channel, few: bool) -> Callable[..., Any]:
    scheme = scheme_of(channel)

    def step(xp: Any, data: dict[str, Any], omega: Any, V: Any) -> Any:
        return scheme.moments(data, omega, V, xp, COARSE)[0]

    return _for_samples(step, channel, few)


def _for_samples(step: Callable[..., Any], channel: Channel, few: bool) -> Callable[..., Any]:
    """The step in NumPy for few samples, whose compilation would last longer than their run."""
    if few:
        return partial(step, np)
    import jax
    import jax.numpy as jnp

    return jax.jit(partial(step, jnp)) if traceable(channel) else partial(step, np)
