"""What is drawn from a result: which observable, along which axis, as which curves.

Matplotlib's pictures and the explorer's page both draw these curves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from learnability.drawing.style import COLOURS
from learnability.errors import LearnabilityError
from learnability.results.schema import COORDINATES, OBSERVABLES, STDERR, Row

__all__ = ["MARKERS", "bands", "chosen", "drawn_label", "label_of", "series"]

MARKERS = ("x", "+", "o", "s", "^", "D")
"""The markers of curves along the further dimensions of a grid."""
_NO_AXIS = ("seed", "estimate", "other_estimate", "index", "marked", "feature")


def chosen(sides: list[Any], variable: str | None, x: str | None) -> tuple[str, str]:
    """Return the variable and the axis that are drawn, or refuse with a sentence."""
    last = sides[-1]
    shared = [str(n) for n in last.data_vars if all(n in side for side in sides)]
    numeric = [n for n in shared if all(side[n].dtype.kind in "biuf" for side in sides)]
    known = [n for n in OBSERVABLES if n in numeric]
    others = [n for n in numeric if n not in known and not n.endswith(STDERR)]
    names = [variable] if variable is not None else known + others
    for name in names:
        if name not in numeric:
            break
        dims = [str(dim) for dim in last[name].dims if dim not in _NO_AXIS]
        dims = [d for d in dims if d in last.coords and last[d].dtype.kind in "iuf"]
        order = ["time", *COORDINATES]  # A result with times is a path.
        first = [d for d in order if d in dims] + [d for d in dims if d not in order]
        several = [d for d in first if last.sizes[d] > 1] or first
        if x is None and several:
            return name, several[0]
        if x in dims:
            assert x is not None
            return name, x
    raise LearnabilityError(
        f"`variable` = {variable!r} against `x` = {x!r} was to be drawn, but no such numbers are "
        f"in {'both results' if len(sides) > 1 else 'the result'}: the variables are "
        f"{', '.join(shared) or 'none'}, the dimensions {', '.join(map(str, last.dims))}."
    )


def series(data: Any, variable: str, x: str) -> Iterator[tuple[Any, str, int, dict[str, str]]]:
    """Yield values along x (and seed), with a colour, the number of the style, and labels."""
    values = data[variable]
    own = [dim for dim in ("estimate", "index") if dim in values.dims]
    if _of_the_best(values):
        places = [abs(values.isel(index=k)).max("estimate") for k in range(values.sizes["index"])]
    elif len(own) == 2:
        places = [values.isel(estimate=k, index=k) for k in range(values.sizes["index"])]
    elif own:
        places = [values.isel({own[0]: k}) for k in range(values.sizes[own[0]])]
    else:
        places = [values]
    others = [str(dim) for dim in places[0].dims if dim not in (x, "seed")]
    grid = list(itertools.product(*(range(values.sizes[dim]) for dim in others)))
    if len(grid) > len(MARKERS) or len(places) > len(COLOURS):
        raise LearnabilityError(
            f"{variable} has {len(grid)} curves along {', '.join(others) or 'nothing else'} for "
            f"{len(places)} indices, but {len(MARKERS)} and {len(COLOURS)} can be told apart: "
            "select some, as in runs.sel(d=500)."
        )
    for number, place in enumerate(places):
        for style, chosen in enumerate(grid):
            part = place.isel(dict(zip(others, chosen, strict=True)))
            labels = {"index": f"$z_{number + 1}$"} if len(places) > 1 else {}
            told = [f"{_symbol(d)} = {part[d].item()}" for d in others if d in part.coords]
            labels |= {"grid": ", ".join(told)} if told else {}
            yield part, COLOURS[number], style, labels


def bands(data: Any, variable: str, x: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield values along x with their standard errors and the colour, where a theory has some."""
    if variable + STDERR not in data or x not in data[variable].dims:
        return
    if _of_the_best(data[variable]):
        return  # The largest of several neurons has no error of its own.
    values = series(data, variable, x)
    errors = series(data, variable + STDERR, x)
    for (value, colour, *_), (error, *_) in zip(values, errors, strict=True):
        yield value, error, colour


def drawn_label(data: Any, variable: str) -> str:
    """Return the label of what `series` draws, which may be that of the best of many neurons."""
    label = label_of(OBSERVABLES, variable)
    return f"largest absolute {label} of any neuron" if _of_the_best(data[variable]) else label


def _of_the_best(values: Any) -> bool:
    """Return whether the largest absolute value is drawn, as of neurons that have no order."""
    both = {"estimate", "index"} <= set(values.dims)
    return both and values.sizes["estimate"] != values.sizes["index"]


def label_of(rows: Mapping[str, Row], name: str) -> str:
    """Return the label of the schema, or the name itself."""
    found = rows[name].label if name in rows else ""
    return found or name.replace("_", " ")


def _symbol(name: str) -> str:
    """Return the letter of a coordinate: what stands before the equals sign of its label."""
    label = label_of(COORDINATES, name)
    return label.split(" = ")[0] + "$" if " = " in label else label
