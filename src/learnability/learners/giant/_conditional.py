"""Features and labels given the coordinate kappa along the spike, by quadrature.

A function of c z + r kappa, with z normal, is integrated over its argument u ~ N(r kappa, c^2) on
panels that end at the breaks of the function. The label depends on kappa through t, its coordinate
along the linear part of the target, which has the correlation gamma with kappa.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from learnability.learners.giant._network import Parameters
from learnability.learners.giant._spiked import Features, Labels
from learnability.links._quadrature import adapted_complement, rules_for
from learnability.links._rules import composite_legendre, gauss_normal
from learnability.links._sections import REACH, Section
from learnability.links.link import Link
from learnability.targets.multi_index import MultiIndex

__all__ = ["features_given", "labels_given"]

Array = NDArray[np.float64]


def features_given(activation: Link, parameters: Parameters) -> Features:
    """mu0, mu1 and mu2^2 at nodes of kappa.

    Parameters
    ----------
    activation : Link
        The function sigma.
    parameters : Parameters
        Spike r and bulk c.
    """
    r, c = parameters.spike, parameters.bulk
    nodes = 96 if r < c else min(160 + int(48 * r / c), 1200)
    kappa, weights = gauss_normal(np.zeros(0), nodes)
    reach = REACH * (r + c)
    breaks = Section.whole(activation).breakpoints
    inside = np.sort(breaks[np.abs(breaks) < reach])
    edges = np.concatenate([[-reach], inside, [reach]])
    u, widths = composite_legendre(edges, 0.8 * c, 16)
    value = np.asarray(activation(u[:, None]), dtype=float)
    z = (u - r * kappa[:, None]) / c
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi) * widths / c
    mean = density @ value
    linear = (density * z) @ value / c
    rest = np.maximum(density @ value**2 - mean**2 - (c * linear) ** 2, 0.0)
    stretch = (density * (z**2 - 1)) @ value / (2 * c**2)
    return Features(kappa, weights, mean, linear, rest, stretch, c)


def labels_given(target: MultiIndex, linear: Array, alignment: float, kappa: Array) -> Labels:
    """Moments of the label given kappa.

    Parameters
    ----------
    target : MultiIndex
        The target.
    linear : array, shape (r,)
        Unit direction of its linear part, which has the cosine `alignment` with the spike.
    alignment : float
        Between -1 and 1.
    kappa : array, shape (k,)
        Nodes.
    """
    whole = Section.whole(target.link)
    first = linear[None]
    frame = np.vstack([first, adapted_complement(whole, first)]) if target.r > 1 else first
    section = whole.inside(frame)
    rule = rules_for(section, known=1)[0][0]
    values = rule.evaluate(section)
    t = rule.outer[:, 0]
    inner = np.broadcast_to(rule.inner, (len(t), *rule.inner.shape[1:]))
    weighted = values * rule.inner_weights
    mean = weighted.sum(axis=1)
    square = (weighted * values).sum(axis=1)
    others = np.einsum("tp,tpm->mt", weighted, inner)
    width = math.sqrt(1 - alignment**2)
    s = (t - alignment * kappa[:, None]) / width
    # The law of t given kappa, over that of t, at nodes for the latter.
    ratio = np.exp(0.5 * (t**2 - s**2)) / width * rule.outer_weights
    along = (ratio * s) @ mean
    return Labels(
        ratio @ mean, ratio @ square + target.noise, np.vstack([along, (ratio @ others.T).T])
    )
