"""Which report a target gets: one row for each kind of target and law of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from learnability.errors import LearnabilityError, within_numerics
from learnability.labels.link import Link
from learnability.reports.hierarchical import HierarchicalHardness, hierarchical_hardness
from learnability.reports.multi_index import Hardness, multi_index_hardness
from learnability.reports.spiked import spiked_hardness
from learnability.targets import Hierarchical, MultiIndex, Target, TargetLike, as_target

__all__ = ["REPORTS", "hardness"]

REPORTS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("multi-index", "isotropic"): multi_index_hardness,
    ("multi-index", "spiked"): spiked_hardness,
    ("hierarchical", "isotropic"): hierarchical_hardness,
}
"""(kind of the target, kind of its inputs) -> what makes its report."""


@overload
def hardness(target: Hierarchical) -> HierarchicalHardness: ...
@overload
def hardness(
    target: MultiIndex | Link | str | Callable[[Any], Any],
    r: int | None = None,
    noise: float | None = None,
) -> Hardness: ...
@overload
def hardness(target: Target) -> Hardness | HierarchicalHardness: ...
def hardness(target: TargetLike, r: int | None = None, noise: float | None = None) -> Any:
    """Report how hard a target is to learn, before any algorithm runs.

    Parameters
    ----------
    target : MultiIndex, Hierarchical, Link, str or callable
        The target, or its link; where its inputs have spikes, the report says what they add.
    r : int, optional
        Number of hidden directions; needed for a callable.
    noise : float, optional
        Variance of the label noise, when `target` is a link.

    Returns
    -------
    Hardness
        The report; for a `Hierarchical` it is a `HierarchicalHardness`.

    Raises
    ------
    LearnabilityError
        When no theory is known for the inputs, or `target` is neither a target nor a link.

    Examples
    --------
    >>> report = hardness("z**2")
    >>> report.kind, report.information_exponent, round(report.alpha_c, 6)
    ('easy', 2, 0.5)
    """
    target = as_target(target, r=r, noise=noise).simplified()
    key = (target.kind, target.inputs.kind)
    if key not in REPORTS:
        known = " and ".join(inputs for kind, inputs in REPORTS if kind == target.kind)
        raise LearnabilityError(
            f"hardness was asked for a {target.kind} target with {target.inputs.kind} inputs, but "
            f"its theory is for {known} inputs."
        )
    with within_numerics("hardness"):
        return REPORTS[key](target)
