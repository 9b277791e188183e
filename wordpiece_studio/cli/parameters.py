"""What a command takes: declared as the attributes of its class, read from a call and described by argparse."""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

PROGRAM = "wordpiece-studio"
_ABOUT = "Train WordPiece vocabularies, step through their merges, and tokenize. Without a command, open the window."
_EXIT_CODES = (
    "Exit codes: 0 done; 1 an error, or verify found a difference, lint has a warning, or a check failed; 2 wrong "
    "usage; 130 stopped by Ctrl-C, 143 by SIGTERM, 129 when the terminal was closed."
)
_TYPES: dict[str, Any] = {"bool": bool, "int": int, "float": float, "tuple[str, ...]": str.split}  # others are texts
_METAVARS = {int: "N", float: "X"}
_REQUIRED: Any = object()
_BEHIND_DASHES = "\0"  # marks what stands behind ``--``, which argparse forgets where options and arguments are mixed
_ARGUMENTS, _OPTIONS = "Arguments", "Options"
_MESSAGES = {
    "^argument ": "",
    ": expected one argument$": " needs a value",
    r": expected (\d) arguments$": r" needs \1 values",
    ": ignored explicit argument .*$": " takes no value",
    ": must be ": " must be ",
}  # what argparse says, and what is said instead


class WrongCall(Exception):
    """A command line that cannot be understood; the message says what is wrong."""


class HelpShown(Exception):
    """A call that asks for help, which has been printed."""


class Parameter:
    """An option or an argument: the value of a class attribute, whose annotation gives its type.

    The shell completes its `values`. With `of`, type, default and values are those of that data class's field of the
    same name. What `repeats` adds one to a tuple each time, or several values as one, each with its metavar.
    """

    def __init__(
        self,
        text: str,
        panel: str,
        *,
        default: Any = None,
        names: tuple[str, ...] = (),
        values: Any = (),
        metavar: str | tuple[str, ...] | None = None,
        shown_default: str = "",
        least: int | None = None,
        of: type | None = None,
        repeats: bool = False,
    ) -> None:
        self.panel, self.default, self.names, self.metavar = panel, default, names, metavar
        self.values = get_args(values) or values
        self._text, self._shown, self._least, self._of, self._repeats = text, shown_default, least, of, repeats

    def __set_name__(self, owner: type, name: str) -> None:
        annotation = (self._of or owner).__annotations__[name].removesuffix(" | None")
        if self._of is not None:
            self.default = self._of.__dataclass_fields__[name].default  # type: ignore[attr-defined]
            self.values = get_args(vars(sys.modules[self._of.__module__]).get(annotation))
        self.name, self._is_list, self._type = name, annotation == "list[str]", _TYPES.get(annotation, str)
        if self._repeats:
            self._type = str
        if self.panel != _ARGUMENTS and not self.names:
            self.names = (f"--{name.replace('_', '-')}",)

    @property
    def is_required(self) -> bool:
        return self.default is _REQUIRED

    @property
    def shape(self) -> str:
        text = f"{self.metavar}..." if self._is_list else str(self.metavar)
        return text if self.is_required else f"[{text}]"

    def add_to(self, group: argparse._ArgumentGroup) -> None:
        """Declare this in a parser; that it is required is checked later, after what cannot be understood at all."""
        default, shown = (None, "") if self.is_required else (self.default, self._shown)
        given: dict[str, Any] = {"help": self._text, "default": default}
        if self._type is bool:
            group.add_argument(*self.names, dest=self.name, action="store_true", **given)
            return
        usual = "NAME" if self.values else _METAVARS.get(self._type, "TEXT")
        given |= {"type": self._value, "metavar": self.metavar or usual}
        if shown := shown or (str(default) if default or default == 0 else ""):
            given["help"] += f" [default: {shown}]"
        if not self.names:
            group.add_argument(self.name, nargs="*" if self._is_list else "?", **given)
            return
        if self.is_required:
            given["help"] += " [required]"
        if self._is_list:
            given["action"] = "append"
        if self._repeats:
            given["action"] = _AddAction
            if isinstance(self.metavar, tuple):
                given["nargs"] = len(self.metavar)
        action = group.add_argument(*self.names, dest=self.name, **given)
        if self.values:
            action.completer = lambda **_: self.values  # type: ignore[attr-defined]  # of argcomplete

    def _value(self, text: str) -> object:
        text = text.removeprefix(_BEHIND_DASHES)
        try:
            value = self._type(text)
        except ValueError:
            kind = "a whole number" if self._type is int else "a number"
            raise argparse.ArgumentTypeError(f"must be {kind}, not {text}") from None
        if self._least is not None and value < self._least:
            raise argparse.ArgumentTypeError(f"must be at least {self._least}, not {text}")
        return value


class _AddAction(argparse.Action):
    def __call__(self, _parser: Any, namespace: Any, values: Any, _name: Any = None) -> None:
        added = tuple(values) if isinstance(values, list) else values
        setattr(namespace, self.dest, (*getattr(namespace, self.dest), added))


def option(text: str, panel: str = _OPTIONS, **given: Any) -> Any:
    return Parameter(text, panel, **given)


def required_option(text: str, *names: str, metavar: str) -> Any:
    return Parameter(text, _OPTIONS, default=_REQUIRED, names=names, metavar=metavar)


def flag(text: str, panel: str = _OPTIONS, *, names: tuple[str, ...] = ()) -> Any:
    return Parameter(text, panel, default=False, names=names)


def argument(text: str, metavar: str, *, default: Any = _REQUIRED) -> Any:
    """Return what has no name in a call."""
    return Parameter(text, _ARGUMENTS, default=default, metavar=metavar)


class CliCommand:
    """A command: its options and arguments, the attributes of its class and its bases, and what it does."""

    def __init__(self, words: Sequence[str], text: str = "") -> None:
        """Read a call; the help says `text` of the command."""
        parser = _Parser(f"{PROGRAM} {type(self).__name__.removesuffix('Command').lower()}", text, self.declared())
        at = words.index("--") if "--" in words else len(words)
        marked = [*parser.joined(words[:at]), *words[at : at + 1], *(_BEHIND_DASHES + word for word in words[at + 1 :])]
        vars(self).update(parser.checked(*parser.parse_known_intermixed_args(marked)))
        for name, each in self.declared().items():
            if each.is_required and getattr(self, name) in (None, []):
                raise WrongCall(f"{'/'.join(each.names) or each.metavar} is missing")

    @classmethod
    def declared(cls) -> dict[str, Parameter]:
        names = dict.fromkeys(name for each in reversed(cls.__mro__) for name in vars(each))
        return {name: each for name in names if isinstance(each := getattr(cls, name), Parameter)}

    def is_given(self, name: str) -> bool:
        return bool(getattr(self, name) != self.declared()[name].default)

    def run(self) -> int | None:
        """Do what the command is for, and return the exit code, if it is not 0."""
        raise NotImplementedError


class _Formatter(argparse.HelpFormatter):
    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap  # only help needs it

        return textwrap.wrap(text, width, break_on_hyphens=False)  # values are whole, to be copied


class _Parser(argparse.ArgumentParser):
    """Reads the calls of a command, or of the program itself; raises what is wrong with one."""

    def __init__(self, prog: str, text: str = "", parameters: Mapping[str, Parameter] = {}, **given: Any) -> None:
        formatter: Any = partial(_Formatter, max_help_position=30)
        given |= {"add_help": False, "allow_abbrev": False, "formatter_class": formatter}
        super().__init__(prog, description=text, **given)
        panels = dict.fromkeys((_ARGUMENTS, _OPTIONS, *(each.panel for each in parameters.values())))
        groups = {panel: self.add_argument_group(panel) for panel in panels}
        for each in parameters.values():
            each.add_to(groups[each.panel])
        groups[_OPTIONS].add_argument("-h", "--help", action="help", help="Show this message and exit.")
        shapes = (each.shape for each in parameters.values() if each.panel == _ARGUMENTS)
        self.usage = self.usage or " ".join((prog, "[OPTIONS]", *shapes))

    def joined(self, words: Sequence[str]) -> list[str]:
        """Return a call with each value that begins with a dash joined to its option, as argparse wants it."""
        known, found, more = self._option_string_actions, [""], 0
        for word in words:
            name = found[-1]
            if more and word.partition("=")[0] not in known:
                found.append(_BEHIND_DASHES + word)
                more -= 1
                continue
            nargs = known[word].nargs if word in known else None
            more = nargs if isinstance(nargs, int) else 0
            is_value = word[:1] == "-" != word and name in known and known[name].nargs != 0
            if is_value and word.startswith("--") and word.partition("=")[0] not in known:
                raise WrongCall(f"{name} needs a value; if that is {word}, write {name}={word}")
            if is_value and word[:2] not in known and word[1] != "-":
                found[-1] = f"{name}={word}"
            else:
                found.append(word)
        return found[1:]

    def checked(self, values: argparse.Namespace, others: Sequence[str]) -> dict[str, Any]:
        for word in others:
            if word.startswith("-") and word != "--":
                name = word.partition("=")[0]
                raise WrongCall(f"There is no option {name}{similar(name, self._option_string_actions)}")
            if word != "--":
                text = "; put a text with spaces in quotation marks" if "text" in values or "word" in values else ""
                raise WrongCall(f"{word.removeprefix(_BEHIND_DASHES)} is one argument too many{text}")
        return vars(values)

    def print_help(self, file: Any = None) -> None:
        sys.stdout.write(self.format_help())  # argparse would say nothing of a full disk

    def error(self, message: str) -> NoReturn:
        for theirs, ours in _MESSAGES.items():
            message = re.sub(theirs, ours, message)
        raise WrongCall(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise HelpShown


def similar(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(word, known, 1, cutoff=0.7)
    return f" (did you mean {found[0]}?)" if found else ""


# ---- the program without a command -----------------------------------------------------------------------------------


class _Program(CliCommand):
    version: bool = flag("Print the version.")
    install_completion: bool = flag("Install completion for the current shell.")
    show_completion: bool = flag("Show completion for the current shell, to copy it or customize the installation.")


_PROFILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish", "powershell": "", "pwsh": ""}


def run_program(words: Sequence[str], commands: Mapping[str, str]) -> str:
    """Do what a call without a command asks for, and return what is to be printed; `commands` says what each does."""
    parser = _program(commands)
    asked = parser.checked(*parser.parse_known_args(words))
    if not (asked["install_completion"] or asked["show_completion"]):
        raise WrongCall("A command is missing")
    return _completion(is_shown=asked["show_completion"])


def complete(commands: Mapping[str, str], command: Callable[[str], type[CliCommand]]) -> None:
    import argcomplete

    called = os.environ.get("COMP_LINE", "").split()[1:2]
    argcomplete.autocomplete(
        _program(commands, {name: command(name).declared() for name in called if name in commands})
    )


def _program(commands: Mapping[str, str], parameters: Mapping[str, Mapping[str, Parameter]] = {}) -> _Parser:
    usage = f"{PROGRAM} [OPTIONS] [FILES]... | COMMAND [ARGS]..."
    parser = _Parser(PROGRAM, _ABOUT, _Program.declared(), usage=usage, epilog=_EXIT_CODES)
    listed = parser.add_subparsers(title="Commands", metavar="COMMAND")
    for name, text in commands.items():
        listed.add_parser(name, help=text.partition("\n")[0], parameters=parameters.get(name, {}))
    return parser


def _completion(*, is_shown: bool) -> str:
    import subprocess

    import psutil
    from argcomplete.shell_integration import shellcode
    from platformdirs import user_data_path

    callers: list[str] = []
    with suppress(psutil.Error):  # such as one that has just ended, or belongs to someone else
        callers += (process.name() for process in psutil.Process().parents())
    names = [Path(caller.lstrip("-")).stem.lower() for caller in (*callers, os.environ.get("SHELL", ""))]
    shell = next((name for name in names if name in _PROFILES), None)
    if shell is None:
        raise StudioError("The shell is not known", "Call this from bash, zsh, fish or PowerShell.")
    has_profile = bool(_PROFILES[shell])  # else it is PowerShell, which knows its place
    script = shellcode([PROGRAM], True, shell if has_profile else "powershell")
    if shell == "zsh":
        script = f"autoload -Uz compinit && compinit\n{script}"
    if is_shown:
        return script
    place = user_data_path(PROGRAM, appauthor=False) / f"completion.{shell if has_profile else 'ps1'}"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(script, encoding="utf-8")
    asked = [shell, "-NoProfile", "-Command", "$PROFILE"]
    try:
        told = "" if has_profile else subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        what, advice = "{name} does not say where its profile is", "Add {place} to it yourself."
        raise StudioError(what, advice, name=shell, place=place) from error
    profile = Path(told or _PROFILES[shell]).expanduser()
    profile.parent.mkdir(parents=True, exist_ok=True)
    line = f"{'source' if has_profile else '.'} '{place}'\n"
    if not profile.exists() or line not in profile.read_text(encoding="utf-8"):
        with profile.open("a", encoding="utf-8") as file:
            file.write(line)
    return f"Completion is installed in {profile}. Start a new shell to use it."
