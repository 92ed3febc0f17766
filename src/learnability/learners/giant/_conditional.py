"""Features and labels given the coordinate kappa along the spike, by quadrature.

A function of c z + r kappa, with z normal, is integrated over its argument u ~ N(r kappa, c^2) on
panels that end at the breaks of the function. The label depends on kappa through t, its coordinate
along the linear part of the target, which has the correlation gamma with kappa.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.gaussian.quadrature import adapted_complement, axis_breaks, rules_for
from learnability.gaussian.rules import Rule, composite_legendre, gauss_normal, sobol_normals
from learnability.gaussian.sections import REACH, Section
from learnability.gaussian.settled_axes import settled_axes
from learnability.labels.link import Link
from learnability.learners.giant._limit_errors import Features, Labels
from learnability.learners.giant._network import Parameters
from learnability.targets.base import Target

__all__ = ["check_resolved", "features_given", "frame_along", "label_nodes", "labels_given"]

Array = NDArray[np.float64]

_NODES = 24
_LABEL_NODES = 128
_NARROW = 5e-4
"""The least length beside the linear part that is resolved."""
_LOG_NODES = 11
_SETTLED = 1e-4  # Accuracy of E[y^2] at the nodes of one coordinate.
_MOST = 2_000_000  # Points that are evaluated at once.


def features_given(activation: Link, parameters: Parameters) -> Features:
    """Return mu0, mu1 and mu2^2 at nodes of kappa.

    Parameters
    ----------
    activation : Link
        The function sigma.
    parameters : Parameters
        Spike r, of either sign, bulk c and the spread of lengths.
    """
    r, c = parameters.spike, parameters.bulk
    ratio = abs(r) / c
    nodes = 96 if ratio < 1 else min(160 + int(48 * ratio), 1200)
    kappa, weights = gauss_normal(np.zeros(0), nodes)
    u, widths = _panels(activation, abs(r), c)
    value = np.asarray(activation(u[:, None]), dtype=float)
    z = (u - r * kappa[:, None]) / c
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi) * widths / c
    mean = density @ value
    linear = (density * z) @ value / c
    rest = np.maximum(density @ value**2 - mean**2 - (c * linear) ** 2, 0.0)
    stretch = (density * (z**2 - 1)) @ value / (2 * c**2)
    return Features(kappa, weights, mean, linear, rest, stretch, c, parameters.spread)


def _panels(activation: Link, spike: float, bulk: float) -> tuple[Array, Array]:
    """Return nodes and widths for the argument of sigma, on panels that end at its breaks."""
    reach = REACH * (spike + bulk)
    breaks = Section.whole(activation).breakpoints
    inside = np.sort(breaks[np.abs(breaks) < reach])
    edges = np.concatenate([[-reach], inside, [reach]])
    return composite_legendre(edges, 0.8 * bulk, 16)


def frame_along(target: Target, direction: Array) -> Array:
    """Return orthonormal rows (r, r), the first of them the direction."""
    if target.r == 1:
        return direction[None]
    rest = adapted_complement(Section.whole(target.link), direction[None])
    return np.vstack([direction[None], rest])


def labels_given(target: Target, linear: Array, alignment: float, kappa: Array) -> Labels:
    """Return moments of the label given kappa.

    Parameters
    ----------
    target : Target
        The target.
    linear : array, shape (r,)
        Unit direction of its linear part, which has the cosine `alignment` with the spike.
    alignment : float
        Between -1 and 1.
    kappa : array, shape (k,)
        Nodes.
    """
    frame = frame_along(target, linear)
    section = Section.whole(target.link).inside(frame)
    channel = target.channel

    def variance(at: Array) -> Array:
        return channel.variance(at @ frame)

    width = math.sqrt(1 - alignment**2)
    breaks = axis_breaks(section)
    if target.r == 1:
        check_resolved(target, alignment)
        edges = np.concatenate([[-REACH], section.breakpoints, [REACH]])
        t, panels = composite_legendre(np.clip(edges, -REACH, REACH), min(0.4, 2 * width), 16)
        value = section(t[:, None])
        moments = np.array([value, value**2 + variance(t[:, None])])
        weights = panels * np.exp(-0.5 * t**2) / math.sqrt(2 * math.pi)
        return _blurred(t, weights, moments, alignment, width, kappa, target)
    rule = rules_for(section, known=1)[0][0]
    if breaks is not None and not len(breaks[0]) and len(rule.inner) == 1:
        # The label is smooth along t and inner nodes do not depend on it: any t can be used.
        s, share = gauss_normal(np.zeros(0), _NODES)
        points = (alignment * kappa[:, None] + width * s).reshape(-1, 1)
        everywhere = replace(rule, outer=points, outer_weights=np.ones(len(points)))
        moments = _given(section, variance, everywhere)
        moments = moments.reshape(len(moments), len(kappa), len(s))
        mean, square, *others = moments @ share
        along = moments[0] @ (share * s)
        return Labels(mean, square, np.vstack([along, *others]))
    t = rule.outer[:, 0]
    moments = _given(section, variance, rule)
    return _blurred(t, rule.outer_weights, moments, alignment, width, kappa, target)


def label_nodes(target: Target, linear: Array) -> tuple[Array, Array, Array]:
    """Return nodes for averages over the target's coordinates and its label.

    Parameters
    ----------
    target : Target
        The target.
    linear : array, shape (r,)
        Unit direction of the first coordinate.

    Returns
    -------
    z, y, weights : array, shapes (k, r), (k,) and (k,)
        Coordinates, labels and weights; more than one coordinate by quasi Monte Carlo.
    """
    frame, channel = frame_along(target, linear), target.channel
    section = Section.whole(target.link)
    axis = None
    if target.r == 1 and channel.law is None:
        breaks = [section.breakpoints]
        axis = settled_axes(section, breaks, _LABEL_NODES, _SETTLED, 20 * _LABEL_NODES)
    if axis is not None:
        at, weights = axis[0]
        noise, share = np.zeros((1, 0)), np.ones(1)
        if channel.noise > 0:
            nodes, share = gauss_normal(np.zeros(0), _NODES)
            noise = nodes[:, None]
        z = np.repeat(at[:, None], len(share), axis=0) @ frame.T
        latents, weights = np.tile(noise, (len(at), 1)), np.outer(weights, share).ravel()
    else:
        points = sobol_normals(target.r + max(channel.latents, 1), _LOG_NODES, seed=0)
        z, latents = points[:, : target.r], points[:, target.r :]
        weights = np.full(len(z), 1 / len(z))
    return z, channel.labels(z @ frame, latents), weights


def _given(section: Section, variance: Callable[[Array], Array], rule: Rule) -> Array:
    """Return E[y | t], E[y^2 | t] and E[y z | t] for other coordinates z, at the outer nodes.

    `section` is E[y | t, z] and `variance` the variance of the label around it.
    """
    each = len(rule.inner) == len(rule.outer)
    rows = max(_MOST // rule.inner.shape[1], 1)
    found = []
    for start in range(0, len(rule.outer), rows):
        part = slice(start, start + rows)
        piece = replace(
            rule,
            outer=rule.outer[part],
            outer_weights=rule.outer_weights[part],
            inner=rule.inner[part] if each else rule.inner,
            inner_weights=rule.inner_weights[part] if each else rule.inner_weights,
        )
        values = piece.evaluate(section)
        weighted = values * piece.inner_weights
        inner = np.broadcast_to(piece.inner, (len(values), *piece.inner.shape[1:]))
        others = np.einsum("tp,tpm->mt", weighted, inner)
        square = (piece.inner_weights * (values**2 + piece.evaluate(variance))).sum(axis=1)
        found.append(np.vstack([weighted.sum(axis=1), square, others]))
    return np.hstack(found)


def check_resolved(target: Target, alignment: float) -> None:
    """Refuse a spike that is so close to the one direction of a target that nodes are too many.

    Parameters
    ----------
    target : Target
        The target.
    alignment : float
        Cosine of its linear part with the spike.

    Raises
    ------
    LearnabilityError
        When what is left beside the direction is not resolved.
    """
    if target.r == 1 and 1 - alignment**2 < _NARROW**2:
        raise _too_close(target, alignment, "what is left beside it")


def _too_close(target: Target, alignment: float, what: str) -> LearnabilityError:
    return LearnabilityError(
        f"The first layer has a cosine of {alignment:.10g} with the linear part of "
        f"{target.link!r}, too close to 1 to resolve {what}: use a smaller `batch`."
    )


def _blurred(
    t: Array,
    weights: Array,
    moments: Array,
    alignment: float,
    width: float,
    kappa: Array,
    target: Target,
) -> Labels:
    """Return moments given kappa from those given t at nodes, by the law of t given kappa."""
    s = (t - alignment * kappa[:, None]) / width
    ratio = np.exp(0.5 * (t**2 - s**2)) / width * weights
    # Nodes farther apart than this law is wide would give arbitrary values.
    common = np.abs(kappa) < 5
    if np.abs(ratio.sum(axis=1) - 1)[common].max() > 1e-5:
        raise _too_close(target, alignment, "a target of several directions with breaks")
    mean, square, *others = (ratio @ moments.T).T
    along = (ratio * s) @ moments[0]
    return Labels(mean, square, np.vstack([along, *others]))
