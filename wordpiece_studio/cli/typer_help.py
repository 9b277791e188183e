"""The command line as typer shows it: help, completion by the shell, and what is wrong with a call.

Loaded only for these; see `parameters`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wordpiece_studio.cli.messages import PROGRAM
from wordpiece_studio.cli.parameters import Argument, WrongCall, called, declared, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wordpiece_studio.cli.parameters import Command

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_METAVARS = {bool: "", int: "N", float: "X"}
_EXIT_CODES = (
    "Exit codes: 0 done; 1 an error, or verify found a difference, or lint has a warning; 2 wrong usage; 130 stopped "
    "by Ctrl-C, 143 by SIGTERM, 129 when the terminal was closed."
)


def run_by_typer(arguments: Sequence[str], commands: Mapping[str, Command]) -> int | None:
    """Do what the arguments say, one of the commands or what typer adds to them."""
    try:
        code = _application(commands)(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except _UsageError as error:
        raise WrongCall(getattr(error, "format_message", error.__str__)()) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else None


def _application(commands: Mapping[str, Command]) -> typer.Typer:
    app = typer.Typer(
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        subcommand_metavar="[FILES]... | COMMAND [ARGS]...",
        epilog=_EXIT_CODES,
    )
    app.callback()(_without_command)
    for name, command in commands.items():
        app.command(name)(_for_typer(command))
    return app


def _without_command(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Train WordPiece vocabularies, step through their merges, and tokenize. Without a command, open the window."""


def _for_typer(command: Command) -> Callable[..., int | None]:
    """Return a command with the signature that typer reads."""

    def call(**values: Any) -> int | None:
        return called(command, values)

    parameters = [_as_typer_has_it(each) for each in declared(command).values()]
    call.__doc__ = command.__doc__
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _as_typer_has_it(parameter: inspect.Parameter) -> inspect.Parameter:
    type_, (given,) = parameter.annotation.__origin__, parameter.annotation.__metadata__
    kind = typer.Argument if isinstance(given, Argument) else typer.Option
    settings = {"metavar": _METAVARS.get(type_of(parameter), "TEXT")} | given.settings
    return parameter.replace(annotation=Annotated[type_, kind(*given.names, **settings)])
