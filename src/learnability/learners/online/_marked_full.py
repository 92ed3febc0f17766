"""One-pass SGD on inputs with one long direction, in all d coordinates.

The rules of `_marked_chain` on weights W (p, d) and inputs x = g + (sqrt(1 + theta) - 1) <mu, g> mu
with normal g, in single precision: what the chain is exact in law with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from learnability.learners.online._engines import COMPILER, Numbers, Recipe, State, move, settled
from learnability.learners.online._engines import labels as labels_of
from learnability.learners.online._marked_chain import SpikeNumbers, normalised_move

__all__ = ["advance_marked_full"]


@lru_cache(maxsize=64)
def advance_marked_full(recipe: Recipe, normalisation: str) -> Callable[..., State]:
    """The compiled loop ``(state, seeds, first, last, values, spike) -> state`` on (W, frame)."""
    import jax
    import jax.numpy as jnp

    def one_step(state: State, key: Any, count: Any, values: Numbers, spike: SpikeNumbers) -> State:
        W, frame = state.weights
        mu, theta = frame[0], spike.stretch**2 - 1
        key = jax.random.fold_in(key, count)
        plain = jax.random.normal(key, (recipe.batch, W.shape[1]), W.dtype)
        g = frame @ plain.T
        X = plain + (spike.stretch - 1) * g[0][:, None] * mu
        noise = None
        if recipe.noisy:
            noise = jax.random.normal(jax.random.fold_in(key, 1), (recipe.batch,), W.dtype)
        y = labels_of(recipe, values, (spike.along * g[0] + spike.across * g[1])[None], noise)
        time, field = count / values.d, W @ X.T
        if normalisation == "none":
            gram = X @ X.T / values.d
            c, second = move(recipe, values, time, state.second, field, y, gram)
            W = W + c @ X
        else:
            covered = W + theta * (W @ mu)[:, None] * mu
            tau = jnp.sqrt((W * covered).sum(axis=1))
            c, own, second = normalised_move(recipe, values, time, state.second, field, y, tau)
            if normalisation == "whitened":
                X = plain + (1 / spike.stretch - 1) * g[0][:, None] * mu
                W = (1 - own)[:, None] * W + c @ X
            else:
                W = W + c @ X - own[:, None] * covered
        W = W.astype(frame.dtype)
        if recipe.spherical:
            W = W / jnp.linalg.norm(W, axis=1, keepdims=True)
        M = (W @ frame.T) * jnp.stack([spike.stretch, jnp.ones_like(spike.stretch)])
        on_label = (M @ jnp.stack([spike.along, spike.across]))[:, None]
        spread = (W**2).sum(axis=1) + theta * (W @ mu) ** 2 - on_label[:, 0] ** 2
        second = second.astype(frame.dtype)
        return settled(recipe, values, state, (W, frame), second, count, spread, on_label)

    def advance(
        state: State, seeds: Any, first: Any, last: Any, values: Numbers, spike: SpikeNumbers
    ) -> State:
        keys = jax.vmap(jax.random.key)(seeds)
        step = jax.vmap(one_step, in_axes=(0, 0, None, None, None))
        state = State(*jax.tree.map(jnp.asarray, state))
        return jax.lax.fori_loop(first, last, lambda n, s: step(s, keys, n, values, spike), state)

    return jax.jit(advance, compiler_options=COMPILER)
