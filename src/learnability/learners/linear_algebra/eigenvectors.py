"""Leading eigenvectors of two matrices made of labelled samples, without forming the matrices.

Both come from linearised message passing, for samples x_i and r x r matrices made of labels:

* the symmetric one, rd x rd, (1/n) sum_i (x_i x_i^T) kron T_i;
* the asymmetric one, nr x nr, with blocks (x_i . x_j / d - delta_ij) G_j.

Each application reads X twice: once for X v, once for the sum of the samples. The symmetric one
is solved by block Lanczos with full reorthogonalisation, so that no product is wasted and the
iteration stops at the requested residual; the asymmetric one by ARPACK's Arnoldi method.

References
----------
Mondelli and Montanari, Found. Comput. Math. 19 (2019); Luo, Alghamdi and Lu, IEEE Trans. Signal
Process. 67 (2019), for T = 1 - 1/E[z^2 | y]; Defilippis, Dandi, Mergny, Krzakala and Loureiro,
arXiv:2502.02545, for several indices; Wu and Simon, SIAM J. Matrix Anal. Appl. 22 (2000), for
the thick restart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.learners.linear_algebra.thin_products import collect, project
from learnability.statuses import Status

__all__ = ["Eigenvectors", "leading_linearised_vectors", "leading_vectors", "preprocessing"]

Array = NDArray[np.float64]

TOLERANCE = 1e-3
"""Residual over eigenvalue at which the iterations stop."""

MOST_PRODUCTS = 1600
"""Passes over X after which the iterations stop with a larger residual."""

_LARGEST_BASIS = 320  # Largest number of vectors; a restart keeps a third of them.
_TELLING = 512  # Number of samples from which the start is made.
_ARNOLDI_BASIS = 12  # Fewer vectors cost more restarts, more do not save products.


class Eigenvectors(NamedTuple):
    """Leading eigenvectors and how well they are known.

    Attributes
    ----------
    values : array, shape (count,)
        Eigenvalues, largest first.
    vectors : array, shape (count, r, d)
        The vectors, of Frobenius norm one.
    residuals : array, shape (count,)
        ||A v - value v|| / |value|.
    products : int
        Passes over X.
    """

    values: Array
    vectors: Array
    residuals: Array
    products: int

    @property
    def status(self) -> Status:
        """Whether all residuals are within the tolerance, or the iteration stopped before."""
        worst = float(self.residuals.max())
        return Status.CONVERGED if worst <= TOLERANCE else Status.STOPPED


def preprocessing(G: NDArray[Any], floor: float) -> Array:
    """Return T = G (I + G)^-1 = I - E[z z^T | y]^-1, its eigenvalues no lower than a floor.

    Parameters
    ----------
    G : array, shape (n, r, r)
        E[z z^T - I | y]; NaN for labels that do not occur, which then have weight zero.
    floor : float
        A negative number. T is not bounded where E[z z^T | y] is singular.

    Returns
    -------
    array, shape (n, r, r)
    """
    G = np.asarray(G, dtype=float)
    known = np.isfinite(G).all(axis=(1, 2))
    values, frames = np.linalg.eigh(np.where(known[:, None, None], G, 0.0))
    with np.errstate(divide="ignore"):
        clipped = np.where(1 + values > 0, 1 - 1 / np.maximum(1 + values, 0.0), -np.inf)
    return np.asarray(np.einsum("nik,nk,njk->nij", frames, np.maximum(clipped, floor), frames))


def leading_vectors(
    X: NDArray[Any],
    T: NDArray[Any],
    count: int = 1,
    seed: int = 0,
    *,
    outside: NDArray[Any] | None = None,
    tolerance: float = TOLERANCE,
    most_products: int = MOST_PRODUCTS,
) -> Eigenvectors:
    """Return the leading eigenvectors of (1/n) sum_i (x_i x_i^T) kron T_i.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows, float32 or float64.
    T : array, shape (n, r, r)
        Symmetric matrices.
    count : int
        How many eigenvectors, those of the largest eigenvalues.
    seed : int
        The seed of the start.
    outside : array, shape (j, d), optional
        Orthonormal rows: eigenvectors are sought among the vectors orthogonal to them.
    tolerance : float
        Residual over eigenvalue at which the iteration stops.
    most_products : int
        Passes over X after which it stops with a larger residual.

    Returns
    -------
    Eigenvectors
    """
    n, d = X.shape
    r = T.shape[1]
    size = r * (d - (0 if outside is None else len(outside)))
    _check(X, T, "T", count, size)

    def image(block: Array) -> Array:
        blocks = block.reshape(-1, d)
        with np.errstate(all="ignore"):  # What is not finite is found below.
            fields = project(X, blocks).reshape(len(block), r, n)
            weighted = np.einsum("nab,kbn->kan", T, fields, optimize=False)
            found = collect(X, weighted.reshape(-1, n)).astype(float) / n
        _check_finite(found)
        return inside(found.reshape(len(block), -1))

    def inside(block: Array) -> Array:
        if outside is None:
            return block
        rows = block.reshape(-1, d)
        return np.asarray((rows - (rows @ outside.T) @ outside).reshape(len(block), -1))

    start = inside(_start(X, T, count, seed))
    return _block_lanczos(image, start, r, size, tolerance, most_products)


def _start(X: NDArray[Any], T: NDArray[Any], count: int, seed: int) -> Array:
    """Return start vectors (count, r * d) from the samples with the largest eigenvalues of T.

    These are the most informative: for |z| the leading eigenvector of a hundredth of the samples
    has a squared overlap of 0.3 at alpha = 10. A random part is added, so that no symmetry keeps
    the iteration from other eigenvectors.
    """
    d = X.shape[1]
    size, frames = np.linalg.eigh(T)
    told = np.argsort(-size[:, -1], kind="stable")[:_TELLING]
    rows, frame = X[told].astype(float), frames[told, :, -1]
    _check_finite(rows)
    _, mix = _leading((rows @ rows.T) * (frame @ frame.T), min(count, len(told)))
    start = np.einsum("kn,na,nd->kad", mix, frame, rows, optimize=True).reshape(len(mix), -1)
    start /= np.maximum(np.linalg.norm(start, axis=1, keepdims=True), 1e-300)
    random = np.random.default_rng([seed, 7]).standard_normal((count, frames.shape[1] * d))
    random *= 0.1 / math.sqrt(random.shape[1])
    random[: len(start)] += start
    return random


def _block_lanczos(
    image: Callable[[Array], Array],
    start: Array,
    r: int,
    size: int,
    tolerance: float,
    most_products: int,
) -> Eigenvectors:
    """Return leading eigenvectors from a block of start vectors, with thick restarts."""
    count, length = start.shape
    room = max(_LARGEST_BASIS, 4 * count) + count
    store = np.empty((2, min(room, size), length))
    held, block, products, look_at = 0, start, 0, 0
    small = np.zeros((0, 0))
    while True:
        block = _orthonormal(block, store[0, :held])[: size - held]
        held += len(block)
        store[0, held - len(block) : held] = block
        store[1, held - len(block) : held] = image(block)
        basis, images = store[:, :held]
        products += 2
        small = _bordered(small, basis @ images[-len(block) :].T)
        exhausted = held >= size or products >= most_products
        # Ritz values cost more as the basis grows, so they are computed less often then.
        if exhausted or held >= look_at:
            look_at = held + max((held - 20) // 8, 1)
            values, mix = _leading(small, min(count, held))
            gap = mix @ images - values[:, None] * (mix @ basis)
            residuals = np.linalg.norm(gap, axis=1) / np.maximum(np.abs(values), 1e-300)
            if exhausted or (len(values) == count and residuals.max() <= tolerance):
                break
        block = images[-len(block) :].copy()
        if held + count > len(store[0]) < size:
            # The images of the kept vectors leave their span only along the next block.
            block -= (block @ basis.T) @ basis
            values, mix = _leading(small, max(held // 3, 2 * count))
            store[:, : len(mix)] = mix @ store[:, :held]
            held, look_at, small = len(mix), 0, np.diag(values)
    vectors = (mix @ basis).reshape(len(values), r, -1)
    return Eigenvectors(values, vectors, residuals, products)


def _leading(small: Array, count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix, and eigenvectors in rows."""
    from scipy.linalg import eigh

    values, vectors = eigh(small, subset_by_index=[len(small) - count, len(small) - 1])
    return values[::-1], vectors[:, ::-1].T


def _orthonormal(block: Array, basis: Array) -> Array:
    """Return orthonormal rows that span, with the basis, what the block and the basis do.

    A vector that adds nothing, because the basis is already invariant, is replaced by a random one.
    """
    rng = np.random.default_rng(len(basis))
    for _ in range(3):
        length = np.linalg.norm(block, axis=1, keepdims=True)
        block = block / np.maximum(length, 1e-300)
        for _ in range(2):
            block = block - (block @ basis.T) @ basis
        rows, upper = np.linalg.qr(block.T)
        lost = np.abs(np.diag(upper)) < 1e-7
        if not lost.any():
            return rows.T
        block = rows.T.copy()
        block[lost] = rng.standard_normal((int(lost.sum()), block.shape[1]))
    return rows.T


def _bordered(small: Array, columns: Array) -> Array:
    """Return the projected matrix with new last columns, made symmetric."""
    old = len(small)
    grown = np.empty((len(columns), len(columns)))
    grown[:old, :old] = small
    grown[:, old:] = columns
    grown[old:, :old] = columns[:old].T
    grown[old:, old:] = 0.5 * (columns[old:] + columns[old:].T)
    return grown


def leading_linearised_vectors(
    X: NDArray[Any],
    G: NDArray[Any],
    count: int = 1,
    seed: int = 0,
    *,
    outside: NDArray[Any] | None = None,
    tolerance: float = TOLERANCE,
) -> Eigenvectors:
    """Return the leading eigenvectors of linearised message passing, as estimates of the weights.

    The matrix has blocks (x_i . x_j / d - delta_ij) G_j. Of an eigenvector with blocks o_i the
    estimate is sum_i x_i kron (G_i o_i).

    Parameters
    ----------
    X, count, seed, outside, tolerance
        As in `leading_vectors`.
    G : array, shape (n, r, r)
        E[z z^T - I | y].

    Returns
    -------
    Eigenvectors
        Largest real parts first, which are the values; a complex pair gives its real and
        imaginary parts.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

    n, d = X.shape
    r = G.shape[1]
    if n * r < 3:
        raise LearnabilityError(
            f"The asymmetric matrix of {n} samples has {n * r} rows, but at least 3 are needed."
        )
    _check(X, G, "G", count, n * r - 2)
    products = 0

    def weighted(flat: Array) -> Array:
        return np.asarray(np.einsum("nab,bn->an", G, flat.reshape(r, n), optimize=False))

    def estimate(inner: Array) -> Array:
        nonlocal products
        products += 1
        with np.errstate(all="ignore"):  # What is not finite is found below.
            found = collect(X, inner).astype(float) / d
        _check_finite(found)
        return np.asarray(found if outside is None else found - (found @ outside.T) @ outside)

    def image(flat: Array) -> Array:
        nonlocal products
        products += 1
        inner = weighted(flat)
        return (project(X, estimate(inner)).astype(float) - inner).ravel()

    rows = _start(X, G, 1, seed).reshape(r, d)
    with np.errstate(all="ignore"):
        start = project(X, rows).astype(float).ravel()
    _check_finite(start)
    products += 1
    operator = LinearOperator((n * r, n * r), matvec=image, dtype=np.dtype(float))
    basis = min(max(4 * count, _ARNOLDI_BASIS), n * r)
    restarts = max(MOST_PRODUCTS // (2 * basis), 2)
    values: NDArray[Any]
    flats: NDArray[Any]
    try:
        values, flats = eigs(
            operator, count, which="LR", v0=start, ncv=basis, tol=tolerance, maxiter=restarts
        )
    except ArpackNoConvergence as stopped:
        values, flats = stopped.eigenvalues, stopped.eigenvectors
    if not len(values):  # Nothing stands out: the start is as good as any vector.
        start = start / np.linalg.norm(start)
        values, flats = np.array([start @ image(start) + 0j]), start[:, None] + 0j
    real: list[float] = []
    columns: list[Array] = []
    residuals: list[float] = []
    for k in np.argsort(-values.real, kind="stable"):
        value, flat = values[k], flats[:, k]
        partner = values[np.argmin(np.abs(values - value.conj()))]
        if value.imag < 0 and abs(partner - value.conj()) <= 1e-9 * abs(value):
            continue  # The other member of the pair stands for both.
        parts = [flat.real, flat.imag] if value.imag else [flat.real]
        images = [image(part) for part in parts]
        gap = sum(f * part for f, part in zip((1, 1j), images, strict=False)) - value * flat
        for part in parts[: count - len(real)]:
            real.append(float(value.real))
            columns.append(estimate(weighted(part)))
            residuals.append(float(np.linalg.norm(gap)) / max(abs(value), 1e-300))
    vectors = np.array(columns)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=(1, 2), keepdims=True), 1e-300)
    return Eigenvectors(np.array(real), vectors, np.array(residuals), products)


def _check(X: NDArray[Any], weights: NDArray[Any], name: str, count: int, size: int) -> None:
    n = len(X)
    if weights.ndim != 3 or len(weights) != n or weights.shape[1] != weights.shape[2]:
        raise LearnabilityError(
            f"`{name}` has shape {weights.shape}, but (n, r, r) with n = {n} is accepted."
        )
    if not np.isfinite(weights).all():
        raise LearnabilityError(
            f"`{name}` holds numbers that are not finite: leave out those samples, or weigh them "
            "by zero."
        )
    if not weights.any():
        raise LearnabilityError(f"`{name}` is zero for every sample: no direction stands out.")
    if isinstance(count, bool) or not 1 <= count <= size:
        raise LearnabilityError(
            f"`count` was given as {count!r}, but whole numbers from 1 to {size} are accepted."
        )


def _check_finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise LearnabilityError("`X` holds numbers that are not finite, or far too large.")
