"""The information of exact labels in the limit of perfect recovery.

As V -> 0 the level set of a label is a plane across the gradient of the link, and the label tells
how far z lies along its normal n: I -> E[n n^T / (n^T V n)]. Overlaps beyond those that a rule
resolves follow such laws, from the last one that it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.quadrature import adapted_frame, rules_for
from learnability.gaussian.rules import sobol_normals
from learnability.gaussian.sections import Section
from learnability.labels.link import Link

__all__ = ["BeyondResolved", "limit_information", "sampled_slopes", "share_of_slopes"]

Array = NDArray[np.float64]


def sampled_slopes(link: Link) -> Array:
    """Gradients of a link on a sample of z, shape (n, r); zero where they are not finite."""
    z = sobol_normals(link.r, 14, 23)
    with np.errstate(all="ignore"):
        slopes = np.stack([np.asarray(d(z), dtype=float) for d in link.gradient()])
    return np.where(np.isfinite(slopes), slopes, 0.0).T


def share_of_slopes(link: Link, counts: Callable[[Array], NDArray[np.bool_]]) -> float:
    """Return the probability of z at which a gradient has a property that only breaks change.

    Parameters
    ----------
    link : Link
        Whose gradients are asked for.
    counts : callable
        From gradients (..., r) to whether they have the property (...).

    Returns
    -------
    float
        One where nearly all of them have it.
    """
    whole = Section.whole(link)
    turned = whole.inside(adapted_frame(whole))
    rule = rules_for(turned, constant=True)[0][0]
    z = rule.evaluate(turned.points)
    with np.errstate(all="ignore"):
        slopes = np.stack([np.asarray(d(z), dtype=float) for d in link.gradient()], axis=-1)
    share = rule.mean(counts(np.where(np.isfinite(slopes), slopes, 0.0)).astype(float))
    return 1.0 if share > 0.999 else share


def limit_information(slopes: Array, V: Array) -> Array:
    """E[n n^T / (n^T V n)], n along the gradient: the information of exact labels as V -> 0.

    Parameters
    ----------
    slopes : array, shape (n, r)
        Gradients of the link.
    V : array, shape (r, r)
        The covariance that is left.
    """
    length = np.einsum("ni,ij,nj->n", slopes, V, slopes)
    use = length > 0
    scaled = slopes[use] / np.sqrt(length[use])[:, None]
    return np.asarray(scaled.T @ scaled) / len(slopes)


@dataclass(frozen=True, eq=False)
class BeyondResolved:
    """The way from the last overlap that a rule resolves to one closer to perfect recovery.

    Parameters
    ----------
    rule : callable
        M -> I(M), at overlaps that it resolves.
    kept, variance : array, shape (r,)
        Eigenvalues of the last overlap, and of I - M of the one that is wanted.
    frame : array, shape (r, r)
        Eigenvectors of both, as columns.
    """

    rule: Callable[[Array], Array]
    kept: Array
    variance: Array
    frame: Array

    def of_exact_labels(self, found: Array, slopes: Array) -> Array:
        """I(M) of labels with a density, from I(M) at the last overlap: limit and correction.

        The correction is smaller than the limit by the root of V, and grows as its root does: a
        label tells no more of a direction than others allow that are less known. A direction along
        which the label only jumps is no part of the limit, and follows its own line.

        Parameters
        ----------
        found : array, shape (r, r)
            I(M) at the last overlap.
        slopes : array, shape (n, r)
            Gradients of the link.
        """
        frame = self.frame
        far, near = (
            limit_information(slopes, (frame * v) @ frame.T) for v in (1 - self.kept, self.variance)
        )
        own_far, own_near = (np.einsum("ia,ij,ja->a", frame, L, frame) for L in (far, near))
        # Eigenvectors that are turned by rounding leak a little of the limit.
        smooth = own_far > 1e-6 * own_far.max()
        growth = np.where(smooth, own_near / np.maximum(own_far, 1e-300), 1.0) ** 0.25
        if not smooth.all():
            growth = np.where(smooth, growth, np.sqrt(self._line(0.0, ~smooth)))
        rest = growth[:, None] * (frame.T @ (found - far) @ frame) * growth
        values, turn = np.linalg.eigh(near + frame @ rest @ frame.T)
        return np.asarray((turn * np.maximum(values, 0.0)) @ turn.T)

    def of_power(self, found: Array, power: float) -> Array:
        """I(M) ~ (h_0 + h_1 V^(1/2)) / V^power, a line that two overlaps give.

        Parameters
        ----------
        found : array, shape (r, r)
            I(M) at the last overlap.
        power : float
            1/2 for labels on cells, 0 for noisy ones.
        """
        line = self._line(power, self.variance < 1 - self.kept)
        growth = np.sqrt(line * ((1 - self.kept) / self.variance) ** power)
        inside = self.frame.T @ found @ self.frame
        return np.asarray(self.frame @ (growth[:, None] * inside * growth) @ self.frame.T)

    def _line(self, power: float, bent: NDArray[np.bool_]) -> Array:
        """Growth of I(M) V^power in each eigenvector, along a line in the root of V, where bent."""
        kept, beyond = self.kept, self.variance < 1 - self.kept
        lower = np.where(beyond, 1 - 4 * (1 - kept), kept)
        last, first = (
            np.einsum(
                "ia,ij,ja->a", self.frame, self.rule((self.frame * q) @ self.frame.T), self.frame
            )
            * (1 - q) ** power
            for q in (kept, lower)
        )
        bend = np.where(bent, 1 - first / np.maximum(last, 1e-300), 0.0)
        way = 1 - np.sqrt(self.variance / (1 - kept))
        # Directions that stay go with the one that moves most.
        return np.asarray(np.maximum(1 + bend * np.where(beyond, way, way.max()), 0.0))
