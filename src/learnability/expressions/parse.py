"""Text to tree: a whitelist over Python's ``ast``; nothing is ever evaluated as code.

Length, depth, number of nodes, powers, numbers and polynomial degree are bounded here, before
anything is computed. Every refusal is one sentence that names what was given and what is accepted.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from learnability.errors import LinkError
from learnability.expressions.calculus import degree
from learnability.expressions.operations import FUNCTIONS
from learnability.expressions.tree import (
    LARGEST_NUMBER,
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

__all__ = ["parse", "quote"]

LONGEST_TEXT = 2000
DEEPEST_NESTING = 40
MOST_NODES = 400
LARGEST_EXPONENT = 16
LARGEST_DEGREE = 64

_FUNCTION_LIST = ", ".join(name for name in FUNCTIONS if not name.startswith("He")) + ", He0 to He9"
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
_ACCEPTED = "numbers, `pi`, variables z1 to z9, + - * / **, parentheses and the functions "


def quote(text: str) -> str:
    """Return at most 60 characters of a text, printable, in one line and in quotes."""
    shown = text if len(text) <= 50 else text[:47] + "..."
    return ascii(shown)[:60]


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
        With one sentence, whatever the text holds.
    """
    if len(text) > LONGEST_TEXT:
        raise LinkError(
            f"The link text {quote(text)} has {len(text)} characters, "
            f"but at most {LONGEST_TEXT} are accepted."
        )
    if not text.strip():
        raise LinkError("The link text is empty, but a formula such as 'z1**2 + z2' is needed.")
    odd = next((c for c in text if not (" " <= c <= "~" or c in "\t\n\r\f")), None)
    if odd is not None:
        raise LinkError(
            f"The link text {quote(text)} holds the character {odd!a}, "
            "but only plain ASCII characters are accepted."
        )
    if "#" in text:
        raise LinkError(f"The link text {quote(text)} holds a comment `#`, which is not accepted.")
    text = re.sub(r"\s+", " ", text).strip()
    _check_brackets(text)
    tree = _Reader(text).read()
    for node in walk(tree):
        if isinstance(node, Call) and degree(node) > LARGEST_DEGREE:
            raise LinkError(
                f"The link text {quote(text)} has a polynomial of degree up to {degree(node)}, "
                f"but at most {LARGEST_DEGREE} is accepted."
            )
    return tree


def _check_brackets(text: str) -> None:
    """Refuse deep nesting before Python's parser sees it."""
    level = 0
    for character in text:
        level += (character in "([{") - (character in ")]}")
        if level > DEEPEST_NESTING:
            raise _too_deep(text)


def _too_deep(text: str) -> LinkError:
    return LinkError(
        f"The link text {quote(text)} is nested too deeply, "
        f"but at most {DEEPEST_NESTING} levels are accepted."
    )


def _syntax(text: str) -> ast.expr:
    """Parse by Python's own grammar and turn its complaints into one sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (RecursionError, MemoryError):
        raise _too_deep(text) from None
    except SyntaxError as error:
        start = max((error.offset or 1) - 1, 0)
        where = (
            f" near {quote(text[start : start + 20])}" if text[start:].strip() else " at its end"
        )
        raise LinkError(
            f"The link text {quote(text)} cannot be read as a formula{where}; "
            f"accepted are {_ACCEPTED}{_FUNCTION_LIST}."
        ) from None
    except ValueError:
        raise LinkError(
            f"The link text {quote(text)} cannot be read as a formula; "
            f"accepted are {_ACCEPTED}{_FUNCTION_LIST}."
        ) from None


def _children(node: ast.expr) -> Iterator[ast.AST]:
    """Return the node and what is below it, without operators and contexts."""
    return (n for n in ast.walk(node) if isinstance(n, ast.expr))


class _Reader:
    """Converts one text; keeps the text for its messages."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: set[str] = set()

    def read(self) -> Tree:
        root = _syntax(self.text)
        nodes = sum(1 for _ in _children(root))
        tree = self.value(root, 1) if nodes <= MOST_NODES else None
        if tree is None:
            raise LinkError(
                f"The link text {quote(self.text)} has {nodes} parts, "
                f"but at most {MOST_NODES} are accepted."
            )
        if "z" in self.names and len(self.names) > 1:
            other = min(self.names - {"z"})
            raise LinkError(
                f"The link text {quote(self.text)} uses both `z` and `{other}`, "
                "but `z` is accepted only when it is the only variable; write `z1` instead."
            )
        return tree

    def source(self, node: ast.AST) -> str:
        """Return the characters of a node, quoted (the text is one line of ASCII)."""
        start = getattr(node, "col_offset", 0)
        return quote(self.text[start : getattr(node, "end_col_offset", None)])

    def refuse(self, node: ast.AST, what: str, accepted: str) -> NoReturn:
        raise LinkError(f"In a link {self.source(node)} is {what}, but {accepted}.")

    def value(self, node: ast.expr, depth: int) -> Tree:
        """Return the tree of a node that stands for a number."""
        if depth > DEEPEST_NESTING:
            raise _too_deep(self.text)
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
        self.refuse(node, what, f"accepted are {_ACCEPTED}{_FUNCTION_LIST}")

    def number(self, node: ast.Constant) -> Const:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = {str: "a string", bytes: "a string", complex: "a complex number"}
            self.refuse(
                node, kind.get(type(value), "not a number"), "only real numbers are accepted"
            )
        if not abs(value) <= LARGEST_NUMBER:
            self.refuse(node, "too large a number", "numbers up to 1e12 are accepted")
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
        if name in FUNCTIONS:
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
            self.refuse(node.func, what, f"the functions are {_FUNCTION_LIST}")
        name = node.func.id
        if name not in FUNCTIONS:
            close = get_close_matches(name, FUNCTIONS, n=1)
            hint = f" (perhaps `{close[0]}` is meant)" if close else ""
            self.refuse(
                node, f"a call to an unknown name{hint}", f"the functions are {_FUNCTION_LIST}"
            )
        if node.keywords:
            self.refuse(node, "a call with keywords", f"`{name}` takes plain arguments")
        starred = next((arg for arg in node.args if isinstance(arg, ast.Starred)), None)
        if starred is not None:
            self.refuse(starred, "a starred argument", f"`{name}` takes plain arguments")
        operation = FUNCTIONS[name]
        fewest, most = operation.fewest, operation.most
        if len(node.args) < fewest or (most is not None and len(node.args) > most):
            count = f"{fewest}" if most == fewest else f"{fewest} or more"
            self.refuse(
                node,
                f"a call with {len(node.args)} arguments",
                f"`{name}` takes {count}",
            )
        if name == "where":
            condition = self.condition(node.args[0], depth + 1)
            a, b = (self.value(arg, depth + 1) for arg in node.args[1:])
            return Call(name, (condition, a, b))
        return Call(name, tuple(self.value(arg, depth + 1) for arg in node.args))

    def condition(self, node: ast.expr, depth: int) -> Tree:
        accepted = (
            "the condition of `where` is a comparison such as `z1 < 2` or `0.5 < abs(z1) < 2`"
        )
        if not isinstance(node, ast.Compare):
            self.refuse(node, "not a comparison", accepted)
        if not all(type(op) in _COMPARISONS for op in node.ops):
            self.refuse(node, "another relation than < <= > >=", accepted)
        operands = [self.value(arg, depth + 1) for arg in (node.left, *node.comparators)]
        links = tuple(
            Call(_COMPARISONS[type(op)], (left, right))
            for op, left, right in zip(node.ops, operands, operands[1:], strict=False)
        )
        return links[0] if len(links) == 1 else Call("chain", links)
