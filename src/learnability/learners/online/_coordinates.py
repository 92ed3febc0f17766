"""One-pass SGD on all d coordinates, in single precision and a compiled loop.

Inputs are x = g + sum_j (scale_j - 1) <e_j, g> e_j with normal g in d dimensions and the marked
axes e_j; the steps have the same law as those that `_chain` follows by order parameters. The bits
of a run do not depend on the other runs: groups of one fixed size are run one after another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from learnability.learners.online._steps import (
    COMPILER,
    Numbers,
    Recipe,
    State,
    labels,
    move,
    next_state,
)

__all__ = ["advance_coordinates"]


@lru_cache(maxsize=64)
def advance_coordinates(recipe: Recipe) -> Callable[..., State]:
    """Return the compiled loop ``(state, seeds, first, last, values) -> state`` on weights (p, d).

    The first axes of the state and of the seeds are the groups and the runs of a group.
    """
    import jax
    import jax.numpy as jnp

    p, whitened = recipe.width, recipe.normalisation == "whitened"

    def one_step(state: State, key: Any, count: Any, values: Numbers) -> State:
        W, axes = state.weights
        surplus = values.scale - 1
        key = jax.random.fold_in(key, count)
        X = jax.random.normal(key, (recipe.batch, W.shape[1]), W.dtype)
        fields = jnp.concatenate([W, axes]) @ X.T
        field, g = fields[:p], fields[p:]
        latents = None
        if recipe.latents:
            size = (recipe.latents, recipe.batch)
            latents = jax.random.normal(jax.random.fold_in(key, 1), size, W.dtype)
        if recipe.isotropic:
            h = g
        else:
            h, field = values.to_label @ g, field + ((W @ axes.T) * surplus) @ g
            # Whitened steps go along Sigma^-1 x, whose coordinates are g / scale.
            X_shift = -surplus / values.scale if whitened else surplus
            X = X + (X_shift[:, None] * g).T @ axes
        y = labels(recipe, values, h, latents)
        about = None
        if recipe.normalisation != "none":
            about = jnp.sqrt((W**2).sum(axis=1) + beyond(W, axes, values).sum(axis=1))
        elif recipe.rule != "plain":
            about = X @ X.T / values.d
        c, own, second = move(recipe, values, count / values.d, state.second, field, y, about)
        if whitened:
            W = (1 - own)[:, None] * W
        elif recipe.normalisation == "normalised":
            W = W - own[:, None] * (W + ((W @ axes.T) * (values.scale**2 - 1)) @ axes)
        W = (W + c.astype(X.dtype) @ X).astype(X.dtype)
        if recipe.spherical:
            W = W / jnp.sqrt((W**2).sum(axis=1))[:, None]
        variance, on_label = (W**2).sum(axis=1), jnp.zeros((p, recipe.link.r), W.dtype)
        if not recipe.isotropic:
            variance = variance + beyond(W, axes, values).sum(axis=1)
        if recipe.watched:
            on_label = W @ axes.T
            if not recipe.isotropic:
                on_label = (on_label * values.scale) @ values.to_label.T
        second = second.astype(W.dtype)
        return next_state(recipe, values, state, (W, axes), second, count, variance, on_label)

    def beyond(W: Any, axes: Any, values: Numbers) -> Any:
        """Return the surplus of the marked axes in the variances of the fields."""
        return (W @ axes.T) ** 2 * (values.scale**2 - 1)

    def advance(state: State, seeds: Any, first: Any, last: Any, values: Numbers) -> State:
        step = jax.vmap(one_step, in_axes=(0, 0, None, None))

        def group(part: tuple[State, Any]) -> State:
            state, keys = part
            found: State = jax.lax.fori_loop(
                first, last, lambda n, s: step(s, keys, n, values), state
            )
            return found

        keys = jax.vmap(jax.vmap(jax.random.key))(seeds)
        state = jax.lax.map(group, (State(*jax.tree.map(jnp.asarray, state)), keys))
        return state

    return jax.jit(advance, compiler_options=COMPILER)
