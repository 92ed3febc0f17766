"""Strange problems: theory held to runs on targets and settings that nobody would choose.

`python -m tests.audit.strange FAMILY [first last [stream]]` prints one line for each problem and
the sums. Links jump, oscillate, carry constants up to 10, are callables or laws of labels; ridges
go from 1e-4 to 1e4, steps from 0.01 to 10, widths down to one neuron. Every number that theory and
runs share is compared: the means may differ by three standard errors of the difference, three of
the theory's own errors, 2 % and 0.5 / sqrt(d) of the value (of one, for overlaps and correlations).
Problem k of a family is drawn from the generator [stream, family, k]; seeds and the criterion were
fixed before the first run.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability import (
    BatchGD,
    FlowNetwork,
    GiantSteps,
    GradientFlow,
    KernelRidge,
    LinearModel,
    MultiIndex,
    OnlineSGD,
    RandomFeatures,
    Spectral,
)
from learnability.errors import LearnabilityError
from learnability.inputs import Inputs, Isotropic, PowerLaw, Spiked
from learnability.labels import Link
from learnability.learners.base import Learner

__all__ = ["FAMILIES", "judged", "strange_link"]

Rng = np.random.Generator
STREAM = 4711
ONE = (
    "{}", "{}**2", "He3({})/2", "He4({})/5", "abs({})", "sign({})", "relu({})", "tanh(3*{})",
    "erf({})", "sin(5*{})", "cos(3*{}+0.4)", "exp({}/2)", "exp(-{}**2)", "sign(abs({}) - 1)",
    "step({} - 1.3)", "floor({})", "mod({}, 1.5)", "sign(sin(4*{}))", "1/(1+4*{}**2)",
    "{}*exp(-{}**2/2)", "max({}, -0.3)", "sigmoid(4*{})", "atan(5*{})", "cosh({}/2)",
    "where({} > 0.5, {}, -1)", "sin(17*{})",
)  # fmt: skip
LAWS = (
    "flip(sign({b}), 0.15)", "flip(sign({b}), 0.3*sigmoid(z1))", "bernoulli(sigmoid({b}))",
    "poisson(exp(tanh({b})))", "sign({b} + 0.7*xi)", "{b} + (0.3 + 0.5*abs(z1))*xi",
    "({b})*exp(0.4*xi)", "tanh({b} + xi)",
)  # fmt: skip
ACTIVATIONS = (
    "relu(z)", "tanh(z)", "erf(z)", "sin(2*z)", "abs(z)", "relu(z+0.5)", "z", "tanh(z)+0.2*z**2",
    "exp(-z**2)", "sigmoid(z)", "max(z, 0.1*z)", "cos(z)", "He2(z)/2", "z*sigmoid(2*z)",
    "atan(2*z-1)",
)  # fmt: skip
KERNELS = (
    "exp(z)", "quadratic", "(1 + z)**3", "exp(z3 - z1/2 - z2/2)", "mehler", "1/(1.5 - z)",
    "1 + z**2", "z", "exp(2*z)", "cosh(z)",
)  # fmt: skip
UNIT = ("overlap", "cosine", "correlation", "alignment", "misclass")
"""Parts of names of quantities whose scale is one."""


class Problem(NamedTuple):
    """A learner, a target, the arguments of `simulate`, seeds, and what else `predict` takes."""

    learner: Learner
    target: MultiIndex
    at: dict[str, Any]
    seeds: int
    extra: dict[str, Any]


def _term(rng: Rng, r: int) -> str:
    i = int(rng.integers(r))
    z, other, kind = f"z{i + 1}", f"z{(i + 1) % r + 1}", rng.random()
    if r > 1 and kind < 0.15:
        z = f"(0.6*{z} - 0.8*{other})"
    elif r > 1 and kind > 0.75:
        left, right = (str(rng.choice(ONE)).replace("{}", x) for x in (z, other))
        return f"{left}*{right}"
    elif r > 1 and kind > 0.65:
        return f"sign({z}*{other} - 0.2)"
    return str(rng.choice(ONE)).replace("{}", z)


def strange_link(
    rng: Rng, most: int = 3, laws: bool = True, callables: bool = True
) -> tuple[Link, float]:
    """A link of at most so many variables, or a law of the label, and its noise."""
    r = int(rng.integers(1, most + 1))
    terms = [_term(rng, r) for _ in range(int(rng.integers(1, 4)))]
    body = " + ".join(f"{rng.choice([1, 1, 0.5, -1, 2, -0.7]):g}*{term}" for term in terms)
    body += "".join(f" + 0.5*z{i + 1}" for i in range(r) if f"z{i + 1}" not in body)
    if rng.random() < 0.3:
        body += f" + {rng.choice([3, -10, 0.7]):g}"
    kind = rng.random()
    if laws and kind < 0.3:
        return Link(str(rng.choice(LAWS)).replace("{b}", body)), 0.0
    link = Link(f"sign({body})" if kind < 0.36 else body)
    noise = float(rng.choice([0, 0, 0.1, 0.5, 4.0]))
    if callables and rng.random() < 0.25:
        return Link(lambda z: link(z), r=link.r), noise
    return link, noise


def _between(rng: Rng, low: float, high: float) -> float:
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def _inputs(rng: Rng, kinds: tuple[str, ...], r: int) -> Inputs:
    kind = str(rng.choice(kinds))
    if kind in ("spiked", "two"):
        count = 1 if kind == "spiked" else 2
        strengths = tuple(_between(rng, 0.1, 20) for _ in range(count))
        cosines = rng.uniform(-0.4, 0.4, (count, r)).round(2)
        return Spiked(strength=strengths, alignment=cosines.tolist())
    return PowerLaw(round(float(rng.uniform(0.1, 1.5)), 2)) if kind == "power" else Isotropic()


def _target(rng: Rng, kinds: tuple[str, ...] = ("isotropic",), **links: Any) -> MultiIndex:
    link, noise = strange_link(rng, **links)
    return MultiIndex(link, noise=noise, inputs=_inputs(rng, kinds, link.r))


def _giant(rng: Rng) -> Problem:
    target = _target(rng, ("isotropic", "isotropic", "spiked", "two", "power"))
    steps = int(rng.choice([1, 1, 1, 2, 3]))
    inits: tuple[Any, ...] = ("ones", "signs", "symmetric", "gaussian", (1.0, -0.5, 2.0), (3.0,))
    learner = GiantSteps(
        width=_between(rng, 0.1, 2),
        activation=str(rng.choice(ACTIVATIONS)),
        batch=_between(rng, 0.3, 10),
        steps=steps,
        step=_between(rng, 0.01, 10),
        init=inits[int(rng.integers(len(inits)))],
        reuse=bool(steps > 1 and rng.random() < 0.5),
        ridge=_between(rng, 1e-4, 1e3),
        bias=0.7 if rng.random() < 0.2 else 0.0,
    )
    at = {"d": 300, "alpha": _between(rng, 0.2, 6)}
    return Problem(learner, target, at, 8, {"d": 300, "seeds": 8})


def _kernel(rng: Rng) -> Problem:
    target = _target(rng, ("isotropic", "isotropic", "spiked", "two"))
    learner = KernelRidge(str(rng.choice(KERNELS)), ridge=_between(rng, 1e-3, 1e4))
    return Problem(learner, target, {"d": 300, "alpha": _between(rng, 0.1, 5)}, 8, {"d": 300})


def _features(rng: Rng) -> Problem:
    target = _target(rng, ("isotropic", "isotropic", "spiked", "two"))
    learner = RandomFeatures(
        _between(rng, 0.1, 3), str(rng.choice(ACTIVATIONS)), ridge=_between(rng, 1e-3, 1e3)
    )
    return Problem(learner, target, {"d": 300, "alpha": _between(rng, 0.1, 5)}, 8, {"d": 300})


def _online(rng: Rng) -> Problem:
    target = _target(rng, ("isotropic", "isotropic", "spiked", "two"), most=2)
    rule = str(rng.choice(["plain", "plain", "extragradient", "repetition", "sam", "lookahead"]))
    more: dict[str, Any] = {}
    if rule in ("extragradient", "sam", "lookahead"):
        more["look_ahead"] = _between(rng, 0.05, 1) * float(rng.choice([1, -1]))
    if rule in ("repetition", "lookahead"):
        more["repetitions"] = int(rng.choice([2, 3]))
    if rule == "plain" and rng.random() < 0.3:
        more["normalisation"] = str(rng.choice(["normalised", "whitened"]))
    if rng.random() < 0.2:
        more["batch"] = 3
    if rng.random() < 0.2:
        more["second_step"] = 0.2
    if rng.random() < 0.2:
        more["schedule"] = "1/(1+z)"
    width = int(rng.choice([1, 1, 2]))
    learner = OnlineSGD(
        width,
        str(rng.choice(ACTIVATIONS)),
        step=_between(rng, 0.02, 0.7),
        rule=rule,
        loss=str(rng.choice(["squared", "correlation"])),
        spherical=bool(rng.random() < 0.5),
        second_layer=float(rng.choice([1, 0.5, -1.0])),
        **more,
    )
    gram = 0.8 * np.eye(width) + 0.2
    start = gram.tolist(), [[0.3, -0.2][: target.r]] * width
    at = {"d": 500, "time": [0.0, 1.0, _between(rng, 1.5, 5)], "start": start}
    return Problem(learner, target, at, 16, {} if target.inputs.kind == "isotropic" else {"d": 500})


def _batch(rng: Rng) -> Problem:
    learner = BatchGD(
        steps=int(rng.integers(1, 5)),
        step=_between(rng, 0.02, 1),
        width=int(rng.choice([1, 1, 2])),
        activation=str(rng.choice(ACTIVATIONS)),
        loss=str(rng.choice(["squared", "correlation"])),
        ridge=float(rng.choice([0, 0.5])),
    )
    at = {"d": 400, "alpha": _between(rng, 0.2, 8)}
    return Problem(learner, _target(rng, most=2), at, 16, {"samples": 2**16})


def _flow(rng: Rng) -> Problem:
    target = _target(rng, ("isotropic", "spiked", "two"), most=1, laws=False)
    flow = str(rng.choice(["spherical", "normalised", "whitened"]))
    learner = GradientFlow(str(rng.choice(ACTIVATIONS)), flow=flow, step=0.01)
    at = {"d": 300, "time": [0.0, 0.5, _between(rng, 0.6, 3)]}
    return Problem(learner, target, at, 6, {"d": 300, "seeds": 6})


def _network(rng: Rng) -> Problem:
    target = _target(rng, ("isotropic", "spiked", "two", "power"), most=1, laws=False)
    learner = FlowNetwork(
        int(rng.choice([1, 4, 16])),
        str(rng.choice(ACTIVATIONS)),
        ridge=_between(rng, 1e-3, 10),
        bias=float(rng.choice([0, 1.0])),
        step=0.1,
    )
    at = {"d": 40, "alpha": _between(rng, 30, 400)}
    return Problem(learner, target, at, 6, {"d": 40, "seeds": 6})


def _linear(rng: Rng) -> Problem:
    target = _target(rng)
    two = target.label_values is not None and len(target.label_values) == 2
    losses = ["squared", "huber"] + ["logistic", "hinge"] * 3 * two
    learner = LinearModel(str(rng.choice(losses)), _between(rng, 1e-4, 1e3))
    return Problem(learner, target, {"d": 300, "alpha": _between(rng, 0.05, 20)}, 8, {})


def _spectral(rng: Rng) -> Problem:
    return Problem(Spectral(), _target(rng), {"d": 400, "alpha": _between(rng, 0.5, 8)}, 8, {})


FAMILIES: dict[str, Callable[[Rng], Problem]] = {
    "giant": _giant,
    "kernel": _kernel,
    "features": _features,
    "online": _online,
    "batch": _batch,
    "flow": _flow,
    "network": _network,
    "linear": _linear,
    "spectral": _spectral,
}


def _rows(values: Any, seeds: int) -> NDArray[np.float64]:
    """Values with the seeds first, or one row where there are none."""
    found = np.asarray(values.values, dtype=float)
    if "seed" not in values.dims:
        return found.reshape(1, -1)
    return np.moveaxis(found, values.dims.index("seed"), 0).reshape(seeds, -1)


def judged(family: str, k: int, stream: int = STREAM) -> dict[str, Any]:
    """Return the verdict on problem k of a family: right, wrong or refused, with the numbers."""
    rng = np.random.default_rng([stream, list(FAMILIES).index(family), k])
    try:
        learner, target, at, seeds, extra = FAMILIES[family](rng)
    except LearnabilityError as refusal:
        return {"k": k, "verdict": "refused", "why": str(refusal)}
    about = {"k": k, "learner": repr(learner), "target": repr(target), "at": at}
    asked = {name: value for name, value in at.items() if name != "d"}
    try:
        theory = learner.predict(target, **asked, **extra)
        runs = learner.simulate(target, **at, seeds=seeds)
    except LearnabilityError as refusal:
        return about | {"verdict": "refused", "why": str(refusal)}
    wrong, told = [], {}
    for name in theory.data_vars:
        if str(name).endswith("_stderr") or theory[name].dtype.kind != "f" or name not in runs:
            continue
        expected, found = _rows(theory[name], seeds), _rows(runs[name], seeds)
        if expected.shape[1] != found.shape[1]:
            continue
        if family == "spectral":
            expected, found = np.abs(expected), np.abs(found)
        stderr = (found - expected).std(axis=0, ddof=1) / math.sqrt(seeds)
        own = (
            _rows(theory[f"{name}_stderr"], seeds).mean(axis=0)
            if f"{name}_stderr" in theory
            else 0.0
        )
        mean, value = found.mean(axis=0), expected.mean(axis=0)
        scale = 1.0 if any(part in str(name) for part in UNIT) else np.abs(value)
        allowed = 3 * stderr + 3 * own + 0.02 * np.abs(value) + 0.5 / math.sqrt(at["d"]) * scale
        away = np.where(np.isfinite(value), np.abs(mean - value) / np.maximum(allowed, 1e-12), 0.0)
        worst = int(np.argmax(np.nan_to_num(away, nan=np.inf)))
        told[str(name)] = f"{value[worst]:.4g} {mean[worst]:.4g}({stderr[worst]:.2g})"
        if not away[worst] <= 1:
            wrong.append(str(name))
    return about | {"verdict": "wrong" if wrong else "right", "wrong": wrong, "numbers": told}


def main(family: str, first: int = 0, last: int = 25, stream: int = STREAM) -> int:
    """Judge problems first ... last - 1 of a family; return how many are wrong."""
    verdicts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(first, last):
            found = judged(family, k, stream)
            verdicts.append(found["verdict"])
            print(json.dumps(found, default=str), flush=True)
    print({verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))})
    return verdicts.count("wrong")


if __name__ == "__main__":
    sys.exit(int(main(sys.argv[1], *map(int, sys.argv[2:5])) > 0))
