"""Records of declared fields: reading, relations, idle fields and the docstring."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from learnability.errors import LearnabilityError
from learnability.fields import (
    Number,
    choice,
    declare,
    declared,
    flag,
    given,
    number,
    numbers,
    record,
    whole,
)
from learnability.labels import Link
from learnability.labels.fields import function


@record
class Machine:
    """A machine for tests.

    References
    ----------
    Nobody, 1999.
    """

    width: float = number(2.0, above=0, unit="p/d", help="Neurons per dimension.")
    layers: int = whole(3, help="Number of layers.")
    mode: str = choice("plain", ("plain", "fancy"), help="How it works.")
    twist: float = number(1.0, above=0, when={"mode": ("fancy",)}, help="It is turned so far.")
    ridge: Any = numbers(0.5, at_least=0, help="Ridge of the fit.")
    loud: bool = flag(False, help="Whether it makes noise.")
    floor: float | None = number(None, optional=True, help="The lowest value.")
    activation: Any = function("relu(z)", help="The activation.")

    def check(self) -> None:
        """Refuse many layers of no width."""
        if self.layers > self.width * 10:
            raise LearnabilityError("More layers than neurons.")


def test_fields_are_read_when_a_record_is_made() -> None:
    machine = Machine(width=4, layers=2.0, ridge=[1, 2], activation="z")  # type: ignore[arg-type]
    assert machine == Machine(4.0, 2, ridge=(1.0, 2.0), activation=Link("z"))
    assert isinstance(machine.width, float) and isinstance(machine.layers, int)
    assert Machine().activation == Link("relu(z)")
    assert hash(machine) == hash(pickle.loads(pickle.dumps(machine)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        machine.width = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    "wrong",
    [{"width": 0}, {"layers": 0}, {"mode": "odd"}, {"ridge": -1}, {"loud": 1}, {"floor": "low"}],
)
def test_a_wrong_field_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(LearnabilityError, match=f"^`{next(iter(wrong))}` was given as"):
        Machine(**wrong)


def test_an_unknown_field_is_an_error_of_the_call() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        Machine(depth=3)  # type: ignore[call-arg]


def test_relations_are_checked_after_the_fields() -> None:
    with pytest.raises(LearnabilityError, match="More layers than neurons"):
        Machine(width=1, layers=20)
    with pytest.raises(LearnabilityError, match="`width` was given as -1"):
        Machine(width=-1, layers=20)


def test_a_field_that_does_not_act_is_refused() -> None:
    assert Machine(mode="fancy", twist=3.0).twist == 3.0
    assert Machine(mode="plain", twist=1.0).twist == 1.0
    sentence = "`twist` was given as 3.0, but it acts only with `mode` = 'fancy', and `mode` is"
    with pytest.raises(LearnabilityError, match=sentence):
        Machine(twist=3.0)


def test_what_was_given_differs_from_the_default() -> None:
    for machine, names in (
        (Machine(), []),
        (Machine(width=2, ridge=0.5, activation=Link("relu(z)")), []),
        (Machine(width=3, floor=0.0, loud=True), ["width", "loud", "floor"]),
    ):
        found = [field.name for field, about in declared(machine) if given(machine, field, about)]
        assert found == names


def test_the_docstring_has_a_row_for_every_field_before_the_references() -> None:
    doc = Machine.__doc__ or ""
    assert doc.index("Parameters\n----------") < doc.index("References")
    assert "width : float\n    Neurons per dimension. In units of p/d.\n" in doc
    assert 'mode : {"plain", "fancy"}\n    How it works.\n' in doc
    assert "floor : float, optional\n" in doc
    assert "ridge : float or sequence of float\n" in doc
    assert "activation : str, Link or callable\n" in doc
    rows = [line for line in doc.splitlines() if " : " in line]
    assert [row.split()[0] for row in rows] == [field.name for field, _ in declared(Machine)]


def test_a_docstring_without_other_sections_ends_with_the_parameters() -> None:
    @record
    class Small:
        """One field."""

        size: int = whole(1, help="Its size.")

    assert (Small.__doc__ or "").rstrip().endswith("size : int\n    Its size.")

    @record
    class Empty:
        """No field."""

    assert (Empty.__doc__ or "").strip() == "No field."


def test_a_record_with_an_init_of_its_own_is_read_after_it() -> None:
    @record
    class Pair:
        """Two numbers.

        Parameters
        ----------
        both : float
            Given once.

        Notes
        -----
        None.
        """

        first: float = number(0.0, above=0, help="The first.")
        second: float = declare(0.0, Number(), "The second.")

        def __init__(self, both: float) -> None:
            object.__setattr__(self, "first", both)
            object.__setattr__(self, "second", both)

    assert (Pair(3).first, Pair(3).second) == (3.0, 3.0)
    with pytest.raises(LearnabilityError, match="`first` was given as 0"):
        Pair(0)
    doc = Pair.__doc__ or ""
    assert doc.index("both : float") < doc.index("first : float") < doc.index("Notes")
