"""Random laws of labels around random links of two directions.

Law number n has one of the kinds of `KINDS`, which take turns, around links `random_formula(k)` of
`tests.random_links` with k from 200 on, which the audit of links does not see. The seeds were fixed
before the first run, and so was the criterion, that of `tests.tools.audit_state_evolution`.
"""

from __future__ import annotations

import numpy as np

from learnability.labels import Link

from tests.random_links import COUNT, random_formula

__all__ = ["KINDS", "random_law_text"]

KINDS = (
    "flip(sign({a} - {m:.2f}), {p:.2f})",
    "bernoulli(sigmoid({s:.2f}*({a} - {m:.2f})))",
    "poisson({s:.2f}*exp(tanh({a} - {m:.2f})))",
    "categorical(sigmoid({a})*sigmoid({b}), sigmoid({a})*(1 - sigmoid({b})), 1 - sigmoid({a}))",
    "sign({a} - {m:.2f} + {s:.2f}*xi)",
    "({a})*(1 + {p:.2f}*xi)",
    "tanh({a} + {s:.2f}*xi)",
    "flip(sign({a} - {m:.2f}), {p:.2f}*step(z1))",
    "max({a}, {m:.2f} + {s:.2f}*xi)",
    "{a} + {p:.2f}*(1 + abs(z1))*xi",
)
"""`a` and `b` are links, `m` about the median of `a`, `p` a probability and `s` a size."""


def _of_two_directions(rng: np.random.Generator) -> str:
    while True:
        text = random_formula(int(rng.integers(COUNT, 100 * COUNT)))
        if Link(text).r == 2:
            return text


def random_law_text(number: int) -> str:
    """The law of a number, as text."""
    rng = np.random.default_rng([2020, number])
    first, second = _of_two_directions(rng), _of_two_directions(rng)
    middle = float(np.median(Link(first)(rng.standard_normal((4001, 2)))))
    p, s = float(rng.uniform(0.05, 0.3)), float(rng.choice([0.5, 1, 2]))
    text = KINDS[number % len(KINDS)].format(a=first, b=second, m=middle, p=p, s=s)
    return text.replace("- -", "+ ")
