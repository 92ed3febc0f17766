"""Sufficient summary plot: y against the coordinates that were found, over the learned channel.

The shading is the law of y given the coordinates as a softmax of Hermite products, the channel of
message passing, fitted to the points that are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from learnability.drawing.style import COLOURS, ShowsItself, house_style, new_axes
from learnability.estimators._channel import standardised
from learnability.estimators._labels import Labels, read_labels
from learnability.estimators._logit_channel import LogitChannel, bins_of
from learnability.estimators._products import products

__all__ = ["SummaryDisplay"]

_BINS = 16
_GRID = 80
_NEAR = 0.4
"""Distance in standard deviations over which the shading fades away from the points."""


class SummaryDisplay(ShowsItself):
    """Sufficient summary plot: y against the coordinates that were found.

    With one coordinate the plot has numbers against it and their running mean, or histograms of the
    classes with their probabilities. With more it has the first two coordinates, coloured by the
    rank of y or by its class.
    The background is the learned law of y given the coordinates.

    Parameters
    ----------
    coordinates : array, shape (n, r)
        The coordinates.
    y : array, shape (n,)
        The target.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What `plot` drew.
    """

    def __init__(self, coordinates: NDArray[Any], y: NDArray[Any]) -> None:
        self.coordinates = coordinates
        self.y = y

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> SummaryDisplay:
        """Draw a fitted estimator on data.

        Parameters
        ----------
        estimator : subspace estimator
            The fitted estimator.
        X, y : array
            The data.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SummaryDisplay
        """
        coordinates = np.asarray(estimator.transform(X))[:, : len(estimator.components_)]
        return cls(coordinates, np.asarray(y)).plot(ax=ax)

    def plot(self, ax: Any = None) -> SummaryDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SummaryDisplay
        """
        with house_style():
            ax = new_axes(ax)
            t = self.coordinates[:, :2]
            if t.shape[1] == 0:
                ax.text(0.5, 0.5, "no direction was found", ha="center", transform=ax.transAxes)
                ax.set(xticks=[], yticks=[])
            else:
                labels = read_labels(self.y, np.ones(len(self.y)))
                draw = {
                    (1, "numbers"): _curve, (1, "classes"): _histograms, (2, "numbers"): _plane,
                    (2, "classes"): _regions,
                }[t.shape[1], labels.kind]  # fmt: skip
                draw(ax, t, self.y, labels)
                ax.set(xlabel="first coordinate")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _law(labels: Labels, t: NDArray[Any], grid: NDArray[Any]) -> NDArray[Any]:
    """Return p(bin | coordinates) on a grid (m, r), shape (m, B)."""
    bins = bins_of(labels, _BINS, 5)
    centre = t.mean(axis=0)
    w, root = standardised(t - centre, labels.weights)
    channel = LogitChannel(4, 2.0).fit(products(w, 4), bins, 15)
    at = np.clip((grid - centre) @ root, -4, 4)
    blank = np.zeros(len(grid), dtype=np.intp)
    there = type(bins)(blank, bins.pi, bins.psi, bins.roughness, np.ones(len(grid)))
    return channel.law(products(at, 4), there)


def _range(t: NDArray[Any]) -> NDArray[Any]:
    """Return a grid over the range of the points, without the farthest ones."""
    low, high = np.quantile(t, [0.01, 0.99])
    margin = 0.15 * (high - low)
    return np.linspace(low - margin, high + margin, _GRID)


def _square(t: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
    """Return a grid over the plane (m, 2), how near the data are to it (m,), and its corners."""
    first, second = _range(t[:, 0]), _range(t[:, 1])
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    unit = t.std(axis=0) + 1e-12
    far = cKDTree(t / unit).query(grid / unit)[0]
    return grid, np.exp(-((far / _NEAR) ** 2)), [first[0], first[-1], second[0], second[-1]]


def _shade(ax: Any, colours: NDArray[Any], near: NDArray[Any], box: list[Any]) -> None:
    """Draw pale colours (m, 3) on a grid, white where there are no points."""
    pale = 1 - 0.35 * near[:, None] * (1 - colours)
    ax.imshow(
        pale.reshape(_GRID, _GRID, 3), origin="lower", extent=box, aspect="auto", zorder=0,
        interpolation="bilinear",
    )  # fmt: skip
    ax.set(ylabel="second coordinate", xlim=box[:2], ylim=box[2:])


def _curve(ax: Any, t: NDArray[Any], y: NDArray[Any], labels: Labels) -> None:
    grid = _range(t[:, 0])
    law = _law(labels, t, grid[:, None])
    codes = labels.slices(_BINS)
    bins = range(codes.max() + 1)
    middles = np.array([np.median(y[codes == b]) for b in bins])
    widths = np.array([np.ptp(y[codes == b]) for b in bins]) + 1e-3 * np.ptp(y)
    density = law / widths
    density /= density.max(axis=1, keepdims=True)
    ax.pcolormesh(
        grid, middles, density.T, shading="gouraud", cmap="Greys", vmin=0, vmax=2, rasterized=True
    )
    ax.plot(t[:, 0], y, ".", ms=3, alpha=0.5, color=COLOURS[0], label="data")
    ax.plot(*_running_mean(t[:, 0], y), color=COLOURS[1], label="running mean")
    ax.fill_between([], [], color="0.75", label="learned law of y")
    ax.set(ylabel="y", xlim=(grid[0], grid[-1]))
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 3}
    ax.legend(**above, handlelength=1.0, columnspacing=1.0)


def _histograms(ax: Any, t: NDArray[Any], y: NDArray[Any], labels: Labels) -> None:
    grid = _range(t[:, 0])
    law = _law(labels, t, grid[:, None])
    edges = np.linspace(grid[0], grid[-1], 31)
    right = ax.twinx()
    for k, (value, colour) in enumerate(zip(labels.values, _palette(labels), strict=True)):
        inside = t[labels.codes == k, 0]
        ax.hist(inside, bins=edges, density=True, alpha=0.45, color=colour, label=str(value))
        right.plot(grid, law[:, k], color=colour, lw=1.2)
    right.set(ylabel="probability (lines)", ylim=(0, 1))
    ax.set(ylabel="density (bars)", xlim=(grid[0], grid[-1]))
    ax.legend(loc="center right")


def _plane(ax: Any, t: NDArray[Any], y: NDArray[Any], labels: Labels) -> None:
    import matplotlib as mpl

    grid, near, box = _square(t)
    codes = labels.slices(_BINS)
    middles = np.array([labels.ranks[codes == b].mean() for b in range(codes.max() + 1)])
    mean = _law(labels, t, grid) @ middles
    _shade(ax, np.asarray(mpl.colormaps["viridis"](mean))[:, :3], near, box)
    drawn = ax.scatter(*t.T, c=labels.ranks, s=6, cmap="viridis", vmin=0, vmax=1)
    ax.figure.colorbar(drawn, ax=ax, label="rank of y")
    ax.set_title("shading: learned mean of the rank", fontsize=7)


def _regions(ax: Any, t: NDArray[Any], y: NDArray[Any], labels: Labels) -> None:
    grid, near, box = _square(t)
    palette = _palette(labels)
    _shade(ax, _law(labels, t, grid) @ palette, near, box)
    for k, value in enumerate(labels.values):
        inside = labels.codes == k
        ax.scatter(*t[inside].T, color=palette[k], s=6, label=str(value))
    ax.set_title("shading: learned probabilities of the classes", fontsize=7)
    beside = len(labels.values) > 4
    ax.legend(markerscale=2, **({"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {}))


def _palette(labels: Labels) -> NDArray[Any]:
    """Return a colour for each class, (B, 3)."""
    import matplotlib as mpl
    from matplotlib.colors import to_rgb

    count = len(labels.values)
    if count < len(COLOURS):
        return np.array([to_rgb(colour) for colour in COLOURS[:count]])
    return np.asarray(mpl.colormaps["turbo"](np.linspace(0.05, 0.95, count)))[:, :3]


def _running_mean(t: NDArray[Any], y: NDArray[Any], parts: int = 25) -> tuple[Any, Any]:
    order = np.argsort(t)
    groups = [group for group in np.array_split(order, min(parts, len(t))) if len(group)]
    return [t[group].mean() for group in groups], [y[group].mean() for group in groups]
