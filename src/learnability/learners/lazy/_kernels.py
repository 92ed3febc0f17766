"""Kernels k(x.x'/d) of one variable, and k(|x|^2/d, |x'|^2/d, x.x'/d) of three."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, LinkError
from learnability.labels.link import Link
from learnability.learners.networks.features import row_blocks

__all__ = ["checked_kernel", "kernel_values", "on_the_sphere"]


def checked_kernel(source: str | Link | Callable[[Any], Any]) -> Link:
    """A link of one or of three variables, or a sentence; a bare function has one."""
    try:
        bare = callable(source) and not isinstance(source, Link)
        link = Link(source, r=1) if bare else Link(source)
    except LinkError as error:
        raise LearnabilityError(f"`kernel` cannot be read: {error}") from None
    if link.r not in (1, 3):
        raise LearnabilityError(
            f"`kernel` was given as {link!r} of {link.r} variables, but a function of one variable "
            "x.x'/d, or of the three |x|^2/d, |x'|^2/d and x.x'/d, is accepted."
        )
    return link


def kernel_values(kernel: Link, X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """Kernel values, shape (rows of X, rows of Z), in the type of X."""
    d = X.shape[1]
    values = X @ Z.T
    values /= d
    if kernel.r == 3:
        rows, columns = ((np.einsum("ij,ij->i", A, A) / d).astype(X.dtype) for A in (X, Z))
    for block in row_blocks(*values.shape):
        if kernel.r == 1:
            values[block] = kernel(values[block][..., None])
        else:
            parts = np.broadcast_arrays(rows[block, None], columns, values[block])
            values[block] = kernel(np.stack(parts, axis=-1))
    return values


def on_the_sphere(kernel: Link) -> Link:
    """The kernel of inputs of squared length d, a function of one variable."""
    return kernel if kernel.r == 1 else Link(_UnitLengths(kernel), r=1)


@dataclass(frozen=True)
class _UnitLengths:
    kernel: Link

    def __call__(self, z: Any) -> Any:
        one = np.ones_like(z)
        return self.kernel(np.concatenate([one, one, z], axis=-1))
