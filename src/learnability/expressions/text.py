"""Trees are printed as text, which parses back to an equal tree, and as LaTeX."""

from __future__ import annotations

from fractions import Fraction

from learnability.expressions.arithmetic import ATOM, COMPARE, POWER, PRODUCT, SUM
from learnability.expressions.operations import OPERATIONS
from learnability.expressions.tree import FIRST_LATENT, LARGEST_NUMBER, Call, Const, Tree, Var

__all__ = ["to_latex", "to_text"]

# Decimals with more digits than this are printed as fractions when the fractions are short.
_SHORT_DECIMAL = 17


def _decimal(value: Fraction) -> tuple[int, int] | None:
    """(m, e) with value = m 10^e and m not divisible by 10, or None for infinite decimals."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    exponent = max(twos, fives)
    mantissa = value.numerator * 10**exponent // value.denominator
    return mantissa, -exponent


def number_text(value: Fraction) -> str:
    """Return a number >= 0 as digits, a decimal or a fraction ``p/q``, exactly."""
    if value.denominator == 1:
        return str(value.numerator)
    decimal = _decimal(value)
    if decimal is None:
        return f"{value.numerator}/{value.denominator}"
    digits, exponent = str(decimal[0]), decimal[1]
    if len(digits) > _SHORT_DECIMAL and max(value.numerator, value.denominator) <= LARGEST_NUMBER:
        return f"{value.numerator}/{value.denominator}"
    if -exponent - len(digits) > 4:
        return f"{digits}e{exponent}"
    digits = digits.rjust(1 - exponent, "0")
    return f"{digits[:exponent]}.{digits[exponent:]}"


def to_text(tree: Tree, name: str = "z{}") -> str:
    """Return the text of a tree.

    Parameters
    ----------
    tree : Tree
    name : str
        Template of a variable's name; ``"z"`` for links of one variable.

    Returns
    -------
    str
        Parses back to an equal tree.
    """
    return _text(tree, name)[0]


def _at_least(precedence: int, tree: Tree, name: str) -> str:
    text, own = _text(tree, name)
    return text if own >= precedence else f"({text})"


def _text(tree: Tree, name: str) -> tuple[str, int]:
    """Return the text and its precedence."""
    if isinstance(tree, Var):
        if tree.index >= FIRST_LATENT:
            return f"xi{tree.index - FIRST_LATENT or ''}", ATOM
        return name.format(tree.index + 1), ATOM
    if isinstance(tree, Const):
        digits = number_text(abs(tree.value))
        if tree.value < 0:
            return f"-{digits}", SUM
        return digits, PRODUCT if "/" in digits else ATOM
    head, args = tree.name, tree.args
    if head == "pi":
        return "pi", ATOM
    if head == "+":
        pieces = [_at_least(SUM, args[0], name)]
        for arg in args[1:]:
            negative, positive = _unsigned(arg)
            pieces += ["-" if negative else "+", _at_least(PRODUCT, positive, name)]
        return " ".join(pieces), SUM
    if head == "neg":
        return f"-{_at_least(PRODUCT, args[0], name)}", SUM
    if head in ("*", "/"):
        rest = [_at_least(POWER, arg, name) for arg in args[1:]]
        return head.join([_at_least(PRODUCT, args[0], name), *rest]), PRODUCT
    if head == "**":
        exponent, _ = _text(args[1], name)
        exponent = f"({exponent})" if "/" in exponent else exponent
        return f"{_at_least(ATOM, args[0], name)}**{exponent}", POWER
    if head == "chain":
        return _chain([_text_of_comparison(arg, name) for arg in args]), COMPARE
    if OPERATIONS[head].precedence == COMPARE:
        return _chain([_text_of_comparison(tree, name)]), COMPARE
    return f"{head}({', '.join(_text(arg, name)[0] for arg in args)})", ATOM


def _unsigned(tree: Tree) -> tuple[bool, Tree]:
    if isinstance(tree, Call) and tree.name == "neg":
        return True, tree.args[0]
    if isinstance(tree, Const) and tree.value < 0:
        return True, Const(-tree.value)
    return False, tree


def _text_of_comparison(tree: Tree, name: str) -> tuple[str, str, str]:
    assert isinstance(tree, Call)
    left, right = tree.args
    return _at_least(SUM, left, name), tree.name, _at_least(SUM, right, name)


def _chain(links: list[tuple[str, str, str]]) -> str:
    return " ".join([links[0][0], *[f"{relation} {right}" for _, relation, right in links]])


def to_latex(tree: Tree, name: str = "z_{{{}}}") -> str:
    """Return the LaTeX of a tree, without dollar signs."""
    return _latex(tree, name)[0]


def _latex_at_least(precedence: int, tree: Tree, name: str) -> str:
    latex, own = _latex(tree, name)
    return latex if own >= precedence else rf"\left({latex}\right)"


def _latex(tree: Tree, name: str) -> tuple[str, int]:
    if isinstance(tree, Var):
        if tree.index >= FIRST_LATENT:
            number = tree.index - FIRST_LATENT
            return rf"\xi_{{{number}}}" if number else r"\xi", ATOM
        return name.format(tree.index + 1), ATOM
    if isinstance(tree, Const):
        return _latex_number(tree.value), SUM if tree.value < 0 else ATOM
    head, args = tree.name, tree.args
    if head == "+":
        latex = _latex_at_least(SUM, args[0], name)
        for arg in args[1:]:
            negative, positive = _unsigned(arg)
            latex += (" - " if negative else " + ") + _latex_at_least(PRODUCT, positive, name)
        return latex, SUM
    if head == "neg":
        return f"-{_latex_at_least(PRODUCT, args[0], name)}", SUM
    if head == "*":
        latex = _latex_at_least(PRODUCT, args[0], name)
        for arg in args[1:]:
            factor = _latex_at_least(PRODUCT, arg, name)
            latex += r" \cdot " if factor[0].isdigit() or factor[:5] == r"\frac" else r" \, "
            latex += factor
        return latex, PRODUCT
    if head == "**":
        # A power of a fraction or of another power needs its parentheses.
        base = _latex_at_least(ATOM, args[0], name)
        if base[:5] == r"\frac":
            base = rf"\left({base}\right)"
        return f"{base}^{{{_latex(args[1], name)[0]}}}", POWER
    if head == "chain":
        links = [arg for arg in args if isinstance(arg, Call)]
        latex = _latex(links[0], name)[0]
        for link in links[1:]:
            relation = OPERATIONS[link.name].latex.removeprefix("{0}").removesuffix("{1}")
            latex += relation + _latex(link.args[1], name)[0]
        return latex, COMPARE
    operation = OPERATIONS[head]
    parts = [_latex(arg, name)[0] for arg in args]
    latex = operation.latex.format(*parts, args=", ".join(parts))
    return latex, operation.precedence


def _latex_number(value: Fraction) -> str:
    digits = number_text(abs(value))
    if "/" in digits:
        digits = rf"\frac{{{abs(value).numerator}}}{{{value.denominator}}}"
    elif "e" in digits:
        mantissa, exponent = digits.split("e")
        digits = rf"{mantissa} \cdot 10^{{{exponent}}}"
    return f"-{digits}" if value < 0 else digits
