"""Moment methods of sufficient dimension reduction, from the moments of x inside slices of y.

With shares p_h, means m_h and second moments S_h of white x in slice h, the directions are the
leading eigenvectors of

    sir    sum p_h m_h m_h^T
    save   sum p_h (I - V_h)^2,                       V_h = S_h - m_h m_h^T
    dr     2 sum p_h S_h^2 + 2 G^2 + 2 tr(G) G - 2 I,  G = sum p_h m_h m_h^T
    phd    (sum p_h c_h (S_h - I))^2,                  c_h the normal score of the slice
           (for unordered classes sum p_h (S_h - I)^2)

and "learned" maximises sum_j |U^T m_j|^2 + |U^T S_j U|^2 / 2 over orthonormal U by power steps,
with moments against an orthonormal basis of functions of y: the preprocessing is learned with U.
All but the last act through products with thin matrices.

References
----------
Li, JASA 86 (1991) 316; Cook and Weisberg, ibid. 328; Li and Wang, JASA 102 (2007) 997; Li, JASA 87
(1992) 1025.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.special import ndtri

from learnability.errors import LearnabilityError
from learnability.estimators._whitening import row_blocks

__all__ = [
    "METHODS",
    "SliceMoments",
    "bulk_edge",
    "leading_directions",
    "learned_directions",
    "tilted_directions",
]

Array = NDArray[np.float64]
METHODS = ("sir", "save", "dr", "phd", "learned")


@dataclass(frozen=True)
class SliceMoments:
    """Moments of white x in the slices of y.

    Attributes
    ----------
    shares : array, shape (H,)
        The shares p_h.
    means : array, shape (H, k)
        The means m_h.
    seconds : list of H arrays, shape (k, k), or a callable
        The S_h, or the map of (H, k, q) or (1, k, q) arrays V to the S_h V_h of all slices.
    ordered : bool
        Whether the order of the slices means something.
    total : float
        Number of rows.
    """

    shares: Array
    means: Array
    seconds: Any
    ordered: bool
    total: float

    def each(self, V: Array) -> Array:
        """Return S_h V_h of all slices, (H, k, q), from V of that shape or (1, k, q)."""
        if callable(self.seconds):
            return np.asarray(self.seconds(V))
        return np.stack([S @ V[h % len(V)] for h, S in enumerate(self.seconds)])

    def basis(self, most: int = 8) -> Array:
        """Return orthonormal functions of the slice with mean zero, shape (m, H)."""
        H = len(self.shares)
        if self.ordered:
            middle = np.cumsum(self.shares) - self.shares / 2
            rows = np.cos(np.pi * np.arange(1, min(most, H - 1) + 1)[:, None] * middle)
        else:
            rows = np.eye(H)[: H - 1] if H > 1 else np.zeros((0, H))
        weighted = (rows - rows @ self.shares[:, None]) * np.sqrt(self.shares)
        left, _ = np.linalg.qr(weighted.T)
        return np.asarray(left.T / np.sqrt(self.shares))


def leading_directions(moments: SliceMoments, method: str, r: int) -> tuple[Array, Array]:
    """Return eigenvalues (q,) in decreasing order and eigenvectors (k, q) of the method's matrix.

    Parameters
    ----------
    moments : SliceMoments
        Moments in the slices.
    method : str
        One of `METHODS` except "learned".
    r : int
        Number of directions that are needed; small matrices give all eigenvalues.

    Returns
    -------
    tuple of arrays
    """
    k = moments.means.shape[1]
    if method == "sir":  # Its rank is at most H: no k x k matrix is needed.
        weighted = moments.means * np.sqrt(moments.shares)[:, None]
        left, values, _ = np.linalg.svd(weighted.T, full_matrices=False)
        keep = values > 1e-8 * max(values[0], 1e-300)
        return values[keep] ** 2, left[:, keep]
    apply = _KERNELS[method]
    if callable(moments.seconds):
        values, vectors = _lanczos(lambda U: apply(moments, U), k, r)
    else:
        columns = [np.eye(k)[:, block] for block in row_blocks(0, k, 128)]
        matrix = np.concatenate([apply(moments, some) for some in columns], axis=1)
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return values[::-1], vectors[:, ::-1]


def _lanczos(apply: Callable[[Array], Array], k: int, r: int) -> tuple[Array, Array]:
    """Return the r largest eigenvalues in increasing order, and their eigenvectors."""
    operator = LinearOperator(
        (k, k), matvec=lambda u: apply(u.reshape(k, -1)).ravel(), dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(k)
    lanczos: Any = eigsh
    try:
        values, vectors = lanczos(
            operator, k=min(r, k - 1), which="LA", v0=start, tol=1e-3, maxiter=30
        )
    except ArpackNoConvergence as unfinished:
        raise LearnabilityError(
            f"Only {len(unfinished.eigenvalues)} of {r} directions stand out from the others: ask "
            "for fewer, or use `method` 'sir'."
        ) from None
    return values, vectors


def _save(moments: SliceMoments, U: Array) -> Array:
    m = moments.means

    def without(V: Array) -> Array:
        along = np.einsum("hk,hkq->hq", m, np.broadcast_to(V, (len(m), *V.shape[1:])))
        return np.asarray(V - moments.each(V) + m[:, :, None] * along[:, None, :])

    return np.asarray(np.einsum("h,hkq->kq", moments.shares, without(without(U[None]))))


def _dr(moments: SliceMoments, U: Array) -> Array:
    def between(V: Array) -> Array:
        return moments.means.T @ (moments.shares[:, None] * (moments.means @ V))

    trace = float(moments.shares @ (moments.means**2).sum(axis=1))
    squares = np.einsum("h,hkq->kq", moments.shares, moments.each(moments.each(U[None])))
    return np.asarray(2 * squares + 2 * between(between(U)) + 2 * trace * between(U) - 2 * U)


def _phd(moments: SliceMoments, U: Array) -> Array:
    if moments.ordered or len(moments.shares) == 2:
        score = ndtri(np.cumsum(moments.shares) - moments.shares / 2)
        weights = moments.shares * (score - moments.shares @ score)

        def tilted(V: Array) -> Array:
            seen = np.einsum("h,hkq->kq", weights, moments.each(V[None]))
            return np.asarray(seen - weights.sum() * V)

        return np.asarray(tilted(tilted(U)))

    def centred(V: Array) -> Array:
        return moments.each(V) - V

    return np.asarray(np.einsum("h,hkq->kq", moments.shares, centred(centred(U[None]))))


_KERNELS: dict[str, Callable[[SliceMoments, Array], Array]] = {
    "save": _save,
    "dr": _dr,
    "phd": _phd,
}


def learned_directions(
    moments: SliceMoments, r: int, rng: np.random.Generator, *, starts: int = 12, steps: int = 60
) -> tuple[Array, Array]:
    """Return directions with learned preprocessing: the best of several runs of power steps.

    Returns
    -------
    tuple of arrays
        Share of each direction in the maximum (r,) in decreasing order, and the directions (k, r).
    """
    basis = moments.basis() * moments.shares
    k = moments.means.shape[1]
    r = min(r, k)
    first = basis @ moments.means
    stack = np.stack([S for S in moments.seconds])
    second = np.einsum("mh,hab->mab", basis, stack, optimize=True)
    best: tuple[float, Array, Array] | None = None
    linear = np.linalg.svd(first.T, full_matrices=False)[0]
    for start in range(starts):
        U = rng.standard_normal((k, r))
        if start == 0:
            U[:, : min(r, linear.shape[1])] = linear[:, :r]
        U = np.linalg.qr(U)[0]
        old = -np.inf
        for _ in range(steps):
            SU = second @ U
            inner = np.einsum("ka,mkb->mab", U, SU)
            value = float(((first @ U) ** 2).sum() + (inner**2).sum() / 2)
            if value - old < 1e-5 * value:
                break
            old = value
            U = np.linalg.qr(first.T @ (first @ U) + np.einsum("mka,mab->kb", SU, inner))[0]
        if best is None or value > best[0]:
            shares = ((first @ U) ** 2).sum(axis=0) + (inner**2).sum(axis=(0, 1)) / 2
            best = (value, U, shares)
    assert best is not None
    order = np.argsort(best[2])[::-1]
    return best[2][order], best[1][:, order]


def tilted_directions(moments: SliceMoments, r: int) -> list[Array]:
    """Return leading eigenvectors (k, r) of sum p_h T_h S_h for three shapes of T, for numbers.

    The best T of a link is 1 - 1 / E[z^2 | y], bounded above and very negative where y implies that
    z is small. It is computed for a y that rises with |z|, falls with |z|, or rises with z. Below
    three samples per coordinate this choice matters more than any other.

    References
    ----------
    Mondelli and Montanari, Found. Comput. Math. 19 (2019) 703.
    """
    u = np.cumsum(moments.shares) - moments.shares / 2
    found = []
    for z in (ndtri((1 + u) / 2), ndtri(1 - u / 2), ndtri(u)):
        T = 1 - 1 / np.maximum(z**2, 0.02)
        weights = moments.shares * T / np.sqrt(moments.shares @ T**2)
        matrix = sum(w * S for w, S in zip(weights, moments.seconds, strict=True))
        k = len(matrix)
        _, vectors = eigh(matrix, subset_by_index=[max(k - r, 0), k - 1])
        found.append(vectors[:, ::-1])
    return found


def bulk_edge(moments: SliceMoments, method: str) -> float:
    """Return where the leading eigenvalue lies when y is independent of Gaussian x.

    For "sir" it is the edge of the Marchenko-Pastur law of H - 1 means; for "learned" with m
    functions an upper bound of Chevet's type, (sqrt(2 k) + sqrt(2 m))^2 / n, with a margin for
    finite sizes. The other matrices have no closed form, and the result is NaN.
    """
    k = moments.means.shape[1]
    m = max(len(moments.shares) - 1, 1)
    if method == "sir":
        return float((np.sqrt(k) + np.sqrt(m)) ** 2 / moments.total)
    if method == "learned":
        m = len(moments.basis())
        margin = 1 + 2 * k ** (-2 / 3)
        return float((np.sqrt(2 * k) + np.sqrt(2 * m)) ** 2 / moments.total * margin)
    return float("nan")
