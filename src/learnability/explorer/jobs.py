"""What a worker does: one function for each verb of a request, which yields events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from learnability.errors import LearnabilityError
from learnability.explorer.frames import Message
from learnability.explorer.limits import Request

__all__ = ["VERBS", "answer", "start_jax", "warm"]

_LEVELS = (1, 4, 12)
"""Points of the grids that are computed first, from coarse to fine: one point, then more."""
_SKETCHES = ((1.0, 40), (0.5, 14), (0.0, 12))
"""The point that is sketched before: how far along the grid, and the steps that this may take. The
last says most; where it has no sketch, others are tried that a few steps find."""


def warm(role: str) -> None:
    """Load what the first request needs, and compute a little of it.

    Parameters
    ----------
    role : str
        A "reader" reads formulas, and a "solver" computes.
    """
    from learnability.labels import CATALOGUE
    from learnability.learners import LEARNERS

    for entry in CATALOGUE:  # Laws of labels and noise inside a link load modules of their own.
        list(_parse(Request("parse", "", {"expression": entry.text, "noise": "0.1"}), b""))
    list(LEARNERS.values())  # Each family is loaded when it is first asked.
    if role == "solver":
        from learnability.learners import BayesAMP
        from learnability.reports import hardness

        hardness("abs(z)")
        BayesAMP().predict("abs(z)", alpha=[1.0])
        BayesAMP().simulate("abs(z)", d=10, alpha=[1.0])


def start_jax() -> None:
    """Load JAX and let it compile a little; what is warm for most requests does without it."""
    import jax
    import jax.numpy as jnp

    jax.jit(jnp.sum)(jnp.ones(2))


def answer(request: dict[str, Any], blob: bytes) -> Iterator[Message]:
    """The events of a request.

    Parameters
    ----------
    request : dict
        `verb`, `learner` and `values`; the server has checked their types.
    blob : bytes
        A table or results, where the verb needs some.

    Raises
    ------
    LearnabilityError
        When the verb is unknown, or the library refuses the request.
    """
    asked = Request(**request)
    if asked.verb not in VERBS:
        raise LearnabilityError(
            f"The verb {asked.verb!r} was given, but {', '.join(VERBS)} are accepted."
        )
    yield from VERBS[asked.verb](asked, blob)


def _declarations(request: Request, blob: bytes) -> Iterator[Message]:
    from learnability.explorer.declarations import declarations

    yield {"event": "result", **declarations()}, b""


def _parse(request: Request, blob: bytes) -> Iterator[Message]:
    """Read the formula while it is being typed."""
    from learnability.explorer.asking import target_of
    from learnability.explorer.declarations import formula_of

    target = target_of(request.values)
    yield {"event": "result", **formula_of(target)}, b""


def _hardness(request: Request, blob: bytes) -> Iterator[Message]:
    """Yield estimates of the threshold, then the report: numbers, tables, BibTeX and LaTeX."""
    from learnability.explorer.asking import target_of
    from learnability.explorer.declarations import estimate_of, report_of
    from learnability.reports import hardness
    from learnability.theory.thresholds import first_estimates

    target = target_of(request.values)
    yield {"event": "started"}, b""
    if (target.kind, target.inputs.kind) == ("multi-index", "isotropic"):
        for estimate in first_estimates(target.simplified().channel):
            yield {"event": "estimate", **estimate_of(estimate)}, b""
    yield {"event": "result", **report_of(hardness(target))}, b""


def _words(request: Request, blob: bytes) -> Iterator[Message]:
    from learnability.explorer.asking import words_of

    yield {"event": "result", **words_of(request)}, b""


def _catalogue(request: Request, blob: bytes) -> Iterator[Message]:
    """Yield the cards of the catalogue, one after the other."""
    from learnability.explorer.declarations import formula_of, report_of
    from learnability.labels import CATALOGUE
    from learnability.reports import hardness
    from learnability.targets import MultiIndex

    for entry in CATALOGUE:
        target = MultiIndex(entry.text, noise=entry.noise)
        card = {"name": entry.name, "text": entry.text, "noise": entry.noise, "about": entry.about}
        report = report_of(hardness(target))
        yield {"event": "card", **card, **formula_of(target), "facts": report["facts"]}, b""


def coarse_to_fine(count: int) -> list[list[int]]:
    """The places of a grid in the order in which they are computed, level by level.

    Parameters
    ----------
    count : int
        Number of points of the grid.

    Examples
    --------
    >>> coarse_to_fine(6)
    [[5], [0, 2, 3], [1, 4]]
    """
    left, found = list(range(count)), []
    for level in _LEVELS:
        if len(left) <= 1:
            break
        wanted = [count - 1] if level == 1 else np.linspace(0, count - 1, level).astype(int)
        part = [place for place in dict.fromkeys(map(int, wanted)) if place in left]
        left = [place for place in left if place not in part]
        found.append(part)
    return [part for part in [*found, left] if part]


def _predict(request: Request, blob: bytes) -> Iterator[Message]:
    """Compute theory: a sketch of one point, then a few points, then more; a path at once."""
    from learnability.cli.learner_options import check_needs
    from learnability.explorer.asking import asking
    from learnability.explorer.curves import curves_of, facts_of, joined, netcdf, spectra_of
    from learnability.learners.base.driver import sketched

    what = asking(request).what
    check_needs(what, "predict")
    given = what.for_side("predict")
    alphas = np.atleast_1d(given.get("alpha", ()))
    pointwise = _by_points(what.question) and not what.side("predict").seeds
    split = len(alphas) > 1 and pointwise
    levels = coarse_to_fine(len(alphas)) if split else [[]]
    places = {round(share * (len(alphas) - 1)): steps for share, steps in reversed(_SKETCHES)}
    for place, steps in reversed(places.items()) if pointwise else ():
        at = {**given, "alpha": alphas[[place]]}
        rough = sketched(what.learner, what.target, what.question.name, at, steps)
        if rough is not None:
            yield {"event": "sketch", "curves": curves_of(rough.to_dataset())}, b""
            break
    parts = []
    for level in levels:
        at = {**given, "alpha": alphas[level]} if split else given
        part = what.learner.predict(what.target, question=what.question.name, **at)
        parts.append(part)
        if split:
            yield {"event": "points", "curves": curves_of(part), **facts_of(part)}, b""
    whole = joined(parts, "alpha", [place for level in levels for place in level])
    curves = curves_of(whole) | spectra_of(whole)
    yield {"event": "result", "curves": curves, **facts_of(whole)}, netcdf(whole)


def _by_points(question: Any) -> bool:
    """Whether every alpha has an answer of its own, none of which is a path along the time."""
    from learnability.results.schema import row_of

    return question.axes == ("alpha",) and not any(
        "time" in row_of(name).dims for name in question.names("predict")
    )


def _simulate(request: Request, blob: bytes) -> Iterator[Message]:
    """Compute runs one at a time: the seeds of a first point, then those of the others."""
    from learnability.explorer.asking import asking, check_runs
    from learnability.explorer.curves import curves_of, facts_of, joined, netcdf, spectra_of

    asked = asking(request)
    what = asked.what
    check_runs(asked)
    alphas = np.atleast_1d(asked.runs.get("alpha", ()))
    split = len(alphas) > 1 and _by_points(what.question)
    last = len(alphas) - 1  # Runs on few samples are quick: the smallest ratio comes first.
    places = [last - place for level in coarse_to_fine(len(alphas)) for place in level]
    points: list[Any] = [alphas[[place]] for place in places] if split else [None]
    total, done = len(points) * len(asked.chosen), 0
    yield {"event": "started", "runs": total}, b""
    columns = []
    for point in points:
        at = asked.runs if point is None else {**asked.runs, "alpha": point}
        row = []
        for seed in asked.chosen:
            part = what.learner.simulate(
                what.target, question=what.question.name, seeds=[seed], **at
            )
            row.append(part)
            done += 1
            told = {"event": "run", "done": done, "runs": total}
            yield {**told, "curves": curves_of(part), **facts_of(part)}, b""
        columns.append(joined(row, "seed", range(len(row))))
    whole = joined(columns, "alpha", places) if split else columns[0]
    curves = curves_of(whole) | spectra_of(whole)
    yield {"event": "result", "curves": curves, **facts_of(whole)}, netcdf(whole)


def _file(request: Request, blob: bytes) -> Iterator[Message]:
    """Make a file of two results that the server kept; a value says where the first ends."""
    from learnability.explorer.curves import file_of

    length = int(request.values.get("first", "0"))
    variable = request.values.get("variable")
    made = file_of(blob[:length], blob[length:], request.values.get("kind", ""), variable)
    yield {"event": "result"}, made


def _columns(request: Request, blob: bytes) -> Iterator[Message]:
    from learnability.explorer.dropped_tables import columns_of

    yield {"event": "result", **columns_of(request.values, blob)}, b""


def _fit(request: Request, blob: bytes) -> Iterator[Message]:
    from learnability.explorer.dropped_tables import fit_of

    yield {"event": "result", **fit_of(request.values, blob)}, b""


def _study(request: Request, blob: bytes) -> Iterator[Message]:
    from learnability.explorer.stores import watched

    for state in watched(request.values):
        yield {"event": "state", **state}, b""


VERBS: dict[str, Callable[[Request, bytes], Iterator[Message]]] = {
    "declarations": _declarations,
    "parse": _parse,
    "words": _words,
    "hardness": _hardness,
    "catalogue": _catalogue,
    "predict": _predict,
    "simulate": _simulate,
    "file": _file,
    "columns": _columns,
    "fit": _fit,
    "study": _study,
}
"""Verb -> the function that answers it."""
