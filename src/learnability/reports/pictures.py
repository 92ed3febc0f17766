"""The hardness report as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from learnability.reports.tables import directions_text, scaling_text

if TYPE_CHECKING:
    from learnability.reports.multi_index import Hardness

__all__ = ["draw"]


def draw(report: Hardness, path: str | None = None) -> Any:
    """Draw the staircase, the risk floors and the cost of each algorithm.

    Parameters
    ----------
    report : Hardness
        The report.
    path : str, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from learnability.drawing.style import COLOURS, WIDTHS, house_style

    with house_style():
        figure = Figure(figsize=(WIDTHS["text"], 2.5), layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=(1.15, 1, 1.35))
        figure.suptitle(f"${report.target.link.latex}$", fontsize=10)
        _draw_staircase(left, report, COLOURS)
        _draw_floors(middle, report, COLOURS)
        _draw_costs(right, report, COLOURS)
        if path is not None:
            figure.savefig(path)
    return figure


def _draw_staircase(axes: Any, report: Hardness, colours: tuple[str, ...]) -> None:
    finite = [s for s in report.staircase if s.alpha is not None and math.isfinite(s.alpha)]
    end = 1.35 * max([s.alpha for s in finite if s.alpha] + [1.0])
    alphas, known = [0.0], [0]
    for step in finite:
        # A step that would open earlier than the one before it has to wait for it.
        alphas.append(max(step.alpha or 0.0, alphas[-1]))
        known.append(known[-1] + len(step.directions))
    axes.step([*alphas, end], [*known, known[-1]], where="post", color=colours[0])
    for step, alpha, count in zip(finite, alphas[1:], known[1:], strict=True):
        label = directions_text(step) if report.target.r <= 3 else step.kind
        axes.annotate(label, (alpha, count), xytext=(3, 3), textcoords="offset points", fontsize=7)
        axes.plot([alpha], [count], "o", ms=3.5, color=colours[1])
    axes.axhline(len(report.relevant), ls=":", lw=0.8, color="0.5")
    axes.set(
        xlabel=r"$\alpha = n/d$",
        ylabel="directions opened",
        xlim=(-0.02 * end, end),
        ylim=(-0.15, len(report.relevant) + 0.6),
        title=f"grand staircase: {report.kind or 'constant'}",
    )
    axes.set_yticks(range(len(report.relevant) + 1))


def _draw_floors(axes: Any, report: Hardness, colours: tuple[str, ...]) -> None:
    steps = range(len(report.floors))
    for kappa in range(3):
        values = [row[kappa] for row in report.floors]
        size = 3 - kappa  # Equal floors stay visible under one another.
        axes.plot(
            steps,
            values,
            "o-",
            ms=2 + 2 * size,
            lw=size,
            color=colours[kappa],
            label=rf"$\kappa = {kappa}$",
        )
    axes.set(xlabel="gradient steps on fresh data", ylabel="risk floor", title="CSQ staircase")
    axes.set_xticks(list(steps))
    if report.floors:
        axes.set_ylim(bottom=-0.04 * max(report.floors[0][0], 1e-12))
        axes.legend()


def _draw_costs(axes: Any, report: Hardness, colours: tuple[str, ...]) -> None:
    known = [c for c in report.costs if c.exponent is not None]
    for k, cost in enumerate(known):
        exponent = cost.exponent or 0.0
        axes.barh(k, exponent, color=colours[0], height=0.6)
        axes.annotate(
            scaling_text(cost, "$d^{{{}}}$", r" $\log\,d$"),
            (exponent, k),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    axes.set_yticks(range(len(known)), [c.algorithm for c in known])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.45 * max([c.exponent or 0.0 for c in known] + [1.0]))
    axes.set(xlabel=r"exponent of $d$", title="samples needed")
