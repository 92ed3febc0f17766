"""The exact chain of one-pass SGD on inputs with one long direction.

In the frame e1 = mu, e2 of `SpikedIndex` inputs have the coordinates sqrt(1 + theta) u and s; let
M (p, 2) be the overlaps of the weights with the frame and C = W W^T - M M^T what they have outside.
As for isotropic inputs, the coordinates of a batch along p further directions and the Gram matrix
of the rest, a Wishart matrix of d - 2 - p degrees of freedom, are independent of the past, and
(C, M) is a Markov chain of its own at every d. Beside the rules of `_reuse`, whose moves go along
the inputs, two rules also go along Sigma w or w, which are in the same span: with
tau_j^2 = w_j^T Sigma w_j, fields v_j = w_j.x / tau_j and u_j the direction of `_reuse` there,

    normalised  w_j += (step / d) (tau_j u_j x - u_j v_j Sigma w_j),
    whitened    w_j += (step / d) (tau_j u_j Sigma^-1 x - u_j v_j w_j),

tau_j^2 times the gradient of the loss of the normalised field, without and with Sigma^-1.

References
----------
Mousavi-Hosseini, Wu, Suzuki, Erdogdu, NeurIPS 2023 (the rules); the chain is exact at finite d.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from learnability.learners.online._engines import (
    BLOCK,
    COMPILER,
    Numbers,
    Recipe,
    State,
    callable_in_jax,
    factor_of,
    labels,
    move,
    settled,
)
from learnability.learners.online._residual_norms import chi, normals_needed, triangular_factor
from learnability.learners.online._reuse import network_gradient

__all__ = ["NORMALISATIONS", "SpikeNumbers", "advance_marked", "normalised_move"]

NORMALISATIONS = ("none", "normalised", "whitened")


class SpikeNumbers(NamedTuple):
    """What a loop takes as arguments beside `Numbers`.

    Attributes
    ----------
    stretch : float
        sqrt(1 + theta).
    along, across : float
        The argument of the label is along u + across s.
    """

    stretch: Any
    along: Any
    across: Any


@lru_cache(maxsize=64)
def advance_marked(recipe: Recipe, normalisation: str) -> Callable[..., State]:
    """The compiled loop ``(state, seeds, first, last, values, spike) -> state``."""
    import jax
    import jax.numpy as jnp

    p, b = recipe.width, recipe.batch
    drawn = (2 + p + recipe.noisy) * b

    def one_step(state: State, z: Any, count: Any, values: Numbers, spike: SpikeNumbers) -> State:
        C, M = state.weights
        scale = jnp.stack([spike.stretch, jnp.ones_like(spike.stretch)])
        g, z = z[: 2 * b].reshape(2, b), z[2 * b :]
        u, z = z[: p * b].reshape(p, b), z[p * b :]
        noise, z = (z[:b], z[b:]) if recipe.noisy else (None, z)
        outside = u.T @ u
        columns = values.series.shape[0]
        if columns:
            factor = triangular_factor(z, b, columns)
            outside = outside + factor @ factor.T
        y = labels(recipe, values, (spike.along * g[0] + spike.across * g[1])[None], noise)
        marked = scale[:, None] * g
        rest = factor_of(C) @ u
        field = M @ marked + rest
        time = count / values.d
        shrunk: Any = jnp.ones(p, C.dtype)
        if normalisation == "none":
            gram = (marked.T @ marked + outside) / values.d
            c, second = move(recipe, values, time, state.second, field, y, gram)
            M = M + c @ marked.T
        else:
            tau = jnp.sqrt(jnp.diagonal(C) + ((M * scale) ** 2).sum(axis=1))
            c, own, second = normalised_move(recipe, values, time, state.second, field, y, tau)
            if normalisation == "whitened":
                M = (1 - own)[:, None] * M + c @ (g / scale[:, None]).T
            else:
                M = M * (1 - own[:, None] * scale**2) + c @ marked.T
            shrunk = 1 - own
        cross = shrunk[:, None] * (rest @ c.T)
        C = C * (shrunk[:, None] * shrunk) + cross + cross.T + c @ outside @ c.T
        if recipe.spherical:
            length = jnp.sqrt(jnp.diagonal(C) + (M**2).sum(axis=1))
            C, M = C / (length[:, None] * length), M / length[:, None]
        seen = M * scale
        on_label = (seen @ jnp.stack([spike.along, spike.across]))[:, None]
        spread = jnp.diagonal(C) + (seen**2).sum(axis=1) - on_label[:, 0] ** 2
        return settled(recipe, values, state, (C, M), second, count, spread, on_label)

    def advance(
        state: State, seeds: Any, first: Any, last: Any, values: Numbers, spike: SpikeNumbers
    ) -> State:
        columns = values.series.shape[0]
        needed = drawn + normals_needed(b, columns)
        keys = jax.vmap(jax.random.key)(seeds)
        step = jax.vmap(one_step, in_axes=(0, 0, None, None, None))

        def draw(key: Any, block: Any) -> Any:
            z = jax.random.normal(jax.random.fold_in(key, block), (BLOCK, needed), np.float32)
            z = z.astype(float)
            unseen = slice(drawn, drawn + columns)
            return z.at[:, unseen].set(chi(values.series, z[:, unseen]))

        def body(state: State, part: Any) -> tuple[State, None]:
            z, count = part
            new, wanted = step(state, z, count, values, spike), (count >= first) & (count < last)
            return jax.tree.map(lambda a, b: jnp.where(wanted, a, b), new, state), None

        def run_block(block: Any, state: State) -> State:
            z = jax.vmap(draw, in_axes=(0, None), out_axes=1)(keys, block)
            return jax.lax.scan(body, state, (z, block * BLOCK + jnp.arange(BLOCK)))[0]

        state = State(*jax.tree.map(jnp.asarray, state))
        return jax.lax.fori_loop(first // BLOCK, (last + BLOCK - 1) // BLOCK, run_block, state)

    return jax.jit(advance, compiler_options=COMPILER)


def normalised_move(
    recipe: Recipe, values: Numbers, time: Any, second: Any, field: Any, y: Any, tau: Any
) -> tuple[Any, Any, Any]:
    """Coefficients c (p, b) of the inputs and `own` (p,) of the weights, and the second layer."""
    slope = callable_in_jax(recipe.activation.derivative())
    gradient = network_gradient(second, y, callable_in_jax(recipe.activation), slope, recipe.loss)
    rate = 1.0 if recipe.schedule is None else recipe.schedule(time[None])
    v = field / tau[:, None]
    first, readout = gradient(v)
    if recipe.trained:
        second = second + rate * values.second_step / values.d * readout.sum(axis=1)
    size = rate * values.step / values.d
    return size * tau[:, None] * first, size * (first * v).sum(axis=1), second
