"""One-pass SGD in compiled loops: the exact chain of order parameters, and all d coordinates.

**Reduced.** Let C = Q - M M^T = L L^T. For isotropic Gaussian inputs the coordinates of a batch
along W* (h), along p further orthonormal directions whose span holds the rest of the weights
(u), and the Gram matrix S of what is left, a Wishart matrix with d - r - p degrees of freedom,
are independent of the past. With fields M h + L u and Gram matrix G = h^T h + u^T u + S all rules
of `_reuse` give a move W <- W + c X, hence

    M <- M + c h^T,    C <- C + c (L u)^T + (L u) c^T + c (u^T u + S) c^T:

(C, M) is a Markov chain of its own at every d, and a step costs O((p + r)^2) whatever d is.
C is followed itself, in double precision, and not as a difference, so that neither M close to its
bound nor weights that are nearly equal cost digits.

**Full.** The same rules on weights W (p, d) and inputs of d coordinates, in single precision.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995), for the order parameters; the chain is exact at finite d.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.labels.link import Link
from learnability.learners.online._residual_norms import (
    chi,
    normals_needed,
    quantile_series,
    triangular_factor,
)
from learnability.learners.online._reuse import directions, network_gradient
from learnability.learners.online._starts import Start

__all__ = [
    "BLOCK",
    "COMPILER",
    "Numbers",
    "Recipe",
    "State",
    "advance_full",
    "advance_reduced",
    "callable_in_jax",
    "factor_of",
    "initial_state",
    "labels",
    "move",
    "numbers",
    "settled",
]

BLOCK = 64
"""Steps whose random numbers are drawn at once; they depend on the seed and the step alone."""
COMPILER = {"xla_backend_optimization_level": 1}
"""Halves the time of compilation; the loops run no slower."""
LARGEST = 1e12
"""A squared length beyond which a run counts as diverged."""


class Recipe(NamedTuple):
    """What is compiled into a loop; all of it hashable."""

    link: Link
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
    watched: bool


class Numbers(NamedTuple):
    """What a loop takes as arguments, so that other values need no new compilation."""

    d: Any
    step: Any
    inner: Any
    second_step: Any
    deviation: Any
    threshold: Any
    series: Any


class State(NamedTuple):
    """Runs of several seeds; every array has the seeds first.

    Attributes
    ----------
    weights : tuple of arrays
        (C, M) in the reduced engine, (W, W*) in the full one.
    second : array, shape (p,)
        Second layer.
    diverged : array of bool
        Whether the run was stopped.
    reached : array of int
        First step after which a neuron has a cosine above the threshold with a hidden direction;
        -1 before. Followed when the recipe is `watched`.
    """

    weights: tuple[Any, Any]
    second: Any
    diverged: Any
    reached: Any


def numbers(
    recipe: Recipe,
    d: int,
    step: float,
    look_ahead: float,
    second_step: float,
    noise: float,
    threshold: float,
) -> Numbers:
    """The arguments of a loop in dimension d; the steps are over the size of the batch."""
    inner = step if recipe.rule == "repetition" else look_ahead
    freedom = d - recipe.width - recipe.link.r
    return Numbers(
        float(d),
        step / recipe.batch,
        inner if recipe.rule == "sam" else inner / recipe.batch,
        second_step / recipe.batch,
        float(np.sqrt(noise)),
        threshold,
        quantile_series(freedom, max(min(recipe.batch, freedom), 0)),
    )


def initial_state(starts: list[Start], second: NDArray[np.float64]) -> State:
    """Runs of the reduced engine at their starts, one a seed."""
    count = len(starts)
    return State(
        (np.array([s.rest for s in starts]), np.array([s.overlap for s in starts])),
        np.tile(second, (count, 1)),
        np.zeros(count, dtype=bool),
        np.full(count, -1),
    )


def move(
    recipe: Recipe, values: Numbers, time: Any, second: Any, field: Any, y: Any, gram: Any
) -> tuple[Any, Any]:
    """Coefficients c (p, b) of W <- W + c X, and the new second layer."""
    import jax.numpy as jnp

    slope = callable_in_jax(recipe.activation.derivative())
    gradient = network_gradient(second, y, callable_in_jax(recipe.activation), slope, recipe.loss)
    rate = 1.0 if recipe.schedule is None else recipe.schedule(time[None])
    inner = values.inner * rate if recipe.rule == "repetition" else values.inner

    def carry(u: Any) -> Any:
        return u @ gram

    first, readout = directions(
        recipe.rule, gradient, field, carry, jnp.sum, inner, recipe.repetitions
    )
    if recipe.trained:
        second = second + rate * values.second_step / values.d * readout.sum(axis=1)
    return rate * values.step / values.d * first, second


def labels(recipe: Recipe, values: Numbers, h: Any, noise: Any) -> Any:
    """Labels (b,) of hidden coordinates (r, b)."""
    y = callable_in_jax(recipe.link)(h.T)
    return y + values.deviation * noise if recipe.noisy else y


def callable_in_jax(link: Link) -> Callable[[Any], Any]:
    """The link inside a compiled loop; what JAX cannot compile is called back."""
    return link if _traceable(link) else _called_back(link)


@lru_cache(maxsize=256)
def _traceable(link: Link) -> bool:
    import jax

    try:
        jax.eval_shape(link, jax.ShapeDtypeStruct((2, link.r), np.float32))
    except Exception:  # Whatever a user's function raises on a tracer.
        return False
    return True


def _called_back(link: Link) -> Callable[[Any], Any]:
    import jax

    def call(z: Any) -> Any:
        # Callbacks run outside the context of double precision.
        value = jax.pure_callback(
            lambda points: np.asarray(link(np.asarray(points)), dtype=np.float32),
            jax.ShapeDtypeStruct(z.shape[:-1], np.float32),
            z.astype(np.float32),
            vmap_method="expand_dims",
        )
        return value.astype(z.dtype)

    return call


# ---- the chain of order parameters


@lru_cache(maxsize=64)
def advance_reduced(recipe: Recipe) -> Callable[..., State]:
    """The compiled loop ``(state, seeds, first, last, values) -> state`` of the chain."""
    import jax
    import jax.numpy as jnp

    p, r, b = recipe.width, recipe.link.r, recipe.batch

    def one_step(state: State, z: Any, count: Any, values: Numbers) -> State:
        C, M = state.weights
        columns = values.series.shape[0]
        h, z = z[: r * b].reshape(r, b), z[r * b :]
        u, z = z[: p * b].reshape(p, b), z[p * b :]
        noise, z = (z[:b], z[b:]) if recipe.noisy else (None, z)
        outside = u.T @ u
        if columns:
            factor = triangular_factor(z, b, columns)
            outside = outside + factor @ factor.T
        rest = factor_of(C) @ u
        field = M @ h + rest
        y = labels(recipe, values, h, noise)
        gram = (h.T @ h + outside) / values.d
        time = count / values.d
        c, second = move(recipe, values, time, state.second, field, y, gram)
        cross = c @ rest.T
        C = C + cross + cross.T + c @ outside @ c.T
        M = M + c @ h.T
        if recipe.spherical:
            length = jnp.sqrt(jnp.diagonal(C) + (M**2).sum(axis=1))
            C, M = C / (length[:, None] * length), M / length[:, None]
        return settled(recipe, values, state, (C, M), second, count, jnp.diagonal(C), M)

    drawn = (r + p + recipe.noisy) * b

    def advance(state: State, seeds: Any, first: Any, last: Any, values: Numbers) -> State:
        needed = drawn + normals_needed(b, values.series.shape[0])
        keys = jax.vmap(jax.random.key)(seeds)

        def draw(key: Any, block: Any) -> Any:
            key = jax.random.fold_in(key, block)
            z = jax.random.normal(key, (BLOCK, needed), np.float32).astype(float)
            unseen = slice(drawn, drawn + values.series.shape[0])
            return z.at[:, unseen].set(chi(values.series, z[:, unseen]))

        def run_block(block: Any, state: State) -> State:
            z = jax.vmap(draw, in_axes=(0, None), out_axes=1)(keys, block)
            count = block * BLOCK + jnp.arange(BLOCK)

            def body(state: State, drawn: Any) -> tuple[State, None]:
                z, count = drawn
                step = jax.vmap(one_step, in_axes=(0, 0, None, None))
                wanted = (count >= first) & (count < last)
                new = step(state, z, count, values)
                return jax.tree.map(lambda a, b: jnp.where(wanted, a, b), new, state), None

            return jax.lax.scan(body, state, (z, count))[0]

        blocks = (first // BLOCK, (last + BLOCK - 1) // BLOCK)
        state = State(*jax.tree.map(jnp.asarray, state))
        return jax.lax.fori_loop(*blocks, run_block, state)

    return jax.jit(advance, compiler_options=COMPILER)


def factor_of(C: Any) -> Any:
    """A factor L of C = L L^T; what rounding may have made negative is lifted above zero."""
    import jax.numpy as jnp

    p = C.shape[0]
    if p == 1:
        return jnp.sqrt(jnp.maximum(C, 0.0))
    floor = 1e-13 * jnp.trace(C) + 1e-200
    return jnp.linalg.cholesky(C + floor * jnp.eye(p, dtype=C.dtype))


def settled(
    recipe: Recipe,
    values: Numbers,
    old: State,
    weights: tuple[Any, Any],
    second: Any,
    count: Any,
    rest: Any,
    M: Any,
) -> State:
    """The new state, or the old one of a run that diverges; first passages are noted."""
    import jax.numpy as jnp

    length = rest + (M**2).sum(axis=1)
    lost = old.diverged | ~(length.sum() + (second**2).sum() < LARGEST)
    kept = [jnp.where(lost, a, b) for a, b in zip(old.weights, weights, strict=True)]
    reached = old.reached
    if recipe.watched:
        there = (values.threshold**2 * length[:, None] <= M**2).any() & ~lost
        reached = jnp.where((reached < 0) & there, count + 1, reached)
    return State((kept[0], kept[1]), jnp.where(lost, old.second, second), lost, reached)


# ---- all coordinates


@lru_cache(maxsize=64)
def advance_full(recipe: Recipe) -> Callable[..., State]:
    """The compiled loop ``(state, seeds, first, last, values) -> state`` on weights (p, d)."""
    import jax
    import jax.numpy as jnp

    def one_step(state: State, key: Any, count: Any, values: Numbers) -> State:
        W, hidden = state.weights
        key = jax.random.fold_in(key, count)
        X = jax.random.normal(key, (recipe.batch, W.shape[1]), W.dtype)
        fields = jnp.concatenate([W, hidden]) @ X.T
        field, h = fields[: recipe.width], fields[recipe.width :]
        noise = None
        if recipe.noisy:
            noise = jax.random.normal(jax.random.fold_in(key, 1), (recipe.batch,), W.dtype)
        y = labels(recipe, values, h, noise)
        time = count / values.d
        gram = X @ X.T / values.d if recipe.rule != "plain" else None
        c, second = move(recipe, values, time, state.second, field, y, gram)
        W = W + (c.astype(W.dtype) @ X)
        length = (W**2).sum(axis=1)
        if recipe.spherical:
            W = W / jnp.sqrt(length)[:, None]
        M = W @ hidden.T if recipe.watched else jnp.zeros((recipe.width, recipe.link.r), W.dtype)
        rest = (W**2).sum(axis=1) - (M**2).sum(axis=1)
        return settled(recipe, values, state, (W, hidden), second.astype(W.dtype), count, rest, M)

    def advance(state: State, seeds: Any, first: Any, last: Any, values: Numbers) -> State:
        keys = jax.vmap(jax.random.key)(seeds)
        step = jax.vmap(one_step, in_axes=(0, 0, None, None))
        state = State(*jax.tree.map(jnp.asarray, state))
        return jax.lax.fori_loop(first, last, lambda n, s: step(s, keys, n, values), state)

    return jax.jit(advance, compiler_options=COMPILER)
