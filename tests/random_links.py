"""Random formulas nobody wrote down, and what must not change when they are said otherwise.

Link number n of the audit is `random_formula(n)`, n = 0 ... 199. Each is held against its own
values as a Python function (nothing is then known of it but its values) and against two of the
ways of `WAYS`, number n and n + 4 modulo their number. Two reports contradict each other when both
decide a thing and decide it differently: see `contradictions`. The seeds and the criterion were
fixed before the first run. `python -m tests.random_links 0 200` prints one line for each link and
the sums; `make links` calls it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np

from learnability.labels import Link
from learnability.reports import Hardness, hardness

from tests.geometry import random_rotation

__all__ = ["WAYS", "as_function", "audited", "contradictions", "random_formula", "ways_of"]

COUNT = 200

_ONE = ("{}", "{}**2", "{}**3", "He2({})", "He3({})", "He4({})", "abs({})", "sign({})", "relu({})")
_ONE += ("tanh({})", "erf({})", "sin(2*{})", "cos({})", "exp(-{}**2)", "sigmoid(2*{})")
_ONE += ("sign(abs({}) - 1)", "step({} - 0.5)", "{}*exp(-{}**2/2)")
_FACTORS = (1, 1, 1, 0.5, 2, -1, 1.5)


def random_formula(number: int) -> str:
    """The formula of a number: one to three terms in one to three variables."""
    rng = np.random.default_rng([20, number])
    r = int(rng.choice([1, 2, 3], p=[0.3, 0.4, 0.3]))
    terms = [_term(rng, r) for _ in range(int(rng.integers(1, 4 if r > 1 else 3)))]
    body = " + ".join(f"{rng.choice(_FACTORS):g}*{term}" for term in terms)
    if rng.random() < 0.25:
        outer = rng.choice(["tanh({})", "sign({})", "abs({})", "({})**2", "sign({} - 0.5)"])
        body = str(outer).format(body)
    used = [f"z{i + 1}" for i in range(r) if f"z{i + 1}" not in body]
    return " + ".join(
        [body, *(f"{rng.choice(['{0}', '{0}**2', 'abs({0})'])}".format(z) for z in used)]
    )


def _term(rng: np.random.Generator, r: int) -> str:
    kind = rng.random()
    if r == 1 or kind < 0.45:
        return _of_one(rng, _direction(rng, r))
    chosen = rng.permutation(r)[: int(rng.integers(2, r + 1))]
    if kind < 0.65:
        return "*".join(f"z{i + 1}" for i in chosen)
    if kind < 0.8:
        return f"sign({'*'.join(f'z{i + 1}' for i in chosen)})"
    if kind < 0.9:
        return "*".join(_of_one(rng, f"z{i + 1}") for i in chosen)
    return f"max({', '.join(f'z{i + 1}' for i in chosen)})"


def _of_one(rng: np.random.Generator, argument: str) -> str:
    return str(rng.choice(_ONE)).replace("{}", argument)


def _direction(rng: np.random.Generator, r: int) -> str:
    i = int(rng.integers(r))
    if r == 1 or rng.random() < 0.7:
        return f"z{i + 1}"
    j = (i + 1) % r
    return f"({rng.choice([1, 0.5])}*z{i + 1} {rng.choice(['+', '-'])} z{j + 1})"


def as_function(link: Link) -> Link:
    """The same values, of which nothing else is known."""
    return Link(lambda z: link(z), r=link.r)


def _turned(link: Link, number: int) -> Link:
    return link.rotate(random_rotation(link.r, number)) if link.r > 1 else link.rotate([[-1.0]])


def _permuted(link: Link, number: int) -> Link:
    return link.rotate(np.eye(link.r)[np.random.default_rng(number).permutation(link.r)])


WAYS: dict[str, Callable[[Link, int], Link]] = {
    "shift": lambda link, n: Link(f"{3 + n % 5} + ({link.text})", r=link.r),
    "scale": lambda link, n: Link(f"{(n % 7 + 1) / 4}*({link.text})", r=link.r),
    "sign": lambda link, n: Link(f"-({link.text})", r=link.r),
    "monotone": lambda link, n: Link(f"tanh(({link.text})/{4 + n % 3})", r=link.r),
    "cubic": lambda link, n: Link(f"({link.text})**3 + ({link.text})", r=link.r),
    "rotation": _turned,
    "permutation": _permuted,
    "irrelevant": lambda link, n: Link(link.text or "", r=link.r + 1),
}
"""Ways to say a link otherwise; those of the label keep the grand staircase."""

_OF_THE_LABEL = {"monotone", "cubic"}


def ways_of(number: int) -> list[str]:
    """The two ways that a link of the audit is held against."""
    names = list(WAYS)
    return [names[number % len(names)], names[(number + 4) % len(names)]]


def contradictions(first: Hardness, second: Hardness, way: str) -> list[str]:
    """What both reports decide and decide differently.

    Kinds, orders and numbers of directions of the grand staircase, step by step, until one of the
    two is undecided; thresholds up to four of their joint errors and 1e-6 of their size; and,
    unless the label was relabelled by something that is not linear, the information exponent and
    the leap.
    """
    found = []
    names = [
        "generative_exponent",
        *([] if way in _OF_THE_LABEL else ["information_exponent", "leap"]),
    ]
    for name in names:
        a, b = getattr(first, name), getattr(second, name)
        if a is not None and b is not None and a != b:
            found.append(f"{name}: {a} against {b}")
    for k, (a, b) in enumerate(zip(first.staircase, second.staircase, strict=False), 1):
        if a.kind is None or b.kind is None:
            break
        if a.kind != b.kind or len(a.directions) != len(b.directions):
            found.append(
                f"step {k}: {a.kind} {len(a.directions)} against {b.kind} {len(b.directions)}"
            )
            break
        if a.alpha is None or b.alpha is None or math.isinf(a.alpha):
            continue
        error = math.hypot(a.alpha_error or 0.0, b.alpha_error or 0.0)
        if abs(a.alpha - b.alpha) > 4 * error + 1e-6 * a.alpha:
            found.append(f"step {k}: alpha {a.alpha:.6g} against {b.alpha:.6g}, error {error:.1g}")
    return found


def audited(number: int) -> tuple[Hardness, dict[str, list[str]]]:
    """The report on a link, and for each way to say it otherwise what contradicts that."""
    link = Link(random_formula(number))
    report = hardness(link)
    found = {"function": contradictions(report, hardness(as_function(link)), "function")}
    for way in ways_of(number):
        found[way] = contradictions(report, hardness(WAYS[way](link, number)), way)
    return report, found


def main(first: int, last: int) -> int:
    """Audit the links of these numbers; return how many contradict themselves."""
    wrong = undecided = 0
    for number in range(first, last):
        start = time.process_time()
        report, found = audited(number)
        misses = [f"{way}: {what}" for way, list_ in found.items() for what in list_]
        open_ends = any(step.kind is None for step in report.staircase)
        wrong, undecided = wrong + bool(misses), undecided + open_ends
        kinds = " ".join(str(step.kind) for step in report.staircase)
        spent = time.process_time() - start
        print(
            f"{number} {random_formula(number)} | {kinds} | {'; '.join(misses)} | {spent:.1f} s",
            flush=True,
        )
    print(f"{last - first} links, {wrong} with a contradiction, {undecided} with an undecided step")
    return wrong


if __name__ == "__main__":
    sys.exit(int(main(*map(int, sys.argv[1:3])) > 0))
