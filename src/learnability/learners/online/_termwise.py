"""The linear part of the equations of motion of several neurons, one pair of fields at a time.

A plain step is linear in f and y, so its mean needs the averages E[s'(l_j) s(l_m) v] of two
neurons and E[s'(l_j) y v] of one neuron and the hidden coordinates, where v is any field. The part
of v orthogonal to the other fields of a term averages to zero, so the integrals have two
dimensions, or r + 1: Gauss rules suffice where points in all p + r dimensions would be coarse. For
relu, whose slope jumps, the integral over a neuron's own coordinate is known,

    E[step(x1) x2 relu(x3)] = C12 sqrt(C11 C33 - C13^2) / (2 pi C11) + C23 (1/4 + asin(r13) / 2 pi),
    E[relu(x1) relu(x2)] = (sqrt(C11 C22 - C12^2) + C12 (pi - arccos r12)) / (2 pi),

and the average with the label is an integral over h of the normal law's Phi and phi.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995); Cho and Saul, NeurIPS 2009 (relu).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import axis_breaks
from learnability.gaussian.rules import gauss_normal, product_grid
from learnability.gaussian.sections import Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.labels.link import Link
from learnability.learners.online._motion import Point
from learnability.learners.online._steps import Recipe

__all__ = ["Linear", "linear_terms"]

Array = NDArray[np.float64]
_PAIR, _OWN = 32, 32  # Gauss nodes of each of two neurons, and of one neuron with the label.
_HIDDEN = {1: 100, 2: 32, 3: 12}
_ACCURACY, _MOST = 1e-5, 20_000


class Linear(NamedTuple):
    """Averages of directions u_j = -a_j s'(l_j) l' and v_j = -s(l_j) l'.

    Attributes
    ----------
    hidden : array, shape (p, r)
        E[u h^T].
    rest : array, shape (p, p)
        E[u (l - M h)^T].
    second : array, shape (p,)
        E[v].
    """

    hidden: Array
    rest: Array
    second: Array


class LinearTerms:
    """Linear terms of one recipe; see `linear_terms`."""

    def __init__(
        self, recipe: Recipe, axes: list[tuple[Array, Array]], scale: float | None
    ) -> None:
        self.recipe, self.scale = recipe, scale
        self.slope = recipe.activation.derivative()
        self.h, self.h_weights = product_grid(axes)
        self.y = np.asarray(recipe.link(self.h), dtype=float) * self.h_weights
        self.own = gauss_normal(np.zeros(0), _OWN)
        pair = gauss_normal(np.zeros(0), _PAIR)
        self.pair, self.pair_weights = product_grid([pair, pair])

    def __call__(self, at: Point) -> Linear:
        with_label = self._relu_label(at) if self.scale else self._label(at)
        a = at.second
        hidden, rest, second = with_label
        if self.recipe.loss == "squared":
            Q = at.rest + at.overlap @ at.overlap.T
            own = self._relu_pairs(Q) if self.scale else self._pairs(Q)
            # Means with every field v, from those with the two neurons' own coordinates.
            to_rest, to_hidden = self._spread(at, Q, *own[:2], a)
            hidden, rest = hidden - to_hidden, rest - to_rest
            second = second - own[2] @ a
        return Linear(a[:, None] * hidden, a[:, None] * rest, second)

    # ---- with the label

    def _label(self, at: Point) -> tuple[Array, Array, Array]:
        """Return E[s'_j y h], E[s'_j y (l_l - M_l h)] and E[s_j y] for a smooth activation."""
        deviation = np.sqrt(np.maximum(np.diag(at.rest), 0.0))
        w, share = self.own
        field = (at.overlap @ self.h.T)[:, :, None] + deviation[:, None, None] * w
        slope, value = self.slope(field[..., None]), self.recipe.activation(field[..., None])
        hidden = (slope @ share * self.y) @ self.h
        along = slope @ (share * w) @ self.y
        return hidden, _scaled(along, deviation, at.rest), value @ share @ self.y

    def _relu_label(self, at: Point) -> tuple[Array, Array, Array]:
        """Return the same for scale * relu, with the neuron's own coordinate integrated."""
        from scipy.special import ndtr

        assert self.scale is not None
        deviation = np.sqrt(np.maximum(np.diag(at.rest), 1e-24))
        mean = at.overlap @ self.h.T
        ratio = mean / deviation[:, None]
        density = np.exp(-0.5 * ratio**2) / math.sqrt(2 * math.pi)
        above = ndtr(ratio)
        hidden = (above * self.y) @ self.h
        value = (mean * above + deviation[:, None] * density) @ self.y
        along = density @ self.y
        rest = _scaled(along, deviation, at.rest)
        return self.scale * hidden, self.scale * rest, self.scale * value

    # ---- of two neurons

    def _pairs(self, Q: Array) -> tuple[Array, Array, Array]:
        """Return E[s'_j s_m x], E[s'_j s_m z] and E[s_j s_m] (p, p) for a smooth activation.

        Here l_j = sqrt(Q_jj) x, and l_m has a part along x and one along an independent z.
        """
        length = np.sqrt(np.maximum(np.diag(Q), 1e-24))
        along = Q / length[:, None]
        across = np.sqrt(np.maximum(np.diag(Q)[None] - along**2, 0.0))
        x, z = self.pair.T
        first = length[:, None] * x
        other = along[..., None] * x + across[..., None] * z
        slope = self.slope(first[..., None])[:, None]
        value = self.recipe.activation(other[..., None])
        product = slope * value * self.pair_weights
        own = self.recipe.activation(first[..., None])[:, None]
        return product @ x, product @ z, own * value @ self.pair_weights

    def _relu_pairs(self, Q: Array) -> tuple[Array, Array, Array]:
        """Return the same for scale * relu."""
        assert self.scale is not None
        diagonal = np.maximum(np.diag(Q), 1e-24)
        length = np.sqrt(diagonal)
        cosine = np.clip(Q / np.outer(length, length), -1, 1)
        sine = np.sqrt(1 - cosine**2)
        both = 0.25 + np.arcsin(cosine) / (2 * math.pi)
        # With C12 and C23 of x and of z: the covariances with l_j and l_m.
        to_x = length[None] * (sine / (2 * math.pi) + cosine * both)
        to_z = length[None] * sine * both
        product = np.outer(length, length)
        values = product * (
            sine / (2 * math.pi) + cosine * (0.5 - np.arccos(cosine) / (2 * math.pi))
        )
        return self.scale**2 * to_x, self.scale**2 * to_z, self.scale**2 * values

    def _spread(
        self, at: Point, Q: Array, to_x: Array, to_z: Array, a: Array
    ) -> tuple[Array, Array]:
        """Return sum_m a_m E[s'_j s_m v] for v = l_l - M_l h, (p, p), and for v = h, (p, r)."""
        length = np.sqrt(np.maximum(np.diag(Q), 1e-24))
        along = Q / length[:, None]
        across = np.sqrt(np.maximum(np.diag(Q)[None] - along**2, 0.0))
        inverse = np.where(across > 1e-9 * length[None], 1 / np.maximum(across, 1e-24), 0.0)
        found = []
        for covariance in (at.rest, at.overlap):  # Of the neurons with v.
            with_x = covariance / length[:, None]
            weight = (to_z * inverse) * a
            pulled = (to_x @ a)[:, None] * with_x + weight @ covariance
            found.append(pulled - (weight * along).sum(axis=1)[:, None] * with_x)
        return found[0], found[1]


def _scaled(along: Array, deviation: Array, rest: Array) -> Array:
    """Return E[. (l_l - M_l h)] (p, p) from the mean with a neuron's own standard coordinate."""
    return np.asarray((along / np.maximum(deviation, 1e-12))[:, None] * rest)


def linear_terms(recipe: Recipe) -> LinearTerms | None:
    """Return linear terms of a plain step as a function of the order parameters.

    None for the other rules, more than three hidden directions, links that break elsewhere than
    on planes z_i = c or oscillate too fast for a product of Gauss rules, and activations that are
    neither smooth nor a multiple of relu.
    """
    link = recipe.link
    if recipe.rule != "plain" or link.r not in _HIDDEN or link.breaks is None:
        return None
    breaks = axis_breaks(Section.whole(link))
    scale = _relu_scale(recipe.activation)
    if breaks is None or (scale is None and recipe.activation.breaks != ()):
        return None
    count = _HIDDEN[link.r]
    axes = settled_axes(lambda z: np.asarray(link(z)), breaks, count, _ACCURACY, _MOST)
    return None if axes is None else LinearTerms(recipe, axes, scale)


def _relu_scale(activation: Link) -> float | None:
    """Return c if the activation is c * relu, else None."""
    x = np.random.default_rng(3).standard_normal(64)
    value = np.asarray(activation(x))
    scale = float(activation(np.array([1.0])))
    same = scale != 0 and np.allclose(value, scale * np.maximum(x, 0.0), rtol=1e-12, atol=1e-14)
    return scale if same else None
