"""Hierarchical targets: y = g(h_1 ... h_r), features h_m of polynomials of many directions.

h_m = N^(-1/2) sum_{i <= N} a_i P(z_i), z = W* x with W* of r N orthonormal rows, N = d^epsilon.
r = 1 is a single-index Gaussian hierarchical target (SIGHT), r > 1 a multi-index one (MIGHT). In
deeper trees the z_i are themselves features of disjoint blocks of directions.

References
----------
Dandi, Pesce, Zdeborova, Krzakala, arXiv:2502.13961 (targets and layer-wise learning).
Nichani, Damian, Lee; Wang, Nichani, Lee, NeurIPS 2023 (three layers).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from learnability.errors import LearnabilityError
from learnability.fields import Declared, Whole, choice, declare, number, record, whole
from learnability.inputs import Inputs, Isotropic
from learnability.inputs.base import orthonormal_rows
from learnability.labels.hermite import expand
from learnability.labels.link import Link
from learnability.labels.random_link import certain
from learnability.randomness import stream
from learnability.targets._composition import Composition, composed
from learnability.targets._floor import refit_floor
from learnability.targets._tree_fields import Levels, Polynomial
from learnability.targets._tree_moments import level_scales
from learnability.targets.base import Draw, Sample, Target, beyond
from learnability.targets.directions import second_orders
from learnability.targets.tree import climb, level_sizes, sign_counts

__all__ = ["Hierarchical"]

Array = NDArray[np.float64]


@record
class Hierarchical(Target):
    """Labels g(h) of Gaussian inputs through features of polynomials of hidden directions.

    Parameters
    ----------
    link : str, callable or Link
        The function g of the r features; a callable takes an (..., r) array.
    r : int, optional
        Number of features; needed for a callable.

    Notes
    -----
    Numbers of a population need N: give it, or take the target at a dimension, `target.at(d)`. They
    are exact at any depth; degrees are those in the directions. In a `Sample` the rows of W
    (r N, d) are the directions and h (n, r) the features.

    Examples
    --------
    >>> target = Hierarchical("tanh(3*z)", "He2(z)/2 + He3(z)/6", N=16, normalisation="printed")
    >>> round(target.variance, 3), (target.levels(3)[1:] / target.variance).round(3)
    (0.644, array([0.008, 0.623, 0.124]))
    """

    # Stored runs on samples of another version are not used; 2 has exact variances in deeper trees.
    numerics_version: ClassVar[int] = 2
    kind: ClassVar[str] = "hierarchical"
    inputs: ClassVar[Inputs] = Isotropic()  # type: ignore[misc]  # All of its theory is isotropic.

    link: Link
    polynomial: Link = declare(
        "He2(z)", Polynomial(),
        help="P of one variable, without constant term in Hermite polynomials.",
    )  # fmt: skip
    epsilon: float | None = number(
        None, above=0, below=1, optional=True,
        help="A feature has N = d^epsilon directions; the default is 1/2 unless `N` is given.",
    )  # fmt: skip
    N: tuple[int, ...] | None = declare(
        None, Levels(), optional=True,
        help="The number N itself; for a deeper tree the sizes of its levels, directions first.",
    )  # fmt: skip
    depth: int = whole(
        3, at_least=3, at_most=8,
        help="Layers that a network needs: 3 for features of directions, 4 and more for trees, "
        "whose levels have d^epsilon, d^(epsilon^2), ... variables.",
    )  # fmt: skip
    signs: str = choice(
        "balanced", ("balanced", "ones", "random"),
        help="Half of the a_i are -1, or all of them are +1, or each is drawn by a fair coin, "
        "once for each number of variables.",
    )  # fmt: skip
    normalisation: str = choice(
        "unit", ("unit", "printed"),
        help="The last features are divided by their standard deviation, or taken as printed; "
        "those of inner levels always have unit variance, exactly.",
    )  # fmt: skip
    noise: float = number(0.0, at_least=0, help="Variance of additive Gaussian label noise.")

    def __init__(
        self,
        link: str | Callable[[Any], Any] | Link,
        polynomial: str | Link = "He2(z)",
        epsilon: float | None = None,
        N: int | Sequence[int] | None = None,
        depth: int = 3,
        signs: str = "balanced",
        normalisation: str = "unit",
        noise: float = 0.0,
        r: int | None = None,
    ) -> None:
        if epsilon is not None and N is not None:
            raise LearnabilityError("`epsilon` and `N` were both given, but one fixes the other.")
        values = {
            "link": certain(Link(link, r=r)), "polynomial": polynomial,
            "epsilon": 0.5 if epsilon is None and N is None else epsilon, "N": N, "depth": depth,
            "signs": signs, "normalisation": normalisation, "noise": noise,
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def check(self) -> None:
        """Take the depth of the levels; when both were given and differ, refuse.

        Raises
        ------
        LearnabilityError
            When they differ.
        """
        if self.N is None:
            return
        if self.depth not in (3, len(self.N) + 2):
            raise LearnabilityError(
                f"`depth` was given as {self.depth}, but a tree with levels of {self.N} has depth "
                f"{len(self.N) + 2}."
            )
        object.__setattr__(self, "depth", len(self.N) + 2)

    @property
    def depends_on_dimension(self) -> bool:
        """Whether the target or its theory changes with d: always True."""
        return True

    def check_dimension(self, d: int) -> None:
        """Refuse a dimension without room for the hidden directions.

        Raises
        ------
        LearnabilityError
            When d is too small.
        """
        self.at(d)

    def at(self, d: int) -> Hierarchical:
        """Return the target in dimension d, with the sizes of its levels as numbers.

        Parameters
        ----------
        d : int
            Dimension.
        """
        d = Declared(Whole(at_least=1), "Dimension.").read("d", d)
        sizes = self.N
        if sizes is None:
            assert self.epsilon is not None
            sizes = level_sizes(d, self.epsilon, self.depth)
        if self.r * sizes[0] > d:
            raise LearnabilityError(
                f"The target has {self.r} x {sizes[0]} hidden directions, but d = {d} has room for "
                f"{d}: use a larger d or a smaller N."
            )
        return replace(self, epsilon=None, N=sizes)

    def directions(self, d: int) -> int:
        """Return the number of hidden directions in dimension d.

        Parameters
        ----------
        d : int
            Dimension.
        """
        sizes = self.at(d).N
        assert sizes is not None
        return self.r * sizes[0]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of variables of the levels under a feature.

        Raises
        ------
        LearnabilityError
            When they depend on d.
        """
        if self.N is None:
            raise LearnabilityError(
                f"The target has N = d^{self.epsilon:g} directions, so this number depends on the "
                "dimension: use target.at(d), or give `N`."
            )
        return self.N

    @property
    def degree(self) -> int:
        """Degree k of the polynomial."""
        terms = self.polynomial.polynomial
        assert terms is not None
        return max(sum(powers) for powers in terms)

    @property
    def feature_variance(self) -> float:
        """Var h of a feature: 1, or that of P as printed."""
        if self.normalisation == "unit":
            return 1.0
        if self.depth == 3:
            return expand(self.polynomial, 1).energy
        return level_scales(self.polynomial, self.sizes, self.signs)[-1] ** -2

    def provenance(self) -> dict[str, Any]:
        """Return what a result records about its target."""
        tree = {
            "polynomial": self.polynomial.text, "epsilon": self.epsilon, "N": self.N,
            "depth": self.depth, "signs": self.signs, "normalisation": self.normalisation,
        }  # fmt: skip
        return super().provenance() | {k: v for k, v in tree.items() if v is not None}

    # ---- samples

    def features(self, X: NDArray[Any], W: NDArray[Any]) -> list[NDArray[Any]]:
        """Return values of every level at inputs.

        Parameters
        ----------
        X : array, shape (n, d)
            Inputs.
        W : array, shape (r N, d)
            Hidden directions, as `sample` gives them.

        Returns
        -------
        list of array, shape (n, r, level's size)
            The directions first, the features h (n, r, 1) last.
        """
        X, W = np.asarray(X), np.asarray(W)
        if X.ndim != 2 or W.shape != (self.directions(X.shape[1]), X.shape[1]):
            raise LearnabilityError(
                f"`X` and `W` were given with shapes {X.shape} and {W.shape}, but inputs (n, d) "
                "and as many directions of length d as the target has are accepted."
            )
        here = self.at(X.shape[1])
        sizes = here.sizes
        z = (X @ W.T).reshape(len(X), self.r, sizes[0])
        return climb(z, sizes, self.signs, self._P, here._scales)

    def _P(self, z: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.polynomial(z[..., None]), dtype=z.dtype)

    def _drawing(self, seed: int, d: int) -> Draw:
        here = self.at(d)
        hidden = orthonormal_rows(stream(seed, 0), here.r * here.sizes[0], d)

        def draw(batch: int, n: int, dtype: DTypeLike) -> Sample:
            kind: Any = np.dtype(dtype).type
            X = stream(seed, 1, batch).standard_normal((n, d), dtype=kind)
            W = hidden.astype(dtype)
            h = here.features(X, W)[-1][..., 0]
            y = here.channel.sample(h, stream(seed, 2, batch)).astype(dtype)
            return Sample(X, y, W, h)

        return draw

    # ---- populations

    @property
    def composition(self) -> Composition:
        """The decomposition of g by degree of the directions."""
        scales = self._scales
        blocks = [a // b for a, b in zip(self.sizes, (*self.sizes[1:], 1), strict=True)]
        return composed(
            self.link,
            self.polynomial,
            tuple(sign_counts(self.signs, block) for block in blocks),
            scales,
        )

    @property
    def _scales(self) -> tuple[float, ...]:
        """Factors of the features over each level."""
        scales = level_scales(self.polynomial, self.sizes, self.signs)
        return (*scales[:-1], 1.0) if self.normalisation == "printed" else scales

    def levels(self, degree: int | None = None) -> Array:
        """Return energies |P_j f|^2, j = 0 ... `degree`, in the directions.

        Parameters
        ----------
        degree : int, optional
            Highest degree, by default the highest known: 8, less for several features or in deep
            trees. What the variance holds beyond is of higher degree.
        """
        highest = self.composition.highest
        known = Declared(Whole(at_least=0, at_most=highest), "Highest degree.")
        degree = highest if degree is None else known.read("degree", degree)
        return self.composition.energies[: degree + 1].copy()

    def degree_energies(self, degree: int, d: int | None = None) -> tuple[Array, float]:
        """Return the energies by degree as far as they are known, and all the rest as higher."""
        here = self if d is None else self.at(d)
        known = here.levels()[: degree + 1]
        powers = np.zeros(degree + 1)
        powers[: len(known)] = known
        return powers, beyond(here.variance + here.mean**2, powers)

    @property
    def mean(self) -> float:
        """E f."""
        return self.composition.mean

    @property
    def variance(self) -> float:
        """Var f, without noise."""
        return self.composition.variance

    @property
    def label_mean(self) -> float:
        """E[y]."""
        return self.mean

    @property
    def label_variance(self) -> float:
        """Var(y), noise included."""
        return self.variance + self.noise

    def alike(self) -> list[NDArray[np.int_]]:
        """Return the directions by feature and by the sign of the variable they are under.

        Returns
        -------
        list of array
            Numbers of directions: feature 1 with sign +1, with sign -1, feature 2, and so on.
        """
        variables, under = self.sizes[-1], self.sizes[0] // self.sizes[-1]
        plus = sign_counts(self.signs, variables)[0] * under
        every = np.arange(self.r * variables * under).reshape(self.r, -1)
        return [rows for one in every for rows in (one[:plus], one[plus:])]

    @property
    def second_order(self) -> float:
        """c = |E[f He_2(z_i)]|, the largest over directions; zero when only rounding is left."""
        return float(second_orders(self.composition, self.sizes[0]).max())

    def n_star(self, d: int) -> float:
        """Samples at which the second moment of the labels shows all directions, d Var(y) / c^2.

        c is the least |E[f He_2(z_i)]|; infinite when it is zero but for rounding. What each
        direction needs, also by products z_i z_j, is `theory.recovered_directions`.

        Parameters
        ----------
        d : int
            Dimension.
        """
        here = self.at(d)
        c = float(second_orders(here.composition, here.sizes[0]).min())
        return d * here.label_variance / c**2 if c else math.inf

    @property
    def max_feature_overlap(self) -> float | Array:
        """Cosine of h with the best fit of the polynomial's degree, by feature where r > 1."""
        self._shallow("The overlap of the best fit")
        low = float(np.sum(self.levels(self.degree)[1:]))
        found = self.composition.feature_correlation / math.sqrt(self.feature_variance * low)
        return float(found[0]) if self.r == 1 else found

    @property
    def feature_floor(self) -> float:
        """E Var(f | q), q the best fit of the polynomial's degree: what a refit on q leaves.

        It comes from 200 000 samples and neighbours in q; its error is below one percent of Var f.
        """
        self._shallow("What a refit on the best fit leaves")
        return refit_floor(self.composition, self.degree)

    def _shallow(self, what: str) -> None:
        """Refuse deeper trees, and degrees that are not resolved."""
        if self.depth > 3:
            raise LearnabilityError(f"{what} is known for depth 3, and this tree has {self.depth}.")
        if self.degree > self.composition.highest:
            raise LearnabilityError(
                f"{what} needs degree {self.degree}, and degrees up to {self.composition.highest} "
                "are resolved for this target."
            )
