"""The channel step of message passing: g_out of all samples, compiled, in blocks of samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from learnability.links.channel import Channel
from learnability.links.posterior import COARSE, BoxPosterior, LinePosterior, scheme_of, traceable

__all__ = ["ChannelStep", "is_planar", "taken_together"]

# Blocks of few sizes compile once for every number of samples; their temporaries stay in cache.
_BLOCK = {BoxPosterior: 512, LinePosterior: 256}
_PLANAR_BLOCKS = (640, 1280, 2560)


_IMPLAUSIBLE = 1e-4
"""Below this probability of a label g_out of its data set is computed in logarithms."""


class ChannelStep:
    """g_out(y_i, omega_i, V) for the labels of one data set.

    Parameters
    ----------
    channel : Channel
        The link and its noise.
    y : array, shape (n,)
        Labels.
    """

    def __init__(self, channel: Channel, y: NDArray[Any]) -> None:
        self.channel, self.scheme = channel, scheme_of(channel)
        size = _BLOCK[type(self.scheme)]
        if is_planar(self.scheme):
            size = next((s for s in _PLANAR_BLOCKS if s >= len(y)), _PLANAR_BLOCKS[-1])
        self.size = size
        data = self.scheme.prepare(np.asarray(y, dtype=float))
        self.blocks = [
            {name: _padded(v[..., start : start + size], size) for name, v in data.items()}
            for start in range(0, len(y), size)
        ]

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float32]:
        """Return g_out, shape (r, n), for means (r, n) and their common covariance (r, r)."""
        return together([self], [omega], [V])[0]

    def in_logarithms(self, omega: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float32]:
        """The same, for labels however improbable."""
        step = _compiled(self.channel)
        found = [
            step(data, self.part(omega, k), V.astype(np.float32))
            for k, data in enumerate(self.blocks)
        ]
        return np.concatenate([np.asarray(g) for g in found], axis=1)[:, : omega.shape[1]]

    def part(self, omega: NDArray[Any], block: int) -> NDArray[np.float32]:
        """The means of a block."""
        return _padded(omega[:, block * self.size : (block + 1) * self.size], self.size)


def together(
    steps: list[ChannelStep], omega: list[NDArray[Any]], V: list[NDArray[Any]]
) -> list[NDArray[np.float32]]:
    """g_out of several data sets of one channel and size, in one call where that is faster.

    What is found for a data set does not depend on the others.

    Parameters
    ----------
    steps : list of ChannelStep
        The data sets.
    omega : list of arrays, shape (r, n)
        Their means.
    V : list of arrays, shape (r, r)
        Their covariances.

    Returns
    -------
    list of arrays, shape (r, n)
    """
    scheme, n = steps[0].scheme, omega[0].shape[1]
    if not is_planar(scheme):
        return [step.in_logarithms(o, v) for step, o, v in zip(steps, omega, V, strict=True)]
    count = len(steps)
    # Powers of two: few shapes to compile.
    padded = [*range(count), *[0] * (2 ** (count - 1).bit_length() - count)]
    L, turn = scheme.frame(np.stack(V))
    roots = np.moveaxis(L[padded], 0, -1)[..., None].astype(np.float32)
    step = _compiled_score(steps[0].channel)
    means, least = [], np.ones(len(padded))
    for k in range(len(steps[0].blocks)):
        data = {
            name: np.stack([steps[i].blocks[k][name] for i in padded], axis=-2)
            for name in steps[0].blocks[k]
        }
        mean, plausible = step(
            data, np.stack([steps[i].part(omega[i], k) for i in padded], 1), roots
        )
        means.append(np.asarray(mean))
        least = np.minimum(least, np.asarray(plausible))
    mean = np.concatenate(means, axis=-1)
    return [
        turn[i].astype(np.float32) @ mean[:, i, :n]
        if least[i] >= _IMPLAUSIBLE
        else steps[i].in_logarithms(omega[i], V[i])
        for i in range(count)
    ]


def taken_together(
    steps: list[ChannelStep], live: list[int], means: list[tuple[NDArray[Any], NDArray[Any]]]
) -> list[NDArray[np.float32]]:
    """`together` for some of the data sets: their numbers, and (omega, V) of each."""
    return together([steps[k] for k in live], [omega for omega, _ in means], [V for _, V in means])


def is_planar(scheme: BoxPosterior | LinePosterior) -> TypeGuard[BoxPosterior]:
    """Whether the fast score applies, for which data sets are worth taking together."""
    return isinstance(scheme, BoxPosterior) and scheme.is_planar


def _padded(array: NDArray[Any], size: int) -> NDArray[np.float32]:
    """The last axis filled up to a size with copies of its first entry."""
    missing = size - array.shape[-1]
    array = np.asarray(array, dtype=np.float32)
    if missing:
        array = np.concatenate([array, np.repeat(array[..., :1], missing, axis=-1)], axis=-1)
    return array


@lru_cache(maxsize=16)
def _compiled(channel: Channel) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    scheme = scheme_of(channel)

    def step(xp: Any, data: dict[str, Any], omega: Any, V: Any) -> Any:
        _, first, _ = scheme.moments(data, omega, V, xp, COARSE)
        return xp.linalg.solve(V, first)

    return jax.jit(partial(step, jnp)) if traceable(channel) else partial(step, np)


@lru_cache(maxsize=16)
def _compiled_score(channel: Channel) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    scheme = scheme_of(channel)
    assert is_planar(scheme)

    def step(data: dict[str, Any], omega: Any, L: Any) -> Any:
        mean, plausible = scheme.score(data, omega, L, jnp)
        return mean, plausible.min(axis=-1)

    return jax.jit(step)
