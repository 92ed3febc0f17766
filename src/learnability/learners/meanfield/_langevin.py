"""Mean-field Langevin dynamics of a two-layer network, full batch.

The network is f(x) = (1/N) sum_j h(x; v_j) with neurons
h(x; w, b, c) = scale (tanh(w.x + b) + 2 tanh c) / 3. A step on n samples of the loss l, with the
entropy weighted by lambda and the ridge lambda lambda_1 |v|^2, moves

    v_j <- v_j - step (grad_v (1/n) sum_i l'(f(x_i), y_i) h(x_i; v) + 2 lambda lambda_1 v_j)
               + sqrt(2 lambda step) xi_j,

and begins at the Gibbs law of the ridge alone, N(0, 1 / (2 lambda_1)).

References
----------
Suzuki, Wu, Oko, Nitanda, NeurIPS 2023; Nitanda, Oko, Suzuki, Wu, ICLR 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LOSSES", "Settings", "advance", "outputs", "start"]

LOSSES = ("logistic", "squared")


class Settings(NamedTuple):
    """The numbers that the loop takes as arguments."""

    scale: Any
    step: Any
    temperature: Any
    confinement: Any


def start(seed: int, width: int, d: int, confinement: float) -> Any:
    """Return the first neurons (width, d + 2): w, b and c."""
    rng = np.random.default_rng([seed, 31])
    draws = rng.standard_normal((width, d + 2), dtype=np.float32)
    return draws / np.float32(np.sqrt(2 * confinement))


def outputs(neurons: Any, X: Any, scale: Any) -> Any:
    """Return f at the rows of X, a NumPy or JAX array."""
    from learnability.expressions.callables import namespace

    xp = namespace(neurons)
    hidden = xp.tanh(X @ neurons[:, :-2].T + neurons[:, -2])
    return scale * (hidden.mean(axis=1) + 2 * xp.tanh(neurons[:, -1]).mean()) / 3


@lru_cache(maxsize=4)
def advance(loss: str) -> Callable[..., Any]:
    """Return the compiled loop ``(neurons, key, X, y, first, last, settings) -> neurons``."""
    import jax
    import jax.numpy as jnp

    def one_step(count: Any, state: Any) -> Any:
        neurons, key, X, y, s = state
        w, b, c = neurons[:, :-2], neurons[:, -2], neurons[:, -1]
        hidden, offset = jnp.tanh(X @ w.T + b), jnp.tanh(c)
        f = s.scale * (hidden.mean(axis=1) + 2 * offset.mean()) / 3
        pull = -y * jax.nn.sigmoid(-y * f) if loss == "logistic" else f - y
        pull = pull * s.scale / (3 * len(y))
        weighted = (1 - hidden**2) * pull[:, None]
        move = jnp.concatenate(
            [
                weighted.T @ X,
                weighted.sum(axis=0)[:, None],
                (2 * (1 - offset**2) * pull.sum())[:, None],
            ],
            axis=1,
        )
        noise = jax.random.normal(jax.random.fold_in(key, count), neurons.shape, neurons.dtype)
        drift = move + 2 * s.temperature * s.confinement * neurons
        new = neurons - s.step * drift + jnp.sqrt(2 * s.temperature * s.step) * noise
        return new, key, X, y, s

    def run(neurons: Any, key: Any, X: Any, y: Any, first: Any, last: Any, s: Settings) -> Any:
        return jax.lax.fori_loop(first, last, one_step, (neurons, key, X, y, s))[0]

    return jax.jit(run)
