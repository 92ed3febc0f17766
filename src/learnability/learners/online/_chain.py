"""One-pass SGD as the exact Markov chain of its order parameters, in a compiled loop.

Let M (p, k) be the overlaps of the weights with the marked axes of the inputs (`inputs.base`),
along which inputs are scale_j g_j with standard normal g, and C = W W^T - M M^T = L L^T. The
coordinates of a batch along the marked axes (g), those along p further orthonormal directions whose
span holds the rest of the weights (u), and the Gram matrix S of the remaining coordinates, a
Wishart matrix with d - k - p degrees of freedom, are independent of the past. With s = scale g,
fields M s + L u and Gram matrix s^T s + u^T u + S, all rules of `_reuse` give a move W <- W + c X,
hence

    M <- M + c s^T,    C <- C + c (L u)^T + (L u) c^T + c (u^T u + S) c^T:

(C, M) is a Markov chain of its own at every d, and a step costs O((p + k)^2) whatever d is. The
part that normalised rules subtract, along w or Sigma w, is in the same span. C itself is followed,
in double precision, and not a difference, so that no digits are lost when M is close to its bound
or weights are nearly equal. For isotropic inputs the marked axes are the hidden directions, with
scale 1.

References
----------
Saad and Solla, Phys. Rev. E 52 (1995), for the order parameters; the chain is exact at finite d.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from learnability.learners.online._residual_norms import chi, normals_needed, triangular_factor
from learnability.learners.online._steps import (
    COMPILER,
    Numbers,
    Recipe,
    State,
    labels,
    move,
    next_state,
)

__all__ = ["BLOCK", "advance_chain"]

BLOCK = 64
"""Number of steps whose random numbers are drawn at once; these depend on seed and step only."""


@lru_cache(maxsize=64)
def advance_chain(recipe: Recipe) -> Callable[..., State]:
    """Return the compiled loop ``(state, seeds, first, last, values) -> state`` of the chain."""
    import jax
    import jax.numpy as jnp

    p, b, beside = recipe.width, recipe.batch, recipe.latents

    def one_step(state: State, z: Any, count: Any, values: Numbers) -> State:
        C, M = state.weights
        scale, columns = values.scale, values.series.shape[0]
        k = scale.shape[0]
        g, z = z[: k * b].reshape(k, b), z[k * b :]
        u, z = z[: p * b].reshape(p, b), z[p * b :]
        latents, z = z[: beside * b].reshape(beside, b), z[beside * b :]
        outside = u.T @ u
        if columns:
            factor = triangular_factor(z, b, columns)
            outside = outside + factor @ factor.T
        rest = factor_of(C) @ u
        h, inputs = (g, g) if recipe.isotropic else (values.to_label @ g, scale[:, None] * g)
        field = M @ inputs + rest
        y = labels(recipe, values, h, latents)
        plain = recipe.normalisation == "none"
        about = (inputs.T @ inputs + outside) / values.d if plain else jnp.sqrt(seen(C, M, scale))
        c, own, second = move(recipe, values, count / values.d, state.second, field, y, about)
        if recipe.normalisation == "whitened":
            M, inputs = (1 - own)[:, None] * M, g / scale[:, None]
        elif recipe.normalisation == "normalised":
            M = M * (1 - own[:, None] * scale**2)
        if not plain:
            C, rest = C * ((1 - own)[:, None] * (1 - own)), (1 - own)[:, None] * rest
        cross = c @ rest.T
        C = C + cross + cross.T + c @ outside @ c.T
        M = M + c @ inputs.T
        if recipe.spherical:
            length = jnp.sqrt(jnp.diagonal(C) + (M**2).sum(axis=1))
            C, M = C / (length[:, None] * length), M / length[:, None]
        if recipe.isotropic:
            variance, on_label = jnp.diagonal(C) + (M**2).sum(axis=1), M
        else:
            variance, on_label = seen(C, M, scale), (M * scale) @ values.to_label.T
        return next_state(recipe, values, state, (C, M), second, count, variance, on_label)

    def seen(C: Any, M: Any, scale: Any) -> Any:
        """Return variances of the fields."""
        return jnp.diagonal(C) + ((M * scale) ** 2).sum(axis=1)

    def advance(state: State, seeds: Any, first: Any, last: Any, values: Numbers) -> State:
        drawn = (values.scale.shape[0] + p + beside) * b
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
        found: State = jax.lax.fori_loop(*blocks, run_block, state)
        return found

    return jax.jit(advance, compiler_options=COMPILER)


def factor_of(C: Any) -> Any:
    """Return a factor L of C = L L^T; eigenvalues that rounding made negative are lifted."""
    import jax.numpy as jnp

    p = C.shape[0]
    if p == 1:
        return jnp.sqrt(jnp.maximum(C, 0.0))
    floor = 1e-13 * jnp.trace(C) + 1e-200
    return jnp.linalg.cholesky(C + floor * jnp.eye(p, dtype=C.dtype))
