"""What the page is made of: learners, options, the schema of results and the catalogue, as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import learnability
from learnability.cli.learner_options import learner_options
from learnability.cli.target_options import input_options, target_options, tree_options
from learnability.drawing.series import label_of
from learnability.explorer.asking import controls
from learnability.explorer.curves import worded
from learnability.explorer.limits import LIMITS
from learnability.inputs import INPUTS
from learnability.labels import CATALOGUE
from learnability.learners import LEARNERS
from learnability.learners.base import Learner, Question
from learnability.markup import formula
from learnability.reports.forms import labels_latex
from learnability.results.schema import COORDINATES, OBSERVABLES, THRESHOLDS

__all__ = ["declarations", "estimate_of", "formula_of", "report_of"]


def declarations() -> dict[str, Any]:
    """Everything that the page knows before a function is typed."""
    return {
        "version": learnability.__version__,
        "learners": [_learner(kind) for kind in LEARNERS.values()],
        "target": controls(target_options()),
        "inputs": _inputs(),
        "tree": [option.name for option in tree_options().values()],
        "catalogue": [asdict(entry) for entry in CATALOGUE],
        "observables": {name: _row(OBSERVABLES, name) for name in OBSERVABLES},
        "coordinates": {name: _row(COORDINATES, name) for name in COORDINATES},
        "thresholds": {
            name: {"meaning": meaning, "label": worded(_symbol(name))}
            for name, meaning in THRESHOLDS.items()
        },
        "limits": asdict(LIMITS),
    }


def _symbol(name: str) -> str:
    return rf"$\alpha_{{\mathrm{{{name.removeprefix('alpha_')}}}}}$"


def _row(rows: Any, name: str) -> dict[str, str]:
    label = label_of(rows, name)
    return {"meaning": rows[name].meaning, "label": worded(label), "unit": rows[name].unit}


def _inputs() -> dict[str, list[str]]:
    """The options that belong to the fields of each kind of inputs."""
    found: dict[str, list[str]] = {kind: [] for kind in INPUTS}
    for (kind, _), option in input_options().items():
        found[kind].append(option.name)
    return found


def _learner(learner: type[Learner]) -> dict[str, Any]:
    support = learner.supports
    return {
        "name": learner.name,
        "title": (learner.__doc__ or "").strip().partition("\n")[0],
        "targets": list(support.targets),
        "inputs": list(support.inputs),
        "most_directions": support.most_directions,
        "questions": [_question(question) for question in learner.questions],
        "options": controls(learner_options(learner, "plot")),
    }


def _question(question: Question) -> dict[str, Any]:
    sides = {}
    for verb in ("predict", "simulate"):
        side = question.side(verb)
        sides[verb] = None if side is None else {"needs": side.needs, "takes": side.takes}
    axes = [name for side in sides.values() if side for name in side["needs"] if name != "d"]
    return {
        "name": question.name,
        "help": question.help,
        "axis": next((name for name in axes if name in ("alpha", "time")), None),
        "reason": question.reason,
        **sides,
    }


def formula_of(target: Any) -> dict[str, Any]:
    """The formula of a target, and what its law says of itself.

    Parameters
    ----------
    target : Target
        The target that was typed.
    """
    latex = labels_latex(target.link.latex, target.noise)
    return {
        "mathml": formula(latex, display=True),
        "latex": latex,
        "link": target.link.text,
        "r": target.r,
        "kind": target.kind,
        "inputs": target.inputs.kind,
        "law": None if target.channel.law is None else target.channel.law.name,
    }


def estimate_of(found: Any) -> dict[str, Any]:
    """What is known of the threshold before the report is made.

    Parameters
    ----------
    found : WeakRecovery
        The estimate from few samples.
    """
    if len(found.trivial):
        return {"kind": "trivial", "alpha_c": 0.0, "alpha_c_error": 0.0}
    return {"kind": "easy", "alpha_c": found.alpha, "alpha_c_error": found.alpha_error}


def report_of(report: Any) -> dict[str, Any]:
    """A report: its numbers, its tables, and the texts that a user can copy from it.

    Parameters
    ----------
    report : Hardness or HierarchicalHardness
        From `hardness`.
    """
    return {
        "facts": report.to_dict(),
        "tables": [
            {"caption": table.caption, "head": table.head, "rows": table.rows}
            for table in report.tables()
        ],
        "bibtex": report.cite(),
        "latex": report.to_latex(),
    }
