"""Random laws of labels, and theory held against runs on them.

`python -m tests.random_laws LEARNER [first last]` draws laws number first ... last - 1 and compares
`predict` with `simulate`: the mean over seeds must lie within ALLOWED standard errors and SLACK / d
of the size of the quantity, where it is an overlap, or 2 % of it, where it is an error. Laws,
sizes and the criterion were fixed before the first run.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from learnability import BatchGD, BayesAMP, GiantSteps, KernelRidge, OnlineSGD, RandomFeatures
from learnability.errors import LearnabilityError
from learnability.labels import DensityLaw, Link

__all__ = ["compared", "random_law"]

ALLOWED, SLACK = 4.0, 10.0
KINDS = ("flip", "bernoulli", "poisson", "categorical", "probit", "normal", "latent", "cells")
KINDS += ("density", "mixture")


def random_law(number: int) -> Link:
    """The law of a number: the kinds take turns, what is inside is drawn."""
    rng = np.random.default_rng([71, number])
    kind = KINDS[number % len(KINDS)]
    r = int(rng.choice([1, 2]))
    a, b = (float(x) for x in rng.uniform(0.4, 1.6, 2).round(2))
    body = [f"{a}*z + {b}*z**2/2", f"tanh({a}*z) + {b}*z", f"relu({a}*z) - {b}*z/3"]
    if r == 2:
        body = [f"{a}*z1 + {b}*z1*z2", f"z1 + {a}*abs(z2)", f"tanh({a}*z1 + {b}*z2) + z2"]
    inside = str(rng.choice(body))
    p = round(float(rng.uniform(0.05, 0.3)), 2)
    if kind == "density":
        return Link(_logistic(Link(inside), 0.2 + p))
    texts = {
        "flip": f"flip(sign({inside}), {p} + 0.1*step({'z' if r == 1 else 'z1'}))",
        "bernoulli": f"bernoulli(sigmoid(2*({inside})))",
        "poisson": f"poisson(exp(tanh({inside})))",
        "categorical": f"categorical(sigmoid({inside})/2, 1 - sigmoid({inside}),"
        f" sigmoid({inside})/2)",
        "probit": f"sign({inside} + {b}*xi)",
        "normal": f"{inside} + {p}*(1 + abs({'z' if r == 1 else 'z1'}))*xi",
        "latent": f"({inside})*exp({p}*xi)",
        "cells": f"sign({inside} + xi*abs(xi)) + sign({'z' if r == 1 else 'z1'} - xi)",
        "mixture": f"bernoulli(sigmoid({inside} + {b}*xi))",
    }
    return Link(texts[kind])


def _logistic(mean: Link, width: float) -> DensityLaw:
    def log_density(y: Any, z: Any) -> Any:
        t = (y - mean(z)) / width
        return -t - np.log(width) - 2 * np.logaddexp(0, -t)

    return DensityLaw(log_density, (-np.inf, np.inf), mean.r, breaks=list(mean.breaks or ()))


def _cases(learner: str, law: Link) -> tuple[Any, dict[str, Any], dict[str, Any], list[str]]:
    """The learner, what theory and runs are asked for, and which quantities are compared."""
    if learner == "bayes-amp":
        sizes = {"d": 400, "seeds": 8}
        return BayesAMP(), {"alpha": 2.0}, sizes, ["subspace_overlap", "error"]
    if learner == "online-sgd":
        start = (np.eye(1), np.full((1, law.r), 0.2))
        made = OnlineSGD(activation="tanh(z)", step=0.4)
        return made, {"time": 3.0, "start": start}, {"d": 400, "seeds": 24}, ["overlap", "error"]
    if learner == "repetition":
        start = (np.eye(1), np.full((1, law.r), 0.2))
        made = OnlineSGD(activation="tanh(z)", step=0.3, rule="repetition", repetitions=2)
        return made, {"time": 3.0, "start": start}, {"d": 400, "seeds": 24}, ["overlap", "error"]
    if learner == "batch-gd":
        made = BatchGD(steps=3, step=0.2, activation="tanh(z)")
        return made, {"alpha": 2.0}, {"d": 500, "seeds": 16}, ["overlap", "error", "train_error"]
    if learner == "giant-steps":
        made = GiantSteps(
            activation="tanh(z)", width=1.0, batch=2.0, step=1.0, ridge=0.1, init="ones"
        )
        return made, {"alpha": 2.0}, {"d": 400, "seeds": 8}, ["error", "train_error"]
    if learner == "random-features":
        made = RandomFeatures(activation="tanh(z)", width=1.0, ridge=0.1)
        return made, {"alpha": 2.0}, {"d": 400, "seeds": 8}, ["error", "train_error"]
    if learner == "kernel-ridge":
        return KernelRidge(ridge=0.1), {"alpha": 2.0, "d": 300}, {"d": 300, "seeds": 8}, ["error"]
    raise SystemExit(f"No cases for {learner}.")


def compared(learner: str, number: int) -> tuple[list[str], str]:
    """What is wrong with the theory of a learner on a law, and the numbers in one line."""
    law = random_law(number)
    made, asked, sizes, names = _cases(learner, law)
    try:
        theory = made.predict(law, **asked)
    except LearnabilityError as refusal:
        return [], f"refused: {refusal}"
    runs = made.simulate(law, **{**asked, **sizes})
    wrong, told = [], []
    for name in names:
        values = runs[name]
        mean = values.mean("seed").values
        stderr = values.std("seed", ddof=1).values / np.sqrt(values.sizes["seed"])
        expected = theory[name].values.reshape(mean.shape)
        small = SLACK / sizes["d"] if name.endswith("overlap") else 0.02 * np.abs(expected)
        away = np.abs(mean - expected) - ALLOWED * stderr - small
        told.append(f"{name} {expected.ravel().round(4)} {mean.ravel().round(4)}"
                    f"({stderr.ravel().round(4)})")  # fmt: skip
        if (away > 0).any() or not np.isfinite(expected).all():
            wrong.append(name)
    return wrong, "; ".join(told)


def main(learner: str, first: int = 0, last: int = 10) -> int:
    """Compare laws first ... last - 1; return how many are wrong."""
    bad = 0
    for number in range(first, last):
        start = time.process_time()
        wrong, told = compared(learner, number)
        bad += bool(wrong)
        mark = "WRONG " + ", ".join(wrong) if wrong else "ok"
        spent = time.process_time() - start
        print(f"{number} {random_law(number)!r} | {mark} | {told} | {spent:.1f} s", flush=True)
    print(f"{learner}: {last - first} laws, {bad} wrong")
    return bad


if __name__ == "__main__":
    sys.exit(int(main(sys.argv[1], *map(int, sys.argv[2:4])) > 0))
