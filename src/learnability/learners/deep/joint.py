"""Training of all layers together by AdamW, from random or from layer-wise trained weights.

The network is x -> w . relu(... relu(W2 relu(W1 x + b1) + b2) ...) + c with any number of hidden
layers. The layer-wise start sets W2 = v q^T of rank one, with v random and q the regression of the
labels on the features below, and so on for the layers above; the two-layer twin starts from the
same first layer and the same regression q. The weights above the second layer of the start are
fitted on the validation fifth, which also chooses the step whose weights are kept.

References
----------
Loshchilov, Hutter, ICLR 2019 (AdamW).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from learnability.fields import choice, declare, number, record, whole
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.deep._leave_one_out import Fit, fit_by_leave_one_out
from learnability.learners.deep.first_layer import SphericalFirstLayer, Steps
from learnability.learners.deep.observables import (
    first_layer_overlap,
    first_layer_rank,
    on_fresh_samples,
)
from learnability.learners.deep.samples import Samples, sample_sizes
from learnability.statuses import Status
from learnability.targets.base import checked_memory

__all__ = ["JointAdamW"]

Parameters = dict[str, Any]

_LEAST = 10  # The least number of samples, of which a fifth is held out.
_DEEPEST = 8
_CHECKS = 30  # How often the validation error is computed.


@record
class JointAdamW(Learner):
    """A network of two layers or more, all of them trained together.

    Notes
    -----
    A fifth of the n samples is for validation, and `iterations` counts steps up to the kept
    weights. Overlaps of trained networks are not monotone in their error. From random weights the
    default number of steps is far from enough. The attribute `label_variance` makes errors
    relative.
    """

    name: ClassVar[str] = "joint-adamw"
    numerics_version: ClassVar[int] = 2  # 2: the last steps are made if 30 does not divide steps.
    supports: ClassVar[Support] = Support(targets=("hierarchical",))
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What the network has learned.",
            (
                "error", "start_error", "first_layer_overlap", "first_layer_rank",
                "feature_overlap", "iterations", "status", "n_total", "kappa",
            ),
            simulate=Side(needs=("d", "alpha")),
            reason="no theory of jointly trained networks is known; that of the layer-wise stages "
            "is what layerwise predicts.",
        ),
    )  # fmt: skip

    depth: int = whole(3, at_least=2, at_most=_DEEPEST, help="Number of layers.")
    start: str = choice("layerwise", ("layerwise", "random"), help="Where the weights begin.")
    width: int = whole(384, help="Number of neurons of the first hidden layer.")
    second_width: int = whole(
        64,
        when={"depth": tuple(range(3, _DEEPEST + 1))},
        help="Number of neurons of every hidden layer after the first.",
    )
    steps: int = whole(3000, help="Number of steps.")
    batch: int = whole(256, help="Number of samples of a step.")
    step: float = number(0.002, above=0, help="Learning rate, which falls to zero along a cosine.")
    decay: float = number(0.1, above=0, help="Weight decay.")
    first_steps: int | str = declare(
        "log", Steps(), when={"start": ("layerwise",)},
        help='Number of spherical steps of the layer-wise start; "log" is log d, rounded up.',
    )  # fmt: skip

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse too few samples to hold out a fifth of them."""
        sample_sizes(at, _LEAST)

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Train on samples, in float32."""
        d, (n,) = at["d"], sample_sizes(at)
        samples = Samples(target, seed, d, n)
        checked_memory(f"{n} samples in dimension {d} and a network", 16.0 * n * d)
        X = np.concatenate([X for X, _ in samples])
        y = samples.labels
        held = max(n // 5, 2)
        rest = Samples(target, seed, d, n - held)
        first = self._first_layer(rest)
        begin = self._begin(first, X, y, n - held, seed)
        train = _training(self.depth, self.steps, self.batch, self.step, self.decay)
        best, when, finite = train(begin, X, y, n - held, seed)
        hidden = next(target.batches(seed, 1, d, dtype=np.float32)).W

        def outputs(Z: NDArray[Any]) -> NDArray[Any]:
            both = [np.asarray(_output(p, Z, self.depth)) for p in (best, begin)]
            return np.stack(both, axis=1)

        seen = on_fresh_samples(target, seed, d, outputs)
        W = np.asarray(best["W1"])
        values = {
            "error": seen.error[0],
            "start_error": seen.error[1],
            "first_layer_overlap": first_layer_overlap(W, hidden),
            "first_layer_rank": first_layer_rank(W),
            "feature_overlap": seen.overlap[0],
            "iterations": when,
            "status": str(Status.TRAINED if finite else Status.DIVERGED),
            "n_total": n,
            "kappa": np.log(n) / math.log(d),
        }
        return Found(values, attrs={"label_variance": target.at(d).label_variance})

    def _first_layer(self, samples: Samples) -> NDArray[np.float32]:
        if self.start == "layerwise":
            return SphericalFirstLayer(self.width, self.first_steps).learn(samples)
        rng = np.random.default_rng([samples.seed, 41])
        W = rng.standard_normal((self.width, samples.d), dtype=np.float32)
        return np.asarray(W * np.float32(0.3 / math.sqrt(samples.d)))

    def _begin(
        self, W: NDArray[np.float32], X: NDArray[Any], y: NDArray[Any], fitted: int, seed: int
    ) -> Parameters:
        """Return the weights at the start, all in float32."""
        rng = np.random.default_rng([seed, 42])
        p, k = self.width, self.second_width
        b1 = rng.uniform(-2, 2, p)
        if self.start == "random":
            found: Parameters = {"W1": W, "b1": np.zeros(p)}
            above = rng.standard_normal((k, p)) * math.sqrt(2 / p)
            found["w"] = rng.standard_normal(p) / math.sqrt(p)
            for layer in range(2, self.depth):
                found |= {f"W{layer}": above, f"b{layer}": np.zeros(k)}
                found["w"] = rng.standard_normal(k) / math.sqrt(k)
                above = rng.standard_normal((k, k)) * math.sqrt(2 / k)
            return _single({**found, "c": np.array(y[:fitted].mean())})
        features = np.maximum(X @ W.T + b1.astype(np.float32), 0)
        fit = fit_by_leave_one_out(lambda: [features[:fitted]], y[None, :fitted])
        found = {"W1": W, "b1": b1}
        features = features[fitted:]
        for layer in range(2, self.depth):
            left = (fit.left_out[0] - fit.offset[0]).std()
            v, bias = rng.standard_normal(k), rng.uniform(-2, 2, k)
            above = np.outer(v, fit.weights[0]) / max(left, 1e-12)
            found |= {f"W{layer}": above, f"b{layer}": bias}
            features = np.maximum(features @ above.T.astype(np.float32) + bias, 0)
            fit = _regression(features, y[fitted:])
        return _single({**found, "w": fit.weights[0], "c": fit.offset[0]})


def _regression(features: NDArray[Any], y: NDArray[Any]) -> Fit:
    return fit_by_leave_one_out(lambda: [features], y[None])


def _single(parameters: Parameters) -> Parameters:
    return {name: np.asarray(value, dtype=np.float32) for name, value in parameters.items()}


def _output(parameters: Parameters, X: Any, depth: int) -> Any:
    """Return the network at inputs (n, d), in JAX."""
    import jax.numpy as jnp

    u = X
    for layer in range(1, depth):
        u = jnp.maximum(u @ parameters[f"W{layer}"].T + parameters[f"b{layer}"], 0)
    return u @ parameters["w"] + parameters["c"]


@lru_cache(maxsize=16)
def _training(
    depth: int, steps: int, batch: int, step: float, decay: float
) -> Callable[..., tuple[Parameters, int, bool]]:
    """Return the function (start, X, y, fitted, seed) -> weights of least validation error."""
    import jax
    import jax.numpy as jnp
    import optax

    optimiser = optax.adamw(optax.cosine_decay_schedule(step, steps), weight_decay=decay)

    def loss(parameters: Parameters, X: Any, y: Any) -> Any:
        return jnp.mean((_output(parameters, X, depth) - y) ** 2)

    @jax.jit
    def chunk(state: Any, X: Any, y: Any, order: Any) -> Any:
        def one(carry: Any, rows: Any) -> Any:
            parameters, inner = carry
            gradient = jax.grad(loss)(parameters, X[rows], y[rows])
            updates, inner = optimiser.update(gradient, inner, parameters)
            return (optax.apply_updates(parameters, updates), inner), None

        return jax.lax.scan(one, state, order)[0]

    validation = jax.jit(loss)

    def train(
        begin: Parameters, X: NDArray[Any], y: NDArray[Any], fitted: int, seed: int
    ) -> tuple[Parameters, int, bool]:
        rng = np.random.default_rng([seed, 43])
        seen, known = jnp.asarray(X[:fitted]), jnp.asarray(y[:fitted])
        held, labels = jnp.asarray(X[fitted:]), jnp.asarray(y[fitted:])
        state = (begin, optimiser.init(begin))
        best, when, least = begin, 0, float(validation(begin, held, labels))
        length = max(steps // _CHECKS, 1)
        for begun in range(0, steps, length):
            done = min(begun + length, steps)
            order = rng.integers(0, fitted, (done - begun, batch))
            state = chunk(state, seen, known, order)
            error = float(validation(state[0], held, labels))
            if not math.isfinite(error):
                return best, when, False
            if error < least:
                best, when, least = state[0], done, error
        return best, when, True

    return train
