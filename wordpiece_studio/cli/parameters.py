"""What a command takes: declared as the attributes of its class, read from a call, and shown by typer.

Importing typer takes longer than counting a small text, so it is only loaded for help, for completion, and to say what
is wrong with a call.
"""

from __future__ import annotations

import inspect
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PROGRAM = "wordpiece-studio"
_HELP = frozenset({"-h", "--help"})
_TYPES: dict[str, Any] = {"bool": bool, "int": int, "float": float, "list[str]": list[str]}  # others are texts
_METAVARS = {bool: "", int: "N", float: "X"}
_EXIT_CODES = (
    "Exit codes: 0 done; 1 an error, or verify found a difference, or lint has a warning; 2 wrong usage; 130 stopped "
    "by Ctrl-C, 143 by SIGTERM, 129 when the terminal was closed."
)
_REQUIRED: Any = inspect.Parameter.empty


class Parameter:
    """An option or an argument, the value of a class attribute whose annotation gives its type.

    Attributes
    ----------
    name, type, is_optional
        Of the attribute; the type is without the None of an option that is not given.
    names
        What an option is called; empty for an argument.
    settings
        As for ``typer.Option`` or ``typer.Argument``.
    """

    def __init__(self, names: tuple[str, ...] | None, default: Any, settings: dict[str, Any]) -> None:
        self.name, self.is_optional, self.is_argument = "", False, names is None
        self.type: Any = None
        self.names, self.default, self.settings = names or (), default, settings

    def __set_name__(self, owner: type, name: str) -> None:
        annotation: str = owner.__annotations__[name]
        self.name, self.is_optional = name, annotation.endswith(" | None")
        self.type = _TYPES.get(annotation.removesuffix(" | None"), str)
        if not (self.names or self.is_argument):
            self.names = (f"--{name.replace('_', '-')}",)

    def value(self, spelling: str, text: str) -> str | int | float:
        """Return the value that a word stands for."""
        if self.type is str:
            return text
        least = self.settings.get("min")
        try:
            value: int | float = self.type(text)
        except ValueError:
            kind = "a whole number" if self.type is int else "a number"
            raise WrongCall(f"{spelling} must be {kind}, not {text}") from None
        if least is not None and value < least:
            raise WrongCall(f"{spelling} must be at least {least}, not {text}")
        return value

    def for_typer(self) -> inspect.Parameter:
        """Return the parameter of a function that typer makes a command."""
        import typer

        settings = {"metavar": _METAVARS.get(self.type, "TEXT")} | self.settings
        given = typer.Argument(**settings) if self.is_argument else typer.Option(*self.names, **settings)
        type_ = self.type | None if self.is_optional else self.type
        annotation = Annotated[type_, given]  # type: ignore[valid-type]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Parameter(self.name, kind, default=self.default, annotation=annotation)


def option(
    text: str, panel: str = "", *, default: Any = None, names: tuple[str, ...] = (), values: Any = (), **settings: Any
) -> Any:
    """Return an option listed under the heading `panel`; the shell completes its `values`, names or a `Literal`."""
    choices = get_args(values) or values
    if choices:
        settings = {"metavar": "NAME", "autocompletion": lambda: [*choices]} | settings
    if panel:
        settings["rich_help_panel"] = panel
    return Parameter(names, default, {"help": text, **settings})


def required_option(text: str, *names: str, metavar: str) -> Any:
    return option(text, default=_REQUIRED, names=names, metavar=metavar)


def flag(text: str, panel: str = "", *names: str) -> Any:
    """Return an option without a value."""
    return option(text, panel, default=False, names=names)


def argument(text: str, metavar: str, *, default: Any = _REQUIRED, **settings: Any) -> Any:
    """Return what has no name in a call."""
    return Parameter(None, default, {"help": text, "metavar": metavar, **settings})


class WrongCall(Exception):
    """A command line that cannot be understood; the message says what is wrong."""


class Options:
    """Options that belong together; those of a command are its attributes, or in groups that are."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        for name, each in _attributes(type(self)):
            setattr(self, name, values[name] if isinstance(each, Parameter) else each(values))

    def changed(self, **values: Any) -> Self:
        """Return these options with other values."""
        other = copy(self)
        vars(other).update(values)
        return other

    @classmethod
    def group(cls) -> Self:
        """Return what declares these options as one attribute of a command."""
        return cls  # type: ignore[return-value]  # the attribute of an instance is an instance


class CliCommand(Options):
    """A command: its options and arguments, and what it does."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.values = values

    def is_given(self, name: str) -> bool:
        """Return whether an option, perhaps of a group, has another value than usual."""
        return bool(self.values[name] != declared(type(self))[name].default)

    def run(self) -> int | None:
        """Do what the command is for, and return the exit code, if it is not 0."""
        raise NotImplementedError


def _attributes(options: type[Options]) -> Iterator[tuple[str, Any]]:
    names = dict.fromkeys(name for each in reversed(options.__mro__) for name in vars(each))
    for name in names:
        value = getattr(options, name)
        if isinstance(value, Parameter) or (isinstance(value, type) and issubclass(value, Options)):
            yield name, value


def declared(options: type[Options]) -> dict[str, Parameter]:
    """Return the parameters of a command, with those in its groups, by name."""
    found: dict[str, Parameter] = {}
    for name, each in _attributes(options):
        found |= {name: each} if isinstance(each, Parameter) else declared(each)
    return found


def values_in(command: type[CliCommand], words: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of a command's parameters in a call; None if typer has to read it, which knows more forms."""
    parameters = declared(command)
    try:
        if not _HELP.isdisjoint(words):
            raise _Unclear
        given, others = _options_in(parameters, [*words])
        given |= _arguments_in(parameters, others)
    except _Unclear:
        return None
    values = {name: each.default for name, each in parameters.items()} | given
    return None if _REQUIRED in values.values() else values


class _Unclear(Exception):
    """A call that asks for help, is not well-formed, or is not as simple as expected here."""


def _options_in(parameters: Mapping[str, Parameter], words: list[str]) -> tuple[dict[str, Any], list[str]]:
    by_name = {name: each for each in parameters.values() for name in each.names}
    values: dict[str, Any] = {}
    others: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            return values, others + words
        if not word.startswith("-") or word == "-":
            others.append(word)
            continue
        spelling, equals, text = word.partition("=")
        given = by_name.get(spelling)
        if given is None or (equals and (given.type is bool or not spelling.startswith("--"))):
            raise _Unclear
        if given.type is bool:
            values[given.name] = True
            continue
        text = text if equals else _next(words)
        if given.type != list[str]:
            values[given.name] = given.value(spelling, text)
            continue
        texts = values.setdefault(given.name, [])
        texts.append(text)
        while words and not words[0].startswith("-"):
            texts.append(words.pop(0))
    return values, others


def _next(words: list[str]) -> str:
    """Return the value of an option, the next word."""
    word = words.pop(0) if words else "--"
    if word.startswith("-") and word != "-" and not word[1:2].isdecimal():
        raise _Unclear
    return word


def _arguments_in(parameters: Mapping[str, Parameter], words: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, each in parameters.items():
        if each.is_argument and words:
            if each.type is str:
                values[name], *words = words
            else:
                values[name], words = words, []
    if words:
        text = "; put a text with spaces in quotation marks" if "text" in values or "word" in values else ""
        raise WrongCall(f"{words[0]} is one argument too many{text}")
    return values


# ---- typer -----------------------------------------------------------------------------------------------------------


class _Program(CliCommand):
    """Train WordPiece vocabularies, step through their merges, and tokenize. Without a command, open the window."""

    version: bool = option("Print the version.", default=False, metavar=None)  # as typer describes its own

    def run(self) -> None:
        pass


def run_by_typer(arguments: Sequence[str], commands: Mapping[str, type[CliCommand]]) -> int | None:
    """Do what the arguments say, one of the commands or what typer adds to them."""
    import typer

    app = typer.Typer(
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        subcommand_metavar="[FILES]... | COMMAND [ARGS]...",
        epilog=_EXIT_CODES,
    )
    app.callback()(_function_of(_Program))
    for name, command in commands.items():
        app.command(name)(_function_of(command))
    usage_error: type[Exception] = typer.BadParameter.__bases__[0]
    try:
        code = app(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except usage_error as error:
        raise WrongCall(getattr(error, "format_message", error.__str__)()) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else None


def _function_of(command: type[CliCommand]) -> Callable[..., int | None]:
    """Return a command as the function that typer reads."""

    def call(**values: Any) -> int | None:
        return command(values).run()

    parameters = [each.for_typer() for each in declared(command).values()]
    call.__doc__ = command.__doc__
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call
