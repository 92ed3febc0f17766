"""Random cases for the fuzzers: texts and links by grammar, command lines by the declarations.

The seed of a case is its number, so that a case that fails can be tried again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from learnability.fields import Choice, Flag, declared
from learnability.learners import LEARNERS
from learnability.learners.base import ARGUMENTS

FUNCTIONS = (
    "sign",
    "abs",
    "relu",
    "tanh",
    "exp",
    "sin",
    "cos",
    "sqrt",
    "erf",
    "step",
    "He2",
    "He3",
)
HOSTILE = (
    "__import__('os')",
    "z.__class__",
    "lambda: 0",
    "[z]*9",
    "z if z else 1",
    "'a'",
    "9**9**9",
    "1e999",
    "z1[0]",
    "(" * 300,
    "z;z",
    "\x1b[2J",
    "\u202e",
    "z\n",
    "1j",
    "f'{z}'",
    "z:=1",
    "",
    " ",
    "z10",
    "z0",
)
NUMBERS = (
    "0",
    "-1",
    "1",
    "2.5",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "-inf",
    "1e12",
    "1e-9",
    "",
    "²",
    "٣",
    "1,2",
    "0:1:3",
    "1:2:1000000000",
    "none",
    "true",
    "text",
    "1e999",
    "9" * 400,
    "0x10",
    " 3 ",
    "--",
    "3,3",
)


def link(dice: random.Random, depth: int = 3) -> str:
    """A formula of up to three hidden projections."""
    kind = dice.randrange(7) if depth else dice.randrange(2)
    if kind == 0:
        return dice.choice(("z1", "z1", "z2", "z3"))
    if kind == 1:
        return dice.choice(("1", "2", "0.5", "3", "1e-3", "pi", "1e-50", "1e12"))
    if kind == 2:
        return f"{dice.choice(FUNCTIONS)}({link(dice, depth - 1)})"
    if kind == 3:
        return f"({link(dice, depth - 1)})**{dice.randrange(4)}"
    sign = dice.choice("+-**/")
    return f"({link(dice, depth - 1)} {sign} {link(dice, depth - 1)})"


def text(dice: random.Random) -> str:
    """A formula, a hostile text, or a formula with a piece changed."""
    if dice.random() < 0.2:
        return dice.choice(HOSTILE)
    made = link(dice, dice.randrange(5))
    if dice.random() < 0.6:
        place = dice.randrange(len(made))
        piece = dice.choice((*HOSTILE, "*", "(", ")", "z", ",", ".", "e", "\x00", "\\"))
        made = made[:place] + piece + made[place + dice.randrange(2) :]
    return made


def command(dice: random.Random, folder: Path) -> list[str]:
    """A command line of a learner with bad values among its options."""
    name = dice.choice(list(LEARNERS))
    learner, verb = LEARNERS[name], dice.choice(("predict", "simulate", "simulate"))
    words = [verb, name, "z1" if dice.random() < 0.8 else text(dice)]
    side = next((q.side(verb) for q in learner.questions if q.side(verb)), None)
    for argument in () if side is None else (*side.needs, *side.takes):
        if argument in side.needs or dice.random() < 0.2:  # type: ignore[union-attr]
            good = {"d": "6", "alpha": "1", "time": "0.1"}.get(argument, "1")
            words += [f"--{argument}", good if dice.random() < 0.7 else dice.choice(NUMBERS)]
    for field, about in declared(learner):
        if dice.random() < 0.15 and not isinstance(about.kind, Flag):
            words_of = about.kind.words if isinstance(about.kind, Choice) else NUMBERS
            value = dice.choice((*words_of, dice.choice(NUMBERS)))
            words += [f"--{field.name.replace('_', '-')}", value]
    if dice.random() < 0.3:
        key = dice.choice((*ARGUMENTS, "seeds", "store", "noise", "nothing", ""))
        words += ["--set", f"{key}={dice.choice(NUMBERS)}"]
    if dice.random() < 0.3:
        words += ["--noise", dice.choice(NUMBERS)]
    if dice.random() < 0.2:
        places = (folder, folder / "none" / "x.nc", "/dev/null", "/dev/full", folder / "x.txt")
        words += ["--out", str(dice.choice(places))]
    return words


def damaged(dice: random.Random, whole: bytes) -> bytes:
    """A copy of a store with bits flipped, a piece overwritten or its end cut."""
    data = bytearray(whole)
    kind = dice.randrange(3)
    if kind == 0:
        for _ in range(1 + dice.randrange(3)):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif kind == 1:
        place = dice.randrange(len(data))
        piece = dice.randbytes(dice.randrange(1, 400))
        data[place : place + len(piece)] = piece[: len(data) - place]
    else:
        del data[dice.randrange(len(data)) :]
    return bytes(data)


def numbered(first: int = 0) -> Iterator[tuple[int, random.Random]]:
    """The number of each case with its dice."""
    number = first
    while True:
        yield number, random.Random(number)
        number += 1
