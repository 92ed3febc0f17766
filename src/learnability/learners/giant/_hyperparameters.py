"""What the fields of the learner mean in dimension d."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnability.errors import LearnabilityError
from learnability.labels.link import Link
from learnability.targets.multi_index import MultiIndex
from learnability.theory.csq import leap_staircase

if TYPE_CHECKING:
    from learnability.learners.giant.learner import GiantSteps

__all__ = ["neurons", "ridge_path", "sigma", "step_size"]


def sigma(learner: GiantSteps) -> Link:
    """The activation, which the learner has checked."""
    assert isinstance(learner.activation, Link)
    return learner.activation


def ridge_path(learner: GiantSteps) -> tuple[float, ...]:
    """All ridges, also where there is one."""
    return learner.ridge if isinstance(learner.ridge, tuple) else (learner.ridge,)


def neurons(learner: GiantSteps, d: int) -> int:
    """The number p of neurons, even for pairs."""
    p = max(round(learner.width * d), 1)
    return 2 * max(round(p / 2), 1) if learner.init == "symmetric" else p


def step_size(learner: GiantSteps, target: MultiIndex, d: int | None) -> float:
    """The size of a step over p, from the leap where it is not given; d may be endless."""
    if learner.step is not None:
        return learner.step
    orders = [s.order for s in leap_staircase(target.link).steps if s.order]
    if not orders:
        raise LearnabilityError(
            f"The leap of {target.link!r} is not known, so there is no default size of a step: "
            "give `step`."
        )
    if d is None and max(orders) > 1:
        raise LearnabilityError(
            f"The leap of {target.link!r} is {max(orders)}, so the default size of a step "
            "grows with d: give `step`."
        )
    return float(d) ** ((max(orders) - 1) / 2) if d is not None else 1.0
