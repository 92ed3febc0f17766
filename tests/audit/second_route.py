"""Sixty random questions of hardness, asked as text and as functions, held against samples.

`python -m tests.audit.second_route [first last]` prints one line for each question and the sums.
Question n is drawn from the generator of seed [9100, n]: a sum of one or two functions of random
linear forms in one to three coordinates, shifted and scaled, cut or not, under one of the laws of
the label in turn: a function, Gaussian noise, `xi` inside, flips whose probability may depend on
z, bernoulli, poisson and categorical labels. Functions without a law are asked as Python functions
too. Staircases are judged as in `hostile_labels`; in addition every Hermite tensor up to the
reported information exponent is estimated from four million labels: none below it may show at
six standard errors. Questions, seeds and criteria were fixed before the first run.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.gaussian.hermite_products import hermite_products
from learnability.labels import Link
from learnability.labels.channel import Channel
from learnability.reports import Hardness, hardness
from learnability.targets import MultiIndex

from tests.audit.hostile_labels import judged

QUESTIONS = 60
LABELS, BLOCKS = 2**18, 16
LAWS = ("plain", "function", "noise", "xi", "flip", "bernoulli", "poisson", "categorical")
INNER = (
    "{u}", "{u}**2", "{u}*{v}", "abs({u})", "tanh({b}*{u})", "cos({b}*{u})", "exp(-{u}**2)",
    "relu({u} - {c})", "max({u}, {v})", "{u}**3/3", "{u}*{v}**2", "sin({b}*{u})*{v}",
)  # fmt: skip


def _form(rng: np.random.Generator, r: int) -> str:
    vector = rng.standard_normal(r)
    vector /= np.linalg.norm(vector)
    if r == 1 or rng.random() < 0.4:
        return f"z{int(rng.integers(r)) + 1}"
    return "(" + " + ".join(f"{x:.2f}*z{i + 1}" for i, x in enumerate(vector)) + ")"


def _inner(rng: np.random.Generator, r: int) -> str:
    parts = []
    for _ in range(int(rng.integers(1, 3))):
        text = str(rng.choice(np.array(INNER)))
        b, c = rng.choice([0.5, 1.0, 2.0, 3.0]), rng.uniform(-1, 1)
        text = text.format(u=_form(rng, r), v=_form(rng, r), b=f"{b:g}", c=f"{c:.2f}")
        parts.append(f"{rng.choice([-1, 1]) * rng.uniform(0.4, 2):.2f}*{text}")
    return " + ".join(parts)


def question(number: int) -> tuple[str, str, float, int]:
    """Return the law, the text, the variance of the noise and r of one question."""
    rng = np.random.default_rng([9100, number])
    law = LAWS[number % len(LAWS)]
    r = int(rng.choice([1, 2, 2, 3]))
    f, g = _inner(rng, r), _inner(rng, r)
    cut, shift = f"{rng.uniform(-1, 1):.2f}", f"{rng.uniform(-50, 50):.1f}"
    noise = float(rng.choice([0.05, 0.5])) if law == "noise" else 0.0
    plain = str(rng.choice([f"sign({f} - {cut})", f, f"{shift} + 3*({f})", f"sign(({f})*({g}))",
                            f"floor({f})"]))  # fmt: skip
    chance = str(rng.choice(["0.15", f"0.05 + 0.3*step({g})", f"0.4*exp(-({g})**2)"]))
    mixed = str(rng.choice([f"sign({f} + 0.4*xi)", f"({f})*(1 + 0.3*xi)", f"abs({f} + 0.3*xi)"]))
    texts = {
        "xi": mixed,
        "flip": f"flip(sign({f} - {cut}), {chance})",
        "bernoulli": f"bernoulli(sigmoid(2*({f}) - {cut}))",
        "poisson": f"poisson(0.3 + 2*sigmoid({f}))",
        "categorical": f"categorical(0.6*sigmoid({f}), 0.4*sigmoid({g}),"
        f" 1 - 0.6*sigmoid({f}) - 0.4*sigmoid({g}))",
    }
    return law, texts.get(law, plain), noise, r


class Opaque:
    """A function of (..., r) points about which nothing else is known."""

    def __init__(self, text: str, r: int) -> None:
        self._link = Link(text, r=r)

    def __call__(self, z: Any) -> Any:
        return self._link(z)


def asked(number: int) -> Hardness:
    """Return the report on one question."""
    law, text, noise, r = question(number)
    link = Link(Opaque(text, r), r=r) if law == "function" else Link(text, r=r)
    return hardness(MultiIndex(link, noise=noise))


def hidden_tensors(report: Hardness, number: int) -> list[str]:
    """Orders below the reported information exponent whose tensors show in samples."""
    highest = report.information_exponent
    if highest is None or highest == 1:
        return []
    target, rng = report.target, np.random.default_rng([9200, number])
    channel, found = Channel(target.link, target.noise), []
    means = []
    for _ in range(BLOCKS):
        z = rng.standard_normal((LABELS, target.r))
        y = channel.sample(z, rng)
        y = np.clip((y - y.mean()) / y.std(), -1e3, 1e3)
        means.append([hermite_products(z, k) @ y / LABELS for k in range(1, highest)])
    for k in range(1, highest):
        values = np.array([m[k - 1] for m in means])
        error = values.std(axis=0, ddof=1) / math.sqrt(BLOCKS)
        worst = float(np.max(np.abs(values.mean(axis=0)) / np.maximum(error, 1e-300)))
        if worst > 6:
            found.append(f"order {k} shows at {worst:.1f} standard errors below exponent {highest}")
    return found


def main(first: int = 0, last: int = QUESTIONS) -> int:
    """Judge the questions of these numbers; return how many reports are wrong."""
    bad = refused = 0
    for number in range(first, last):
        law, text, noise, _ = question(number)
        start = time.process_time()
        cost = -1.0
        try:
            report = asked(number)
            cost = time.process_time() - start
            wrong, told = judged(report, number, 20)
            wrong += hidden_tensors(report, number)
        except LearnabilityError as refusal:
            wrong, told = [], f"refused: {refusal}"
            refused += 1
        bad += bool(wrong)
        mark = "WRONG " + "; ".join(wrong) if wrong else "ok"
        print(f"{number} {law} {noise:g} {text} | {mark} | {told} | {cost:.1f} s", flush=True)
    print(f"{last - first} questions, {bad} wrong, {refused} refused")
    return bad


if __name__ == "__main__":
    sys.exit(int(main(*map(int, sys.argv[1:3])) > 0))
