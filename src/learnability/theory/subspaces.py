"""Subspaces that carry a signal, and those that carry none as far as the numerics can tell."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, LinkError
from learnability.expressions.crossings import points_beside_breaks
from learnability.expressions.structure import soft_edges
from learnability.gaussian.hermite_products import symmetric_basis
from learnability.gaussian.sections import Section, basis_of
from learnability.labels.conditional import ConditionalMoments
from learnability.labels.continuous_laws import LatentLaw
from learnability.labels.hermite import HermiteExpansion, expand
from learnability.labels.laws import Law
from learnability.labels.link import Link

__all__ = ["Signal", "bayes_operator", "hermite_orders", "open_range", "relevant_subspace"]

Array = NDArray[np.float64]

_SHOWN = 1e-6
"""A direction that carries this share of the squared slopes is shown by them."""
_STEEP = 20.0  # A steeper function changes within a twentieth of a standard deviation.


def hermite_orders(r: int) -> tuple[int, ...]:
    """Return the orders up to which a link in r variables is expanded, tried one after another."""
    return (4, {1: 24, 2: 14, 3: 10, 4: 9}[r]) if r <= 4 else (2, 4, 6)


def is_square_integrable(link: Link) -> bool:
    """Return whether E[g^2] is finite as far as quadrature can tell; a bad link still raises."""
    return _why_not_expanded(link) is None


def _why_not_expanded(link: Link) -> str | None:
    """Return the sentence that says why a link has no Hermite expansion; None when it has one."""
    try:
        expand(link, hermite_orders(link.r)[0])
    except LinkError:
        raise
    except LearnabilityError as reason:
        return str(reason)
    return None


def relevant_subspace(link: Link) -> tuple[Array, str | None]:
    """Return the directions on which g depends.

    Hermite tensors bound the subspace from below; whether g is constant along the rest is then
    tested at random points. If it is not, every direction counts.

    Returns
    -------
    basis : array, shape (k, r)
        Orthonormal rows; k = 0 for a constant link.
    note : str or None
        A sentence when the subspace could not be settled.
    """
    if link.law is not None:
        return _of_law(link.law)
    if (reason := _why_not_expanded(link)) is not None:
        return np.eye(link.r), f"{reason} All its directions are counted as relevant."
    for order in hermite_orders(link.r):
        expansion = expand(link, order)
        total = sum(
            (_unfolded(expansion, k) for k in range(1, order + 1) if expansion.is_zero(k) is False),
            np.zeros((link.r, link.r)),
        )
        size = np.linalg.eigvalsh(total)
        floor = max(1e-11 * expansion.variance, 100 * max(expansion.errors) ** 2, 1e-300)
        rank = int(np.sum(size > floor))
        if rank == link.r:
            return np.eye(link.r), None
        basis = top_range(total, rank)
        if _does_not_change(link, np.eye(link.r) - basis.T @ basis):
            return basis, None
    return np.eye(link.r), (
        "Some directions show no Hermite coefficient up to order "
        f"{hermite_orders(link.r)[-1]}, yet g depends on them; all are counted as relevant."
    )


def refuse_spikes(link: Link) -> None:
    """Refuse a link with a smooth spike that samples miss, as integrals would miss it too.

    Raises
    ------
    LearnabilityError
        When a function in it such as tanh or exp changes in so small a cell.
    """
    for part in (link,) if link.law is None else link.law.parts:
        if part.tree is None:
            continue
        edges = [Link._from_tree(edge, part.r) for edge in soft_edges(part.tree)]
        samples = np.random.default_rng(61).standard_normal((2**14, part.r))
        for edge in edges:
            low, high = np.split(points_beside_breaks([edge], part.r), 2)
            at_low, at_high = np.asarray(edge(low)), np.asarray(edge(high))
            steep = np.abs(at_high - at_low) > _STEEP * np.linalg.norm(high - low, axis=1)
            common = np.asarray(edge(samples)) > 0
            if steep.any() and common.all() | ~common.any():
                raise LearnabilityError(
                    f"{link!r} changes in a cell, where {edge.text or edge!r} has another sign, "
                    "that is so small that samples do not meet it, so what it shows is not known."
                )


def _of_law(law: Law) -> tuple[Array, str | None]:
    """Return the visible directions on which any part of a law of the label depends."""
    shown = _by_slopes(law) if isinstance(law, LatentLaw) else None
    if shown is not None:
        return shown, None
    found = [relevant_subspace(part) for part in law.parts]
    rows = np.vstack([basis[:, : law.r] for basis, _ in found])
    together = rows.T @ rows
    rank = int(np.linalg.matrix_rank(together, tol=1e-9)) if len(rows) else 0
    note = next((note for _, note in found if note), None)
    return top_range(together, rank), note


def _by_slopes(law: LatentLaw) -> Array | None:
    """Return the visible directions along which slopes show a label to change, (k, r).

    An expansion in visible and latent variables is costly, and a slope is proof as well. None
    where they do not tell all directions, or a part of the label has no expansion.
    """
    core, r = law.core, law.r
    if core.tree is None or any(_why_not_expanded(part) is not None for part in law.summands):
        return None
    z = np.random.default_rng(19).standard_normal((512, core.r))
    with np.errstate(all="ignore"):
        slopes = np.stack([np.asarray(d(z), dtype=float) for d in core.gradient()[:r]], axis=1)
    size = np.linalg.norm(slopes, axis=1)
    slopes = slopes[np.isfinite(size) & (size > 0)]
    if not len(slopes):
        return None
    unit = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
    total = unit.T @ unit / len(unit)
    basis = top_range(total, int(np.sum(np.linalg.eigvalsh(total) > _SHOWN)))
    projector = np.zeros((core.r, core.r))
    projector[:r, :r] = np.eye(r) - basis.T @ basis
    return basis if len(basis) == r or _does_not_change(core, projector) else None


def _unfolded(expansion: HermiteExpansion, k: int) -> Array:
    flat = expansion.tensors[k].reshape(expansion.link.r, -1)
    return flat @ flat.T / math.factorial(k)


def top_range(matrix: Array, rank: int) -> Array:
    """Return orthonormal rows (rank, m) spanning leading eigenvectors of a symmetric matrix."""
    _, vectors = np.linalg.eigh(matrix)
    block = vectors[:, len(matrix) - rank :]
    return basis_of(block @ block.T, rank)


def _does_not_change(link: Link, projector: Array) -> bool:
    rng = np.random.default_rng(17)
    z = np.concatenate([rng.standard_normal((512, link.r)), Section.whole(link).beside_breaks])
    moved = z + 2 * rng.standard_normal(z.shape) @ projector
    before, after = np.asarray(link(z)), np.asarray(link(moved))
    return bool(np.allclose(before, after, rtol=1e-8, atol=1e-9 * (1e-300 + np.abs(before).max())))


class Signal:
    """Verdict on a PSD matrix of squared signals: the range that is open, and what is in doubt.

    Attributes
    ----------
    basis : array, shape (k, m)
        Orthonormal rows of the range.
    doubt : bool
        Whether an eigenvalue could not be told from zero.
    tilt : float
        Error of the range, as a sine: the error of the entries over the smallest eigenvalue that
        counts.
    """

    def __init__(self, basis: Array, doubt: bool, tilt: float = 0.0) -> None:
        self.basis, self.doubt, self.tilt = basis, doubt, tilt


def open_range(matrix: Array, error: float, scale: float, floor: float = 1e-10) -> Signal:
    """Return the range of a PSD matrix known up to an error in its entries.

    An eigenvalue counts when it exceeds ten errors and `floor` times the scale, and is zero when
    it is below five errors and these are below 1e-3 of the scale; in between it is in doubt.
    """
    if not len(matrix):
        return Signal(np.zeros((0, 0)), False)
    values = np.linalg.eigvalsh(0.5 * (matrix + matrix.T))
    counts = values > max(10 * error, floor * scale, 1e-12 * values[-1])
    doubt = bool(np.any(~counts & (values > 5 * error + floor * scale))) or error > 1e-3 * scale
    tilt = min(error / values[counts].min(initial=np.inf), 1.0) if counts.sum() > 0 else 0.0
    return Signal(top_range(0.5 * (matrix + matrix.T), int(counts.sum())), doubt, tilt)


def bayes_operator(moments: Array, m: int) -> Array:
    """Return the map M -> E[G M G], G = E[z z^T - I | y], as a symmetric matrix.

    Parameters
    ----------
    moments : array, shape (q, q)
        K_2 in the orthonormal products of order 2 of m coordinates.
    m : int
        Number of coordinates.

    Returns
    -------
    array, shape (q, q)
        In the basis E_ii, (E_ij + E_ji) / sqrt(2), in the order of `multi_indices(m, 2)`.
    """
    basis = symmetric_basis(m)
    # This is K G with G = sqrt(2) sum_b zeta_b E_b.
    image = 2 * np.einsum("pq,pij,kjl,qlm->kim", moments, basis, basis, basis, optimize=True)
    operator = np.einsum("nim,kim->nk", basis, image)
    return np.asarray(0.5 * (operator + operator.T))


def _eigenvalue_of(function: Callable[[Array], Array], j: int) -> Callable[[Array], float]:
    return lambda matrix: float(np.linalg.eigvalsh(function(matrix))[j])


def threshold(moments: ConditionalMoments, m: int) -> tuple[float, float, Array]:
    """Return the operator's largest eigenvalue, its error, and the subspace (k, m) it opens.

    The subspace is the range of the projection of the identity on the top eigenspace: the
    largest range of a PSD matrix in it (Krein-Rutman).
    """
    value, error = moments.functional(lambda k: float(np.linalg.eigvalsh(bayes_operator(k, m))[-1]))
    # The largest of several equal eigenvalues is too large by the errors of their block.
    sizes, vectors = np.linalg.eigh(bayes_operator(moments.matrix, m))
    equal = value - 4 * moments.norm_error(lambda k: bayes_operator(k, m))
    leading = vectors[:, sizes >= equal]
    error = max(error, moments.norm_error(lambda k: leading.T @ bayes_operator(k, m) @ leading))
    basis = symmetric_basis(m)
    identity = np.einsum("qii->q", basis)
    gap = max(10 * error, 1e-7 * abs(value))

    def opened(matrix: Array) -> Array:
        values, vectors = np.linalg.eigh(bayes_operator(matrix, m))
        top = vectors[:, values > values[-1] - gap]
        found = np.einsum("q,qij->ij", top @ (top.T @ identity), basis)
        return np.asarray(found / max(float(np.linalg.eigvalsh(found)[-1]), 1e-300))

    rank = 0
    for j in range(m):
        size, doubt = moments.functional(_eigenvalue_of(opened, j))
        rank += size > max(10 * doubt, 1e-5)
    return value, error, top_range(opened(moments.matrix), rank)


def whole_section(link: Link, relevant: Array) -> Section:
    """Return the link on its relevant directions."""
    return Section.whole(link).inside(relevant)
