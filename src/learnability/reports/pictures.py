"""The hardness report as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from learnability.drawing.style import COLOURS
from learnability.reports.costs import Cost
from learnability.reports.tables import directions_text, kind_text, or_unknown

if TYPE_CHECKING:
    from learnability.drawing.picture import Picture
    from learnability.reports.hierarchical import HierarchicalHardness
    from learnability.reports.multi_index import Hardness

__all__ = ["draw", "draw_hierarchical", "draw_staircases"]

_LONGEST = 22
"""The largest number of characters in the name of a step."""
_LOGARITHM = 0.2
"""Length of the hatched piece of a bar that stands for a factor log d."""

_BOUND = {"facecolor": "none", "edgecolor": "0.45", "linestyle": (0, (2, 1.5)), "linewidth": 0.9}
"""The look of the bar of a bound."""


def draw(report: Hardness) -> Picture:
    """Draw the staircase, the risk floors and the cost of each algorithm.

    Parameters
    ----------
    report : Hardness
        The report.
    """
    from learnability.drawing.picture import Picture
    from learnability.drawing.style import WIDTHS, house_style

    with house_style():
        figure = Picture(figsize=(WIDTHS["text"], 2.7), layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=(1.15, 1, 1.35))
        _title(figure, report.formula)
        _draw_staircase(left, report)
        _draw_floors(middle, report)
        _draw_costs(right, report.costs)
    return figure


def draw_hierarchical(report: HierarchicalHardness) -> Picture:
    """Draw the exponents of kernels, two and three layers.

    Parameters
    ----------
    report : HierarchicalHardness
        The report.
    """
    from learnability.drawing.picture import Picture
    from learnability.drawing.style import WIDTHS, house_style

    costs = [replace(c, algorithm=f"{c.algorithm}: {c.learns}") for c in report.costs]
    with house_style():
        height = 1.1 + 0.24 * len(costs)
        figure = Picture(figsize=(WIDTHS["text"], height), layout="constrained")
        _title(figure, report.formula)
        _draw_costs(figure.subplots(), costs)
    return figure


def draw_staircases(reports: Mapping[str, Hardness]) -> Picture:
    """Draw the grand staircases of several functions into one panel.

    Parameters
    ----------
    reports : mapping
        Name of a function -> its report.
    """
    from learnability.drawing.picture import Picture
    from learnability.drawing.style import WIDTHS, house_style

    found = {name: _opened(report) for name, report in reports.items()}
    end = 1.2 * max([alphas[-1] for alphas, _ in found.values()] + [1.0])
    with house_style():
        figure = Picture(figsize=(WIDTHS["text"], 2.9), layout="constrained")
        axes = figure.subplots()
        for k, (name, (alphas, known)) in enumerate(found.items()):
            share = [count / max(len(reports[name].relevant), 1) for count in known]
            axes.step(
                [*alphas, end],
                [*share, share[-1]],
                where="post",
                lw=1.4 + 0.9 * (len(found) - 1 - k),  # Equal ones stay visible below each other.
                color=COLOURS[k],
                label=name if share[-1] else f"{name}: nothing opens",
            )
        axes.set(xlabel=r"$\alpha = n/d$", ylabel="share of directions opened", xlim=(0, end))
        axes.set_ylim(-0.04, 1.15)
        figure.legend(loc="outside right upper")
    return figure


def _opened(report: Hardness) -> tuple[list[float], list[int]]:
    """Return where the grand staircase rises, and how many directions are open from there on."""
    alphas, known = [0.0], [0]
    for step in report.staircase:
        if step.alpha is not None and math.isfinite(step.alpha):
            # A step that would open earlier than the one before it has to wait for it.
            alphas.append(max(step.alpha, alphas[-1]))
            known.append(known[-1] + len(step.directions))
    return alphas, known


def _title(figure: Picture, formula: str) -> None:
    """Put the formula above the panels, in smaller letters when it is long."""
    plain = formula.replace(r"\left", "").replace(r"\right", "")  # Mathtext sets these too small.
    figure.suptitle(f"${plain}$", fontsize=min(10.0, 900 / max(len(plain), 1)))


def _draw_staircase(axes: Any, report: Hardness) -> None:
    finite = [s for s in report.staircase if s.alpha is not None and math.isfinite(s.alpha)]
    end = 1.35 * max([s.alpha for s in finite if s.alpha] + [1.0])
    alphas, known = _opened(report)
    axes.step([*alphas, end], [*known, known[-1]], where="post", color=COLOURS[0])
    for step, alpha, count in zip(finite, alphas[1:], known[1:], strict=True):
        label = directions_text(step) if report.target.r <= 3 else or_unknown(step.kind)
        left = alpha < 0.6 * end  # A name starts at its step, or ends there near the right edge.
        axes.annotate(
            label if len(label) <= _LONGEST else f"{len(step.directions)} of them",
            (alpha, count),
            xytext=(3 if left else -3, 4),
            textcoords="offset points",
            ha="left" if left else "right",
            fontsize=7,
        )
        axes.plot([alpha], [count], "o", ms=3.5, color=COLOURS[1])
    axes.axhline(len(report.relevant), ls=":", lw=0.8, color="0.5")
    axes.set(
        xlabel=r"$\alpha = n/d$",
        ylabel="directions opened",
        xlim=(-0.02 * end, end),
        ylim=(-0.15, 1.2 * len(report.relevant) + 0.1),
        title=f"grand staircase: {kind_text(report)}",
    )
    axes.set_yticks(range(len(report.relevant) + 1))


def _draw_floors(axes: Any, report: Hardness) -> None:
    steps = range(len(report.floors))
    for kappa in range(3):
        values = [row[kappa] for row in report.floors]
        size = 3 - kappa  # Equal floors stay visible below each other.
        axes.plot(
            steps,
            values,
            "o-",
            ms=2 + 2 * size,
            lw=size,
            color=COLOURS[kappa],
            label=rf"$\kappa = {kappa}$",
        )
    axes.set(xlabel="gradient steps on fresh data", ylabel="risk floor", title="CSQ staircase")
    axes.set_xticks(list(steps))
    if report.floors:
        highest = max(report.floors[0][0], 1e-12)
        axes.set_ylim(-0.04 * highest, 1.35 * highest)  # The legend stands above the curves.
        axes.legend(
            ncols=3, loc="upper right", columnspacing=0.7, handlelength=0.7, handletextpad=0.4,
            markerscale=0.55, borderaxespad=0.0, fontsize=7,
        )  # fmt: skip


def _draw_costs(axes: Any, costs: Sequence[Cost]) -> None:
    """Draw bars as long as the power of d; a logarithm adds a hatched piece to a bar.

    Bars of bounds are empty, so that nobody takes them for the cost of an algorithm.
    """
    known = [c for c in costs if c.exponent is not None]
    for k, cost in enumerate(known):
        exponent = cost.exponent or 0.0
        look = _BOUND if cost.bound else {"color": COLOURS[0]}
        axes.barh(k, exponent, height=0.6, **look)
        end = exponent
        if cost.log_power:
            end += _LOGARITHM
            axes.barh(
                k, _LOGARITHM, left=exponent, height=0.6, hatch="/////", facecolor="white",
                edgecolor=COLOURS[0], lw=0.8,
            )  # fmt: skip
        axes.annotate(
            _scaling_latex(cost),
            (end, k),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(known)), [c.algorithm for c in known])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    longest = max([c.exponent or 0.0 for c in known] + [1.0])
    axes.set(xlim=(0, 1.6 * longest), xlabel=r"exponent of $d$", title="samples needed")
    axes.set_xticks(range(math.floor(1.6 * longest) + 1))


def _scaling_latex(cost: Cost) -> str:
    """Return how the number of samples grows with d, as one formula."""
    sign = {"lower": r"\geq ", "upper": r"\leq "}.get(cost.bound, "")
    factor = "" if cost.constant is None else rf"{cost.constant:.3g}\,"
    factor = sign + (factor if math.isfinite(cost.constant or 0.0) else "")
    power = "d" if cost.exponent == 1 else f"d^{{{cost.exponent:g}}}"
    return f"${factor}{power}" + (r"\,\log d$" if cost.log_power else "$")
