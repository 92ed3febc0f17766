"""The finders that `IndexSubspace` compares: their names, which are tried, and how each is made."""

from __future__ import annotations

from typing import Any

from learnability.errors import LearnabilityError
from learnability.estimators._base import SubspaceEstimator, check_choice
from learnability.estimators._whitening import Whitening
from learnability.estimators.gradient_subspace import GradientSubspace
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.moment_subspace import MomentSubspace
from learnability.estimators.sparse_subspace import SparseSubspace

__all__ = ["CANDIDATES", "candidate", "candidate_names"]

CANDIDATES = (
    "message_passing", "opg", "agop", "giant", "sparse", "dr", "sir", "save", "phd", "learned",
)  # fmt: skip
_FEW_ROWS = ("sir", "sparse")
"""Finders that work with fewer than three rows per independent column."""
_LEAST_ROWS = 30
"""With fewer rows than this, "sparse" is not tried by default."""
_SPARSE_ROWS = 10
"""Rows per independent column below which "sparse" is tried by default."""
_LOCAL_WORK = 3e7
"""Largest n k^2 for which local gradients are tried by default."""
_KERNEL_ROWS = 4000
"""Most rows for which a kernel machine is tried by default."""


def candidate(name: str, r: int, seed: int) -> SubspaceEstimator:
    """Return the finder with a name, for r directions."""
    if name == "message_passing":
        return MessagePassingSubspace(r, random_state=seed)
    if name in ("opg", "agop", "giant"):
        return GradientSubspace(name, r, n_anchors=200, random_state=seed)
    if name == "sparse":
        return SparseSubspace(r, random_state=seed)
    return MomentSubspace(name, r, random_state=seed)


def candidate_names(asked: Any, n: int, counted: float, whitening: Whitening) -> list[str]:
    """Return names of the finders to try on n rows with the total weight `counted`.

    Raises
    ------
    LearnabilityError
        When `asked` holds a name that is not known.
    """
    rank = whitening.rank
    if isinstance(asked, str) and asked == "auto":
        names = ["message_passing", "dr", "sir"]
        if _LEAST_ROWS <= counted < _SPARSE_ROWS * rank:
            names.append("sparse")
        if n <= _KERNEL_ROWS:
            names.append("agop")
        if n * rank**2 <= _LOCAL_WORK:
            names.append("opg")
    elif isinstance(asked, str):
        check_choice("candidates", asked, ("auto", *CANDIDATES))
        names = [asked]
    else:
        names = list(asked)
        if not names or any(name not in CANDIDATES for name in names):
            raise LearnabilityError(
                f"`candidates` was given as {names!r}, but names among {', '.join(CANDIDATES)} are "
                "accepted."
            )
    if whitening.has_few_rows(counted):
        return [name for name in names if name in _FEW_ROWS] or ["sir"]
    return names
