"""Pictures of how directions were found, and of the methods that would have missed them.

``LandingsDisplay``   information against the number of directions, along the staircase.
``BlindnessDisplay``  which moments of each coordinate change with y, and which methods see them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learnability.drawing.style import COLOURS, ShowsItself, house_style, new_axes
from learnability.errors import LearnabilityError
from learnability.estimators._labels import read_labels
from learnability.estimators._report import METHODS_SEEN, moment_strengths

__all__ = ["BlindnessDisplay", "LandingsDisplay"]


class LandingsDisplay(ShowsItself):
    """Information of the label at the landings of the staircase.

    Parameters
    ----------
    landings : list of (int, float)
        Number of directions and information in nats: first all at once, then for each climb the
        known ones and all of them together.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What `plot` drew.
    """

    def __init__(self, landings: list[tuple[int, float]]) -> None:
        self.landings = landings

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> LandingsDisplay:
        """Draw a fitted `MessagePassingSubspace`, or an `IndexSubspace` that chose one.

        Parameters
        ----------
        estimator : subspace estimator
            The fitted estimator.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        LandingsDisplay
        """
        finder = getattr(estimator, "estimator_", estimator)
        if not hasattr(finder, "landings_"):
            raise LearnabilityError(
                f"{type(finder).__name__} climbs no staircase: give a fitted "
                "MessagePassingSubspace, or an IndexSubspace that chose message passing."
            )
        return cls(finder.landings_).plot(ax=ax)

    def plot(self, ax: Any = None) -> LandingsDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        LandingsDisplay
        """
        all_at_once, *climbs = self.landings
        with house_style():
            ax = new_axes(ax)
            path = [(0, 0.0)]
            number = 0
            for r, information in climbs:
                if r < all_at_once[0]:
                    number += 1
                    path = [(0, 0.0), (r, information)]
                    continue
                steps = np.array([*path, (r, information)])
                ax.step(
                    *steps.T, "o-", where="post", ms=4, color=COLOURS[number % len(COLOURS)],
                    label=f"staircase {number}: {path[-1][0]} then {r - path[-1][0]} more",
                )  # fmt: skip
            ax.plot(*all_at_once, "s", mfc="none", ms=8, color=COLOURS[0], label="all at once")
            ax.set(
                xlabel="number of directions", ylabel="information (nats)",
                xticks=range(all_at_once[0] + 1), xlim=(-0.1, all_at_once[0] + 0.3),
            )  # fmt: skip
            ax.legend(loc="upper left")
            ax.set_ylim(top=1.45 * max(ax.get_ylim()[1], 1e-3))
        self.ax_, self.figure_ = ax, ax.figure
        return self


class BlindnessDisplay(ShowsItself):
    """Which method sees which coordinate.

    Parameters
    ----------
    strengths : dict
        Method -> array (r,): how much the moments that it uses change with y, in units of the
        largest change that chance would make.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        What `plot` drew.
    """

    def __init__(self, strengths: dict[str, NDArray[Any]]) -> None:
        self.strengths = strengths

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> BlindnessDisplay:
        """Draw the table for the coordinates of a fitted estimator.

        Parameters
        ----------
        estimator : subspace estimator
            The fitted estimator.
        X, y : array
            Data, preferably not those of the fit; for an `IndexSubspace` on its own rows, the
            held-out coordinates are used.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        BlindnessDisplay
        """
        coordinates = np.asarray(estimator.transform(X))
        if _of_the_fit(estimator, coordinates):
            coordinates = estimator.held_out_
        labels = read_labels(np.asarray(y), np.ones(len(coordinates)))
        return cls(moment_strengths(labels, coordinates)).plot(ax=ax)

    def plot(self, ax: Any = None) -> BlindnessDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        BlindnessDisplay
        """
        table = np.array([self.strengths[method] for method in METHODS_SEEN])
        with house_style():
            ax = new_axes(ax)
            shown = np.log10(np.maximum(table, 1e-3))
            ax.imshow(shown, cmap="RdYlGn", vmin=-1, vmax=1, aspect="auto", alpha=0.6)
            for (row, column), value in np.ndenumerate(table):
                word = "sees" if value > 1 else "blind"
                ax.text(column, row, f"{word}\n{value:.2g}", ha="center", va="center", fontsize=8)
            ax.set(
                xticks=range(table.shape[1]), xticklabels=range(1, table.shape[1] + 1),
                yticks=range(len(METHODS_SEEN)), yticklabels=METHODS_SEEN, xlabel="coordinate",
            )  # fmt: skip
            ax.grid(visible=False)
            ax.set_title("change with $y$ / chance", fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _of_the_fit(estimator: Any, coordinates: NDArray[Any]) -> bool:
    """Return whether coordinates are those of the rows to which an `IndexSubspace` was fitted."""
    own = getattr(estimator, "own_mean_", None)
    if own is None or len(coordinates) != len(estimator.held_out_):
        return False
    return np.allclose(coordinates.mean(axis=0), own, rtol=0.0, atol=1e-9 * coordinates.std())
