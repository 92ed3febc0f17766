"""Labelled results as a table to read."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray

__all__ = ["table"]

_WITHIN = ("alpha", "seed", "time", "ridge", "step", "control", "look", "rank")
"""Dimensions of one result, which a grid does not make."""


def table(dataset: xarray.Dataset) -> str:
    """The result of a learner as text: a row for each alpha, or each time of an online learner.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `simulate` or a study, of which means and standard errors over the seeds are shown, or
        from `predict`. Further dimensions of a grid give a table for each of their values.

    Returns
    -------
    str
        The diagonal overlaps, the errors and the statuses by alpha; then the thresholds.
    """
    extra = _extra(dataset)
    if extra:
        tables = []
        for place in itertools.product(*(range(dataset.sizes[dim]) for dim in extra)):
            part = dataset.isel(dict(zip(extra, place, strict=True)))
            labels = {dim: part[dim].item() for dim in extra}
            head = ", ".join(f"{dim} = {label}" for dim, label in labels.items())
            tables.append(f"{head}\n{table(part.assign_attrs(labels))}")
        return "\n\n".join(tables)
    about = dataset.attrs
    name = f"y = {about['link']}" + (f" + sqrt({about['noise']:g}) xi" if about["noise"] else "")
    made = about["learner"] + (f", d = {about['d']}" if "d" in about else "")
    if "seed" in dataset.dims:
        made += f", {dataset.sizes['seed']} seed" + ("s" if dataset.sizes["seed"] > 1 else "")
    networks = "overlap_trace" in dataset and "step" in dataset.dims  # Overlaps of many neurons.
    overlaps = "overlap" in dataset and not networks
    axis = "alpha" if "alpha" in dataset.coords else "time"
    if axis not in dataset.dims:
        dataset = dataset.expand_dims(axis)
    if axis == "time":
        dataset = _along_time(dataset)
    columns = [(axis, [f"{a:.6g}" for a in dataset[axis].values])]
    for i in range(min(dataset.sizes["estimate"], dataset.sizes["index"]) if overlaps else 0):
        own = dataset["overlap"].isel(estimate=i, index=i)
        columns.append((f"overlap {i + 1}", _cells(own)))
    measured = {"error", "misclassification"} & set(dataset)
    shown = ["error", "misclassification"] if measured else ["subspace_overlap", "edge"]
    shown += ["permuted_error", "none_error", "train_error", "train_accuracy"]
    shown += ["correlation", "status"]
    for key in shown:
        if key in dataset:
            several = dataset[key].coords.get("ridge") if "ridge" in dataset[key].dims else None
            for ridge in [None] if several is None else several.values:
                values = dataset[key] if ridge is None else dataset[key].sel(ridge=ridge)
                head = key.replace("_", " ") + ("" if ridge is None else f" ({ridge:g})")
                columns.append((head, _counted(values) if key == "status" else _cells(values)))
    widths = [max(len(head), *map(len, cells)) for head, cells in columns]
    rows = [[head for head, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    lines = [name, made, ""]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(("  " + "  ".join(padded)).rstrip())
    thresholds = [(k, v) for k, v in about.items() if k.startswith("alpha_")]
    lines += [""] if thresholds else []
    lines += [f"  {key:<20}{_threshold(value)}" for key, value in thresholds]
    lines += ["", f"Note: {about['note']}"] if about.get("note") else []
    return "\n".join(lines)


def _extra(dataset: xarray.Dataset) -> list[str]:
    """Dimensions of a grid beside alpha and the seeds."""
    return [str(dim) for dim in dataset.dims if dim in dataset.coords and dim not in _WITHIN]


def _along_time(dataset: xarray.Dataset) -> xarray.Dataset:
    """The paths of an online learner in the place of its final values."""
    status = dataset["status"]
    if "time" not in status.dims:
        status = status.expand_dims(time=dataset.sizes["time"])
    paths = {
        name: dataset[f"{name}_trace"]
        for name in ("overlap", "error", "correlation")
        if f"{name}_trace" in dataset
    }
    if "estimate" in paths.get("correlation", status).dims:  # Of one neuron as of the first.
        paths["correlation"] = paths["correlation"].isel(estimate=0)
    return dataset.assign({"status": status, **paths})


def _cells(variable: xarray.DataArray) -> list[str]:
    """Numbers by alpha, with the standard error over the seeds where there are several."""
    mean = variable.mean("seed") if "seed" in variable.dims else variable
    texts = ["-" if math.isnan(m) else f"{round(float(m), 4) + 0.0:.4f}" for m in mean.values]
    if "seed" not in variable.dims or variable.sizes["seed"] < 2:
        return texts
    error = variable.std("seed", ddof=1) / variable.count("seed") ** 0.5
    pairs = zip(texts, error.values, strict=True)
    return [text if text == "-" else f"{text} +- {e:.4f}" for text, e in pairs]


def _counted(status: xarray.DataArray) -> list[str]:
    """Statuses by alpha; of several seeds each with its number."""
    if "seed" not in status.dims:
        return [str(s) for s in status.values]
    rows = status.transpose(..., "seed").values
    if rows.shape[1] == 1:
        return [str(s) for s in rows[:, 0]]
    return [", ".join(f"{n} {s}" for s, n in Counter(map(str, row)).most_common()) for row in rows]


def _threshold(value: float) -> str:
    if math.isnan(value):
        return "-"
    return "infinite" if math.isinf(value) else f"{value:.6g}"
