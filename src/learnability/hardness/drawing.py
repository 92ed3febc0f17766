"""The hardness report as a table, as labelled data and as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.hardness.costs import Cost
from learnability.hardness.csq import HIGHEST_KAPPA
from learnability.hardness.steps import Step

if TYPE_CHECKING:
    import xarray

    from learnability.hardness.report import Hardness

__all__ = ["dataset", "draw", "table"]


def table(report: Hardness) -> str:
    """The report as text, at most about a hundred characters wide."""
    target = report.target
    name = target.link.text if target.link.text is not None else repr(target.link)
    lines = [f"y = {name}" + (f" + sqrt({target.noise:g}) xi" if target.noise else ""), ""]
    rows = [
        ("kind", report.kind or "constant"),
        ("alpha_c", _number(report.alpha_c, report.alpha_c_error)),
        ("information exponent", _or_unknown(report.information_exponent)),
        ("generative exponent", _or_unknown(report.generative_exponent)),
        ("leap", _or_unknown(report.leap)),
    ]
    lines += [f"  {left:<22}{right}" for left, right in rows]
    if report.staircase:
        lines += [
            "",
            "Grand staircase (what the best algorithms see)",
            f"  {'kind':<9}{'alpha':<22}{'order':<7}new directions",
        ]
        lines += [
            f"  {s.kind:<9}{_number(s.alpha, s.alpha_error):<22}"
            f"{_or_unknown(s.order):<7}{_directions(s)}"
            for s in report.staircase
        ]
    if report.floors:
        kappas = "".join(f"{f'kappa={k}':<10}" for k in range(3))
        lines += [
            "",
            "CSQ staircase (what gradient steps on fresh data see) and risk floors",
            f"  {'step':<6}{'order':<7}{kappas}new directions",
        ]
        for t, floors in enumerate(report.floors):
            step = report.csq_staircase[t - 1] if t else None
            order = "-" if step is None else _or_unknown(step.order)
            values = "".join(f"{value:<10.4g}" for value in floors[:3])
            lines.append(
                f"  {t:<6}{order:<7}{values}{'none yet' if step is None else _directions(step)}"
            )
    if report.costs:
        lines += ["", "Samples needed", f"  {'algorithm':<28}{'n':<22}{'to learn':<46}reference"]
        lines += [
            f"  {c.algorithm:<28}{_scaling(c):<22}{c.learns:<46}{c.reference}" for c in report.costs
        ]
    lines += ["", *(f"Note: {note}" for note in report.notes)] if report.notes else []
    lines += [f"Undecided: {item}" for item in report.undecided]
    return "\n".join(lines)


def _number(value: float | None, error: float | None) -> str:
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "infinite"
    if not error or error < 1e-9:
        return f"{value:.9g}"
    digits = max(int(-math.floor(math.log10(error))) + 1, 1)
    return f"{value:.{digits}f} +- {error:.1g}"


def _or_unknown(value: int | None) -> str:
    return "?" if value is None else str(value)


def _directions(step: Step) -> str:
    """Directions as combinations of z, such as 'z1, 0.71 z2 + 0.71 z3'."""
    names = ["z"] if step.directions.shape[1] == 1 else [f"z{i + 1}" for i in range(9)]
    texts = []
    for row in step.directions:
        parts = [
            (
                "-" if x < 0 else "+",
                f"{abs(x):.3g} {names[i]}" if abs(abs(x) - 1) > 1e-6 else names[i],
            )
            for i, x in enumerate(row)
            if abs(x) > 5e-4
        ]
        text = " ".join(f"{sign} {body}" for sign, body in parts)
        texts.append(text.removeprefix("+ "))
    return ", ".join(texts)


def _scaling(cost: Cost, power: str = "d^{}", logarithm: str = " log d") -> str:
    if cost.exponent is None:
        return "not known"
    constant = cost.constant
    factor = f"{constant:.4g} " if constant is not None and math.isfinite(constant) else ""
    body = "d" if cost.exponent == 1 else power.format(f"{cost.exponent:g}")
    return factor + body + (logarithm if cost.log_power else "")


def dataset(report: Hardness) -> xarray.Dataset:
    """The numbers of the report as labelled arrays."""
    import xarray

    steps, csq = report.staircase, report.csq_staircase
    r = report.target.r
    return xarray.Dataset(
        {
            "alpha": (
                "step",
                np.array([np.nan if s.alpha is None else s.alpha for s in steps], float),
            ),
            "alpha_error": ("step", np.array([s.alpha_error or 0.0 for s in steps], float)),
            "projector": (("step", "index", "other"), _projectors(steps, r)),
            "csq_order": ("csq_step", np.array([s.order or -1 for s in csq], int)),
            "csq_projector": (("csq_step", "index", "other"), _projectors(csq, r)),
            "floor": (
                ("known_steps", "kappa"),
                np.array(report.floors, float).reshape(-1, HIGHEST_KAPPA + 1),
            ),
            "exponent": (
                "algorithm",
                np.array(
                    [np.nan if c.exponent is None else c.exponent for c in report.costs], float
                ),
            ),
            "log_power": ("algorithm", np.array([c.log_power for c in report.costs], int)),
        },
        coords={
            "step": np.arange(1, len(steps) + 1),
            "csq_step": np.arange(1, len(csq) + 1),
            "known_steps": np.arange(len(report.floors)),
            "kappa": np.arange(HIGHEST_KAPPA + 1),
            "index": np.arange(1, r + 1),
            "other": np.arange(1, r + 1),
            "algorithm": [c.algorithm for c in report.costs],
        },
        attrs={
            "link": report.target.link.text or repr(report.target.link),
            "noise": report.target.noise,
            "kind": report.kind or "constant",
            "alpha_c": report.alpha_c,
            "alpha_c_error": report.alpha_c_error,
        },
    )


def _projectors(steps: tuple[Step, ...], r: int) -> Any:
    return np.array([s.directions.T @ s.directions for s in steps]).reshape(-1, r, r)


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

    from learnability.plotting import COLOURS, WIDTHS, house_style

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
        label = _directions(step) if report.target.r <= 3 else step.kind
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
            _scaling(cost, "$d^{{{}}}$", r" $\log\,d$"),
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
