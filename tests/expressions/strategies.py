"""Random trees for hypothesis, and a seeded generator of texts, well formed and not."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import strategies as st

from learnability.expressions.arithmetic import COMPARISONS
from learnability.expressions.operations import FUNCTIONS
from learnability.expressions.tree import Call, Const, Tree, Var, add, div, mul, neg, power

UNARY = [name for name, operation in FUNCTIONS.items() if operation.most == 1]
SMALL = [name for name in UNARY if not name.startswith("He") or int(name[2:]) <= 2]

numbers = st.one_of(
    st.integers(0, 20).map(Fraction),
    st.sampled_from(["0.5", "1.25", "3e-7", "1/3", "22/7", "0.1", "1e12"]).map(Fraction),
)
exponents = st.sampled_from([Fraction(p) for p in ("0", "1", "2", "-1", "1/2", "-1/3", "0.3")])


def _compound(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(children, min_size=2, max_size=3)
    comparison = st.builds(
        lambda name, a, b: Call(name, (a, b)),
        st.sampled_from(list(COMPARISONS)),
        children,
        children,
    )
    chain = st.builds(
        lambda a, b, c: Call("chain", (Call("<", (a, b)), Call("<=", (b, c)))),
        children,
        children,
        children,
    )
    return st.one_of(
        several.map(add),
        several.map(mul),
        children.map(neg),
        st.builds(lambda a, b: a if b == Const(Fraction(0)) else div(a, b), children, children),
        st.builds(
            lambda a, p: a if a == Const(Fraction(0)) and p < 0 else power(a, p),
            children,
            exponents,
        ),
        st.builds(lambda name, a: Call(name, (a,)), st.sampled_from(SMALL), children),
        st.builds(
            lambda name, args: Call(name, tuple(args)), st.sampled_from(["max", "min"]), several
        ),
        st.builds(
            lambda condition, a, b: Call("where", (condition, a, b)),
            st.one_of(comparison, chain),
            children,
            children,
        ),
    )


def trees(r: int = 3, leaves: int = 8) -> st.SearchStrategy[Tree]:
    """Trees in normal form in r variables."""
    leaf = st.one_of(
        st.integers(0, r - 1).map(Var),
        numbers.map(Const),
        st.just(Call("pi", ())),
    )
    return st.recursive(leaf, _compound, max_leaves=leaves)


_LEAVES = ["z1", "z2", "z9", "z", "pi", "2", "0.5", "1e3", "3"]
_HOSTILE = [
    "__import__('os').system('true')",
    "z1.__class__",
    "z1[0]",
    "lambda: z1",
    "[z for z in z1]",
    "9**9**9**9",
    "exec('1')",
    "open('f', 'w')",
    "(x := 1)",
    "1j",
    "'text'",
    "f'{z1}'",
    "True",
    "...",
    "z1 == z2",
    "z1 and z2",
    "not z1",
    "*z1",
    "x=1",
    "1e999",
    "z0",
    "z10",
    "^",
    "@",
    "\x00",
    "\u0435\u0445\u0440",
    "\uff5a1",
    "#",
    "\\",
    "\n",
    "!",
    "((((",
    "))))",
    ",,",
]


def grammar_text(rng: random.Random, depth: int = 5, hostile: float = 0.02) -> str:
    """A random formula; with a small chance at every node something that must be refused."""

    def inner() -> str:
        return grammar_text(rng, depth - 1, hostile)

    if rng.random() < hostile:
        return rng.choice(_HOSTILE)
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(_LEAVES)
    kind = rng.randrange(8)
    if kind < 3:
        return f"{inner()} {rng.choice('+-*/')} {inner()}"
    if kind == 3:
        return f"({inner()})"
    if kind == 4:
        return f"{rng.choice(['-', '+', '--'])}{inner()}"
    if kind == 5:
        return f"({inner()})**{rng.choice(['2', '-1', '0.5', '(1/3)', '3', '17', 'z1'])}"
    if kind == 6:
        relation = rng.choice(["<", "<=", ">", ">=", "=="])
        return f"where({inner()} {relation} {inner()}, {inner()}, {inner()})"
    name = rng.choice([*FUNCTIONS, "foo"])
    return f"{name}({', '.join(inner() for _ in range(rng.choice([1, 1, 1, 2, 3, 0])))})"


def mutated_text(rng: random.Random) -> str:
    """A formula with characters deleted, doubled, swapped or replaced; or plain noise."""
    if rng.random() < 0.3:
        alphabet = "z123()+-*/.,<>= _abcefgHhilmnoprstuwx[]{}'\"\\\n\t#@^~%&|:;!?$0\x00\xe9\u03b1"
        return "".join(rng.choice(alphabet) for _ in range(rng.randrange(40)))
    text = list(grammar_text(rng, depth=4, hostile=0.05))
    for _ in range(rng.randrange(1, 6)):
        if not text:
            break
        place = rng.randrange(len(text))
        action = rng.randrange(4)
        if action == 0:
            del text[place]
        elif action == 1:
            text.insert(place, text[place])
        elif action == 2:
            text[place] = chr(rng.randrange(1, 256))
        else:
            other = rng.randrange(len(text))
            text[place], text[other] = text[other], text[place]
    return "".join(text)
