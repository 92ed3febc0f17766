"""The step that both engines of one-pass SGD share: labels, the move of the weights, divergence.

A step on a batch X (b, d) moves the weights by W <- W + c X, with c from the rules of `_reuse`.
The two normalised rules use a sample once, with fields v_j = w_j.x / tau_j of unit variance,
tau_j^2 = w_j^T Sigma w_j, and u_j the direction of `_reuse` at these fields:

    normalised  w_j += (step / d) (tau_j u_j x - u_j v_j Sigma w_j),
    whitened    w_j += (step / d) (tau_j u_j Sigma^-1 x - u_j v_j w_j),

which is tau_j^2 times the negative gradient of the loss in w_j, without and with Sigma^-1.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023 (the normalised rules).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from learnability.inputs import Frame
from learnability.labels.link import Link
from learnability.learners.online._residual_norms import quantile_series
from learnability.learners.online._reuse import directions, network_gradient

__all__ = [
    "COMPILER",
    "NORMALISATIONS",
    "Numbers",
    "Recipe",
    "State",
    "callable_in_jax",
    "labels",
    "move",
    "next_state",
    "numbers",
]

NORMALISATIONS = ("none", "normalised", "whitened")
COMPILER = {"xla_backend_optimization_level": 1}
"""Halves the time of compilation; the loops do not run slower."""
LARGEST = 1e12
"""A variance of the fields beyond which a run counts as diverged."""


class Recipe(NamedTuple):
    """What is compiled into a loop; all of it hashable.

    Attributes
    ----------
    link : Link
        E[y | z], with the law of the label where that is random.
    core, noisy : Link, bool
        The label as a function of z and of latent variables, and whether it has further noise.
    activation, loss, rule, repetitions, width, batch, spherical, schedule, normalisation
        Fields of the learner.
    trained : bool
        Whether the second layer moves.
    isotropic : bool
        Whether the hidden directions are the marked axes and all axes have scale 1.
    watched : bool
        Whether first passages are recorded.
    """

    link: Link
    core: Link
    noisy: bool
    activation: Link
    loss: str
    rule: str
    repetitions: int
    width: int
    batch: int
    spherical: bool
    trained: bool
    schedule: Link | None
    normalisation: str = "none"
    isotropic: bool = True
    watched: bool = False

    @property
    def latents(self) -> int:
        """Number of variables besides z that make a label; the last is that of the noise."""
        return self.core.r - self.link.r + self.noisy


class Numbers(NamedTuple):
    """What a loop takes as arguments, so that other values need no new compilation.

    Attributes
    ----------
    d, step, inner, second_step, deviation, threshold : float
        The dimension; the sizes of the steps divided by that of the batch; the standard deviation
        of the label noise; the correlation that is watched.
    series : array
        From `quantile_series`, for the part of the inputs on which no field depends.
    scale, to_label : array, shapes (k,) and (r, k)
        Those of the `Frame` of the inputs.
    """

    d: Any
    step: Any
    inner: Any
    second_step: Any
    deviation: Any
    threshold: Any
    series: Any
    scale: Any
    to_label: Any


class State(NamedTuple):
    """Runs of several seeds; every array has the seeds first.

    Attributes
    ----------
    weights : tuple of arrays
        (C, M) in the reduced engine, the weights and the marked axes in the full one.
    second : array, shape (p,)
        Second layer.
    diverged : array of bool
        Whether the run was stopped.
    reached : array of int
        First step after which a field has a correlation above the threshold with a hidden
        coordinate; -1 before. Recorded only when the recipe is `watched`.
    """

    weights: tuple[Any, Any]
    second: Any
    diverged: Any
    reached: Any


def numbers(
    recipe: Recipe,
    frame: Frame,
    d: int,
    rates: tuple[float, float, float],
    noise: float,
    threshold: float = 0.0,
) -> Numbers:
    """Return the arguments of a loop in dimension d; `rates` is (step, look_ahead, second_step)."""
    step, look_ahead, second_step = rates
    inner = step if recipe.rule == "repetition" else look_ahead
    freedom = d - recipe.width - len(frame.scale)
    return Numbers(
        float(d),
        step / recipe.batch,
        inner if recipe.rule == "sam" else inner / recipe.batch,
        second_step / recipe.batch,
        float(np.sqrt(noise)),
        threshold,
        quantile_series(freedom, max(min(recipe.batch, freedom), 0)),
        frame.scale,
        frame.to_label,
    )


def labels(recipe: Recipe, values: Numbers, h: Any, latents: Any) -> Any:
    """Return labels (b,) of hidden coordinates (r, b) and latent ones (latents, b)."""
    import jax.numpy as jnp

    inside = recipe.core.r - recipe.link.r
    y = callable_in_jax(recipe.core)(jnp.concatenate([h, latents[:inside]]).T if inside else h.T)
    return y + values.deviation * latents[-1] if recipe.noisy else y


def move(
    recipe: Recipe, values: Numbers, time: Any, second: Any, field: Any, y: Any, about: Any
) -> tuple[Any, Any, Any]:
    """Return how a batch moves the weights.

    Parameters
    ----------
    recipe, values, time
        The rule, its numbers, and the time steps / d.
    second, field, y : array, shapes (p,), (p, b) and (b,)
        The second layer, the fields and the labels.
    about : array
        X X^T / d (b, b), which a plain step does not need; tau (p,) for the normalised rules.

    Returns
    -------
    c : array, shape (p, b)
        Coefficients of the inputs.
    own : array, shape (p,)
        The share of the weights that normalised rules subtract; zero for the others.
    second : array, shape (p,)
        The new second layer.
    """
    import jax.numpy as jnp

    slope = callable_in_jax(recipe.activation.derivative())
    gradient = network_gradient(second, y, callable_in_jax(recipe.activation), slope, recipe.loss)
    rate = 1.0 if recipe.schedule is None else recipe.schedule(time[None])
    size = rate * values.step / values.d
    if recipe.normalisation != "none":
        v = field / about[:, None]
        first, readout = gradient(v)
        c, own = size * about[:, None] * first, size * (first * v).sum(axis=1)
    else:
        inner = values.inner * rate if recipe.rule == "repetition" else values.inner
        first, readout = directions(
            recipe.rule, gradient, field, lambda u: u @ about, jnp.sum, inner, recipe.repetitions
        )
        c, own = size * first, 0.0
    if recipe.trained:
        second = second + rate * values.second_step / values.d * readout.sum(axis=1)
    return c, own, second


def next_state(
    recipe: Recipe,
    values: Numbers,
    old: State,
    weights: tuple[Any, Any],
    second: Any,
    count: Any,
    variance: Any,
    on_label: Any,
) -> State:
    """Return the new state, or the old one of a run that diverges, and record first passages.

    `variance` (p,) is that of the fields, `on_label` (p, r) their covariance with the hidden
    coordinates.
    """
    import jax.numpy as jnp

    lost = old.diverged | ~(variance.sum() + (second**2).sum() < LARGEST)
    kept = [jnp.where(lost, a, b) for a, b in zip(old.weights, weights, strict=True)]
    reached = old.reached
    if recipe.watched:
        there = (values.threshold**2 * variance[:, None] <= on_label**2).any() & ~lost
        reached = jnp.where((reached < 0) & there, count + 1, reached)
    return State((kept[0], kept[1]), jnp.where(lost, old.second, second), lost, reached)


def callable_in_jax(link: Link) -> Callable[[Any], Any]:
    """Return the link for a compiled loop; what JAX cannot trace is called back in Python."""
    return link if _traceable(link) else _called_back(link)


@lru_cache(maxsize=256)
def _traceable(link: Link) -> bool:
    import jax

    shape: Any = jax.ShapeDtypeStruct
    try:
        jax.eval_shape(link, shape((2, link.r), np.float32))
    except Exception:  # Whatever a user's function raises on a tracer.
        return False
    return True


def _called_back(link: Link) -> Callable[[Any], Any]:
    import jax

    shape: Any = jax.ShapeDtypeStruct

    def call(z: Any) -> Any:
        # Callbacks run outside the context of double precision, hence in float32.
        value = jax.pure_callback(
            lambda points: np.asarray(link(np.asarray(points)), dtype=np.float32),
            shape(z.shape[:-1], np.float32),
            z.astype(np.float32),
            vmap_method="expand_dims",
        )
        return value.astype(z.dtype)

    return call
