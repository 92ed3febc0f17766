"""The options of targets and inputs, made from their declared fields, and the target they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from learnability.cli.options import Option, listed
from learnability.errors import LearnabilityError
from learnability.fields import Choice, Declared, Number, declared
from learnability.inputs import INPUTS
from learnability.targets import TARGETS, Hierarchical, MultiIndex

__all__ = ["input_options", "target_from", "target_given", "target_options", "tree_options"]

_NAMES = {
    ("spiked", "strength"): "spike",
    ("spiked", "exponent"): "spike-exponent",
    ("spiked", "alignment"): "alignment",
    ("spiked", "alignment_exponent"): "alignment-exponent",
    ("power-law", "exponent"): "power-law",
    ("signs", "anisotropy"): "anisotropy",
    ("hierarchical", "N"): "directions",
}
"""(Kind, field) -> its option; the options of other fields of inputs are called KIND-FIELD."""

NOISE = Option(
    "noise", Declared(Number(at_least=0), "Variance of the label noise."), "Target", "0"
)  # fmt: skip
KIND = Option("inputs", Declared(Choice(tuple(INPUTS)), "The law of the inputs."), "Target")


def input_options() -> dict[tuple[str, str], Option]:
    """Return the option of each field of inputs, by the kind of inputs and the field."""
    found = {}
    for kind, law in INPUTS.items():
        for field, about in declared(law):
            name = _NAMES.get((kind, field.name), f"{kind}-{field.name}".replace("_", "-"))
            shown = Declared(about.kind, f"{kind.capitalize()} inputs: {_lowered(about.help)}")
            found[kind, field.name] = Option(name, shown, "Target")
    return found


def tree_options() -> dict[str, Option]:
    """Return the option of each field of a hierarchical target."""
    found = {}
    for field, about in declared(Hierarchical):
        if field.name != "noise":
            name = _NAMES.get(("hierarchical", field.name), field.name.replace("_", "-"))
            shown = Declared(about.kind, f"Hierarchical targets: {_lowered(about.help)}")
            found[field.name] = Option(name, shown, "Target")
    return found


def _lowered(sentence: str) -> str:
    """Return a sentence as it stands after a colon; a letter that is a symbol stays upper case."""
    symbol = sentence[:1].isupper() and sentence[1:2] == " " and sentence[0] != "A"
    return sentence if symbol else sentence[0].lower() + sentence[1:]


def target_options(learner: Any = None, taken: frozenset[str] = frozenset()) -> list[Option]:
    """Return all options of targets; the help lists those that apply.

    Parameters
    ----------
    learner : type, optional
        The class of the learner; without one all options apply.
    taken : frozenset of str
        Names of options of the learner itself; those of the target are then called target-NAME.
    """
    kinds = set(TARGETS) if learner is None else set(learner.supports.targets)
    laws = set(INPUTS) if learner is None else set(learner.supports.inputs)
    options = [NOISE, _shown(KIND, len(laws) > 1)]
    options += [_shown(option, "hierarchical" in kinds) for option in tree_options().values()]
    options += [_shown(option, kind in laws) for (kind, _), option in input_options().items()]
    return [_renamed(option, taken) for option in options]


def _shown(option: Option, applies: bool) -> Option:
    return Option(option.name, option.about, option.section, option.default, hidden=not applies)


def _renamed(option: Option, taken: frozenset[str]) -> Option:
    if option.name not in taken:
        return option
    name = f"target-{option.name}"
    return Option(name, option.about, option.section, option.default, hidden=option.hidden)


def target_from(
    expression: str,
    values: Mapping[str, Any],
    learner: Any = None,
    taken: frozenset[str] = frozenset(),
) -> Any:
    """Return the target that an expression and options describe.

    Without options it is a MultiIndex on isotropic inputs, or the first target and the first inputs
    that the learner supports.

    Parameters
    ----------
    expression : str
        The link.
    values : mapping
        Key of an option -> what was given, None for nothing.
    learner, taken
        As in `target_options`.

    Raises
    ------
    LearnabilityError
        When options do not go together, or a value is not accepted.
    """

    def given(option: Option) -> Any:
        text = values.get(_renamed(option, taken).key)
        return None if text is None else option.read(text)

    noise = given(NOISE) or 0.0
    tree = {field: (option, given(option)) for field, option in tree_options().items()}
    tree = {field: pair for field, pair in tree.items() if pair[1] is not None}
    laws: dict[str, dict[str, tuple[Option, Any]]] = {}
    for (kind, field), option in input_options().items():
        value = given(option)
        if value is not None:
            laws.setdefault(kind, {})[field] = (option, value)
    kind, law = _kinds(learner, tree, laws, given(KIND))
    try:
        if kind == "hierarchical":
            fields = {field: value for field, (_, value) in tree.items()}
            return Hierarchical(expression, noise=noise, **fields)
        fields = {field: value for field, (_, value) in laws.get(law, {}).items()}
        return MultiIndex(expression, noise=noise, inputs=INPUTS[law](**fields))
    except LearnabilityError as error:
        names = {field: option.name for (k, field), option in input_options().items() if k == law}
        names |= {field: option.name for field, option in tree_options().items()}
        sentence = str(error)
        for field, name in names.items():
            sentence = sentence.replace(f"`{field}`", f"`--{name}`")
        raise LearnabilityError(sentence) from None


def target_given(values: Mapping[str, Any], taken: frozenset[str] = frozenset()) -> set[str]:
    """Return the fields of the target and its inputs that were set by options.

    Parameters
    ----------
    values, taken
        As in `target_from`.
    """
    owned = [("noise", NOISE), *tree_options().items()]
    owned += [(field, option) for (_, field), option in input_options().items()]
    keys = [(field, _renamed(option, taken).key) for field, option in owned]
    return {field for field, key in keys if values.get(key) is not None}


def _kinds(
    learner: Any,
    tree: Mapping[str, tuple[Option, Any]],
    laws: Mapping[str, Mapping[str, tuple[Option, Any]]],
    asked: str | None,
) -> tuple[str, str]:
    """Return the kinds of the target and of its inputs; refuse options that contradict."""
    first = {kind: f"`--{next(iter(own.values()))[0].name}`" for kind, own in laws.items()}
    if asked is not None:
        first = {asked: "`--inputs`", **first}
    if len(first) > 1:
        raise LearnabilityError(
            f"{listed(list(first.values()))} were given, but they belong to different inputs: "
            f"{listed(list(first))}."
        )
    law = next(iter(first), None)
    targets = ("multi-index",) if learner is None else learner.supports.targets
    kind = "multi-index" if "multi-index" in targets else targets[0]
    plain = law in (None, "isotropic")
    if tree or (kind == "hierarchical" and plain):
        if law is not None and not plain:
            option = next(iter(tree.values()))[0].name
            raise LearnabilityError(
                f"`--{option}` and {first[law]} were given, but they belong to different targets: "
                "the inputs of a hierarchical one are isotropic."
            )
        return "hierarchical", "isotropic"
    accepted = ("isotropic",) if learner is None else learner.supports.inputs
    return "multi-index", law or ("isotropic" if "isotropic" in accepted else accepted[0])
