"""Results as the page draws them: the curves that `learnability.plot` draws, as plain numbers."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from learnability.drawing.series import bands, chosen, drawn_label, label_of, series
from learnability.errors import LearnabilityError
from learnability.markup import formula
from learnability.results.schema import OBSERVABLES, THRESHOLDS

__all__ = ["curves_of", "facts_of", "file_of", "joined", "netcdf", "spectra_of", "worded"]

_SPECTRA = {
    "layer_density": ("singular_value", "layer_singular_values"),
    "feature_density": ("eigenvalue_at", "feature_eigenvalues"),
}
"""Density -> where it is taken, and the values in runs of which it is the law."""
_BINS, _BULK, _BEYOND = 30, 0.97, 1.25
"""Bins of the values of a run, from the smallest one to so far beyond this share of them."""


def worded(label: str) -> str:
    """A label with formulas between dollar signs as HTML that is also XML.

    Parameters
    ----------
    label : str
        A label of the schema.
    """
    parts = label.split("$")
    shown = [formula(p) if k % 2 else escape(p) for k, p in enumerate(parts) if p]
    return f'<span xmlns="http://www.w3.org/1999/xhtml">{"".join(shown)}</span>'


def curves_of(data: Any) -> dict[str, Any]:
    """The curves of a result, by observable.

    Parameters
    ----------
    data : xarray.Dataset
        From `predict` or `simulate`, the whole or a part of it.

    Returns
    -------
    dict
        Observable -> its axis, its label and its curves. A curve has `x`, and either `y` (of a
        theory) or `runs` (a list of values for each seed).
    """
    theory = data.attrs.get("verb") == "predict"
    if theory and "seed" in data.dims:
        data = data.mean("seed", keep_attrs=True)
    found = {}
    for name in OBSERVABLES:
        if name not in data or data[name].dtype.kind not in "biuf":
            continue
        axis = next((dim for dim in ("time", "alpha") if dim in data[name].dims), None)
        try:
            _, x = chosen([data], name, axis)
            drawn = list(series(data, name, x))
        except LearnabilityError:
            continue  # These are too many curves for one picture, or a single number.
        errors = [error for _, error, _ in bands(data, name, x)] if theory else []
        found[name] = {"x": x, "label": worded(drawn_label(data, name)), "curves": [
            _curve(values, x, number, style, labels, errors)
            for number, (values, _, style, labels) in enumerate(drawn)
        ]}  # fmt: skip
    return found


def _curve(
    values: Any, x: str, number: int, style: int, labels: dict[str, str], errors: Sequence[Any]
) -> dict[str, Any]:
    label = ", ".join(labels.values())
    curve: dict[str, Any] = {
        "label": worded(label),
        "name": label.replace("$", "").replace("_", ""),
        "style": style,
        "x": values[x].values,
    }
    if "seed" in values.dims:
        curve["seeds"] = values["seed"].values
        curve["runs"] = values.transpose("seed", x).values
    else:
        curve["y"] = values.values
        curve["error"] = errors[number].values if number < len(errors) else None
    return curve


def spectra_of(data: Any) -> dict[str, Any]:
    """The densities of singular values and eigenvalues in a whole result, as `curves_of` gives.

    Those of the last ratio are drawn, one curve for each number of steps. Runs have histograms,
    whose bins leave out values far beyond the bulk.

    Parameters
    ----------
    data : xarray.Dataset
        From `predict` or `simulate`, with all its ratios.
    """
    last = data.isel(alpha=-1) if "alpha" in data.dims else data
    found = {}
    for name, (axis, values) in _SPECTRA.items():
        if name in last:
            drawn = series(last, name, axis)
            curves = [_curve(y, axis, k, style, labels, ())
                      for k, (y, _, style, labels) in enumerate(drawn)]  # fmt: skip
        elif values in last:
            curves = [_histogram(last[values].sel(time=time)) for time in last["time"].values]
        else:
            continue
        found[name] = {"x": axis, "label": worded(label_of(OBSERVABLES, name)), "curves": curves}
    return found


def _histogram(values: Any) -> dict[str, Any]:
    """A curve of the shares of a run's values per bin and per length of the bin."""
    rows = np.asarray(values.transpose("seed", ...).values, dtype=float)
    edges = np.linspace(rows.min(), _BEYOND * np.quantile(rows, _BULK), _BINS + 1)
    width = edges[1] - edges[0]
    label = f"$t$ = {values['time'].item()}"
    return {
        "label": worded(label),
        "name": label.replace("$", ""),
        "style": 0,
        "x": (edges[:-1] + edges[1:]) / 2,
        "seeds": values["seed"].values,
        "runs": [np.histogram(row, edges)[0] / (row.size * width) for row in rows],
    }


def facts_of(data: Any) -> dict[str, Any]:
    """What a result says beside its numbers: thresholds, a note, how runs ended.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    """
    known = {name: data.attrs[name] for name in THRESHOLDS if name in data.attrs}
    words: dict[str, int] = {}
    if "status" in data:
        names, counts = np.unique(np.asarray(data["status"].values, dtype=str), return_counts=True)
        words = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return {"thresholds": known, "note": data.attrs.get("note", ""), "status": words}


def joined(parts: Sequence[Any], axis: str, order: Sequence[int]) -> Any:
    """Join results along one axis, in a given order.

    Parameters
    ----------
    parts : sequence of xarray.Dataset
        The results, each of which has the axis.
    axis : str
        "alpha" or "seed".
    order : sequence of int
        The place of each point of the parts in the whole.
    """
    import xarray

    if len(parts) == 1:
        return parts[0]
    times = max((p["time"] for p in parts if "time" in p.dims), key=len, default=None)
    if times is not None:  # A path that has ended keeps its last value.
        parts = [p.reindex(time=times, method="ffill") for p in parts]
    whole = xarray.concat(
        parts, axis, data_vars="minimal", coords="minimal", compat="override", join="outer"
    )
    notes = dict.fromkeys(part.attrs.get("note", "") for part in parts)
    attrs = {**parts[0].attrs, "note": " ".join(note for note in notes if note)}
    if not attrs["note"]:
        del attrs["note"]
    return whole.isel({axis: np.argsort(order)}).assign_attrs(attrs)


def netcdf(data: Any) -> bytes:
    """A result as the bytes of a NetCDF file.

    Parameters
    ----------
    data : xarray.Dataset
        The result.
    """
    file = io.BytesIO()
    data.to_netcdf(file, engine="h5netcdf")
    return file.getvalue()


def file_of(theory: bytes, runs: bytes, kind: str, variable: str | None) -> bytes:
    """A file to download, made from what the server itself has computed.

    Parameters
    ----------
    theory, runs : bytes
        The NetCDF bytes of each side; empty where a side has no result.
    kind : {"csv", "nc", "svg", "pdf"}
        The format of the file.
    variable : str, optional
        The variable that is drawn.

    Raises
    ------
    LearnabilityError
        When the kind is unknown, or there is nothing to write.
    """
    import xarray

    from learnability.drawing import plot
    from learnability.drawing.theory_and_runs import against
    from learnability.results import save

    if kind not in ("csv", "nc", "svg", "pdf"):
        raise LearnabilityError(
            f"A file of kind {kind!r} was asked for, but csv, nc, svg and pdf are accepted."
        )
    sides = [
        xarray.load_dataset(io.BytesIO(blob), engine="h5netcdf") if blob else None
        for blob in (theory, runs)
    ]
    known = [side for side in sides if side is not None]
    if not known:
        raise LearnabilityError("There is nothing to save yet: compute the curve first.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"curve.{kind}"
        if kind in ("svg", "pdf") and variable in _SPECTRA and sides[0] is not None:
            last = sides[0].isel(alpha=-1) if "alpha" in sides[0].dims else sides[0]
            plot(last, variable=variable, x=_SPECTRA[variable][0], file=path)
        elif kind in ("svg", "pdf"):
            plot(*sides, variable=variable, file=path)
        else:
            both = len(known) == 2
            save(against(known[0], known[1], paths=True) if both else known[0], path)
        return path.read_bytes()
