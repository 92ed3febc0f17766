"""Kernels k(x.x'/d) of one variable, and k(|x|^2/d, |x'|^2/d, x.x'/d) of three."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import Kind
from learnability.labels.link import Link
from learnability.learners.networks.features import row_blocks
from learnability.theory.mehler import mehler_parameter

__all__ = [
    "MEHLER",
    "KernelFunction",
    "kernel_values",
    "mehler_function",
    "on_the_sphere",
]

MEHLER = "mehler"
QUADRATIC = "1 + z + z**2/2"


class KernelFunction(Kind):
    """A function of one or of three variables, or the name of a kernel; it becomes a Link.

    The Mehler kernel depends on the dimension and remains a name.
    """

    accepted = (
        "mehler, quadratic, or a function of one variable x.x'/d, or of the three |x|^2/d, "
        "|x'|^2/d and x.x'/d,"
    )
    type_name = "str, Link or callable"
    examples = ("quadratic", "mehler", "1/(1.5 - z)", "exp(z3 - z1/2 - z2/2)")

    def read(self, value: Any) -> Link | str:
        """Return the Link, or the name "mehler".

        Raises
        ------
        LearnabilityError
            When the text is not a formula, or has another number of variables.
        """
        if isinstance(value, str) and value == MEHLER:
            return MEHLER
        if isinstance(value, str) and value == "quadratic":
            return Link(QUADRATIC)
        alone = callable(value) and not isinstance(value, Link)
        link = Link(value, r=1) if alone else Link(value)
        if link.r not in (1, 3):
            raise LearnabilityError(
                f"{link!r} has {link.r} variables, but {self.accepted} is accepted."
            )
        return link

    def parse(self, text: str) -> Any:
        """Return the text itself."""
        return text


def kernel_values(kernel: Link, X: NDArray[Any], Z: NDArray[Any]) -> NDArray[Any]:
    """Return kernel values, shape (rows of X, rows of Z), in the type of X."""
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
    return np.asarray(values)


def mehler_function(d: int) -> Link:
    """Return the Mehler kernel in dimension d as a function of the three variables."""
    rho = mehler_parameter(d)
    scale, share = rho * d / (1 - rho**2), 0.5 * rho
    return Link(f"{(1 - rho**2) ** (-d / 2)!r}*exp({scale!r}*(z3 - {share!r}*(z1 + z2)))")


def on_the_sphere(kernel: Link) -> Link:
    """Return the kernel on inputs of squared length d, as a function of one variable."""
    return kernel if kernel.r == 1 else Link(_UnitLengths(kernel), r=1)


@dataclass(frozen=True)
class _UnitLengths:
    kernel: Link

    def __call__(self, z: Any) -> Any:
        one = np.ones_like(z)
        return self.kernel(np.concatenate([one, one, z], axis=-1))
