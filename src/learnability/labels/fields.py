"""A declared field that is a function of one variable, such as an activation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from learnability.errors import LearnabilityError
from learnability.fields import Kind, declare
from learnability.labels.link import Link
from learnability.labels.random_link import certain

__all__ = ["AsLink", "AsOptionalLink", "Function", "function"]

if TYPE_CHECKING:

    class AsLink:
        """The type of such a field: it is set to text, a Link or a callable, and read as a Link."""

        def __get__(self, record: object, owner: object) -> Link: ...
        def __set__(self, record: object, value: str | Link | Callable[[Any], Any]) -> None: ...

    class AsOptionalLink:
        """The same for a field that may be None."""

        def __get__(self, record: object, owner: object) -> Link | None: ...
        def __set__(
            self, record: object, value: str | Link | Callable[[Any], Any] | None
        ) -> None: ...

else:
    AsLink = AsOptionalLink = Any


@dataclass(frozen=True)
class Function(Kind):
    """A function of r variables, given as text, Link or callable; it becomes a Link.

    Attributes
    ----------
    variables : int
        The number r of variables.
    """

    examples: ClassVar[tuple[Any, ...]] = ("tanh(z)", "relu(z)", "z + He2(z)", "exp(z)")

    variables: int = 1

    @property
    def accepted(self) -> str:
        """What is accepted, with its article, for sentences and docs."""
        of = "one variable" if self.variables == 1 else f"{self.variables} variables"
        return f"a function of {of}, as text or callable,"

    @property
    def type_name(self) -> str:
        """The type as a docstring names it."""
        return "str, Link or callable"

    def read(self, value: Any) -> Link:
        """Return the Link.

        Raises
        ------
        LearnabilityError
            When the text is not a formula, or has another number of variables.
        """
        alone = callable(value) and not isinstance(value, Link)
        link = certain(Link(value, r=self.variables) if alone else Link(value))
        if link.r != self.variables:
            raise LearnabilityError(
                f"{link!r} has {link.r} variables, but {self.accepted} is accepted."
            )
        return link

    def parse(self, text: str) -> Any:
        """Return the text itself."""
        return text


def function(default: Any, *, help: str, variables: int = 1, **about: Any) -> Any:
    """Return a field that is a function, such as an activation.

    Parameters
    ----------
    default : str, Link or None
        The default of the field.
    help : str
        A sentence that describes the field.
    variables : int
        Number of variables.
    **about
        `unit`, `optional`, `when` and `inputs` of `Declared`.
    """
    return declare(default, Function(variables), help, **about)
