"""The link g: R^r -> R, from text or from a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from learnability.errors import LinkError
from learnability.expressions.calculus import differentiate
from learnability.expressions.callables import (
    CentralDifference,
    Composed,
    Rotated,
    TreeFunction,
)
from learnability.expressions.parse import quote
from learnability.expressions.polynomial import canonical_key, polynomial
from learnability.expressions.structure import Symmetry, break_expressions, symmetries
from learnability.expressions.text import to_latex, to_text
from learnability.expressions.tree import Tree, linear, substitute, variables, walk
from learnability.expressions.values import values_of
from learnability.labels._checks import (
    check_function,
    checked_breaks,
    checked_r,
    is_random,
    name_of,
    orthogonal,
    read_formula,
    values_at,
)
from learnability.labels.laws import Law
from learnability.markup import formula

__all__ = ["Link"]

T = TypeVar("T")

# Derivatives of derivatives grow: beyond this many nodes they become differences.
_LARGEST_TREE = 4000


class Link:
    """A function g: R^r -> R of the hidden projections z = W* x.

    Parameters
    ----------
    source : str, callable, Link or Law
        A formula such as ``"z1**2 + sign(z1*z2*z3)"`` (variables ``z1`` to ``z9``, or ``z``
        alone; ``pi``; ``+ - * / **``; ``sign abs relu step tanh erf exp log sqrt sin cos sigmoid
        softplus atan sinh cosh floor round mod max min He0 ... He9 where``), or a function from an
        (..., r) array to (...). A formula is parsed, never evaluated as code; a repr is accepted.
        Random labels are links with a `law`: a formula with the latent variables ``xi``, ``xi1``
        to ``xi9``, one of ``flip bernoulli poisson categorical`` as its outermost word, or a Law.
    r : int, optional
        Number of variables, 1 to 9; by default the highest in the formula, needed for a function.
    breaks : sequence, optional
        For a function only: where it jumps or has a kink. A number c stands for the planes
        z_i = c, a formula, a link or a function for its zero set. None: not known.

    Notes
    -----
    Links are immutable and hashable. Formulas are equal when they agree by commutative algebra,
    functions when they are the same object with the same `r` and `breaks`.
    """

    __slots__ = ("__weakref__", "_breaks", "_cache", "_function", "_r", "_tree")

    _tree: Tree | None
    _function: Callable[[Any], Any] | None
    _breaks: tuple[Link, ...] | None
    _r: int
    _cache: dict[Any, Any]

    def __new__(cls, source: Any = None, r: Any = None, breaks: Any = None) -> Link:
        """Return a link, or one with the law of a random label."""
        known = isinstance(source, Link) and source.law is not None
        if cls is Link and (known or is_random(source, r)):
            from learnability.labels.random_link import RandomLink

            return object.__new__(RandomLink)
        return object.__new__(cls)

    def __init__(
        self,
        source: str | Callable[[Any], Any] | Link | Law,
        r: int | None = None,
        breaks: Sequence[float | str | Link | Callable[[Any], Any]] | None = None,
    ) -> None:
        if r is not None:
            r = checked_r(r)
        if isinstance(source, Link):
            if source._function is None:
                r = source.r if r is None else r
                source = source._source_text
            else:
                r = source.r if r is None else r
                breaks = source._breaks if breaks is None else breaks
                source = source._function
        if isinstance(source, str):
            if breaks is not None:
                raise LinkError(
                    f"`breaks` was given for the formula {quote(source)}, but it is accepted only "
                    "for a function: a formula knows its own."
                )
            tree, size = read_formula(source, r)
            assert not isinstance(tree, Law)
            self._fill(tree, None, size, None)
        elif callable(source):
            if r is None:
                raise LinkError(
                    f"The function {name_of(source)} was given without `r`, but a function needs "
                    "the number of its variables: write Link(function, r=2)."
                )
            check_function(source, r)
            declared = None if breaks is None else tuple(dict.fromkeys(_links(breaks, r)))
            self._fill(None, source, r, declared)
        else:
            raise LinkError(
                f"A link was given as {type(source).__name__}, but a formula (str) or a function "
                "of an (..., r) array is accepted."
            )

    def _fill(
        self,
        tree: Tree | None,
        function: Callable[[Any], Any] | None,
        r: int,
        breaks: tuple[Link, ...] | None,
    ) -> None:
        values: dict[str, Any] = {
            "_tree": tree,
            "_function": function,
            "_r": r,
            "_breaks": breaks,
            "_cache": {},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _from_tree(cls, tree: Tree, r: int) -> Link:
        """Return a text link if the text of the tree is accepted, else a function link."""
        try:
            return cls(to_text(tree), r=r)
        except LinkError:
            link = cls.__new__(cls)
            link._fill(None, TreeFunction(tree), r, None)
            breaks = tuple(cls._from_tree(b, r) for b in break_expressions(tree))
            object.__setattr__(link, "_breaks", breaks)
            return link

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"links are immutable: `{name}` cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"links are immutable: `{name}` cannot be deleted")

    def _cached(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._cache:
            self._cache[name] = compute()
        value: T = self._cache[name]
        return value

    # ---- what it is

    @property
    def law(self) -> Law | None:
        """P(y | z) of a random label; None for a function, with or without Gaussian noise."""
        return None

    @property
    def r(self) -> int:
        """Number of variables."""
        return self._r

    @property
    def tree(self) -> Tree | None:
        """The expression tree; None for a function."""
        return self._tree

    @property
    def text(self) -> str | None:
        """The formula, in ``z`` when r = 1; None for a function."""
        return None if self._tree is None else self._cached("text", lambda: self._source_text)

    @property
    def _source_text(self) -> str:
        assert self._tree is not None
        return to_text(self._tree, "z" if self._r == 1 else "z{}")

    @property
    def latex(self) -> str:
        """LaTeX of the formula, without dollar signs; ``g(z)`` for a function."""
        if self._tree is None:
            return "g(z)" if self._r == 1 else rf"g(z_1, \ldots, z_{self._r})"
        return to_latex(self._tree, "z" if self._r == 1 else "z_{}")

    def _repr_html_(self) -> str:
        return formula(self.latex)

    def __repr__(self) -> str:
        if self._tree is None:
            return f"Link({name_of(self._function)}, r={self._r})"
        highest = max(variables(self._tree), default=0) + 1
        return f"Link('{self.text}'" + (f", r={self._r})" if self._r > highest else ")")

    def _key(self) -> tuple[Any, ...]:
        def compute() -> tuple[Any, ...]:
            if self._tree is not None:
                return ("text", self._r, canonical_key(self._tree))
            try:
                hash(self._function)
            except TypeError:
                return ("function", self._r, id(self._function), self._breaks)
            return ("function", self._r, self._function, self._breaks)

        return self._cached("key", compute)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Link) and (self is other or self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        if self._tree is not None:
            return Link, (self._source_text, self._r)
        return Link, (self._function, self._r, self._breaks)

    # ---- its values

    def __call__(self, z: Any) -> Any:
        """Evaluate at points.

        Parameters
        ----------
        z : array_like, shape (..., r)
            NumPy or JAX. For r = 1 a scalar, or an array whose last axis is not of length 1, is
            taken elementwise as values of z.

        Returns
        -------
        array, shape (...), of the library and floating dtype of `z`; integers count as float64
        """
        return values_at(self._tree, self._function, z, self._r)

    # ---- its structure

    @property
    def polynomial(self) -> dict[tuple[int, ...], Fraction | float] | None:
        """Exponents (length r) -> coefficient when g is a polynomial, else None."""
        if self._tree is None:
            return None
        tree = self._tree
        terms = self._cached("polynomial", lambda: polynomial(tree, self._r))
        return None if terms is None else dict(terms)

    @property
    def is_polynomial(self) -> bool:
        """Whether g is seen to be a polynomial."""
        return self.polynomial is not None

    @property
    def degree(self) -> int | None:
        """Degree of the polynomial (0 for the zero polynomial); None for other links."""
        terms = self.polynomial
        return None if terms is None else max(map(sum, terms), default=0)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Signed permutations P with g(Pz) = +-g(z), the identity first."""
        return self._cached("symmetries", lambda: symmetries(self, self._r, breaks=self.breaks))

    @property
    def breaks(self) -> tuple[Link, ...] | None:
        """Links whose zero sets contain every jump, kink and pole; None when not known."""
        if self._tree is None:
            return self._breaks
        tree = self._tree
        return self._cached(
            "breaks",
            lambda: tuple(Link._from_tree(b, self._r) for b in break_expressions(tree)),
        )

    @property
    def values(self) -> tuple[float, ...] | None:
        """The values of g, sorted, when finitely many are seen in a sample; None otherwise."""
        return self._cached("values", lambda: values_of(self, self._tree, self._r, self.breaks))

    # ---- links made from it

    def derivative(self, i: int = 1) -> Link:
        """Return the partial derivative in z_i, away from the breaks.

        Parameters
        ----------
        i : int
            From 1 to r.

        Returns
        -------
        Link, exact for a formula, by differences for a function
        """
        if isinstance(i, bool) or not isinstance(i, int | np.integer) or not 1 <= i <= self._r:
            raise LinkError(
                f"The derivative in z{i} was asked, but `i` is from 1 to r = {self._r}."
            )
        tree = self._function.tree if isinstance(self._function, TreeFunction) else self._tree
        if tree is not None and sum(1 for _ in islice(walk(tree), _LARGEST_TREE)) < _LARGEST_TREE:
            return Link._from_tree(differentiate(tree, int(i) - 1), self._r)
        return Link(CentralDifference(self, int(i) - 1), r=self._r, breaks=self._breaks)

    def gradient(self) -> tuple[Link, ...]:
        """Return the r partial derivatives."""
        return self._cached(
            "gradient", lambda: tuple(self.derivative(i + 1) for i in range(self._r))
        )

    def hermite(self, order: int, normalisation: str = "raw") -> Any:
        """Return the Hermite coefficient or symmetric tensor of one order.

        Parameters
        ----------
        order : int
            The order k >= 0.
        normalisation : {"raw", "taylor", "orthonormal"}
            E[g He_k], that over k!, or that over sqrt(k!).

        Returns
        -------
        float for r = 1, else array, shape (r,) * k
            The entry with indices i1 ... ik is E[g prod_j He_{b_j}(z_j)], b the counts of the
            indices.

        Examples
        --------
        >>> round(float(Link("sign(z)").hermite(1)), 6)
        0.797885
        """
        from learnability.labels.hermite import tensor

        return tensor(self, order, normalisation)

    def after(self, inner: Link) -> Link:
        """Return the link z -> g(inner(z)) of a link g of one variable.

        Parameters
        ----------
        inner : Link
            Whose value becomes the variable of g.

        Returns
        -------
        Link
            A formula when both are and it stays within the bounds of a text, else a function.
        """
        if self._r != 1:
            raise LinkError(f"{self!r} has {self._r} variables, but `after` needs a link of one.")
        if self._tree is not None and inner._tree is not None:
            return Link._from_tree(substitute(self._tree, {0: inner._tree}), inner._r)
        breaks = None
        if self.breaks is not None and inner.breaks is not None:
            breaks = [*inner.breaks, *(b.after(inner) for b in self.breaks)]
        return Link(Composed(self, inner), r=inner._r, breaks=breaks)

    def rotate(self, Q: ArrayLike) -> Link:
        """Return the link z -> g(Q z).

        Parameters
        ----------
        Q : array_like, shape (r, k)
            With columns orthonormal to 1e-8; k < r of them leave a link of k variables.

        Returns
        -------
        Link
            A formula when it stays within the bounds of a text, else a function.
        """
        matrix = orthogonal(Q, self._r)
        tree = self._function.tree if isinstance(self._function, TreeFunction) else self._tree
        if tree is not None:
            rows = {i: linear(matrix[i]) for i in range(self._r)}
            return Link._from_tree(substitute(tree, rows), matrix.shape[1])
        breaks = None if self._breaks is None else tuple(b.rotate(Q) for b in self._breaks)
        rows_of_q = tuple(tuple(map(float, row)) for row in matrix)
        return Link(Rotated(self, rows_of_q), r=matrix.shape[1], breaks=breaks)


def _links(breaks: Any, r: int) -> Iterator[Link]:
    """Return links of declared breaks."""
    for item in checked_breaks(breaks, r):
        yield Link._from_tree(item, r) if isinstance(item, Tree) else Link(item, r=r)
