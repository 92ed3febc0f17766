"""Pictures of the number of directions, as scikit-learn Displays.

``SpectrumDisplay``   eigenvalues of a moment method, the edge of the bulk, and shuffled labels.
``StabilityDisplay``  split-half overlap and held-out information against the number of directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from learnability.drawing.style import COLOURS, ShowsItself, house_style, new_axes
from learnability.estimators._base import as_seed
from learnability.estimators._judge import judge
from learnability.estimators._labels import read_labels
from learnability.estimators.message_passing_subspace import MessagePassingSubspace
from learnability.estimators.subspaces import split_half

__all__ = ["SpectrumDisplay", "StabilityDisplay"]


class SpectrumDisplay(ShowsItself):
    """Spectrum of a moment method, with its bulk edge and the spectra of shuffled labels.

    Parameters
    ----------
    eigenvalues : array
        The eigenvalues in decreasing order.
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
            The fitted estimator.
        X, y : array
            The data it was fitted to.
        repeats, random_state : int
            Number of shuffles, and their seed.
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
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        most : int
            The largest number of eigenvalues that are drawn.

        Returns
        -------
        SpectrumDisplay
        """
        with house_style():
            ax = new_axes(ax)
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


class StabilityDisplay(ShowsItself):
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
        """Fit 1, 2, ... directions and draw how stable and how informative they are.

        Parameters
        ----------
        X, y : array
            The data.
        estimator : subspace estimator, optional
            `MessagePassingSubspace` by default.
        max_components : int
            The largest number of directions.
        random_state : int
            The seed of all random choices.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        StabilityDisplay
        """
        finder = MessagePassingSubspace(random_state=random_state)
        finder = finder if estimator is None else estimator
        seed = as_seed(random_state)
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        labels = read_labels(y, np.ones(len(X)))
        overlap, scores, errors = [], [], []
        for r in range(1, max_components + 1):
            one = clone(finder).set_params(n_components=r)
            overlap.append(split_half(one, X, y, 3, seed).mean())
            found = judge(one, X, y, labels, folds=3, seed=seed, how="information")
            scores.append(found.score)
            errors.append(found.error)
        return cls(np.array(overlap), np.array(scores), np.array(errors)).plot(ax=ax)

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        StabilityDisplay
        """
        with house_style():
            ax = new_axes(ax)
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
