"""What a command takes, declared in its signature, and the reading of a well-formed call.

Importing typer takes longer than counting a small text, so it is only loaded for help, for completion, and to say what
is wrong with a call: see `typer_help`.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Command = Callable[..., int | None]


_HELP = frozenset({"-h", "--help"})


class Option:
    """An option of a command, the metadata of an ``Annotated`` type.

    Parameters
    ----------
    names
        What it is called, such as ``"-o", "--output"``; if none is given, like the parameter.
    settings
        As for ``typer.Option``.
    """

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names = names
        self.settings = settings


class Argument(Option):
    """An argument without a name; the settings are those of ``typer.Argument``."""


class WrongCall(Exception):
    """A command line that cannot be understood; the message says what is wrong."""


class _Unclear(Exception):
    """A call that asks for help, is not well-formed, or is not as simple as expected here."""


def declared(command: Command) -> dict[str, inspect.Parameter]:
    """Return the parameters of a command that have an option or an argument, by name, with evaluated annotations."""
    parameters = inspect.signature(command, eval_str=True).parameters
    return {name: each for name, each in parameters.items() if hasattr(each.annotation, "__metadata__")}


def called(command: Command, values: Mapping[str, Any]) -> int | None:
    """Run a command; its parameter `options`, if there is one, receives all values."""
    takes_all = "options" in inspect.signature(command).parameters
    return command(values, **values) if takes_all else command(**values)


def values_in(command: Command, words: Sequence[str]) -> dict[str, Any] | None:
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
    return None if inspect.Parameter.empty in values.values() else values


def _options_in(parameters: Mapping[str, inspect.Parameter], words: list[str]) -> tuple[dict[str, Any], list[str]]:
    names = {
        spelling: name
        for name, each in parameters.items()
        if not isinstance(_metadata(each), Argument)
        for spelling in _metadata(each).names or (f"--{name.replace('_', '-')}",)
    }
    values: dict[str, Any] = {}
    others: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            others += words
            words = []
        elif not word.startswith("-") or word == "-":
            others.append(word)
        else:
            spelling, equals, text = word.partition("=")
            if spelling not in names or (equals and not spelling.startswith("--")):
                raise _Unclear
            name = names[spelling]
            is_flag = type_of(parameters[name]) is bool
            if is_flag and equals:
                raise _Unclear
            text = text if equals or is_flag else _next(words)
            if get_origin(type_of(parameters[name])) is list:
                values[name] = [*values.get(name, []), text, *_all_next(words)]
            else:
                values[name] = is_flag or _value(parameters[name], spelling, text)
    return values, others


def _next(words: list[str]) -> str:
    """Return the value of an option, the next word."""
    word = words.pop(0) if words else "--"
    if word.startswith("-") and word != "-" and not word[1:2].isdecimal():
        raise _Unclear
    return word


def _all_next(words: list[str]) -> Iterator[str]:
    """Yield the further values of an option that takes several: the words up to the next option."""
    while words and not words[0].startswith("-"):
        yield words.pop(0)


def _arguments_in(parameters: Mapping[str, inspect.Parameter], words: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, each in parameters.items():
        if isinstance(_metadata(each), Argument) and words:
            if get_origin(type_of(each)) is list:
                values[name], words = words, []
            else:
                values[name], *words = words
    if words:
        text = "; put a text with spaces in quotation marks" if "text" in values or "word" in values else ""
        raise WrongCall(f"{words[0]} is one argument too many{text}")
    return values


def _metadata(parameter: inspect.Parameter) -> Option:
    return parameter.annotation.__metadata__[0]  # type: ignore[no-any-return]


def type_of(parameter: inspect.Parameter) -> Any:
    """Return the type of a parameter, without the None that stands for an option that is not given."""
    type_ = parameter.annotation.__origin__
    types = get_args(type_)
    return next(each for each in types if each is not type(None)) if type(None) in types else type_


def _value(parameter: inspect.Parameter, spelling: str, text: str) -> Any:
    type_, least = type_of(parameter), _metadata(parameter).settings.get("min")
    if type_ is str:
        return text
    if type_ not in (int, float):
        raise _Unclear
    try:
        value = type_(text)
    except ValueError:
        kind = "a whole number" if type_ is int else "a number"
        raise WrongCall(f"{spelling} must be {kind}, not {text}") from None
    if least is not None and value < least:
        raise WrongCall(f"{spelling} must be at least {least}, not {text}")
    return value
