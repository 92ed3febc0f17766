"""The assumptions of the theorems on layer-wise learning, one by one, with their numbers.

Essential ones are needed by the mechanism, technical ones by the proof; every experiment violates
some of the latter. Further rows give what the theorems leave out: constants at the user's N.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from learnability.fields import Declared
from learnability.labels.fields import Function
from learnability.labels.hermite import HermiteExpansion, expand
from learnability.labels.link import Link
from learnability.targets.hierarchical import Hierarchical
from learnability.theory.compositional import standardised_link
from learnability.theory.csq import leap_staircase

__all__ = ["Condition", "conditions"]


@dataclass(frozen=True)
class Condition:
    """One assumption.

    Attributes
    ----------
    name : str
        What is assumed.
    kind : {"essential", "technical", "number"}
        What it is needed for; a "number" is not an assumption but a constant of the target.
    verdict : {"holds", "fails", "undecided", "-"}
        Whether it holds.
    number : float
        The quantity that decides.
    advice : str
        What to do where it fails, or which learners keep it.
    """

    name: str
    kind: str
    verdict: str
    number: float
    advice: str = ""


_TRAINING = (
    Condition("the first layer is trained on the correlation loss", "technical", "holds", 1.0,
              "Layerwise does so; JointAdamW has the squared loss"),
    Condition("layers after the first start anew", "technical", "holds", 1.0,
              "those of Layerwise start at zero; JointAdamW continues from where they end"),
)  # fmt: skip
"""Assumptions on the training, which every layer-wise learner keeps in all (1.0) of its layers."""


def conditions(target: Hierarchical, activation: str | Link = "relu(z)") -> tuple[Condition, ...]:
    """Check a target and an activation against the assumptions.

    Parameters
    ----------
    target : Hierarchical
        The target; rows on constants need its N.
    activation : str or Link
        Activation of the first layer, a function of one variable.

    Returns
    -------
    tuple of Condition
    """
    sigma = Declared(Function(), "Activation of the first layer.").read("activation", activation)
    k = target.degree
    standard = standardised_link(target)
    g, P, s = expand(standard, max(k, 2)), expand(target.polynomial, max(k, 2)), expand(sigma, k)
    rows = [
        *_linear_parts(g),
        *_told_apart(target.link),
        _decided("the information exponent of P is at most 2", "essential",
                 P.is_zero(1) is not True or P.is_zero(2) is not True,
                 float(P.information_exponent or math.nan),
                 "the first layer needs more than d^(1 + epsilon) samples"),
    ]  # fmt: skip
    rows += [
        _nonzero(f"c_{j}(sigma) is not zero", "essential", s, j,
                 "add biases, or use another activation")
        for j in range(1, k + 1)
    ]  # fmt: skip
    rows.append(_decided("sigma has a derivative almost everywhere", "essential",
                         sigma.breaks is not None, float(len(sigma.breaks or ())),
                         "declare its breaks"))  # fmt: skip
    twice = expand(sigma.after(sigma), 2)
    product = float(twice.tensors[2].sum()) * float(P.tensors[2].sum())
    nothing = twice.energy < 1e-24  # sigma(sigma) is zero everywhere.
    known = nothing or (twice.is_zero(2) is not None and P.is_zero(2) is not None)
    rows += [
        _decided("all signs a_i are +1", "technical", target.signs == "ones",
                 1.0 if target.signs == "ones" else 0.0),
        _zero("P has no linear part", "technical", P, 1),
        _zero("E[sigma(sigma(z)) z] is zero", "technical", twice, 1,
              "use an even activation", float(twice.tensors[1].sum())),
        Condition("E[sigma(sigma) He2] E[P He2] > 0", "technical",
                  _verdict(product > 0) if known else "undecided", product,
                  "" if product > 0 else "change the sign of the activation or of P"),
    ]  # fmt: skip
    rows += [_zero(f"c_{j}(g) is zero", "technical", g, j) for j in range(2, k + 1)]
    rows += _TRAINING
    if target.N is not None:
        rows += _numbers(target)
    return tuple(rows)


def _linear_parts(g: HermiteExpansion) -> list[Condition]:
    """Return whether g has a linear part in each feature."""
    advice = "the feature is not seen at first order: use g with a linear part"
    if g.link.r == 1:
        return [_nonzero("c_1(g) is not zero", "essential", g, 1, advice)]
    rows = []
    for m, c in enumerate(np.abs(g.tensors[1])):
        zero = float(c) <= 1e-9 * math.sqrt(g.energy) + 10 * g.errors[1]
        verdict = "undecided" if g.is_zero(1) is None else _verdict(not zero)
        number = float(c) / math.sqrt(g.energy)
        rows.append(Condition(f"c_1(g) in h_{m + 1} is not zero", "essential", verdict, number,
                              "" if verdict == "holds" else advice))  # fmt: skip
    return rows


def _told_apart(link: Link) -> list[Condition]:
    """Return whether steps of rank one find several features, one after another."""
    if link.r == 1:
        return []
    steps = leap_staircase(link).steps
    orders = [step.order for step in steps]
    alone = len(steps) == link.r and all(order == 1 for order in orders)
    verdict = "undecided" if None in orders else _verdict(alone)
    largest = max((float(order) for order in orders if order is not None), default=math.nan)
    advice = "one preconditioned step finds one function of the features: use several functions"
    return [Condition("each step of g's staircase in h is of order 1 and finds one feature",
                      "essential", verdict, largest, "" if alone else advice)]  # fmt: skip


def _numbers(target: Hierarchical) -> list[Condition]:
    """Return the constants that the theorems leave out."""
    N, D = target.sizes[0], target.r * target.sizes[0]
    found = [
        Condition("n* / (d N), samples of the first layer", "number", "-",
                  target.n_star(D) / (D * N)),
        Condition("monomials up to degree k: n and the first width exceed them", "number", "-",
                  float(math.comb(D + target.degree, target.degree))),
    ]  # fmt: skip
    if target.depth > 3:
        return found
    found.insert(
        1,
        Condition("what a refit on the best fit of degree k leaves, over Var f", "number", "-",
                  target.feature_floor / target.variance),
    )  # fmt: skip
    overlap = target.max_feature_overlap
    values = [overlap] if isinstance(overlap, float) else list(overlap)
    found += [
        Condition(f"largest overlap of h_{m + 1} with that fit", "number", "-", float(v))
        for m, v in enumerate(values)
    ]
    return found


def _verdict(holds: bool) -> str:
    return "holds" if holds else "fails"


def _decided(name: str, kind: str, holds: bool, number: float, advice: str = "") -> Condition:
    return Condition(name, kind, _verdict(holds), number, "" if holds else advice)


def _size(found: HermiteExpansion, k: int) -> float:
    return math.sqrt(found.power(k) / found.energy) if found.energy else 0.0


def _nonzero(name: str, kind: str, found: HermiteExpansion, k: int, advice: str) -> Condition:
    zero = found.is_zero(k)
    verdict = "undecided" if zero is None else _verdict(not zero)
    return Condition(name, kind, verdict, _size(found, k), "" if verdict == "holds" else advice)


def _zero(
    name: str,
    kind: str,
    found: HermiteExpansion,
    k: int,
    advice: str = "",
    number: float | None = None,
) -> Condition:
    zero = found.is_zero(k)
    verdict = "undecided" if zero is None else _verdict(zero)
    size = _size(found, k) if number is None else number
    return Condition(name, kind, verdict, size, "" if verdict == "holds" else advice)
