"""Pictures of a fitted subspace, as scikit-learn Displays.

``SummaryDisplay``    y against one coordinate, or colour over two, with a smooth mean as the line.
``SpectrumDisplay``   eigenvalues of a moment method, the edge of the bulk, and shuffled labels.
``StabilityDisplay``  split-half overlap and held-out information against the number of directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from learnability.drawing import COLOURS, house_style
from learnability.estimators._judge import judge
from learnability.estimators._labels import read_labels
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.subspaces import split_half

__all__ = ["SpectrumDisplay", "StabilityDisplay", "SummaryDisplay"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(3.6, 2.8)).subplots()


class SummaryDisplay:
    """Sufficient summary plot: y against the coordinates that were found.

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
            Fitted.
        X, y : array
            The data.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SummaryDisplay
        """
        return cls(np.asarray(estimator.transform(X)), np.asarray(y)).plot(ax=ax)

    def plot(self, ax: Any = None) -> SummaryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SummaryDisplay
        """
        with house_style():
            ax = _axes(ax)
            values, codes = np.unique(self.y, return_inverse=True)
            classes = self.y.dtype.kind not in "fiu" or len(values) <= 10
            if self.coordinates.shape[1] == 0:
                ax.text(0.5, 0.5, "no direction was found", ha="center", transform=ax.transAxes)
            elif self.coordinates.shape[1] == 1 and not classes:
                t = self.coordinates[:, 0]
                ax.plot(t, self.y, ".", ms=3, alpha=0.5, color=COLOURS[0])
                ax.plot(*_running_mean(t, self.y), color=COLOURS[1])
                ax.set(xlabel="first coordinate", ylabel="y")
            elif self.coordinates.shape[1] == 1:
                for k, value in enumerate(values):
                    ax.hist(
                        self.coordinates[codes == k, 0], bins=30, density=True, alpha=0.5,
                        label=str(value),
                    )  # fmt: skip
                ax.set(xlabel="first coordinate", ylabel="density")
                ax.legend()
            else:
                ranks = codes / max(len(values) - 1, 1)
                drawn = ax.scatter(
                    self.coordinates[:, 0], self.coordinates[:, 1], c=ranks, s=6, cmap="viridis"
                )
                ax.figure.colorbar(drawn, ax=ax, label="rank of y")
                ax.set(xlabel="first coordinate", ylabel="second coordinate")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class SpectrumDisplay:
    """Spectrum of a moment method, with its bulk edge and the spectra of shuffled labels.

    Parameters
    ----------
    eigenvalues : array
        In falling order.
    bulk_edge : float
        NaN where it is not known.
    shuffled : array, shape (repeats, m)
        Spectra after shuffling y.
    """

    def __init__(self, eigenvalues: NDArray[Any], bulk_edge: float, shuffled: NDArray[Any]) -> None:
        self.eigenvalues = eigenvalues
        self.bulk_edge = bulk_edge
        self.shuffled = shuffled

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, repeats: int = 9, random_state: int = 0,
        ax: Any = None,
    ) -> SpectrumDisplay:  # fmt: skip
        """Draw the spectrum of a fitted `MomentSubspace`.

        Parameters
        ----------
        estimator : MomentSubspace
            Fitted.
        X, y : array
            The data it was fitted to.
        repeats, random_state : int
            Number of shuffles, and what fixes them.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SpectrumDisplay
        """
        rng = np.random.default_rng(random_state)
        spectra = [
            clone(estimator).fit(X, rng.permutation(np.asarray(y))).eigenvalues_
            for _ in range(repeats)
        ]
        least = min(len(spectrum) for spectrum in spectra)
        shuffled = np.array([spectrum[:least] for spectrum in spectra])
        return cls(estimator.eigenvalues_, estimator.bulk_edge_, shuffled).plot(ax=ax)

    def plot(self, ax: Any = None, most: int = 20) -> SpectrumDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        most : int
            Eigenvalues that are drawn.

        Returns
        -------
        SpectrumDisplay
        """
        with house_style():
            ax = _axes(ax)
            shown, null = self.eigenvalues[:most], self.shuffled[:, :most]
            where = np.arange(1, null.shape[1] + 1)
            ax.fill_between(where, null.min(0), null.max(0), color="0.8", label="shuffled y")
            ax.plot(np.arange(1, len(shown) + 1), shown, "o", ms=4, color=COLOURS[0], label="data")
            if np.isfinite(self.bulk_edge):
                ax.axhline(self.bulk_edge, ls="--", color="0.4", label="bulk edge")
            ax.set(xlabel="number", ylabel="eigenvalue")
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class StabilityDisplay:
    """Split-half overlap and held-out information against the number of directions.

    Parameters
    ----------
    overlap : array, shape (R,)
        Overlap of two halves for r = 1, ..., R.
    information, errors : array, shape (R,)
        Held-out information and its standard error.
    """

    def __init__(
        self, overlap: NDArray[Any], information: NDArray[Any], errors: NDArray[Any]
    ) -> None:
        self.overlap = overlap
        self.information = information
        self.errors = errors

    @classmethod
    def from_data(
        cls, X: Any, y: Any, *, estimator: Any = None, max_components: int = 4,
        random_state: int = 0, ax: Any = None,
    ) -> StabilityDisplay:  # fmt: skip
        """Fit 1, 2, ... directions and draw how stable and how informed they are.

        Parameters
        ----------
        X, y : array
            The data.
        estimator : subspace estimator, optional
            `MessagePassingSubspace` by default.
        max_components : int
            Most directions.
        random_state : int
            Fixes everything.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        StabilityDisplay
        """
        finder = MessagePassingSubspace(random_state=random_state)
        finder = finder if estimator is None else estimator
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        labels = read_labels(y, np.ones(len(X)))
        overlap, scores, errors = [], [], []
        for r in range(1, max_components + 1):
            one = clone(finder).set_params(n_components=r)
            overlap.append(split_half(one, X, y, 3, random_state).mean())
            found = judge(one, X, y, labels, folds=3, seed=random_state, how="information")
            scores.append(found.score)
            errors.append(found.error)
        return cls(np.array(overlap), np.array(scores), np.array(errors)).plot(ax=ax)

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        StabilityDisplay
        """
        with house_style():
            ax = _axes(ax)
            r = np.arange(1, len(self.overlap) + 1)
            ax.plot(r, self.overlap, "o-", color=COLOURS[0], label="overlap of two halves")
            ax.errorbar(
                r, self.information, self.errors, fmt="s--", color=COLOURS[1],
                label="held-out information (nats)",
            )  # fmt: skip
            ax.axhline(0, lw=0.6, color="0.6")
            ax.set(xlabel="number of directions", xticks=r)
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _running_mean(t: NDArray[Any], y: NDArray[Any], parts: int = 25) -> tuple[Any, Any]:
    order = np.argsort(t)
    groups = [group for group in np.array_split(order, min(parts, len(t))) if len(group)]
    return [t[group].mean() for group in groups], [y[group].mean() for group in groups]
