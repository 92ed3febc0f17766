"""Figures of the literature, drawn anew: theory as lines, runs of the algorithm as crosses."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError

if TYPE_CHECKING:
    from learnability.targets import TargetLike

__all__ = ["FIGURES", "draw", "takes_target"]

FIGURES = {
    "parity-transition": "a parity of two directions is learned above pi^2/4 samples per dimension",
    "grand-staircase": "z1 is learned first and opens the way to z2 and z3",
    "batch-reuse": "a second pass over the same batch sees more than correlations",
    "giant-stairs": "two giant steps find directions one after the other",
    "one-step-error": "the error after one giant step, exactly",
    "one-step-spectrum": "one giant step takes a singular value out of the bulk",
    "bbp-transition": "from some size of the step on a singular value leaves the bulk",
    "learning-rates": "small steps learn what random features learn, large ones more",
    "regimes": "what one giant step can learn with n and p of the order of powers of d",
    "lazy-polynomial": "kernels and random features learn one degree after the other",
    "depth-scenarios": "kernels, two layers and three layers on a hierarchical target",
    "depth-four": "two, three and four layers on a tree of depth 4",
    "overlaps": "what the first and the second layer have found, against theory",
    "plain-steps": "plain against preconditioned steps on the second layer",
    "first-layer": "the first layer is learned at n* of order d^(1 + epsilon), one curve for all d",
    "ideal-stages": "two and three layers once the directions are known",
    "kernel-spectrum": "the conjugate kernel before and after the first layer is learned",
    "rank-collapse": "rows of the first layer collapse when its training goes on",
    "compositional-exponents": "which degrees of a hierarchical target stay as it grows",
    "function-staircase": "one and two preconditioned steps on two features",
    "online-exponents": "one-pass SGD learns He1, He2 and He3 in d, d log d and d^2 steps",
    "repetita": "steps that use a sample twice learn He3 and He4 in d and d log d steps",
    "csq-staircase": "SGD climbs He2(z1) + sign(z1 z2 z3) with and without repetition",
    "grand-staircase-sgd": "He4(z1) + sign(z1 z2 z3) is learned by SGD only with repetition",
    "spiked-staircase": "a kernel learns He1, He2, He3 as the spike of the inputs grows",
    "spiked-one-step": "one step against a kernel on spiked inputs, and against permuted labels",
    "network-kernel": "a network learns He2 + He5 on spiked inputs before a kernel does",
    "spiked-spectrum": "outliers of the first gradient on spiked inputs",
    "spiked-alignment": "the first gradient turns to a spike of d^(1 - 1/k)",
    "flows": "spherical flows are repelled below a separatrix, normalised ones are not",
    "alignment-map": "samples of one-pass SGD over strength and alignment of the spike",
    "flow-exponents": "samples of the flow on n samples over strength and alignment of the spike",
    "mean-field-parity": "anisotropy helps noisy gradient descent to learn parities",
    "scaling-laws": "learning curves and regimes of power-law spectra",
    "hierarchy": "z1 + He3(z1) z2 + He3(z2) z3: SGD learns z1, which opens z2, which opens z3",
}
"""Name -> title; the module of a figure has its name, with underscores.

The module has `FULL` and `QUICK` (sizes), `compute(size)`, which returns the labelled numbers, and
`picture(data)`, which draws them. `compute` may take a `store` for its runs, and a `target`: then
the figure can be drawn for the user's own target.
"""


def takes_target(name: str) -> bool:
    """Return whether a figure can be drawn for the user's own target.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    """
    return "target" in _parameters(name)


def draw(
    name: str,
    folder: str | Path = ".",
    *,
    quick: bool = False,
    target: TargetLike | None = None,
) -> list[Path]:
    """Compute a figure and write the picture and its numbers.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    folder : str or Path
        Where the files go; made if it does not exist.
    quick : bool
        Smaller and fewer runs.
    target : MultiIndex, Hierarchical, Link or str, optional
        What is learned, instead of the target of the literature.

    Returns
    -------
    list of Path
        NAME.pdf, NAME.png, NAME.nc and NAME.csv. The latter two hold the theory and the runs,
        under names that start with ``theory_`` and ``runs_``. Runs of a study are kept in
        NAME.study: an interrupted figure continues from there, and nothing is computed twice.

    Raises
    ------
    LearnabilityError
        When there is no such figure, or it takes no target.
    """
    if name not in FIGURES:
        raise LearnabilityError(
            f"The figure was given as {name!r}, but {' and '.join(FIGURES)} are accepted."
        )
    if target is not None and not takes_target(name):
        others = ", ".join(known for known in FIGURES if takes_target(known))
        raise LearnabilityError(
            f"A target was given for the figure {name}, which is drawn for its own target only; "
            f"those that take one are {others}."
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)  # A bad folder is refused before the work begins.
    from learnability.drawing.files import write

    recipe = _recipe(name)
    options: dict[str, Any] = {}
    if "store" in _parameters(name):
        options["store"] = folder / f"{name}.study"
    if target is not None:
        from learnability.targets import as_target

        options["target"] = as_target(target)
    data = recipe.compute(recipe.QUICK if quick else recipe.FULL, **options)
    return write(recipe.picture(data), data, folder / name)


def _parameters(name: str) -> Mapping[str, Any]:
    return inspect.signature(_recipe(name).compute).parameters


def _recipe(name: str) -> Any:
    return import_module(f"learnability.figures.{name.replace('-', '_')}")
