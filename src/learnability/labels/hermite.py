"""Hermite analysis of a link: coefficients, tensors, exponent, visible subspaces.

The order-k tensor C_k = E[g(z) He_k(z)] has entries C_{i1...ik} = E[g prod_j He_{beta_j}(z_j)]
with beta the counts of the indices; |P_k g|^2 = |C_k|_F^2 / k!. A polynomial is transformed by
exact algebra; any other link by the rules of `gaussian.quadrature`, with zeros from its sign
symmetries.

References
----------
Information exponent: Ben Arous, Gheissari, Jagannath, JMLR 22 (2021), definition 1.2.
Subspaces visible at an order: Abbe, Boix-Adsera, Misiakiewicz, COLT 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError, LinkError
from learnability.gaussian.hermite_products import multi_indices, root_factorials
from learnability.gaussian.quadrature import adapted_frame, rules_for
from learnability.gaussian.rules import Rule
from learnability.gaussian.sections import REACH, Section, basis_of
from learnability.labels.link import Link

__all__ = ["Eigenspace", "HermiteExpansion", "expand", "tensor"]

Array = NDArray[np.float64]

NORMALISATIONS = ("raw", "taylor", "orthonormal")
MOST_ENTRIES = 2_000_000
ZERO = 1e-9
"""A coefficient below this share of sqrt(E[g^2]) counts as zero unless algebra says otherwise."""


@dataclass(frozen=True)
class Eigenspace:
    """An eigenspace of A_k = unfold(C_k) unfold(C_k)^T; no direction inside it is singled out.

    Attributes
    ----------
    eigenvalue : float
        Its eigenvalue.
    basis : array, shape (multiplicity, r)
        Orthonormal rows.
    """

    eigenvalue: float
    basis: Array = field(repr=False)


@dataclass(frozen=True)
class HermiteExpansion:
    """The Hermite tensors of a link up to an order.

    Attributes
    ----------
    link : Link
        The link.
    tensors : tuple of array
        Raw tensors C_0 ... C_K, C_k of shape (r,) * k.
    errors : tuple of float
        Error of the largest orthonormal coefficient of each order; 0.0 when exact.
    energy, energy_error : float
        E[g^2] and its error.
    method : str
        ``"exact"`` (rational algebra), ``"algebra"`` (the same in floats), or the rule of
        `quadrature`: ``"product"``, ``"planes"``, ``"lines"`` or ``"sobol"``.
    """

    link: Link
    tensors: tuple[Array, ...] = field(repr=False)
    errors: tuple[float, ...]
    energy: float
    energy_error: float
    method: str

    @property
    def order(self) -> int:
        """Highest order."""
        return len(self.tensors) - 1

    @property
    def mean(self) -> float:
        """E[g]."""
        return float(self.tensors[0])

    @property
    def variance(self) -> float:
        """E[g^2] - E[g]^2."""
        return max(self.energy - self.mean**2, 0.0)

    def power(self, k: int) -> float:
        """Return |P_k g|^2, the part of E[g^2] at order k.

        Parameters
        ----------
        k : int
            The order.
        """
        return float(np.sum(self.tensors[k] ** 2)) / math.factorial(k)

    @property
    def remainder(self) -> float:
        """E[g^2] minus the parts of order 0 to K (Parseval)."""
        return max(self.energy - sum(self.power(k) for k in range(self.order + 1)), 0.0)

    def is_zero(self, k: int) -> bool | None:
        """Return whether C_k vanishes; None when the numerics cannot tell.

        Parameters
        ----------
        k : int
            The order.
        """
        size = math.sqrt(float(np.max(self.tensors[k] ** 2, initial=0.0)) / math.factorial(k))
        error, scale = self.errors[k], math.sqrt(self.energy)
        if self.method == "exact":
            # Decimals of a formula, such as those of a rotation, are themselves rounded.
            return size <= 1e-13 * scale
        if size > max(10 * error, ZERO * scale):
            return False
        return True if size <= max(5 * error, ZERO * scale) and error < 1e-6 * scale else None

    @property
    def information_exponent(self) -> int | None:
        """Smallest k >= 1 with C_k != 0; None when no order up to K shows one."""
        return self.exponent_from(1)

    def exponent_from(self, least: int) -> int | None:
        """Return the information exponent when a lower bound of it is known.

        Parameters
        ----------
        least : int
            The lower bound, such as the generative exponent.
        """
        for k in range(least, self.order + 1):
            if self.is_zero(k) is False:
                return k
            if self.is_zero(k) is None:
                return None
        return None

    @property
    def undecided(self) -> tuple[int, ...]:
        """Orders whose tensor is neither zero nor not, as far as the numerics can tell."""
        return tuple(k for k in range(1, self.order + 1) if self.is_zero(k) is None)

    def visible(self, k: int) -> tuple[Eigenspace, ...]:
        """Return eigenspaces with non-zero eigenvalue of A_k, largest first.

        Parameters
        ----------
        k : int
            The order.
        """
        if self.is_zero(k) is not False:
            return ()
        unfolded = self.tensors[k].reshape(self.link.r, -1)
        return eigenspaces(unfolded @ unfolded.T, 1e-9)


def eigenspaces(matrix: Array, tolerance: float) -> tuple[Eigenspace, ...]:
    """Eigenspaces of a PSD matrix above `tolerance` times its norm, equal eigenvalues together."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    top = max(values[-1], 0.0)
    found: list[Eigenspace] = []
    k = len(values) - 1
    while k >= 0 and values[k] > max(tolerance * top, 0.0):
        low = k
        while low > 0 and values[k] - values[low - 1] <= max(tolerance, 1e-9) * top:
            low -= 1
        block = vectors[:, low : k + 1]
        basis = basis_of(block @ block.T, k + 1 - low)
        found.append(Eigenspace(float(values[low : k + 1].mean()), basis))
        k = low - 1
    return tuple(found)


def tensor(link: Link, order: int, normalisation: str = "raw") -> Array:
    """Return the order-k Hermite tensor in a named normalisation; see `Link.hermite`."""
    if normalisation not in NORMALISATIONS:
        raise LearnabilityError(
            f"`normalisation` was given as {normalisation!r}, but one of "
            f"{', '.join(NORMALISATIONS)} is accepted."
        )
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 0:
        raise LearnabilityError(
            f"`order` was given as {order!r}, but a whole number from 0 is accepted."
        )
    value = expand(link, int(order), only_last=True).tensors[-1]
    if normalisation != "raw":
        factorial = math.factorial(order)
        value = value / (factorial if normalisation == "taylor" else math.sqrt(factorial))
    return value.reshape(())[()] if link.r == 1 else value


def expand(link: Link, order: int, only_last: bool = False) -> HermiteExpansion:
    """Return the Hermite tensors of a link up to an order.

    Parameters
    ----------
    link : Link
        Any link.
    order : int
        Highest order K; r**K is bounded.
    only_last : bool
        Leave the tensors below K at zero (cheaper when only C_K is wanted).

    Returns
    -------
    HermiteExpansion
    """
    if link.r**order > MOST_ENTRIES or order > 150:
        raise LearnabilityError(
            f"A Hermite tensor of order {order} in {link.r} variables was asked, but at most order "
            f"150 and {MOST_ENTRIES} entries are accepted."
        )
    key = ("hermite", order, only_last)
    if key not in link._cache:
        terms = link.polynomial
        wanted = [order] if only_last else list(range(order + 1))
        link._cache[key] = (
            _by_quadrature(link, order, wanted)
            if terms is None
            else _by_algebra(link, terms, order)
        )
    found: HermiteExpansion = link._cache[key]
    return found


def _by_algebra(
    link: Link, terms: dict[tuple[int, ...], Fraction | float], order: int
) -> HermiteExpansion:
    """Compute exactly: E[x^n He_b] = n! / (2^j j!) with n - b = 2j >= 0."""
    coefficients: dict[tuple[int, ...], Fraction | float] = {}
    for exponents, factor in terms.items():
        options = [
            [
                (n - 2 * j, Fraction(math.factorial(n), 2**j * math.factorial(j)))
                for j in range(n // 2 + 1)
            ]
            for n in exponents
        ]
        partial: list[tuple[tuple[int, ...], Fraction | float]] = [((), factor)]
        for option in options:
            partial = [
                ((*beta, b), value * weight) for beta, value in partial for b, weight in option
            ]
        for beta, value in partial:
            coefficients[beta] = coefficients.get(beta, 0) + value
    energy = sum(
        float(value) ** 2 / math.prod(map(math.factorial, beta))
        for beta, value in coefficients.items()
    )
    tensors = []
    for k in range(order + 1):
        betas = multi_indices(link.r, k)
        raw = np.array([float(coefficients.get(tuple(map(int, beta)), 0)) for beta in betas])
        tensors.append(symmetric_tensor(raw, link.r, k))
    return HermiteExpansion(link, tuple(tensors), (0.0,) * (order + 1), float(energy), 0.0, "exact")


def _by_quadrature(link: Link, order: int, wanted: list[int]) -> HermiteExpansion:
    whole = Section.whole(link)
    frame = adapted_frame(whole)
    section = whole.inside(frame)
    rules, method = rules_for(section)
    estimates: list[list[Array]] = []
    energies, tails = [], []
    for rule in rules:
        values = _reached(rule, section)
        energies.append(rule.mean(values**2))
        far = (np.abs(rule.inner) > 0.85 * max(REACH, np.abs(rule.inner).max())).any(axis=-1)
        tails.append(rule.mean(values**2 * far))
        moments = rule.hermite_moments(values, wanted)
        estimates.append(
            [
                moments[k][0] if k in moments else np.zeros(len(multi_indices(link.r, k)))
                for k in range(order + 1)
            ]
        )
    if method == "sobol":
        count = len(rules)
        best = [np.mean([e[k] for e in estimates], axis=0) for k in range(order + 1)]
        errors = [
            float(np.max(np.std([e[k] for e in estimates], axis=0, ddof=1), initial=0.0))
            / math.sqrt(count)
            for k in range(order + 1)
        ]
        energy, energy_error = (
            float(np.mean(energies)),
            float(np.std(energies, ddof=1) / math.sqrt(count)),
        )
    else:
        best = estimates[0]
        errors = [
            float(np.max(np.abs(best[k] - estimates[1][k]), initial=0.0)) for k in range(order + 1)
        ]
        energy, energy_error = energies[0], abs(energies[0] - energies[1])
    if energy_error > 0.02 * energy or max(tails) > 1e-4 * energy:
        raise LearnabilityError(
            f"E[g^2] of {link!r} does not settle ({energies[0]:.4g} against {energies[-1]:.4g}, "
            f"{max(tails):.2g} of it in the far tails): the link does not look square-integrable "
            "under the normal law, or its tails are out of reach, so it has no Hermite expansion."
        )
    tensors = []
    for k in range(order + 1):
        betas = multi_indices(link.r, k)
        raw = symmetric_tensor(best[k] * root_factorials(betas), link.r, k)
        rotated = rotate_tensor(raw, frame.T)
        tensors.append(rotated * _allowed(link, k))
    return HermiteExpansion(link, tuple(tensors), tuple(errors), energy, energy_error, method)


def _reached(rule: Rule, section: Section) -> Array:
    """Values at the nodes of a rule.

    Raises
    ------
    LearnabilityError
        When they overflow in tails that count: the link is not square-integrable.
    """
    with np.errstate(over="ignore"):
        try:
            values = rule.evaluate(section)
            if np.isfinite(values**2).all():
                return values
        except LinkError:
            if np.abs(rule.inner).max() <= REACH:
                raise
    raise LearnabilityError(
        f"The squares of {section.link!r} overflow in its far tails: the link does not look "
        "square-integrable under the normal law, so it has no Hermite expansion."
    )


def symmetric_tensor(raw: Array, r: int, k: int) -> Array:
    """The symmetric tensor (r,) * k whose entry with index counts beta is the entry of beta."""
    if k == 0:
        return raw.reshape(())
    lookup = np.zeros((k + 1,) * r)
    lookup[tuple(multi_indices(r, k).T)] = raw
    index = np.indices((r,) * k).reshape(k, -1)
    counts = tuple((index == i).sum(axis=0) for i in range(r))
    return np.asarray(lookup[counts].reshape((r,) * k))


def rotate_tensor(value: Array, matrix: Array) -> Array:
    """Apply a matrix (r', r) to every index of a tensor."""
    if value.ndim == 0 or np.array_equal(matrix, np.eye(len(matrix))):
        return value
    for axis in range(value.ndim):
        value = np.moveaxis(np.tensordot(matrix, value, axes=(1, axis)), 0, axis)
    return value


def _allowed(link: Link, k: int) -> Array:
    """Return one where the sign symmetries of the link allow a non-zero entry of C_k, else zero."""
    betas = multi_indices(link.r, k)
    allowed = np.ones(len(betas))
    for symmetry in link.symmetries:
        if symmetry.permutation == tuple(range(link.r)):
            sign = np.prod(np.asarray(symmetry.signs, dtype=float) ** betas, axis=1)
            allowed[sign != symmetry.character] = 0.0
    return symmetric_tensor(allowed, link.r, k)
