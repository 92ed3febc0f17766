"""Sections of random labels as functions: their latent variables are coordinates after the others.

Averages over the visible coordinates of products of theirs with functions of the label are averages
over all coordinates of such a section.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from learnability.gaussian.functions import Function
from learnability.gaussian.hermite_products import multi_indices
from learnability.gaussian.sections import Section
from learnability.labels.continuous_laws import GaussianLaw, LatentLaw
from learnability.labels.laws import Law
from learnability.labels.link import Link

__all__ = ["core_section", "extended", "law_on", "visible_products"]


def law_on(section: Section) -> Law | None:
    """Return the law of the random label of a section; None when the label is a function."""
    return section.link.law if isinstance(section.link, Link) else None


def extended(section: Section, function: Function, latents: int) -> Section:
    """Return the section of a function that has latent coordinates after those of the section.

    Parameters
    ----------
    section : Section
        A section of the visible coordinates.
    function : Function
        Of visible and latent coordinates.
    latents : int
        Number of latent coordinates.
    """
    r, m = section.A.shape
    A = np.zeros((r + latents, m + latents))
    A[:r, :m], A[r:, m:] = section.A, np.eye(latents)
    return Section(function, A, np.concatenate([section.b, np.zeros(latents)]))


def core_section(section: Section) -> Section | None:
    """Return the label of a section as a function of its coordinates and of latent ones after them.

    Parameters
    ----------
    section : Section
        A section of the visible coordinates; it is returned as it is when its label is a function.

    Returns
    -------
    Section or None
        None when the label is drawn from probabilities or a density: it is no such function.
    """
    law = law_on(section)
    if law is None:
        return section
    if not isinstance(law, GaussianLaw | LatentLaw):
        return None
    return extended(section, law.core, law.core.r - law.r)


def visible_products(m: int, latents: int, order: int) -> NDArray[np.intp]:
    """Return the places of the products of visible coordinates among those of all m + latents."""
    return np.nonzero(~multi_indices(m + latents, order)[:, m:].any(axis=1))[0]
