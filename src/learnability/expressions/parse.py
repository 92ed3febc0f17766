"""Text is parsed to a tree by a whitelist over Python's ``ast``; it is never evaluated as code.

Length, depth, number of nodes, powers, numbers and polynomial degree are bounded here, before
anything is computed. Every refusal is one sentence that names what was given and what is accepted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from learnability.errors import LinkError
from learnability.expressions.calculus import degree
from learnability.expressions.operations import FUNCTIONS
from learnability.expressions.syntax import (
    ACCEPTED,
    DEEPEST_NESTING,
    FUNCTION_LIST,
    checked_text,
    quote,
    syntax,
    too_deep,
)
from learnability.expressions.tree import (
    FIRST_LATENT,
    LARGEST_NUMBER,
    SMALLEST_NUMBER,
    Call,
    Const,
    Tree,
    Var,
    add,
    div,
    mul,
    neg,
    power,
    walk,
)

__all__ = ["LAW_WORDS", "parse", "parse_law", "quote"]

LAW_WORDS: dict[str, tuple[int, int | None]] = {
    "flip": (2, 2),
    "bernoulli": (1, 1),
    "poisson": (1, 1),
    "categorical": (2, None),
}
"""Words of random labels, each with its smallest and largest number of arguments."""

MOST_NODES = 400
LARGEST_EXPONENT = 16
LARGEST_DEGREE = 64

_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_REFUSED_OPERATORS: dict[type[ast.AST], str] = {
    ast.BitXor: "`^` (write `**` for powers)",
    ast.FloorDiv: "`//` (write `/` to divide)",
    ast.Mod: "`%`",
    ast.MatMult: "`@`",
    ast.LShift: "`<<`",
    ast.RShift: "`>>`",
    ast.BitAnd: "`&`",
    ast.BitOr: "`|`",
    ast.Invert: "`~`",
    ast.Not: "`not`",
}
_REFUSED_NODES: dict[type[ast.AST], str] = {
    ast.Attribute: "an attribute access",
    ast.Subscript: "a subscript",
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.IfExp: "an if-else (write `where(condition, a, b)`)",
    ast.NamedExpr: "an assignment",
    ast.Starred: "a starred argument",
    ast.Tuple: "a tuple",
    ast.List: "a list",
    ast.Set: "a set",
    ast.Dict: "a dict",
    ast.JoinedStr: "a string",
    ast.Await: "an await",
    ast.Yield: "a yield",
    ast.YieldFrom: "a yield",
}
_LAWS_ARE_LABELS = (
    "random labels are accepted where a target is (MultiIndex, hardness, predict, simulate)"
)


def parse(text: str) -> Tree:
    """Parse the text of a link.

    Parameters
    ----------
    text : str
        A formula in ``z1`` ... ``z9``, or in ``z`` alone.

    Returns
    -------
    Tree

    Raises
    ------
    LinkError
        The message is one sentence, whatever the text holds.
    """
    _, (tree,) = _parsed(text, random=False)
    return tree


def parse_law(text: str) -> tuple[str | None, tuple[Tree, ...]]:
    """Parse the text of a law of the label.

    Parameters
    ----------
    text : str
        A formula that may also hold the latent variables ``xi``, ``xi1`` ... ``xi9``, or a word of
        `LAW_WORDS` around such formulas.

    Returns
    -------
    word : str or None
        The outermost word, if it is one of `LAW_WORDS`.
    trees : tuple of Tree
        Its arguments, or the one formula. Latent variables are those from `FIRST_LATENT` on.

    Raises
    ------
    LinkError
        The message is one sentence, whatever the text holds.
    """
    return _parsed(text, random=True)


def _parsed(text: str, random: bool) -> tuple[str | None, tuple[Tree, ...]]:
    text = checked_text(text)
    word, trees = _Reader(text, random).read()
    for node in (node for tree in trees for node in walk(tree)):
        if isinstance(node, Call) and degree(node) > LARGEST_DEGREE:
            raise LinkError(
                f"The link text {quote(text)} has a polynomial of degree up to {degree(node)}, "
                f"but at most {LARGEST_DEGREE} is accepted."
            )
    return word, trees


def _children(node: ast.expr) -> Iterator[ast.AST]:
    """Return the node and what is below it, without operators and contexts."""
    return (n for n in ast.walk(node) if isinstance(n, ast.expr))


class _Reader:
    """It converts one text, which it keeps for its messages."""

    def __init__(self, text: str, random: bool) -> None:
        self.text, self.random = text, random
        self.names: set[str] = set()

    def read(self) -> tuple[str | None, tuple[Tree, ...]]:
        root = syntax(self.text)
        nodes = sum(1 for _ in _children(root))
        if nodes > MOST_NODES:
            raise LinkError(
                f"The link text {quote(self.text)} has {nodes} parts, "
                f"but at most {MOST_NODES} are accepted."
            )
        word, arguments = None, [root]
        outermost = root.func if isinstance(root, ast.Call) and self.random else None
        if isinstance(root, ast.Call) and isinstance(outermost, ast.Name):
            word = outermost.id if outermost.id in LAW_WORDS else None
        if isinstance(root, ast.Call) and word is not None:
            self.check_arguments(root, word, *LAW_WORDS[word])
            arguments = root.args
        trees = tuple(self.value(node, 1) for node in arguments)
        if "z" in self.names and len(self.names) > 1:
            other = min(self.names - {"z"})
            raise LinkError(
                f"The link text {quote(self.text)} uses both `z` and `{other}`, "
                "but `z` is accepted only when it is the only variable; write `z1` instead."
            )
        return word, trees

    def source(self, node: ast.AST) -> str:
        """Return the characters of a node, quoted (the text is one line of ASCII)."""
        start = getattr(node, "col_offset", 0)
        return quote(self.text[start : getattr(node, "end_col_offset", None)])

    def refuse(self, node: ast.AST, what: str, accepted: str) -> NoReturn:
        raise LinkError(f"In a link {self.source(node)} is {what}, but {accepted}.")

    def value(self, node: ast.expr, depth: int) -> Tree:
        """Return the tree of a node that stands for a number."""
        if depth > DEEPEST_NESTING:
            raise too_deep(self.text)
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.UnaryOp):
            return self.unary(node, depth)
        if isinstance(node, ast.BinOp):
            return self.binary(node, depth)
        if isinstance(node, ast.Call):
            return self.call(node, depth)
        if isinstance(node, ast.Compare):
            self.refuse(
                node, "a comparison", "comparisons stand only in the condition of `where(c, a, b)`"
            )
        if isinstance(node, ast.BoolOp):
            self.refuse(
                node,
                "a boolean operation",
                "conditions are comparisons or chains such as `0 < z1 < 2`; nest `where` for more",
            )
        what = _REFUSED_NODES.get(type(node), "not arithmetic")
        self.refuse(node, what, f"accepted are {ACCEPTED}{FUNCTION_LIST}")

    def number(self, node: ast.Constant) -> Const:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = {str: "a string", bytes: "a string", complex: "a complex number"}
            self.refuse(
                node, kind.get(type(value), "not a number"), "only real numbers are accepted"
            )
        if not abs(value) <= LARGEST_NUMBER:
            self.refuse(node, "too large a number", "numbers up to 1e12 are accepted")
        if 0 < abs(value) < SMALLEST_NUMBER:
            self.refuse(node, "too small a number", "0 and numbers from 1e-50 on are accepted")
        if isinstance(value, int) or not value:
            return Const(Fraction(value))
        digits = self.text[node.col_offset : node.end_col_offset]
        return Const(Fraction(digits.replace("_", "")))

    def name(self, node: ast.Name) -> Tree:
        name = node.id
        if name == "pi":
            return Call("pi", ())
        if name == "z" or re.fullmatch("z[1-9]", name):
            self.names.add(name)
            return Var(0 if name == "z" else int(name[1]) - 1)
        if re.fullmatch("xi[1-9]?", name):
            if not self.random:
                self.refuse(node, "a random variable, fresh for every label", _LAWS_ARE_LABELS)
            return Var(FIRST_LATENT + int(name[2:] or 0))
        if name in FUNCTIONS or name in LAW_WORDS:
            self.refuse(node, "a function without arguments", f"write `{name}(...)`")
        self.refuse(
            node, "an unknown name", "the names are `pi` and the variables z1 to z9 (or z alone)"
        )

    def unary(self, node: ast.UnaryOp, depth: int) -> Tree:
        if type(node.op) in _REFUSED_OPERATORS:
            what = f"an expression with {_REFUSED_OPERATORS[type(node.op)]}"
            self.refuse(node, what, "the unary operators are + and -")
        inner = self.value(node.operand, depth + 1)
        return neg(inner) if isinstance(node.op, ast.USub) else inner

    def binary(self, node: ast.BinOp, depth: int) -> Tree:
        if type(node.op) in _REFUSED_OPERATORS:
            what = f"an expression with {_REFUSED_OPERATORS[type(node.op)]}"
            self.refuse(node, what, "the operators are + - * / **")
        if isinstance(node.op, ast.Pow):
            return self.power(node, depth)
        sums = isinstance(node.op, ast.Add | ast.Sub)
        family = (ast.Add, ast.Sub) if sums else (ast.Mult, ast.Div)
        # Long sums lean to the left in Python's tree; a loop down that spine nests nothing here.
        spine: list[tuple[ast.operator, ast.expr]] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp) and isinstance(first.op, family):
            spine.append((first.op, first.right))
            first = first.left
        spine.reverse()
        turns = (
            0
            if sums
            else sum(
                type(a[0]) is not type(b[0]) or isinstance(b[0], ast.Div)
                for a, b in pairwise(spine)
            )
        )
        result = self.value(first, depth + 1 + turns)
        if sums:
            terms = [result]
            for operator, operand in spine:
                term = self.value(operand, depth + 1)
                terms.append(neg(term) if isinstance(operator, ast.Sub) else term)
            return add(terms)
        for operator, operand in spine:
            factor = self.value(operand, depth + 1)
            if isinstance(operator, ast.Mult):
                result = mul([result, factor])
            elif factor == Const(Fraction(0)):
                self.refuse(node, "a division by zero", "a divisor must not be zero")
            else:
                result = div(result, factor)
        return result

    def power(self, node: ast.BinOp, depth: int) -> Tree:
        base = self.value(node.left, depth + 1)
        exponent = self.value(node.right, depth + 1)
        accepted = f"exponents are numbers between -{LARGEST_EXPONENT} and {LARGEST_EXPONENT}"
        if not isinstance(exponent, Const):
            self.refuse(node, "a power whose exponent is not a plain number", accepted)
        if abs(exponent.value) > LARGEST_EXPONENT:
            self.refuse(node, "too large a power", accepted)
        if base == Const(Fraction(0)) and exponent.value < 0:
            self.refuse(node, "a division by zero", "zero has no negative powers")
        return power(base, exponent.value)

    def call(self, node: ast.Call, depth: int) -> Tree:
        if not isinstance(node.func, ast.Name):
            what = _REFUSED_NODES.get(type(node.func), "not a function's name")
            self.refuse(node.func, what, f"the functions are {FUNCTION_LIST}")
        name = node.func.id
        if name in LAW_WORDS:
            self.refuse(
                node,
                "a random label inside a formula",
                f"`{name}` stands only as the outermost word of a target"
                if self.random
                else _LAWS_ARE_LABELS,
            )
        if name not in FUNCTIONS:
            close = get_close_matches(name, FUNCTIONS, n=1)
            hint = f" (perhaps `{close[0]}` is meant)" if close else ""
            self.refuse(
                node, f"a call to an unknown name{hint}", f"the functions are {FUNCTION_LIST}"
            )
        self.check_arguments(node, name, FUNCTIONS[name].fewest, FUNCTIONS[name].most)
        if name == "where":
            condition = self.condition(node.args[0], depth + 1)
            a, b = (self.value(arg, depth + 1) for arg in node.args[1:])
            return Call(name, (condition, a, b))
        return Call(name, tuple(self.value(arg, depth + 1) for arg in node.args))

    def check_arguments(self, node: ast.Call, name: str, fewest: int, most: int | None) -> None:
        if node.keywords:
            self.refuse(node, "a call with keywords", f"`{name}` takes plain arguments")
        starred = next((arg for arg in node.args if isinstance(arg, ast.Starred)), None)
        if starred is not None:
            self.refuse(starred, "a starred argument", f"`{name}` takes plain arguments")
        if len(node.args) < fewest or (most is not None and len(node.args) > most):
            count = f"{fewest}" if most == fewest else f"{fewest} or more"
            self.refuse(
                node,
                f"a call with {len(node.args)} arguments",
                f"`{name}` takes {count}",
            )

    def condition(self, node: ast.expr, depth: int) -> Tree:
        accepted = (
            "the condition of `where` is a comparison such as `z1 < 2` or `0.5 < abs(z1) < 2`"
        )
        if not isinstance(node, ast.Compare):
            self.refuse(node, "not a comparison", accepted)
        if not all(type(op) in _COMPARISONS for op in node.ops):
            self.refuse(node, "a relation other than < <= > >=", accepted)
        operands = [self.value(arg, depth + 1) for arg in (node.left, *node.comparators)]
        links = tuple(
            Call(_COMPARISONS[type(op)], (left, right))
            for op, left, right in zip(node.ops, operands, operands[1:], strict=False)
        )
        return links[0] if len(links) == 1 else Call("chain", links)
