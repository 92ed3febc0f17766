"""Predictions of linear models of random laws, held against their own runs at d = 400.

`python -m tests.audit.linear_route` prints one line for each law. Eight laws of up to three
directions, one ratio and eight seeds each; a number is wrong when it is off by more than three
standard errors of the runs and 0.5 / sqrt(d). All of it was fixed before the first run.
"""

from __future__ import annotations

import sys

import numpy as np

from learnability import LearnabilityError, LinearModel, MultiIndex

D, SEEDS = 400, list(range(7000, 7008))
CASES = (
    ("squared", 0.5, "z1 + 0.6*z2**2 - tanh(2*z3)", 0.2, 1.5),
    ("squared", 0.05, "poisson(exp(0.5*z1 - 0.3*z2))", 0.0, 3.0),
    ("squared", 1.0, "abs(z1) + z2*(1 + 0.4*xi)", 0.0, 0.7),
    ("logistic", 0.1, "flip(sign(z1 + z2**2 - 0.5), 0.1 + 0.2*step(z1))", 0.0, 2.0),
    ("logistic", 1.0, "sign(z1*z2 + z3 + 0.3*xi)", 0.0, 4.0),
    ("hinge", 0.5, "bernoulli(sigmoid(3*z1 - z2**2))", 0.0, 2.5),
    ("hinge", 0.2, "sign(z1 + 0.5*z2*z3 - 0.7)", 0.0, 1.2),
    ("huber", 0.3, "2*z1 + floor(z2) + 0.5*z1*z3", 0.5, 3.0),
)


def compared(number: int) -> tuple[list[str], str]:
    """Return what is wrong with one law, and both sides' values."""
    loss, ridge, text, noise, alpha = CASES[number]
    learner, target = LinearModel(loss=loss, ridge=ridge), MultiIndex(text, noise=noise)
    theory = learner.predict(target, alpha=alpha)
    runs = learner.simulate(target, d=D, alpha=alpha, seeds=SEEDS)
    wrong, told = [], []
    for name in ("cosine", "overlap", "error", "train_error", "misclassification"):
        if name not in theory or name not in runs:
            continue
        values = np.atleast_1d(theory[name].values).ravel()
        found = runs[name].values.reshape(len(SEEDS), -1)
        if len(values) != found.shape[1]:
            continue
        scale = 1.0 if name in ("cosine", "misclassification") else max(1.0, abs(values).max())
        for value, run in zip(values, found.T, strict=True):
            error = run.std(ddof=1) / np.sqrt(len(SEEDS))
            told.append(f"{name} {value:.4f} {run.mean():.4f}({error:.4f})")
            if np.isfinite(value) and abs(value - run.mean()) > 3 * error + 0.5 * scale / D**0.5:
                wrong.append(told[-1])
    return wrong, "; ".join(told)


def main() -> int:
    """Hold all laws; return how many are wrong."""
    bad = 0
    for number, case in enumerate(CASES):
        try:
            wrong, told = compared(number)
        except LearnabilityError as refusal:
            wrong, told = [], f"refused: {refusal}"
        bad += bool(wrong)
        print(f"{number} {case} | {'WRONG ' + '; '.join(wrong) if wrong else 'ok'} | {told}",
              flush=True)  # fmt: skip
    print(f"{len(CASES)} laws, {bad} wrong")
    return bad


if __name__ == "__main__":
    sys.exit(int(main() > 0))
