"""A study: a learner on a target over a grid and seeds, computed once, stored run by run."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError
from learnability.learners.base import Learner
from learnability.learners.base.driver import the_question
from learnability.learners.base.sizes import size_of, spelled
from learnability.progress import bar
from learnability.randomness import checked_seeds
from learnability.results.labelled import Labelled
from learnability.studies.assembly import assemble
from learnability.studies.cluster import cores
from learnability.studies.engine import run
from learnability.studies.points import Layout, Point, plan
from learnability.studies.store import Outcome, Store
from learnability.targets import TargetLike, as_target

if TYPE_CHECKING:
    import xarray

__all__ = ["StudyWarning", "labelled_study", "study"]


class StudyWarning(UserWarning):
    """Some runs of a study failed; the message says which."""


def study(
    learner: Learner,
    target: TargetLike,
    *,
    question: str | None = None,
    store: str | Path | None = None,
    seeds: int | Sequence[int] = 1,
    scheduler: str | None = None,
    workers: int | None = None,
    longest: float | None = None,
    **grid: Any,
) -> xarray.Dataset:
    """Run a learner over a grid of parameters and seeds, and never the same run twice.

    Parameters
    ----------
    learner : Learner
        A learner such as `BayesAMP()`.
    target : MultiIndex, Hierarchical, Link or str
        Where the samples come from.
    question : str, optional
        What is asked of the learner; by default the first of its questions.
    store : str or Path, optional
        File that keeps every finished run. The same call again computes what is missing; a larger
        grid or more seeds reuse what is there, and several studies can share a file.
    seeds : int or sequence of int
        Number of runs at each point of the grid, or their seeds.
    scheduler : str, optional
        Address of a running Dask scheduler (``tcp://host:8786``) or its scheduler file (.json).
    workers : int, optional
        Number of worker processes on this machine, with one thread each; 1 computes in this
        process. By default as many as cores once the rest would take more than 20 s, else 1.
    longest : float, optional
        Refuse, before anything is computed, what would take more seconds than this by a rough
        estimate from the sizes.
    **grid
        Arguments of the question (`d`, `alpha`, `time`, ...), fields of the learner (`damping`,
        ...), of the target (`noise`, `link`, ...) and of its inputs (`strength`, `exponent`, ...),
        looked up in this order. A list or an array becomes a dimension of the result, and one
        value becomes a coordinate; `time`, and a `start` made of order parameters, belong to each
        run and are handed to it whole.

    Returns
    -------
    xarray.Dataset
        What `simulate` returns, over the dimensions of the grid and `seed`. Paths along the time
        hold their last value to the longest. A run that failed is NaN, with "missing" as its
        `status`; the attribute `missing` counts them.

    Raises
    ------
    LearnabilityError
        When a name is unknown or missing, a value is not accepted, the store cannot be used, the
        estimate is above `longest`, or every run failed.

    Warns
    -----
    StudyWarning
        When runs failed; they are tried again by the next call.

    Notes
    -----
    A run has the same numbers to the last bit with any number of workers, provided that JAX was
    not started with more threads in this process before. Learners that run seeds side by side get
    those of one point of the grid in groups; a kill loses at most the group that was running.

    Examples
    --------
    >>> import learnability as lb
    >>> runs = lb.study(lb.Spectral(), "abs(z)", d=[20, 40], alpha=[1.0, 4.0], seeds=2)
    >>> dict(runs.subspace_overlap.sizes)
    {'d': 2, 'alpha': 2, 'seed': 2}
    """
    found = labelled_study(
        learner, target, question=question, store=store, seeds=seeds, scheduler=scheduler,
        workers=workers, longest=longest, **grid,
    )  # fmt: skip
    return found.to_dataset()


def labelled_study(
    learner: Learner,
    target: TargetLike,
    *,
    question: str | None = None,
    store: str | Path | None = None,
    seeds: int | Sequence[int] = 1,
    scheduler: str | None = None,
    workers: int | None = None,
    longest: float | None = None,
    **grid: Any,
) -> Labelled:
    """Do what `study` does, and return the arrays with their labels, without loading xarray.

    Parameters
    ----------
    learner, target, question, store, seeds, scheduler, workers, longest, **grid
        As in `study`.
    """
    _check_workers(scheduler, workers)
    if not isinstance(learner, Learner):
        raise LearnabilityError(
            f"The learner was given as {learner!r}, but a learner such as BayesAMP() is accepted."
        )
    points, layout = plan(
        learner,
        as_target(target),
        the_question(learner, question),
        checked_seeds(seeds),
        grid,
        stored=store is not None,
    )
    if store is None:
        results: dict[str, bytes] = {}
        _check_time(points, scheduler, workers, longest)
        errors = _computed(points, results, None, scheduler, workers)
        _tell(errors, layout, bool(results))
        return assemble(layout, results.items())
    with Store(store, write=True) as file:
        there = file.finished(layout.keys)
        wanted = set(layout.keys)
        wanted -= there
        missing = _each_once(points, wanted)
        _check_time(missing, scheduler, workers, longest)
        file.remember(layout)
        del points
        errors = _computed(missing, None, file, scheduler, workers, done=len(there))
        del missing  # It is freed before the result takes memory of its own.
        _tell(errors, layout, len(errors) < len(set(layout.keys)))
        return assemble(layout, file.results(layout.keys))


def _each_once(points: list[Point], wanted: set[str]) -> list[Point]:
    """Return the first point of each key that is wanted."""
    found = []
    for point in points:
        if point.key in wanted:
            wanted.discard(point.key)
            found.append(point)
    return found


def _computed(
    points: list[Point],
    results: dict[str, bytes] | None,
    file: Store | None,
    scheduler: str | None,
    workers: int | None,
    done: int = 0,
) -> dict[str, str]:
    """Compute points into a dictionary or a file; return the errors of failed ones by key."""
    errors: dict[str, str] = {}
    with bar("study", done + len(points), done) as advance:

        def commit(ended: list[tuple[Point, Outcome]]) -> None:
            if file is not None:
                file.commit(ended)
            for point, outcome in ended:
                if outcome.result is None:
                    errors[point.key] = outcome.error
                elif results is not None:
                    results[point.key] = outcome.result
            advance(len(ended))

        if points:
            run(points, commit, scheduler, workers)
    return errors


def _tell(errors: dict[str, str], layout: Layout, some: bool) -> None:
    """Report which runs failed: as a warning, or as an error when no run succeeded."""
    if not errors:
        return
    counts: dict[str, int] = {}
    for error in errors.values():
        counts[error] = counts.get(error, 0) + 1
    if not some:
        first, alike = next(iter(counts.items()))
        if len(counts) == 1:
            raise LearnabilityError(first)
        raise LearnabilityError(f"All {len(errors)} runs failed, {alike} of them with: {first}")
    lines = [f"{len(errors)} of {len(layout.keys)} runs failed:"]
    lines += [f"{count} of them: {error}" for error, count in counts.items()]
    warnings.warn("\n".join(lines), StudyWarning, stacklevel=4)


def _check_time(
    points: list[Point], scheduler: str | None, workers: int | None, longest: float | None
) -> None:
    """Refuse what would take too long by a given limit; the speed of a cluster is not known."""
    if longest is None or scheduler is not None:
        return
    total = 0.0
    for _, same in itertools.groupby(points, lambda point: point.cell):
        cell = list(same)
        first = cell[0]
        total += len(cell) * size_of(first.learner, first.target, first.arguments).seconds
    total /= workers or cores()
    if total > longest:
        raise LearnabilityError(
            f"The {len(points)} runs would take about {spelled(total)} here by a rough estimate, "
            f"more than {spelled(longest)}: use smaller sizes, or say that you want it (`--yes` on "
            "the command line, `longest` in Python)."
        )


def _check_workers(scheduler: str | None, workers: int | None) -> None:
    if scheduler is not None and workers is not None:
        raise LearnabilityError(
            "`scheduler` and `workers` were both given, but the workers of a scheduler are its "
            "own: leave out one."
        )
    whole = isinstance(workers, int) and not isinstance(workers, bool)
    if workers is not None and (not whole or workers < 1):
        raise LearnabilityError(
            f"`workers` was given as {workers!r}, but a whole number from 1 is accepted."
        )
