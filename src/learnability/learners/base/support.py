"""What a learner supports, as data, and the one validator that reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from learnability.errors import LearnabilityError
from learnability.fields import declared, given

if TYPE_CHECKING:
    from learnability.learners.base.questions import Side

__all__ = ["Support", "check_support"]


@dataclass(frozen=True)
class Support:
    """Targets and inputs that a learner accepts.

    Attributes
    ----------
    targets : tuple of str
        Kinds of targets.
    inputs : tuple of str
        Kinds of inputs.
    most_directions : int or None
        The largest number r of hidden directions.
    laws : tuple of str
        Kinds of random labels, beyond functions with Gaussian noise.
    """

    targets: tuple[str, ...] = ("multi-index",)
    inputs: tuple[str, ...] = ("isotropic",)
    most_directions: int | None = None
    laws: tuple[str, ...] = ()


def check_support(learner: Any, side: Side, who: str, target: Any) -> None:
    """Refuse a target, its inputs, or a field that does not act on them.

    Parameters
    ----------
    learner : Learner
        Whose support is read.
    side : Side
        The side of the question; it may support less than the learner.
    who : str
        Learner, verb and question, for sentences.
    target : Target
        What is to be learned.

    Raises
    ------
    LearnabilityError
        The message names both sides and what is missing.
    """
    support: Support = learner.supports
    targets = support.targets if side.targets is None else side.targets
    inputs = support.inputs if side.inputs is None else side.inputs
    if target.kind not in targets:
        raise LearnabilityError(
            f"{who} was asked for a {target.kind} target, but it accepts {_list(targets)} targets."
        )
    if target.inputs.kind not in inputs:
        raise LearnabilityError(
            f"{who} was asked for {target.inputs.kind} inputs, but it accepts {_list(inputs)} "
            "inputs."
        )
    law = target.channel.law
    laws = support.laws if side.laws is None else side.laws
    if law is not None and law.kind not in laws:
        raise LearnabilityError(
            f"{who} was asked for the random label {law.name}, but it accepts "
            + (f"random labels of the kinds {_list(laws)} and " if laws else "")
            + "functions with Gaussian noise only."
        )
    if support.most_directions is not None and target.r > support.most_directions:
        raise LearnabilityError(
            f"{who} was asked for r = {target.r} hidden directions, but it accepts at most "
            f"{support.most_directions}."
        )
    for field, about in declared(learner):
        value = getattr(learner, field.name)
        if field.name in side.fixed and given(learner, field, about):
            raise LearnabilityError(
                f"`{field.name}` was given as {value!r}, but {who} takes it at its default "
                f"{field.default!r} only: {side.fixed[field.name]}."
            )
        acts = about.inputs is None or target.inputs.kind in about.inputs
        if not acts and given(learner, field, about):
            raise LearnabilityError(
                f"`{field.name}` was given as {value!r}, but it acts only "
                f"on {_list(about.inputs or ())} inputs, and these are {target.inputs.kind}."
            )


def _list(words: tuple[str, ...]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
