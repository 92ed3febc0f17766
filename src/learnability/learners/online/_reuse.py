"""Rules of one step: plain descent, and the rules that use a sample again.

A network f = sum_j a_j sigma(w_j . x) is trained on a batch X (b, d) with labels y. Every rule
moves its weights along the inputs, W <- W + step / (d b) U X, with U (p, b) a function of the
fields W X^T and, for the rules that evaluate the same inputs at other weights, of X X^T / d:

==============  ==================================================================================
plain           U = u(field), u_j = -a_j sigma'(field_j) l'(f, y)
extragradient   u at the fields of W + look_ahead / (d b) u X; a negative look-ahead climbs
sam             u after a climb of length look_ahead / sqrt(d) along the normalised gradient
repetition      the sum of u over k plain steps on the same batch
lookahead       the same sum over k fast steps of size look_ahead
==============  ==================================================================================

The same lines run on JAX arrays in a simulation and on NumPy nodes in the equations of motion,
where X X^T / d is the identity.

References
----------
Arnaboldi, Dandi, Krzakala, Pesce, Stephan, arXiv:2405.15459 (repetition, extragradient); Foret,
Kleiner, Mobahi, Neyshabur, ICLR 2021 (sam); Zhang, Lucas, Hinton, Ba, NeurIPS 2019 (lookahead).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from learnability.expressions.callables import namespace

__all__ = ["LOSSES", "RULES", "directions", "network_gradient"]

RULES = ("plain", "extragradient", "repetition", "sam", "lookahead")
LOSSES = ("squared", "correlation")

Gradient = Callable[[Any], tuple[Any, Any]]


def network_gradient(
    second: Any, y: Any, activation: Callable[[Any], Any], slope: Callable[[Any], Any], loss: str
) -> Gradient:
    """Return descent directions of the two layers as a function of the fields.

    Parameters
    ----------
    second : array, shape (p,)
        Second layer a.
    y : array, shape (b,)
        Labels.
    activation, slope : callable
        The function sigma and its derivative, of arrays (..., 1).
    loss : {"squared", "correlation"}
        (f - y)^2 / 2 or -f y.

    Returns
    -------
    callable
        It maps fields (p, b) to u and v, both (p, b), of the first and of the second layer.
    """

    def gradient(field: Any) -> tuple[Any, Any]:
        value = activation(field[..., None])
        pull = y - second @ value if loss == "squared" else y
        return second[:, None] * slope(field[..., None]) * pull, value * pull

    return gradient


def directions(
    rule: str,
    gradient: Gradient,
    field: Any,
    carry: Callable[[Any], Any],
    power: Callable[[Any], Any],
    inner: Any,
    repetitions: int,
) -> tuple[Any, Any]:
    """Return directions U and V of both layers, shape (p, b) each, that a rule takes on a batch.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    gradient : callable
        A result of `network_gradient`.
    field : array, shape (p, b)
        Fields W X^T.
    carry : callable
        u -> u X X^T / d, how a move along the inputs changes the fields.
    power : callable
        Sum of an array (p, b) over all neurons and samples of one gradient.
    inner : float
        Size of the moves within a step, divided by b (not for sam): `look_ahead`, or `step` for
        repetition.
    repetitions : int
        Number k of moves of repetition and lookahead.
    """
    first, second = gradient(field)
    if rule == "extragradient":
        return gradient(field + inner * carry(first))
    if rule == "sam":
        xp = namespace(field)
        moved = carry(first)
        least = float(np.finfo(field.dtype).tiny)  # A gradient of zero does not move.
        length = xp.sqrt(xp.maximum(power(first * moved), least))
        return gradient(field - inner * moved / length)
    for _ in range(repetitions - 1 if rule in ("repetition", "lookahead") else 0):
        more = gradient(field + inner * carry(first))
        first, second = first + more[0], second + more[1]
    return first, second
