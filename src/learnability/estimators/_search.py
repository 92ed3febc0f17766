"""The search of message passing: its starts, the choice of the best, and directions sought again.

Starts come from moments inside slices of y. Each is run for a few steps, the one with the largest
information is continued to the end, and directions that were not found are sought again given those
that were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from learnability.estimators._accumulator import Accumulator
from learnability.estimators._blind_amp import Passage, WhiteRows, pass_messages
from learnability.estimators._channel import CrossFittedChannel, standardised
from learnability.estimators._labels import Labels
from learnability.estimators._moments import (
    leading_directions,
    learned_directions,
    tilted_directions,
)
from learnability.estimators._staircase import proposals, residual_labels
from learnability.estimators._whitening import GAUSSIAN, WIDE, Whitening, whiten

__all__ = ["into_white", "moment_starts", "search"]

Array = NDArray[np.float64]
_SURE = 0.5
"""Predicted overlap below which a direction is sought again."""
_GOOD = 0.75
"""Predicted overlap from which no random start is tried."""
_CLEAR = 0.97
"""Predicted overlap from which nothing more is tried."""
_SPLITS = 2
"""Number of other splits of the rows that are tried below it."""
_ERRORS = 3.0
"""Information counts if it exceeds this many standard errors."""
_HEAT = 12
"""Steps after which starts are compared."""
_FEW = 100
"""Fewer rows than this are too few for restarts and a staircase."""


def moment_starts(
    X: Any, labels: Labels, whitening: Whitening, r: int, rng: np.random.Generator
) -> list[Array]:
    """Return starts from moments, in the coordinates of `whitening`: "dr", "learned" and others."""
    n = len(X)
    sums = Accumulator(whitening.center)
    sums.add(X, labels.weights, labels.slices(10 if n >= 500 else 6))
    own = whiten(X, labels.weights, "auto")
    ordered = labels.kind == "numbers"
    moments = sums.moments(own, ordered=ordered)
    found = []
    if not own.has_few_rows(n):
        found.append(leading_directions(moments, "dr", r)[1][:, :r])
        if n < 20 * own.rank and own.rank <= 600:
            found.append(learned_directions(moments, r, rng, starts=4, steps=25)[1])
    else:
        found.append(leading_directions(moments, "sir", r)[1])
        if ordered and own.rank <= WIDE:
            found += tilted_directions(moments, r)
    filled = []
    for U in found:
        more = rng.standard_normal((own.rank, max(r - U.shape[1], 0)))
        filled.append(into_white(whitening, own.pull_back(np.column_stack([U[:, :r], more]))))
    return filled


def into_white(whitening: Whitening, columns: Array) -> Array:
    """Return directions (p, r), which multiply x - c, as orthonormal ones of white space."""
    return np.linalg.qr(np.linalg.lstsq(whitening.factor, columns, rcond=None)[0])[0]


# The matrices are so small that threads would only wait.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def search(
    rows: WhiteRows, labels: Labels, r: int, rng: np.random.Generator, *, starts: list[Array],
    steps: int, damping: float, staircase: bool, restarts: int = 0,
    local_start: Callable[[], Array] | None = None,
) -> tuple[Passage, list[tuple[int, float]], bool]:  # fmt: skip
    """Run message passing from the best of several starts, with a staircase where needed.

    The staircase seeks directions that were not found. `local_start` returns a start that does not
    use moments, for rows with heavy tails and where the others leave something unclear.

    Returns
    -------
    tuple
        The best run, (directions, information) of each landing, and whether one of the given
        starts led there. When no run carries information the first start is returned as it was,
        with status "start".
    """
    seed = int(rng.integers(2**31))

    def run(
        start: Array, count: int, width: int = r, *, curves: bool = False, split: int = 0
    ) -> Passage:
        halves = np.random.default_rng([seed, split])
        channel = CrossFittedChannel(labels, width, halves, curves=curves)
        return pass_messages(rows, channel, start, steps=count, damping=damping)

    short = min(_HEAT, steps)
    given = best = _best([run(U, short) for U in starts])
    few = rows.shape[0] < _FEW
    unclear = not _informed(best) or not (best.overlap >= _CLEAR).all()
    if local_start is not None and (rows.tails > GAUSSIAN or unclear):
        best = _best([best, run(local_start(), short)])
    for _ in range(0 if few else restarts):
        if _informed(best) and (best.overlap >= _GOOD).all():
            break
        best = _best([best, run(rng.standard_normal((rows.shape[1], r)), 3 * short)])
    from_given = best is given
    if steps > short and best.status != "converged":
        best = _best([best, run(best.U, steps)])
    if not labels.tied and _sure(best) and best.channel[0] == "logit":
        best = _best([best, run(best.U, short, curves=True)])
    splits = _SPLITS if restarts else 0
    for split in range(1, splits + 1):  # Near a threshold another split may succeed.
        if not _informed(best) or (best.overlap >= _CLEAR).all():
            break
        other = run(best.U, steps, split=split)
        if other.information > best.information:
            best = other
    landings = [(r, best.information)]
    if staircase and not few and r > 1 and (r > 2 or not _sure(best)):
        sure = int((best.overlap >= _SURE).sum())
        for known in sorted({1, min(max(sure, 1), r - 1)}):
            best, more = _climb(rows, labels, r, known, best, run, seed, steps, damping)
            landings += more
    if not _informed(best):
        best = replace(best, U=np.linalg.qr(starts[0])[0], overlap=best.overlap * 0, status="start")
    return best, landings, from_given


def _climb(
    rows: WhiteRows, labels: Labels, r: int, known: int, best: Passage, run: Any, seed: int,
    steps: int, damping: float,
) -> tuple[Passage, list[tuple[int, float]]]:  # fmt: skip
    """Keep the directions that are known best, and seek the others given them.

    Information adds up along the staircase: that of the known directions, and that of the new ones
    given the known ones. A last run of all together is used where it has more information.
    """
    base = run(best.U[:, :known], min(2 * _HEAT, steps), known)
    landings = [(known, base.information)]
    t = standardised(base.fields, labels.weights)[0]
    left = residual_labels(labels, t)
    short = min(_HEAT, steps)
    for _, U in proposals(rows, labels, base.U, base.fields, r - known)[:2]:
        channel = CrossFittedChannel(left, r - known, np.random.default_rng(seed), covariates=t)
        new = pass_messages(
            rows, channel, U, steps=2 * short, damping=damping, outside=base.U, patience=short // 2
        )
        # With residual ranks the chain rule adds; few values are unchanged, given all fields.
        before = 0.0 if labels.coarse else base.information
        chain = replace(
            new, U=np.column_stack([base.U, new.U]), information=before + new.information,
            error=float(np.hypot(base.error, new.error)),
            overlap=np.concatenate([base.overlap, new.overlap]),
            fields=np.column_stack([base.fields, new.fields]),
        )  # fmt: skip
        # Where the new ones have no information, a run of all would repeat the old one.
        both = chain
        if new.information > new.error:
            joint = run(chain.U, steps)
            # For few values the chain is biased: known fields were fitted to the same values.
            both = joint if labels.coarse else _best([chain, joint])
        landings.append((r, both.information))
        best = _best([best, both])
        if new.information > _ERRORS * new.error and (new.overlap >= _SURE).all():
            break
    return best, landings


def _best(passages: list[Passage]) -> Passage:
    return max(passages, key=lambda passage: passage.information)


def _informed(passage: Passage) -> bool:
    """Return whether the run has any information."""
    return passage.information > _ERRORS * passage.error


def _sure(passage: Passage) -> bool:
    """Return whether the run has information and predicts that all directions are known."""
    return _informed(passage) and bool((passage.overlap >= _SURE).all())
