"""Options of commands made from declared fields, and commands made from options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from learnability.errors import LearnabilityError, refuse
from learnability.fields import Choice, Declared, Flag, Number, Several, Whole

__all__ = ["Option", "argument", "command", "listed", "metavar", "plain_option"]


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Attributes
    ----------
    name : str
        Its name without the leading dashes: "look-ahead", for example.
    about : Declared
        What it accepts and what it means.
    section : str
        Where the help lists it.
    default : str
        The value without it, for the help; empty where there is none.
    grid : bool
        Whether several values may be given.
    hidden : bool
        Whether the help leaves it out, because it does not apply.
    """

    name: str
    about: Declared
    section: str
    default: str = ""
    grid: bool = False
    hidden: bool = False

    @property
    def key(self) -> str:
        """The name of the parameter."""
        return self.name.replace("-", "_")

    @property
    def help(self) -> str:
        """The sentence of the help, with the unit and the default."""
        unit = f" In units of {self.about.unit}." if self.about.unit else ""
        grid = " One value, or several: x,y,z, or a:b:n for n from a to b." if self.grid else ""
        default = f" [default: {self.default}]" if self.default else ""
        return f"{self.about.help}{unit}{grid}{default}"

    def parameter(self) -> inspect.Parameter:
        """Return the parameter from which Typer makes the option."""
        kind = self.about.kind
        flag = isinstance(kind, Flag)
        words = list(kind.words) if isinstance(kind, Choice) else []
        info = typer.Option(
            f"--{self.name}/--no-{self.name}" if flag else f"--{self.name}",
            metavar=None if flag else "GRID" if self.grid else metavar(self.about),
            help=self.help,
            hidden=self.hidden,
            show_default=False,
            rich_help_panel=self.section,
            autocompletion=(lambda: words) if words else None,
        )
        annotation = Annotated[(bool if flag else str) | None, info]  # type: ignore[valid-type]
        return _parameter(self.key, annotation, None)

    def read(self, given: Any) -> Any:
        """Return the value that was given on the command line, checked.

        Raises
        ------
        LearnabilityError
            When it is not accepted.
        """
        value = given
        if isinstance(given, str):
            try:
                value = self.about.kind.parse(given)
            except ValueError:
                raise refuse(f"--{self.name}", given, self.about.accepted) from None
        return self.about.read(f"--{self.name}", value)


def metavar(about: Declared) -> str:
    """Return what stands for the value in the help."""
    kind = about.kind
    if isinstance(kind, Choice):
        return "|".join(kind.words)
    if isinstance(kind, Several):
        return "X,Y,..."
    if isinstance(kind, Whole):
        return "N"
    if isinstance(kind, Number):
        return "X"
    return "EXPR" if "Link" in kind.type_name else "VALUE"


def plain_option(name: str, annotation: Any, default: Any, **about: Any) -> inspect.Parameter:
    """Return the parameter of an option without a declaration.

    Parameters
    ----------
    name : str
        Its name without the leading dashes.
    annotation : type
        The type of the value.
    default : object
        The value when the option is not given.
    **about
        Further arguments of `typer.Option`.
    """
    info = typer.Option(f"--{name}", show_default=False, **about)
    return _parameter(name.replace("-", "_"), Annotated[annotation, info], default)


def argument(name: str, annotation: Any, default: Any, **about: Any) -> inspect.Parameter:
    """Return the parameter of an argument; `typer.Argument` takes all further arguments."""
    return _parameter(name, Annotated[annotation, typer.Argument(**about)], default)


def _parameter(key: str, annotation: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(key, kind, default=default, annotation=annotation)


class OptionsCommand(TyperCommand):
    """A command whose help has sections, and which says to whom an unknown option belongs."""

    owners: staticmethod[[], Mapping[str, Sequence[str]]] = staticmethod(dict)
    """It returns, for options that this command lacks, the commands that have them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command after unknown options have been refused.

        Raises
        ------
        LearnabilityError
            The message names the learners to which the option belongs.
        """
        known = {opt: p for p in self.get_params(ctx) for opt in (*p.opts, *p.secondary_opts)}
        words = iter([] if ctx.resilient_parsing else args)
        for word in words:
            name, equals, _ = word.partition("=")
            if word == "--":
                break
            if name in known:
                if not (equals or getattr(known[name], "is_flag", True)):
                    next(words, None)
            elif name.startswith("--"):
                raise LearnabilityError(self._unknown(ctx, name))
        return super().parse_args(ctx, args)

    def _unknown(self, ctx: Any, name: str) -> str:
        words: list[str] = []
        while ctx.parent is not None:
            words, ctx = [ctx.info_name, *words], ctx.parent
        own, owners = " ".join(words), self.owners().get(name, ())
        if owners:
            return f"`{name}` was given with {own}, but it belongs to {listed(owners)}."
        return f"`{name}` was given, but `learnability {own} --help` lists no such option."

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of the help."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                argument = param.param_type_name == "argument"
                own = "Arguments" if argument else getattr(param, "rich_help_panel", None)
                sections.setdefault(own or "Options", []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def command(
    name: str,
    help: str,
    parameters: Iterable[inspect.Parameter],
    run: Callable[[dict[str, Any]], None],
    owners: Callable[[], Mapping[str, Sequence[str]]] = dict,
) -> Any:
    """Return a command of Typer.

    Parameters
    ----------
    name, help : str
        The name of the command, and one sentence on it.
    parameters : iterable of Parameter
        Arguments and options.
    run : callable
        It takes the values by the names of the parameters, with None for what was not given.
    owners : callable, optional
        It returns a mapping, option -> the commands that have it, for those that this one does not
        have; it is called when an option is not known.
    """

    def call(**values: Any) -> None:
        run(values)

    found = list(parameters)
    call.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in found}
    made = type("Made", (OptionsCommand,), {"owners": staticmethod(owners)})
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=made, help=help, short_help=help)(call)
    return typer.main.get_command(app)


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
