"""Finite-size predictions of layer-wise learning, stage by stage and direction by direction.

The first layer has the share m^2 of each direction (`recovered_directions`). In the estimated
variables the part of degree j keeps the energy <T_j, G^(x j) T_j>, where T_j is its Hermite tensor
and G the projection on what was found: exactly for j = 1 and 2, and above with one share for all
directions of one sign under one feature. The rest is noise. Ridge regression with the Mehler kernel
in these variables then has the error II and the fit q (`radial`), whose correlation with a feature
is M_h.

III, the error of a refit of y on q, is E Var(y | q) over samples of the target and of q, whose
mean and variance at each radius are known. It is at most II, as q itself is one such refit, and at
least E Var(y | estimated variables). Where a number depends on something unknown (shares near n*,
degrees beyond those resolved), it is computed at both ends of what is possible; if these differ by
more than 0.04 Var y, the reason is given instead of the number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.learners.deep.profiles import profile_of, refit_error
from learnability.learners.measurement import FRESH
from learnability.targets.directions import first_moments, second_moments
from learnability.targets.hierarchical import Hierarchical
from learnability.targets.parts import Parts, parts_by_degree
from learnability.theory.equivalent import Levels, errors
from learnability.theory.mehler import mehler_levels
from learnability.theory.radial import Profile, RadialTarget, radial_fit
from learnability.theory.recovered_directions import (
    Recovered,
    exact_directions,
    recovered_directions,
)

__all__ = ["Setting", "Stages", "best_kernel_error", "predicted_stages", "predictions"]

Array = NDArray[np.float64]

MARGIN = 0.03
"""The error of the theory, divided by Var y, for which bounds make room."""
_UNDECIDED = 0.04
_REUSED = 8.0  # From this n / n* on, reused samples are predicted as if they were fresh.
_RADIAL = 0.1  # Share of a target from which its radial part counts in many dimensions.
_RARE = 0.1  # The largest share of Var y that rare labels may hold.
_TOLD = 0.1  # Runs measure the mean of |M_h|, which is above zero even if nothing is learned.
_FAR = 8  # With fewer variables the kernel's fit has no fourth moment.
_DEGREES = 13  # Number of degrees, from 0 on, for which the learned share is computed.
_LEAST_RIDGE, _LARGEST_RIDGE = 0.3, 300.0
_TRIED = 16


class Stages(NamedTuple):
    """Predictions at one number of samples; NaN where they are not known.

    Attributes
    ----------
    first_layer_overlap : float
        M_W.
    two_layer_error : float
        II.
    feature_overlap : array, shape (r,)
        M_h.
    three_layer_error, three_layer_bound, three_layer_floor : float
        III, and an upper and a lower bound of it.
    reason : str
        Why a number is not given; empty when all are.
    """

    first_layer_overlap: float
    two_layer_error: float
    feature_overlap: Array
    three_layer_error: float
    three_layer_bound: float
    three_layer_floor: float
    reason: str


def predicted_stages(
    target: Hierarchical, known: float | Recovered, n: float, ridge: float | None = 1.0
) -> Stages:
    """Predict ridge regression with the Mehler kernel on directions that are known in part.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    known : float or Recovered
        One M_W for all directions, or the share of each that a first layer has found.
    n : float
        Samples of the regression.
    ridge : float, optional
        Ridge of the regression; None for the best between 0.3 and 300.
    """
    if not isinstance(known, Recovered):
        exact = exact_directions(target)
        share = np.full(len(exact.share), float(known) ** 2)
        known = replace(exact, share=share, least=share, most=share)
    allowed = _UNDECIDED * target.label_variance
    middle = _fitted(target, known, known.share, n, ridge)
    ends = [middle]
    if known.reason:
        ends += [_fitted(target, known, share, n, ridge) for share in (known.least, known.most)]
    apart = max(one.error for one in ends) - min(one.error for one in ends)
    reason = known.reason
    if apart <= allowed and middle.unknown > allowed:
        reason = middle.reason
    given = max(apart, middle.unknown) <= allowed
    lengths = [math.sqrt(float(s.mean())) for s in (known.share, known.least, known.most)]
    off = max(abs(one - lengths[0]) for one in lengths)
    M_W = lengths[0] if off <= _UNDECIDED / 2 else math.nan
    M_h = np.array([one.overlap for one in ends])
    sure = (np.ptp(M_h, axis=0) <= _UNDECIDED) & (middle.unknown <= allowed) & (M_W == M_W)
    if (M_h[0] < _TOLD).any():
        sure &= M_h[0] >= _TOLD
        reason = reason or f"an overlap below {_TOLD:g} may be that of a random function"
    if 1 < len(known.share) < _FAR:
        sure &= False
        reason = reason or (
            f"a few far inputs decide the overlap with a feature of fewer than {_FAR} variables"
        )
    rare = target.composition.rare(1 / FRESH) * target.variance
    margin, D = MARGIN * target.label_variance + rare, len(known.share)
    if n < D * (D + 1):
        given, sure, margin = False, sure & False, 2 * margin
        reason = reason or (
            f"n is below {D * (D + 1)}, twice the number of products of two of {D} variables, "
            "where the fluctuations of single runs are of the size of what is learned"
        )
    if rare > _RARE * target.label_variance:
        given, sure, margin = False, sure & False, math.nan
        reason = (
            f"labels rarer than one in {FRESH} hold {rare / target.label_variance:.2g} of Var y: "
            "a run that measures its error on that many samples misses them"
        )
    return Stages(
        M_W,
        middle.error if given else math.nan,
        np.where(sure, M_h[0], math.nan),
        middle.refit if given else math.nan,
        max(one.error + one.unknown for one in ends) + margin,
        float(np.maximum(min(one.floor for one in ends) - margin, target.noise)),
        "" if given and sure.all() and M_W == M_W else reason,
    )


class _Fitted(NamedTuple):
    """A prediction for given shares; what is not known of the error, and why."""

    error: float
    overlap: Array
    refit: float
    floor: float
    unknown: float
    reason: str


def _fitted(
    target: Hierarchical, known: Recovered, share: Array, n: float, ridge: float | None
) -> _Fitted:
    D, variance, highest = len(share), target.label_variance, target.composition.highest
    G = known.matrix(share)
    here = _radial_target(target, G, _shares(target, G))
    if ridge is None:
        both = here.energies.copy()
        both[: 2 * len(here.radial) : 2] += here.radial**2
        ridge = _best_ridge(mehler_levels(D, both, variance - float(both.sum())), n)
    fit = radial_fit(here, D, n, ridge)
    M_h = fit.with_features / math.sqrt(target.feature_variance * fit.spread)
    fewer = here.energies.copy()
    fewer[highest - 1 :] = 0.0
    changed = abs(radial_fit(here._replace(energies=fewer), D, n, ridge).error - fit.error)
    above = max(target.variance - float(target.levels()[1:].sum()), 0.0)
    above *= float(share.max()) ** (highest + 1)  # What the variables have of unresolved degrees.
    learned = fit.learned * (2 - fit.learned)
    unknown = above * float(learned[highest + 1])
    reason = (
        f"degrees above {highest}, which are not resolved, hold {above / variance:.2g} of Var y "
        "and are learned in part"
    )
    other = _radial_target(target, G, _shares(target, G, largest=True))
    moved = float(learned[3:] @ np.abs(other.energies - here.energies)[3:])
    if moved > unknown:
        unknown, reason = (
            moved,
            (
                "directions of one sign are found to different degrees, and parts of degree 3 and "
                "more depend on how"
            ),
        )
    # A fit without the last two degrees has their learned part as further error, and no more.
    strange = changed - float(learned[highest - 1 : highest + 1].max()) * float(
        np.sum(here.energies[highest - 1 :])
    )
    if strange > unknown:
        unknown, reason = (
            strange,
            (f"with {D} variables the fit in the tails is not resolved by degrees up to {highest}"),
        )
    far = abs(radial_fit(here, D, n, ridge, beyond=1.0).error - fit.error)
    if far > unknown:
        unknown, reason = far, "a few inputs further out than all samples decide the error"
    seen = float(here.energies.sum() + np.sum(here.radial**2))
    floor = target.noise + max(target.variance - seen - above, 0.0)
    refit = min(refit_error(target, G, fit.curve), fit.error)
    return _Fitted(fit.error, np.minimum(np.abs(M_h), 1.0), refit, floor, unknown, reason)


def _shares(target: Hierarchical, G: Array, largest: bool = False) -> Array:
    """Return the mean or largest share of the directions under each feature by sign, (r, 2)."""
    found = np.zeros((target.r, 2))
    for kind, rows in enumerate(target.alike()):
        if len(rows):
            block = G[np.ix_(rows, rows)]
            value = np.linalg.eigvalsh(block)[-1] if largest else np.diag(block).mean()
            found[kind // 2, kind % 2] = min(max(float(value), 0.0), 1.0)
    return found


def _radial_target(target: Hierarchical, G: Array, shares: Array) -> RadialTarget:
    """Return the target in the estimated variables; degrees 1 and 2 are exact in G."""
    parts = parts_by_degree(target, shares)
    energies = np.zeros(_DEGREES)
    energies[1 : len(parts.energies)] = parts.energies[1:]
    radial = parts.radial.copy()
    radial[0] = 0.0
    composition, size = target.composition, target.sizes[0]
    linear, second = first_moments(composition, size), second_moments(composition, size)
    turned = second @ G
    energies[1] = float(linear @ G @ linear)
    if len(parts.energies) > 2:
        energies[2] = float(np.sum(turned * turned.T)) / 2
        radial[1] = float(np.trace(turned)) / math.sqrt(2 * len(G))
    return _split(target, energies, parts._replace(radial=radial), profile_of(target, G))


def _split(
    target: Hierarchical, energies: Array, parts: Parts, profile: Profile | None = None
) -> RadialTarget:
    """Subtract the radial part from the energies by degree, and from the features."""
    count = len(parts.radial)
    energies[: 2 * count : 2] -= parts.radial**2
    features = np.zeros((target.r, _DEGREES))
    features[:, : parts.features.shape[1]] = parts.features
    features[:, : 2 * count : 2] -= parts.radial * parts.feature_radial
    squares = parts.squares.copy()
    squares[0] = target.label_variance
    return RadialTarget(
        parts.radial, np.maximum(energies, 0.0), squares, parts.feature_radial, features, profile
    )


class Setting(NamedTuple):
    """What a prediction needs to know about a learner.

    Attributes
    ----------
    exact, spectral : bool
        Whether the first layer is in the true subspace, and whether its subspace has a theory.
    ridge : float, optional
        Ridge of a Mehler kernel over the directions themselves; None for another second stage.
    fresh : bool
        Whether the second stage has samples that the first layer has not seen.
    third : bool
        Whether III is bounded.
    last : str
        The error of `Stages` that is the learner's own; empty when it is none of them.
    """

    exact: bool
    spectral: bool
    ridge: float | None
    fresh: bool
    third: bool
    last: str


def predictions(
    target: Hierarchical, d: int, sizes: Sequence[int], setting: Setting
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return observables by number of samples, and attributes, of `Layerwise.predict`.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    d : int
        Dimension.
    sizes : sequence of int
        Numbers of samples.
    setting : Setting
        What is known about the learner.
    """
    stages = [_stages(target, d, n, setting) for n in sizes]
    values: dict[str, Any] = {
        "first_layer_overlap": [s.first_layer_overlap for s in stages],
        "kernel_error": [best_kernel_error(target, d, n) for n in sizes],
        "two_layer_error": [s.two_layer_error for s in stages],
        "feature_overlap": [s.feature_overlap for s in stages],
        "kappa": np.log(sizes) / math.log(d),
    }
    if setting.third:
        values["three_layer_bound"] = [s.three_layer_bound for s in stages]
        values["three_layer_floor"] = [s.three_layer_floor for s in stages]
    if setting.last:
        values["error"] = [getattr(s, setting.last) for s in stages]
    reasons = dict.fromkeys(s.reason for s in stages if s.reason)
    attributes: dict[str, Any] = {
        "label_variance": target.label_variance,
        "n_star": target.n_star(d),
        "n_star_by_direction": np.sort(recovered_directions(target, d, sizes[0]).n_star).tolist(),
        "note": f"nan where {'; '.join(reasons)}." if reasons else None,
    }
    return values, attributes


def _stages(target: Hierarchical, d: int, n: int, setting: Setting) -> Stages:
    """Return the predictions that a learner has."""
    known = exact_directions(target) if setting.exact else recovered_directions(target, d, n)
    stages = predicted_stages(target, known, n, setting.ridge or 1.0)
    unknown = np.full(target.r, math.nan)
    reason = ""
    if setting.ridge is None:
        reason = (
            "the second stage is not a Mehler kernel over the directions themselves, the only one "
            "whose theory is known"
        )
    elif not setting.fresh and n < _REUSED * known.n_star.max():
        reason = (
            f"the stages share their samples with n below {_REUSED:g} n* of a direction: the "
            "theory assumes fresh samples"
        )
    if reason:
        M_W = stages.first_layer_overlap if setting.spectral else math.nan
        return Stages(M_W, math.nan, unknown, math.nan, math.nan, math.nan, reason)
    return stages


def best_kernel_error(target: Hierarchical, d: int, n: float) -> float:
    """Return I, the error of the Mehler kernel in all d dimensions with the best ridge.

    Parameters
    ----------
    target : Hierarchical
        A target whose N is a number.
    d : int
        Dimension.
    n : float
        Samples.
    """
    energies = target.levels()
    energies[0] = 0.0
    levels = mehler_levels(d, energies, target.label_variance - float(energies.sum()))
    padded = np.zeros(_DEGREES)
    padded[: len(energies)] = energies
    ridge = _best_ridge(levels, n)
    parts = parts_by_degree(target, np.ones((target.r, 2)), d)
    parts.radial[0] = 0.0
    if float(np.sum(parts.radial**2)) < _RADIAL * target.variance:
        return errors(levels, n, math.inf, ridge).test
    return radial_fit(_split(target, padded, parts), d, n, ridge).error


def _best_ridge(levels: Levels, n: float) -> float:
    """Return the ridge of least error; there may be several minima, so a grid comes first."""
    from scipy.optimize import minimize_scalar

    def error(x: float) -> float:
        return errors(levels, n, math.inf, math.exp(x)).test

    grid = np.linspace(math.log(_LEAST_RIDGE), math.log(_LARGEST_RIDGE), _TRIED)
    best = int(np.argmin([error(x) for x in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, _TRIED - 1)]
    found = minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-3})
    return math.exp(min((float(found.x), float(grid[best])), key=error))
