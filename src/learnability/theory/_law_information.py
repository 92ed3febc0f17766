"""The information I(M) = E[g_out g_out^T] of a random label.

Of finitely many labels, or of counts, with probabilities p_k(z) it is

    I(M) = E_omega sum_k grad Z_k grad Z_k^T / Z_k,   Z_k(omega) = E p_k(omega + V^(1/2) t),

with omega ~ N(0, M) and V = I - M. A normal label of one coordinate is integrated on its table.
For any other function of visible and latent coordinates it is the visible block of the information
of that function, in the directions on which it depends, at an overlap that is zero for latent ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.rules import composite_legendre, gauss_normal, product_grid
from learnability.gaussian.sections import Section
from learnability.labels.channel import Channel
from learnability.labels.finite_laws import FiniteLaw
from learnability.labels.laws import Law
from learnability.labels.line_tables import line_table
from learnability.theory._limit_information import share_of_slopes
from learnability.theory.information import LabelInformation, label_information

if TYPE_CHECKING:
    from learnability.theory.relevant_directions import RelevantDirections

__all__ = ["LawInformation"]

Array = NDArray[np.float64]

_REACH = 8.5
_ON_LINE = 16  # Nodes of each panel of the line.
_FINE = {2: (40, 30), 3: (18, 16)}
_ROUGH = {2: (32, 24), 3: (15, 13)}
"""Nodes of omega and of t in each coordinate, for two and three directions."""
_MOST_DIRECTIONS = 3
_LEAST = 1e-200
_MOST_WORK = 4e9
"""Densities that one overlap may need."""
_CLOSEST = 0.02
"""Smallest variance at which probabilities that jump are integrated in several coordinates."""


@dataclass(frozen=True, eq=False)
class LawInformation(LabelInformation):
    """E[g_out g_out^T] of a random label as a function of the overlap M.

    Parameters
    ----------
    channel : Channel
        With a law, of at most three hidden directions; latent variables of a function count.
    """

    def __post_init__(self) -> None:
        size = self.r if self._core is None else self._core.channel.link.r
        if size > _MOST_DIRECTIONS:
            raise LearnabilityError(
                f"State evolution of {self._law.name} has {size} hidden directions and latent "
                f"variables, but at most {_MOST_DIRECTIONS} are computed."
            )

    @property
    def _law(self) -> Law:
        assert self.channel.law is not None
        return self.channel.law

    @cached_property
    def _core(self) -> RelevantDirections | None:
        """The function of visible and latent coordinates, where that is used."""
        from learnability.theory.relevant_directions import relevant_directions

        if not self._law.integrated_by_core:
            return None
        on_line = self.r == 1 and line_table(self._law, np.ones((1, 1)), np.zeros(1), self._noise)
        return None if on_line else relevant_directions(Channel(self._law.core, self._noise))

    @property
    def _of_core(self) -> LabelInformation:
        """The information of that function in the directions on which it depends."""
        assert self._core is not None
        return label_information(self._core.channel)

    @property
    def _few_labels(self) -> bool:
        """Whether the labels are few enough to have an integral each."""
        return isinstance(self._law, FiniteLaw) and self._law.kind != "density"

    @property
    def _bent(self) -> bool:
        """Whether averages over latent variables may have kinks that nobody knows of."""
        law = self._law
        return isinstance(law, FiniteLaw) and law.latents > 0 and law.breaks != ()

    @property
    def _noise(self) -> float:
        return self.channel.noise

    @property
    def on_boxes(self) -> None:
        """None: there are no integrals in closed form."""
        return None

    def exact_at(self, M: Array) -> bool:
        """Whether only well-resolved quadratures limit it: for one direction, and few labels."""
        if self._core is not None:
            return self.r == 1 and self._of_core.exact_at(self._padded(M))
        return self.r == 1 and self._few_labels and not self._bent

    @cached_property
    def error(self) -> float:
        """Relative error of I(M), from two resolutions; that of the quadrature if exact."""
        if self._core is not None:
            return self._of_core.error
        if self.r == 1:
            return 1e-3 if self._bent else 1e-8
        return max(self._gap(q * np.eye(self.r)) for q in (0.3, 0.7)) + 1e-8

    def error_at(self, M: Array) -> float:
        """The same at one overlap: between multiples of the identity it may be far larger."""
        if self._core is not None:
            return max(self.error, self._of_core.error_at(self._padded(M)))
        if self.r == 1:
            return self.error
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        kept = (frame * np.minimum(values, 1 - _CLOSEST * (self.exponent < 1))) @ frame.T
        return max(self._gap(kept), self.error)

    def _gap(self, M: Array) -> float:
        """Relative difference of two resolutions."""
        fine, rough = self._of_labels(M, *_FINE[self.r]), self._of_labels(M, *_ROUGH[self.r])
        return float(np.abs(fine - rough).max() / np.abs(fine).max())

    def __call__(self, M: Array) -> Array:
        """E[g_out g_out^T] at overlap M, shape (r, r)."""
        if self._core is not None:
            found = self._visible(self._of_core(self._padded(M)))
        elif self.r == 1:
            found = np.array([[self._on_line(float(M[0, 0]))]])
        else:
            found = self._resolved(M)
        return self._symmetric(found, M)

    def finely(self, M: Array) -> Array:
        """The same: there is one rule."""
        return self(M)

    def around(self, M: Array, closely: bool = False) -> Callable[[Array], Array]:
        """The same: it is smooth."""
        if self._core is None:
            return self
        core = self._of_core.around(self._padded(M))
        return lambda near: self._symmetric(self._visible(core(self._padded(near))), near)

    @property
    def exponent(self) -> float:
        """The power e in V I(M) ~ V^e close to perfect recovery: 1/2 where probabilities jump."""
        law = self._law
        if self._settled > 0:
            return 0.0
        jumps = isinstance(law, FiniteLaw) and not law.latents and law.breaks
        return 0.5 if jumps and not self._noise else 1.0

    @cached_property
    def _settled(self) -> float:
        """The share of labels that are functions of z alone, whatever the latent variables are."""
        if self._core is None or self._noise:
            return 0.0

        def tell_z_alone(slopes: Array) -> NDArray[np.bool_]:
            moves = np.abs(slopes) > 1e-12
            return np.asarray(
                moves[..., : self.r].any(axis=-1) & ~moves[..., self.r :].any(axis=-1)
            )

        return share_of_slopes(self._law.core, tell_z_alone)

    @cached_property
    def full(self) -> float:
        """The ratio of samples above which perfect recovery is a fixed point; inf if it never is.

        Close to it only labels that are functions of z alone tell how far z lies along a normal.
        """
        return self.r / self._settled if self._settled > 0 else math.inf

    def _padded(self, M: Array) -> Array:
        """The overlap of the directions of the core, with nothing known of latent variables."""
        assert self._core is not None
        full = np.zeros((self._law.core.r,) * 2)
        full[: self.r, : self.r] = M
        return self._core.inner(full)

    def _visible(self, information: Array) -> Array:
        """What the information about the directions of the core is about the visible ones."""
        assert self._core is not None
        return self._core.outer(information)[: self.r, : self.r]

    # ---- one direction

    def _on_line(self, q: float) -> float:
        q = min(max(q, 0.0), 1 - 1e-12)
        if isinstance(self._law, FiniteLaw) and self._few_labels and not self._noise:
            return self._labels_on_line(self._law, q)
        v = 1 - q
        table = line_table(
            self._law, np.ones((1, 1)), np.zeros(1), self._noise, math.sqrt(max(v, 1e-6)), 8
        )
        if table is None:
            raise LearnabilityError(
                f"The information of {self._law.name} at an overlap of {q:.6g} needs too fine a "
                "table."
            )
        omega, weight = _omega(q, self._line_breaks, math.sqrt(v), 5 * _ON_LINE)
        gap = (table.t[:, None] - omega) / v
        kernel = table.weight[:, None] * np.exp(-0.5 * v * gap**2) / math.sqrt(2 * math.pi * v)
        Z, slope = table.chance @ kernel, table.chance @ (kernel * gap)
        return float(table.width @ _ratio(Z, slope * slope) @ weight)

    def _labels_on_line(self, law: FiniteLaw, q: float) -> float:
        v = 1 - q
        root = math.sqrt(v)
        breaks = self._line_breaks
        omega, weight = _omega(q, breaks, root)
        # Panels of t are cut where omega + root t meets a break.
        panels = np.broadcast_to(np.linspace(-_REACH, _REACH, 9), (len(omega), 9))
        cuts = np.clip((breaks - omega[:, None]) / root, -_REACH, _REACH)
        edges = np.sort(np.concatenate([panels, cuts], axis=1), axis=1)
        x, w = np.polynomial.legendre.leggauss(_ON_LINE)
        half = 0.5 * np.diff(edges, axis=1)[..., None]
        t = (0.5 * (edges[:, 1:] + edges[:, :-1])[..., None] + half * x).reshape(len(omega), -1)
        mass = (half * w).reshape(t.shape) * np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)
        total = 0.0
        for rows in np.array_split(
            np.arange(len(omega)), max(len(omega) * len(law.labels) // 8000, 1)
        ):
            z = omega[rows, None] + root * t[rows]
            chance = law.marginal(z.reshape(-1, 1)).reshape(-1, *z.shape)
            Z = (chance * mass[rows]).sum(axis=-1)
            slope = (chance * (mass[rows] * t[rows] / root)).sum(axis=-1)
            total += float(_ratio(Z, slope * slope).sum(axis=0) @ weight[rows])
        return total

    @cached_property
    def _line_breaks(self) -> Array:
        law = self._law
        if isinstance(law, FiniteLaw) and law.latents:
            return np.zeros(0)
        carriers = law.carriers if isinstance(law, FiniteLaw) else law.parts
        found = [Section.whole(link).breakpoints for link in carriers]
        return np.unique(np.concatenate([np.zeros(0), *found]).round(12))

    # ---- several directions

    def _resolved(self, M: Array) -> Array:
        """At overlaps so close to one that jumps are not resolved, by the law of the limit."""
        if self.exponent == 1.0:
            return self._of_labels(M, *_FINE[self.r])
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        kept = np.minimum(values, 1 - _CLOSEST)
        found = frame.T @ self._of_labels((frame * kept) @ frame.T, *_FINE[self.r]) @ frame
        growth = ((1 - kept) / np.maximum(1 - values, 1e-12)) ** 0.25
        return np.asarray(frame @ (growth[:, None] * found * growth) @ frame.T)

    def _of_labels(self, M: Array, outer: int, inner: int) -> Array:
        law = self._law
        assert isinstance(law, FiniteLaw)
        if self._noise:
            raise LearnabilityError(
                f"State evolution of {law.name} with r = {self.r} and Gaussian noise besides is "
                "not computed: leave out `noise`."
            )
        cuts = self._axis_cuts
        if cuts is None or any(len(c) for c in cuts):
            if cuts is None or not np.allclose(M, np.diag(np.diag(M)), atol=1e-9):
                raise LearnabilityError(
                    f"State evolution of {law.name} with r = {self.r} is not computed: its "
                    "probabilities break on surfaces that are no planes z_i = c of the frame in "
                    "which its overlap is diagonal."
                )
            return self._on_a_grid(law, np.diag(M), cuts, outer)
        work = (outer * inner) ** self.r * len(law.labels)
        if work > _MOST_WORK:
            raise LearnabilityError(
                f"State evolution of {law.name} with r = {self.r} is not computed: its label needs "
                f"{len(law.labels)} nodes, which would take minutes for each overlap."
            )
        values, frame = np.linalg.eigh(0.5 * (M + M.T))
        values = np.clip(values, 0.0, 1 - 1e-12)
        axes = [gauss_normal(np.zeros(0), outer if q > 1e-10 else 1, least=1) for q in values]
        nodes, weight = product_grid(axes)
        omega = (nodes * np.sqrt(values)) @ frame.T
        t, mass = product_grid([gauss_normal(np.zeros(0), inner, least=1)] * self.r)
        root = frame * np.sqrt(1 - values)
        total = np.zeros((self.r, self.r))
        parts = len(omega) * len(t) * max(84, len(law.labels)) // 2**24 + 1
        for rows in np.array_split(np.arange(len(omega)), parts):
            z = omega[rows, None] + t @ root.T
            chance = law.marginal(z.reshape(-1, self.r)).reshape(-1, len(rows), len(t))
            Z = chance @ mass
            slope = chance @ (mass[:, None] * t / np.sqrt(1 - values))
            share = np.sqrt(_ratio(Z, np.ones_like(Z)))[..., None] * slope
            total += np.einsum("kni,knj,n->ij", share, share, weight[rows])
        return np.asarray(frame @ total @ frame.T)

    @cached_property
    def _axis_cuts(self) -> list[Array] | None:
        """Where each coordinate is cut; None when breaks are not on planes of the coordinates."""
        from learnability.gaussian.quadrature import axis_breaks

        law = self._law
        assert isinstance(law, FiniteLaw)
        found = [np.zeros(0)] * self.r
        for link in law.carriers:
            own = None if link.breaks is None else axis_breaks(Section.whole(link))
            if own is None or (law.latents and any(len(b) for b in own)):
                return None
            found = [np.union1d(a, np.round(b, 12)) for a, b in zip(found, own, strict=False)]
        return found

    def _on_a_grid(self, law: FiniteLaw, q: Array, cuts: list[Array], outer: int) -> Array:
        """Axis after axis on one grid of z that is cut at the breaks, at a diagonal overlap."""
        z, kernels, slopes, weights = [], [], [], []
        for overlap, breaks in zip(q, cuts, strict=True):
            v = 1 - overlap
            edges = np.concatenate([[-_REACH], breaks, [_REACH]])
            nodes, dz = composite_legendre(edges, max(2.5 * math.sqrt(v), 0.3), 10)
            omega, weight = _omega(float(overlap), breaks, math.sqrt(v), outer)
            gap = (nodes - omega[:, None]) / v
            kernel = dz * np.exp(-0.5 * v * gap**2) / math.sqrt(2 * math.pi * v)
            z.append(nodes)
            kernels.append(kernel)
            slopes.append(kernel * gap)
            weights.append(weight)
        grid = np.stack(np.meshgrid(*z, indexing="ij"), axis=-1)
        total = np.zeros((self.r, self.r))
        for chance in law.each_probability(grid):
            parts = [
                _contracted(chance, [slopes[j] if j == i else kernels[j] for j in range(self.r)])
                for i in (None, *range(self.r))
            ]
            Z, gradient = parts[0], parts[1:]
            inverse = _ratio(Z, np.ones_like(Z))
            for i in range(self.r):
                for j in range(i + 1):
                    value = _contracted(
                        inverse * gradient[i] * gradient[j], [w[None] for w in weights]
                    )
                    total[i, j] = total[j, i] = total[i, j] + float(value.squeeze())
        return total


def _contracted(block: Array, matrices: list[Array]) -> Array:
    """Apply a matrix (n', n) to each axis of an array."""
    for matrix in matrices:
        block = np.tensordot(block, matrix, axes=(0, 1))
    return block


def _ratio(Z: Array, value: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(Z > _LEAST, value / np.maximum(Z, _LEAST), 0.0)


def _omega(
    q: float, breaks: Array, root: float = 1.0, outer: int | None = None
) -> tuple[Array, Array]:
    """Nodes and weights of omega ~ N(0, q), close together where a break is within reach."""
    if q < 1e-14:
        return np.zeros(1), np.ones(1)
    scale = math.sqrt(q)
    near = root * np.array([-9.0, -6, -4, -2.5, -1.2, 0, 1.2, 2.5, 4, 6, 9])
    edges = [np.array([-_REACH, _REACH]), (breaks[:, None] + near).ravel() / scale]
    inside = np.concatenate(edges)
    inside = np.unique(inside[np.abs(inside) <= _REACH])
    nodes = 10 if outer is None else max(outer // 5, 4)
    x, w = composite_legendre(inside, 1.1, nodes)
    weight = w * np.exp(-0.5 * x**2)
    return scale * x, weight / weight.sum()
