"""The channel step of message passing: g_out of all samples, compiled, in blocks of samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.links.channel import Channel
from learnability.links.posterior import COARSE, BoxPosterior, LinePosterior, scheme_of, traceable

__all__ = ["ChannelStep"]

# Blocks of one size compile once for every number of samples; their temporaries stay in cache.
_BLOCK = {BoxPosterior: 512, LinePosterior: 256}


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
        scheme = scheme_of(channel)
        size = _BLOCK[type(scheme)]
        data = scheme.prepare(np.asarray(y, dtype=float))
        self._step, self._size = _compiled(channel), size
        self._blocks = [
            {k: _padded(v[..., start : start + size], size) for k, v in data.items()}
            for start in range(0, len(y), size)
        ]

    def __call__(self, omega: NDArray[Any], V: NDArray[Any]) -> NDArray[np.float32]:
        """Return g_out, shape (r, n), for means (r, n) and their common covariance (r, r)."""
        found = []
        for k, data in enumerate(self._blocks):
            part = omega[:, k * self._size : (k + 1) * self._size]
            found.append(self._step(data, _padded(part, self._size), V.astype(np.float32)))
        return np.concatenate([np.asarray(g) for g in found], axis=1)[:, : omega.shape[1]]


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

    if not traceable(channel):
        return lambda *args: step(np, *args)
    return jax.jit(lambda *args: step(jnp, *args))
