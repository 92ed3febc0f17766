"""Speed of one-pass SGD, in CPU seconds and as ratios to what the machine can do in the same run.

The reduced engine is measured against drawing normal numbers in NumPy: 10^6 steps of one neuron
for 32 seeds against 3e9 of them, eight neurons against three times as many; its time at d = 10^6
against that at d = 10^2, taken in turns so that both meet the same machine; and the full engine
against drawing its inputs and its two products alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from learnability.learners.online import OnlineSGD

SEEDS = 32


def in_turns(*works: Callable[[], Any], repeats: int = 3) -> list[float]:
    """Least CPU time of some calls of each, one after the other; the first round is left out."""
    found = []
    for _ in range(repeats + 1):
        times = []
        for work in works:
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        found.append(times)
    return [min(times) for times in zip(*found[1:], strict=True)]


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Least CPU time of some calls, the first left out."""
    return in_turns(work)[0]


def steps(width: int, d: int, count: int) -> Callable[[], Any]:
    """The reduced engine at `count` steps for all seeds."""
    learner = OnlineSGD(
        width=width, rule="extragradient", look_ahead=1.0, loss="correlation", spherical=True
    )
    return lambda: learner.simulate("He3(z)/sqrt(6)", d=d, time=count / d, seeds=SEEDS)


def seconds_of_steps(width: int, count: int) -> float:
    """CPU seconds of so many steps, without those of a call."""
    whole, empty = in_turns(steps(width, 1000, count), steps(width, 1000, 0))
    return whole - empty


def normals(count: int) -> float:
    """CPU seconds that NumPy takes for so many normal numbers, drawn in part."""
    rng = np.random.Generator(np.random.SFC64(0))
    part = 10_000_000
    return cpu_seconds(lambda: rng.standard_normal(part)) * count / part


def full_against_products(d: int, count: int) -> tuple[float, float]:
    """CPU seconds of the full engine, and of its inputs and products alone."""
    import jax
    import jax.numpy as jnp

    width, seeds = 8, 4
    learner = OnlineSGD(width=width, activation="tanh(z)", engine="full")

    def run(number: int) -> Callable[[], Any]:
        return lambda: learner.simulate("He3(z)/sqrt(6)", d=d, time=number / d, seeds=seeds)

    whole = cpu_seconds(run(count)) - cpu_seconds(run(0))

    def body(n: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        W, key = state
        x = jax.random.normal(jax.random.fold_in(key, n), (1, d), np.float32)
        return W + 1e-9 * (W @ x.T) @ x, key

    @jax.jit
    def products(W: Any, keys: Any) -> Any:
        one = jax.vmap(lambda w, k: jax.lax.fori_loop(0, count, body, (w, k))[0])
        return one(W, keys)

    W = jnp.zeros((seeds, width + 1, d), np.float32)
    keys = jax.vmap(jax.random.key)(np.arange(seeds))
    return whole, cpu_seconds(lambda: jax.block_until_ready(products(W, keys)))


def main() -> None:
    """Print the table."""
    count = 50_000
    scale = 1_000_000 / count
    unit = normals(3_000_000_000)
    one, eight = (seconds_of_steps(width, count) * scale for width in (1, 8))
    small, large = in_turns(*(steps(1, d, 4 * count) for d in (100, 10**6)), repeats=5)
    whole, alone = full_against_products(4000, 3000)
    print(f"3e9 normal numbers in NumPy                  {unit:8.1f} s")
    print(f"10^6 steps, 32 seeds, one neuron             {one:8.1f} s   {one / unit:5.2f} of that")
    print(f"10^6 steps, 32 seeds, eight neurons          {eight:8.1f} s   {eight / unit:5.2f}")
    print(f"a step at d = 10^6 against d = 10^2          {large / small:8.2f}")
    print(f"share of inputs and products in full steps   {alone / whole:8.2f}")


if __name__ == "__main__":
    main()
