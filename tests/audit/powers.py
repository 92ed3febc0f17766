"""Errors of `regimes` after steps, and runs: `python -m tests.audit.powers [first last [stream]]`.

Problem k is drawn from the generator [stream, k], by default of stream 23; others are for
development. Runs have the best of seventeen ridges. Right is an error within three standard errors
of the runs and the stated error together, plus 2 % of the mean of the runs; at least 97 % have to
be. The share within three standard errors of the runs plus 5 % is told beside it.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from typing import Any

import numpy as np

from learnability import GiantSteps, LearnabilityError, MultiIndex, regimes

COUNT, SEEDS, MOST = 60, 6, 3e6
ALLOWED, SLACK, NEAR, SHARE = 3.0, 0.02, 0.05, 0.97
RIDGES = tuple(float(10.0 ** (k / 2)) for k in range(-8, 9))
TARGETS = (
    "z1 + He2(z2)/sqrt(2) + He2(z1)*z2/sqrt(2) + He4(z1)*He2(z2)*z3/sqrt(48) + He2(z2)*He2(z3)/2",
    "z1 + z1*z2 + {b}*He2(z3)",
    "z1 + {b}*He2(z1)*z2",
    "{a}*z1 + {b}*z1*z2*z3",
    "z1 + {a}*z2 + {b}*He2(z1 - z2)",
    "tanh({c}*z1) + {b}*z2**2",
    "sign(z1) + {b}*abs(z2)",
    "relu(z1 + {b}*z2) + {a}*z2",
    "{a}*z + {b}*He2(z)",
    "{a}*z + {b}*He3(z)/sqrt(6)",
    "sin({c}*z)",
)
ACTIVATIONS = ("relu(z - 1/2)", "relu(z - 1/2)", "relu(z)", "tanh(z)", "erf(z)", "abs(z)")


def problem(k: int, stream: int = 23) -> dict[str, Any]:
    """Target, activation, samples, neurons, size and number of the steps, dimension and noise."""
    rng = np.random.default_rng([stream, k])
    a, b, c = rng.uniform(0.3, 1.5), rng.uniform(-1, 1), rng.uniform(0.5, 2)
    link = str(rng.choice(TARGETS)).format(a=round(a, 3), b=round(b, 3), c=round(c, 3))
    noise = 0.0 if rng.random() < 0.5 else round(float(rng.uniform(0.05, 0.5)), 3)
    while True:
        d = round(math.exp(rng.uniform(math.log(20), math.log(100))))
        n = (int(rng.integers(2, 9)), float(rng.choice([1.0, 1.5, 2.0, 2.5])))
        p = (int(rng.integers(1, 5)), float(rng.choice([0.5, 1.0, 1.5, 2.0])))
        if n[0] * d ** n[1] * p[0] * d ** p[1] <= MOST and p[0] * d ** p[1] >= 10:
            break
    return {
        "link": link, "noise": noise, "d": d, "n": n, "p": p,
        "activation": str(rng.choice(ACTIVATIONS)),
        "step": round(math.exp(rng.uniform(math.log(0.3), math.log(4))), 3),
        "steps": 1 if rng.random() < 0.75 else 2,
    }  # fmt: skip


def runs(found: dict[str, Any]) -> np.ndarray:
    """Errors of the runs at the best ridge."""
    d, (cn, a), (cp, b) = found["d"], found["n"], found["p"]
    n, p = round(cn * d**a), round(cp * d**b)
    learner = GiantSteps(
        p / d, found["activation"], batch=n / d, steps=found["steps"], init="gaussian",
        step=found["step"] * d ** ((int(a) - 1) / 2), ridge=RIDGES,
    )  # fmt: skip
    target = MultiIndex(found["link"], noise=found["noise"])
    error = learner.simulate(target, d=d, alpha=n / d, seeds=SEEDS).error
    best = error.isel(ridge=int(np.argmin(error.mean("seed").values)))
    return np.asarray(best.values, dtype=float).ravel()


def judged(k: int, stream: int = 23) -> dict[str, Any]:
    """One problem: the error of theory, that of the runs, and whether they agree."""
    found = problem(k, stream)
    n, p = (f"{found[name][0]}*d^{found[name][1]}" for name in ("n", "p"))
    about = {"k": k, **found}
    start = time.process_time()
    try:
        theory = regimes(
            MultiIndex(found["link"], noise=found["noise"]), n=n, p=p, steps=found["steps"],
            activation=found["activation"], step=found["step"], d=[found["d"]],
        )  # fmt: skip
    except LearnabilityError as error:
        return about | {"verdict": "refused", "way": str(error)}
    about["theory_seconds"] = round(time.process_time() - start, 2)
    number, stated = float(theory.error[0]), float(theory.error_stderr[0])
    if not math.isfinite(number):
        return about | {"verdict": "undecided"}
    values = runs(found)
    mean, stderr = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(SEEDS)
    gap = abs(number - mean)
    right = gap <= ALLOWED * math.hypot(stderr, stated) + SLACK * mean
    return about | {
        "verdict": "right" if right else "wrong", "near": gap <= ALLOWED * stderr + NEAR * mean,
        "theory": number, "runs": mean, "relative": (number - mean) / mean,
        "stderr": stderr / mean, "stated": stated / mean,
    }  # fmt: skip


def main() -> int:
    """Print a line for each problem and the shares."""
    first, last = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (0, COUNT)
    stream = int(sys.argv[3]) if len(sys.argv) > 3 else 23
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(first, last):
            found.append(judged(k, stream))
            print(json.dumps(found[-1], default=float), flush=True)
    numbers = [one for one in found if one["verdict"] in ("right", "wrong")]
    right = sum(one["verdict"] == "right" for one in numbers)
    near = sum(bool(one["near"]) for one in numbers)
    print(f"{right} of {len(numbers)} right, {near} within 5 %")
    return 0 if right >= SHARE * len(numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
