"""The hardness report as a table and as labelled data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from learnability.reports.costs import Cost
from learnability.theory.csq import HIGHEST_KAPPA
from learnability.theory.steps import Step

if TYPE_CHECKING:
    import xarray

    from learnability.reports.multi_index import Hardness

__all__ = ["dataset", "directions_text", "scaling_text", "table"]


def table(report: Hardness) -> str:
    """Return the report as text, at most about a hundred characters wide."""
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
            f"{_or_unknown(s.order):<7}{directions_text(s)}"
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
                f"  {t:<6}{order:<7}{values}{'none yet' if step is None else directions_text(step)}"
            )
    if report.costs:
        lines += ["", "Samples needed", f"  {'algorithm':<28}{'n':<22}{'to learn':<46}reference"]
        lines += [
            f"  {c.algorithm:<28}{scaling_text(c):<22}{c.learns:<46}{c.reference}"
            for c in report.costs
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


def directions_text(step: Step) -> str:
    """Return directions as combinations of z, such as 'z1, 0.71 z2 + 0.71 z3'."""
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


def scaling_text(cost: Cost, power: str = "d^{}", logarithm: str = " log d") -> str:
    """Return how the number of samples grows with d."""
    if cost.exponent is None:
        return "not known"
    constant = cost.constant
    factor = f"{constant:.4g} " if constant is not None and math.isfinite(constant) else ""
    body = "d" if cost.exponent == 1 else power.format(f"{cost.exponent:g}")
    return factor + body + (logarithm if cost.log_power else "")


def dataset(report: Hardness) -> xarray.Dataset:
    """Return the numbers of the report as labelled arrays."""
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
