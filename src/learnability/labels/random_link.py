"""A link whose label is random given z: the regression function E[y | z], with the law of y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from learnability.errors import LinkError
from learnability.expressions.parse import parse_law
from learnability.expressions.structure import Symmetry
from learnability.expressions.text import to_latex
from learnability.labels._checks import orthogonal, read_formula
from learnability.labels.laws import Law
from learnability.labels.link import Link

__all__ = ["RandomLink", "certain"]


class RandomLink(Link):
    """A random label. As a function it is E[y | z], all that correlations with the label can see.

    Parameters
    ----------
    source : str, Law or RandomLink
        The text of a random label, or its law.
    r : int, optional
        Number of hidden coordinates.
    breaks : None
        Always None: a law knows its own breaks.
    """

    __slots__ = ("_law",)

    _law: Law

    def __init__(self, source: Any, r: int | None = None, breaks: Any = None) -> None:
        if breaks is not None:
            raise LinkError("`breaks` was given for a random label, but its law knows its own.")
        law = source.law if isinstance(source, RandomLink) else source
        if isinstance(source, str):
            law, _ = read_formula(source, r)
        assert isinstance(law, Law)
        if r is not None and r != law.r:
            raise LinkError(f"{law.name} has {law.r} hidden coordinates, but r = {r} was given.")
        mean = law.mean
        self._fill(mean._tree, mean._function, law.r, mean._breaks)
        object.__setattr__(self, "_law", law)

    @property
    def law(self) -> Law:
        """P(y | z)."""
        return self._law

    @property
    def text(self) -> str | None:
        """The text of the law; None for one given in Python."""
        return self._law.text

    @property
    def latex(self) -> str:
        """LaTeX of the law, without dollar signs; ``P(y | z)`` for one given in Python."""
        if self.text is None:
            return r"P(y \mid z)"
        word, trees = parse_law(self.text)
        parts = [to_latex(tree, "z" if self._r == 1 else "z_{}") for tree in trees]
        if word is None:
            return parts[0]
        return rf"\operatorname{{{word}}}\left({', '.join(parts)}\right)"

    def __repr__(self) -> str:
        if self.text is None:
            return f"Link({self._law.name}, r={self._r})"
        return f"Link('{self.text}', r={self._r})"

    def _key(self) -> tuple[Any, ...]:
        return "law", self._law

    def __reduce__(self) -> tuple[Any, ...]:
        return Link, (self._law if self.text is None else self.text, self._r)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Signed permutations that leave the law as it is, or turn y into -y."""
        return self._law.symmetries

    @property
    def breaks(self) -> tuple[Link, ...] | None:
        """Links whose zero sets hold the breaks of E[y | z] and of Var(y | z); None if unknown."""
        mean, variance = self._law.mean.breaks, self._law.variance.breaks
        if mean is None or variance is None:
            return None
        return tuple(dict.fromkeys([*mean, *variance]))

    @property
    def values(self) -> tuple[float, ...] | None:
        """All labels, sorted, where they are finitely many; None otherwise."""
        return self._law.values

    def after(self, inner: Link) -> Link:
        """Refuse, because a random label is not a function that can be composed.

        Raises
        ------
        LinkError
            Always.
        """
        raise LinkError(f"{self!r} is a random label, but `after` needs a function.")

    def rotate(self, Q: ArrayLike) -> Link:
        """Return the random label of hidden coordinates Q z.

        Parameters
        ----------
        Q : array_like, shape (r, r)
            Orthogonal to 1e-8.
        """
        return Link(self._law.rotate(np.asarray(orthogonal(Q, self._r))))


def certain(link: Link) -> Link:
    """Return the link of a label that is a function.

    Raises
    ------
    LinkError
        When it is random.
    """
    if link.law is not None:
        raise LinkError(
            f"The random label {link.law.name} was given, but a function is accepted here; "
            "Gaussian noise is given as `noise`."
        )
    return link
