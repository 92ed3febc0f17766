"""Where lines cross the level sets of a link, with weights that turn sums into densities of labels.

With z = c + L t, lines along axis a of t cross the level set g = y, and count with the share n_a^2
of its unit normal n in these coordinates: tangent lines have no weight. Only stretches of a line at
whose ends g - y has different signs, or that a break crosses, are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.labels.posterior import Coordinates

__all__ = ["Edges", "crossings"]

Single = NDArray[np.float32]
Indices = NDArray[np.intp]

_INSET = 1e-3
"""Values at a break are taken so far on both sides of it, in lengths of an edge."""


class Edges(NamedTuple):
    """Stretches of lines along one axis: the points z + x times the column of the root.

    Attributes
    ----------
    sample : array of int, shape (n,)
        The sample.
    t, z : array, shape (r, n)
        The node from which x is counted.
    low, high : array, shape (n,)
        The ends, as values of x.
    before, after : array, shape (n,)
        The value of g - y at both.
    """

    sample: NDArray[Any]
    t: NDArray[Any]
    z: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    before: NDArray[Any]
    after: NDArray[Any]

    def of(self, chosen: NDArray[np.bool_]) -> Edges:
        """The edges that are chosen."""
        places = np.flatnonzero(chosen)
        return Edges(*(np.take(values, places, axis=-1) for values in self))


def crossings(
    link: Link, y: Single, root: Single, edges: Edges, axis: int, length: float
) -> tuple[Indices, Single, Single, Single]:
    """Sample (p,), t and z (r, p), and weight (p,) of the points where edges cross g = y.

    Parameters
    ----------
    link : Link
        g, whose labels have a density.
    y : array, shape (n,)
        Labels of the samples.
    root : array, shape (r, r)
        L, lower triangular.
    edges : Edges
        Along an axis of t.
    axis : int
        That axis.
    length : float
        Of an edge.

    Returns
    -------
    sample, t, z, weight : arrays
        The weight is area over gradient for each unit of area of t across the lines.
    """
    edges = _at_breaks(edges, link, y, root[:, axis], length)
    x = _zero(edges, root[:, axis], link, 1, y[edges.sample])
    z = edges.z + x * root[:, axis, None]
    point = Coordinates(tuple(z))
    slope = root.T @ np.stack([point.evaluate(d, np) for d in link.gradient()])
    weight = np.abs(slope[axis]) / np.einsum("in,in->n", slope, slope)
    good = np.isfinite(weight)
    if link.breaks is None:  # A jump over the label is no root.
        off = np.abs(point.evaluate(link, np) - y[edges.sample])
        good &= off <= 0.1 * np.abs(edges.after - edges.before)
    t = edges.t
    t[axis] += x
    return edges.sample[good], t[:, good], z[:, good], weight[good].astype(np.float32)


def _value(edges: Edges, column: Single, x: Single, function: Link) -> Single:
    z = edges.z + x * column[:, None]
    return np.asarray(Coordinates(tuple(z)).evaluate(function, np), dtype=np.float32)


def _at_breaks(edges: Edges, link: Link, y: Single, column: Single, length: float) -> Edges:
    """Edges at whose ends g - y has different signs, cut where the link may jump or fold.

    Most edges that a break crosses are far from the level set: they go once no break is left.
    """
    breaks = link.breaks or ()
    if not breaks:
        return edges.of((edges.before > 0) != (edges.after > 0))
    ends = edges.low, edges.high
    signs = np.array([[_value(edges, column, x, f) > 0 for x in ends] for f in breaks])
    for k, function in enumerate(breaks):
        crossed = signs[k, 0] != signs[k, 1]
        left, right = _split(edges.of(crossed), link, y, column, function, length)
        known = [signs[:, :, ~crossed]]
        for half, new in ((left, 1), (right, 0)):
            own, x = signs[:, :, crossed], (half.low, half.high)[new]
            for j in range(k + 1, len(breaks)):
                own[j, new] = _value(half, column, x, breaks[j]) > 0
            known.append(own)
        parts = zip(edges.of(~crossed), left, right, strict=True)
        edges = Edges(*(np.concatenate(part, axis=-1) for part in parts))
        signs = np.concatenate(known, axis=2)
        wanted = (edges.before > 0) != (edges.after > 0)
        wanted |= (signs[k + 1 :, 0] != signs[k + 1 :, 1]).any(axis=0)
        edges, signs = edges.of(wanted), signs[:, :, wanted]
    return edges


def _split(
    cut: Edges, link: Link, y: Single, column: Single, function: Link, length: float
) -> tuple[Edges, Edges]:
    """The two halves of edges that are cut at the zero of a break."""
    first = _value(cut, column, cut.low, function)
    last = _value(cut, column, cut.high, function)
    x = _zero(cut._replace(before=first, after=last), column, function, 2)
    label, inset = y[cut.sample], np.float32(_INSET * length)
    low, high = np.maximum(x - inset, cut.low), np.minimum(x + inset, cut.high)
    left = cut._replace(high=low, after=_value(cut, column, low, link) - label)
    right = cut._replace(low=high, before=_value(cut, column, high, link) - label)
    return left, right


def _zero(edges: Edges, column: Single, function: Link, rounds: int, value: Any = 0.0) -> Single:
    """Position of a value of a function on edges at whose ends it lies on two sides.

    A parabola through the two ends and the root of the chord, as a function of the value,
    has an error of third order; it is drawn again within the ends that it leaves.
    """
    a, b, u, v = edges.low, edges.high, edges.before, edges.after
    x = (a * v - b * u) / (v - u)
    for _ in range(rounds):
        w = _value(edges, column, x, function) - value
        best = x + w * ((x - a) * v / (w - u) - (x - b) * u / (w - v)) / (u - v)
        left = (w > 0) == (u > 0)
        a, u = np.where(left, x, a), np.where(left, w, u)
        b, v = np.where(left, b, x), np.where(left, v, w)
        x = np.clip(np.where(np.isfinite(best), best, x), a, b)
    return np.asarray(x)
