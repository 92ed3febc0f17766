"""The spectral learner: eigenvectors of the best matrix that is linear in the samples' squares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnability.errors import LearnabilityError
from learnability.fields import choice, number, record
from learnability.gaussian.sections import complement
from learnability.learners.base import Found, Learner, Question, Side, Support
from learnability.learners.linear_algebra.eigenvectors import (
    TOLERANCE,
    Eigenvectors,
    leading_linearised_vectors,
    leading_vectors,
    preprocessing,
)
from learnability.learners.linear_algebra.sharded_rows import sharded
from learnability.learners.linear_algebra.thin_products import collect
from learnability.learners.measurement import resolved, subspace_overlap
from learnability.learners.spectral._frame import combinations
from learnability.learners.spectral._label_law import conditionals, label_law
from learnability.learners.spectral._transition import (
    Transition,
    linearised_transition,
    symmetric_transition,
)
from learnability.targets.base import checked_sizes
from learnability.targets.multi_index import MultiIndex
from learnability.theory.thresholds import WeakRecovery, first_estimates, weak_recovery

__all__ = ["Spectral"]

Array = NDArray[np.float64]

_RANK = 1e-4  # A smaller relative singular value means that a direction is not found.


@record
class Spectral(Learner):
    """Leading eigenvectors of matrices made of preprocessed labels.

    Directions with E[z | y] = 0 are estimated by eigenvectors; the others, which need no
    threshold, by the mean of E[z | y] x.

    The symmetric matrix is (1/n) sum_i (x_i x_i^T) kron T_i with the best preprocessing
    T = I - E[z z^T | y]^-1; the asymmetric one is linearised message passing, with blocks
    (x_i . x_j / d - delta_ij) G_j and G = E[z z^T - I | y]. Both find something above the same
    ratio alpha_c of samples to dimension; the symmetric one finds more.

    T is not bounded where E[z z^T | y] is singular. The default of `floor`, -3000 / alpha^2 between
    -300 and -10, costs less than 2e-5 in the squared overlap of |z| up to alpha = 3 and keeps the
    number of products small above: at alpha = 10 it takes 38 of them (d = 5000) for a squared
    overlap of 0.986, where -300 takes twice as many for 0.991.

    References
    ----------
    Lu and Li, Inf. Inference 9 (2020); Mondelli and Montanari, Found. Comput. Math. 19 (2019);
    Defilippis, Dandi, Mergny, Krzakala and Loureiro, arXiv:2502.02545; Kovacevic, Zhang and
    Mondelli, arXiv:2502.01583.

    Examples
    --------
    >>> theory = Spectral().predict("abs(z)", alpha=1.0)
    >>> round(float(theory.overlap.squeeze()) ** 2, 4)
    0.2307
    """

    name: ClassVar[str] = "spectral"
    numerics_version: ClassVar[int] = 3
    supports: ClassVar[Support] = Support(laws=("finite", "counts", "normal", "density", "latent"))
    questions: ClassVar[tuple[Question, ...]] = (
        Question(
            "values",
            "What the leading eigenvectors find.",
            ("overlap", "cosine", "subspace_overlap", "eigenvalue"),
            simulate=Side(needs=("d", "alpha"), observables=("products", "status")),
            predict=Side(needs=("alpha",), observables=("edge",)),
        ),
    )

    method: str = choice("symmetric", ("symmetric", "asymmetric"), help="Which matrix is taken.")
    floor: float | None = number(
        None, at_least=-1e6, below=0, optional=True, when={"method": ("symmetric",)},
        help="The lowest eigenvalue of the preprocessing T.",
    )  # fmt: skip

    def check_target(self, question: str, verb: str, target: Any, at: Mapping[str, Any]) -> None:
        """Refuse a link none of whose directions can be found."""
        for alpha in at["alpha"] if verb == "simulate" else ():
            checked_sizes(target.r, None, at["d"], float(alpha), np.float32)
        _trivial(target.unrounded())

    def run_one(self, question: str, target: Any, at: Mapping[str, Any], seed: int) -> Found:
        """Return the estimate from samples, in float32 and without forming a matrix."""
        target = target.unrounded()
        run = self._run(target, at["d"], self._plan(target, at["alpha"]), seed)
        return Found({"cosine": run.overlap, **run._asdict()})

    def theory(
        self, question: str, target: Any, at: Mapping[str, Any], seeds: Sequence[int] | None
    ) -> Found:
        """Return the estimate in the limit of large d; eigenvalues are the outliers."""
        target = target.unrounded()
        recovery = _recoverable(target)
        notes: dict[str, None] = {}
        parts = [_predicted(self._plan(target, float(a)), target, notes) for a in at["alpha"]]
        values = {
            name: np.array([getattr(part, name) for part in parts])
            for name in ("overlap", "subspace_overlap", "eigenvalue", "edge")
        }
        about = {
            "alpha_c": 0.0 if len(recovery.trivial) else recovery.alpha,
            "note": " ".join(notes),
        }
        return Found({**values, "cosine": values["overlap"]}, attrs=about)

    @lru_cache(maxsize=256)  # noqa: B019  (learners are small records; runs share their plans)
    def _plan(self, target: MultiIndex, alpha: float) -> _Plan:
        """Return how each direction is found, and the theory of the eigenvectors."""
        trivial = _trivial(target)
        law = label_law(target.channel, len(trivial) > 0)
        rest = complement(trivial, target.r) if len(trivial) < target.r else trivial[:0]
        G = rest @ law.G @ rest.T
        # A signal this small is the error of the regression that estimates G.
        if len(rest) and np.tensordot(law.weights, G**2, axes=1).max() < 1e-5:
            rest, G = rest[:0], G[:, :0, :0]
        floor = _floor(alpha) if self.floor is None else self.floor
        transition = None
        if len(rest) and self.method == "symmetric":
            T = preprocessing(G, floor)
            transition = symmetric_transition(law.weights, G, T, alpha)
        elif len(rest):
            transition = linearised_transition(law.weights, G, alpha)
        return _Plan(alpha, trivial, rest, floor, transition)

    def _run(self, target: MultiIndex, d: int, plan: _Plan, seed: int) -> _Run:
        """Return one estimate from one sample."""
        X, y, W, _ = target.sample(seed, d=d, alpha=plan.alpha, dtype=np.float32)
        if not np.isfinite(y).all():
            raise LearnabilityError(
                f"{target.link!r} gives labels that are not finite: no eigenvector can be computed."
            )
        estimate, eigenvalue, products, status = self._estimate(target, sharded(X), y, plan, seed)
        return _Run(
            resolved(estimate @ W.T.astype(float), target.link),
            subspace_overlap(estimate, W),
            eigenvalue,
            products,
            status,
        )

    def estimate(
        self,
        target: MultiIndex,
        X: NDArray[Any],
        y: NDArray[Any],
        *,
        seed: int = 0,
        tolerance: float = TOLERANCE,
    ) -> Array:
        """Estimate the hidden directions of given samples.

        Parameters
        ----------
        target : MultiIndex
            The law of the samples.
        X : array, shape (n, d)
            Inputs.
        y : array, shape (n,)
            Labels.
        seed : int
            The seed of the iteration's start, and of directions that cannot be found.
        tolerance : float
            Residual of the eigenvectors, over the eigenvalue.

        Returns
        -------
        array, shape (r, d)
            Orthonormal rows.

        Raises
        ------
        LearnabilityError
            When there are no samples, or their numbers are not finite.
        """
        if len(X.shape) != 2 or 0 in X.shape or np.shape(y) != X.shape[:1]:
            raise LearnabilityError(
                f"`X` was given with the shape {X.shape} and `y` with {np.shape(y)}, but (n, d) "
                "and (n,) are accepted, with n and d at least 1."
            )
        plan = self._plan(target.unrounded(), len(X) / X.shape[1])
        return self._estimate(target, X, y, plan, seed, tolerance)[0]

    def _estimate(
        self,
        target: MultiIndex,
        X: NDArray[Any],
        y: NDArray[Any],
        plan: _Plan,
        seed: int,
        tolerance: float = TOLERANCE,
    ) -> tuple[Array, Array, int, str]:
        """Return the estimate, its eigenvalues, the passes over X and a status."""
        means, G = conditionals(target.channel, y, len(plan.trivial) > 0)
        d = X.shape[1]
        estimate = np.zeros((target.r, d))
        eigenvalue = np.full(target.r, np.nan)
        products, status = 0, "converged"
        known = np.zeros((0, d))
        if len(plan.trivial):
            sums = collect(X, plan.trivial @ means.T).astype(float)
            if not np.isfinite(sums).all():
                raise LearnabilityError("`X` holds numbers that are not finite, or far too large.")
            known = _polar(sums)
            estimate += plan.trivial.T @ known
            products += 1
        if plan.transition is not None:
            rest = plan.rest @ G @ plan.rest.T
            found = self._eigenvectors(X, rest, plan, known, seed, tolerance)
            estimate += plan.rest.T @ _combined(found, plan.transition)
            leading = found.values[: target.r]
            eigenvalue[: len(leading)] = leading
            products += found.products
            status = found.status
        return _completed(estimate, seed), eigenvalue, products, status

    def _eigenvectors(
        self, X: NDArray[Any], G: Array, plan: _Plan, known: Array, seed: int, tolerance: float
    ) -> Eigenvectors:
        assert plan.transition is not None
        count = min(max(len(plan.transition.values), 1), X.shape[1] - len(known))
        outside = known if len(known) else None
        if self.method == "symmetric":
            T = preprocessing(G, plan.floor)
            return leading_vectors(X, T, count, seed, outside=outside, tolerance=tolerance)
        return leading_linearised_vectors(X, G, count, seed, outside=outside, tolerance=tolerance)


class _Plan(NamedTuple):
    """How an estimate is made at one ratio alpha.

    Attributes
    ----------
    alpha : float
        Samples over dimension.
    trivial, rest : array, shapes (j, r) and (k, r)
        Orthonormal rows: directions found by the mean, and by eigenvectors.
    floor : float
        Lowest eigenvalue of T.
    transition : Transition or None
        The transition of the matrix on the rest, if there is one.
    """

    alpha: float
    trivial: Array
    rest: Array
    floor: float
    transition: Transition | None


class _Run(NamedTuple):
    overlap: Array
    subspace_overlap: float
    eigenvalue: Array
    products: int
    status: str


class _Prediction(NamedTuple):
    overlap: Array
    subspace_overlap: float
    eigenvalue: Array
    edge: float


def _floor(alpha: float) -> float:
    """Return the default of the lowest eigenvalue of T.

    Lower values widen the spectrum, and the number of products grows like the square root of its
    width over the distance of the outlier from the bulk.
    """
    return max(-300.0, min(-10.0, -3000 / alpha**2))


@lru_cache(maxsize=32)
def _recoverable(target: MultiIndex) -> WeakRecovery:
    """Return the weak recovery from one label to second order.

    Raises
    ------
    LearnabilityError
        When the label carries no information to second order.
    """
    recovery = weak_recovery(target.channel)
    if not len(recovery.trivial) and not math.isfinite(recovery.alpha):
        raise LearnabilityError(
            f"{target.link!r} says nothing about its directions through E[z | y] or E[z z^T | y], "
            "so no spectral method finds them with n of order d: see `hardness`."
        )
    return recovery


def _trivial(target: MultiIndex) -> Array:
    """Return directions that the mean shows (k, r), where the target is recoverable.

    Where symmetries leave none and a few samples show that the spectrum has one, the threshold
    itself, which takes many, is not needed.
    """
    for found in first_estimates(target.channel):
        if found.mean_vanishes:
            return found.trivial
    return _recoverable(target).trivial


def _predicted(plan: _Plan, target: MultiIndex, notes: dict[str, None]) -> _Prediction:
    """Return the limit of the observables at one ratio."""
    law = label_law(target.channel, len(plan.trivial) > 0)
    r, transition = target.r, plan.transition
    overlap = np.zeros((r, r))
    eigenvalue = np.full(r, np.nan)
    edge = math.nan
    if len(plan.trivial):
        reduced = law.means @ plan.trivial.T
        power = (law.weights[:, None] * reduced).T @ reduced
        gram = power @ power + power / plan.alpha
        overlap += plan.trivial.T @ _inverse_root(gram) @ power @ plan.trivial
    if transition is not None:
        edge = transition.edge
        leading = transition.values[:r]
        eigenvalue[: len(leading)] = leading
        if len(plan.trivial):
            touched = np.abs(plan.rest).max(axis=0) > 1e-9
            overlap[touched] = np.nan
            notes["Directions found by eigenvectors beside others found by the mean are not "
                  "predicted."] = None  # fmt: skip
            return _Prediction(overlap, math.nan, eigenvalue, edge)
        if len(transition.values):
            signal = transition.signal
            turns = combinations(transition)
            power = turns[0] @ signal
            scale = plan.rest.T @ _inverse_root(power)
            inner = np.array([resolved(scale @ C @ signal @ plan.rest, target.link) for C in turns])
            overlap = inner[0]
            subspace = float(np.trace(power) / r)
            if np.abs(inner - inner[0]).max() > 1e-2:
                overlap = np.full((r, r), np.nan)
                notes["Which row of the estimate belongs to which direction is not settled by the "
                      "eigenvectors: their overlap is not predicted, that of the subspace is."
                      ] = None  # fmt: skip
            return _Prediction(overlap, subspace, eigenvalue, edge)
    return _Prediction(overlap, float((overlap**2).sum() / r), eigenvalue, edge)


def _combined(found: Eigenvectors, transition: Transition) -> Array:
    """Return the estimate (r, d) of the directions that eigenvectors find; rows may be zero."""
    rows = found.vectors.reshape(-1, found.vectors.shape[2])
    if not len(transition.values):
        return _polar(found.vectors[0])
    return _polar(combinations(transition, rows @ rows.T)[0] @ rows)


def _completed(estimate: Array, seed: int) -> Array:
    """Return orthonormal rows, with random ones where some are missing."""
    r, d = estimate.shape
    left, size, right = np.linalg.svd(estimate, full_matrices=False)
    rank = int(np.sum(size > 0.5))
    fresh = np.random.default_rng([seed, 8]).standard_normal((r - rank, d))
    fresh -= (fresh @ right[:rank].T) @ right[:rank]
    return np.asarray(left @ np.vstack([right[:rank], np.linalg.qr(fresh.T)[0].T]))


def _polar(rows: Array) -> Array:
    """Return the orthonormal rows closest to the given ones; directions they lack stay zero."""
    u, size, vt = np.linalg.svd(rows, full_matrices=False)
    kept = size > _RANK * max(float(size[0]), 1e-300)
    return np.asarray(u[:, kept] @ vt[kept])


def _inverse_root(matrix: Array) -> Array:
    """Return the inverse square root of a PSD matrix, zero where the matrix is zero."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > (_RANK * math.sqrt(max(float(values[-1]), 1e-300))) ** 2
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T)
