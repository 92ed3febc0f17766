"""Samples spread over several devices, so that one large run uses all devices.

Each device holds a share of the rows of X (n, d). W X^T is computed where the rows are; G X is the
sum over the devices of what each one collects from its rows. The few directions are copied to every
device. With ``jax.distributed`` the devices may be those of several hosts, which all run the same
program.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ShardedRows", "sharded"]

_LEAST_BYTES = 2**20
"""Samples of fewer bytes are not worth the transfer to several devices."""


def sharded(X: NDArray[Any]) -> Any:
    """Spread samples over the devices that JAX sees.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows.

    Returns
    -------
    ShardedRows, or X itself
        X itself if there is one device, or little to compute, or X is not float32.
    """
    if X.nbytes < _LEAST_BYTES or X.dtype != np.float32:
        return X
    import jax

    return X if jax.device_count() == 1 else ShardedRows(X)


class ShardedRows:
    """Samples on several devices; thin products and eigenvectors take them in place of an array.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows, float32.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        import jax

        self.shape, self.dtype = X.shape, X.dtype
        self._host = X
        shares = _placements()[0]
        self._missing = -len(X) % jax.device_count()
        rows = np.pad(X, ((0, self._missing), (0, 0))) if self._missing else X
        self._rows = jax.device_put(rows, shares)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return np.asarray(self._host[rows])

    def project(self, W: NDArray[Any]) -> NDArray[Any]:
        """Return W X^T, shape (r, n), for W of shape (r, d)."""
        return np.asarray(_products()[0](np.asarray(W, self.dtype), self._rows))[:, : len(self)]

    def collect(self, G: NDArray[Any]) -> NDArray[Any]:
        """Return G X, shape (r, d), for G of shape (r, n)."""
        weights = np.pad(np.asarray(G, self.dtype), ((0, 0), (0, self._missing)))
        return np.asarray(_products()[1](weights, self._rows))


@lru_cache(maxsize=1)
def _placements() -> tuple[Any, Any]:
    """Return two placements: rows in shares, one per device, and a copy on each device."""
    import jax
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    mesh = jax.make_mesh((jax.device_count(),), ("samples",), axis_types=(AxisType.Auto,))
    return NamedSharding(mesh, PartitionSpec("samples")), NamedSharding(mesh, PartitionSpec())


@lru_cache(maxsize=1)
def _products() -> tuple[Any, Any]:
    """Return W X^T and G X, compiled; the results go to every device and so to every host."""
    import jax
    import jax.numpy as jnp

    everywhere = _placements()[1]
    highest = jax.lax.Precision.HIGHEST
    project = jax.jit(
        lambda W, X: jnp.einsum("rd,nd->rn", W, X, precision=highest), out_shardings=everywhere
    )
    collect = jax.jit(
        lambda G, X: jnp.einsum("rn,nd->rd", G, X, precision=highest), out_shardings=everywhere
    )
    return project, collect
