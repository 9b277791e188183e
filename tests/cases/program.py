"""The command line as a case calls it: in a folder of its own, with what it must and must not do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

OUTPUT = "vocabulary"


@dataclass
class Program:
    """The command line, called in this process in the folder that is the working one.

    Parameters
    ----------
    folder
        The working folder.
    told
        Notes what the user is told.
    """

    folder: Path
    capsys: pytest.CaptureFixture[str]
    told: Callable[[object], str]

    def file(self, name: str, content: str | bytes) -> str:
        """Write a file and return its name."""
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def refuses(self, *arguments: object, code: int = 1, within_s: float = 10) -> str:
        """Return the one line on stderr of a command that must fail, leave every file as it is, and end soon."""
        before = self._files()
        result, out, err = self.run(arguments, within_s)
        assert (result, out) == (code, "")
        assert err.startswith("wordpiece-studio: ")
        assert err.count("\n") == 1
        assert err.endswith((".\n", "?\n"))
        assert self._files() == before
        return self.told(err.removeprefix("wordpiece-studio: ").rstrip("\n"))

    def refuses_to_train(self, *arguments: object, **bounds: float) -> str:
        """As `refuses`, for ``train``: no vocabulary is there after it."""
        message = self.refuses("train", *arguments, "-o", OUTPUT, **bounds)  # type: ignore[arg-type]
        assert not (self.folder / OUTPUT).exists()
        return message

    def trains(self, *arguments: object, within_s: float = 10) -> str:
        """Return what is told beside and after a training that must succeed, in one text."""
        result, out, err = self.run(("train", *arguments, "-o", OUTPUT), within_s)
        assert result == 0, err
        assert (self.folder / OUTPUT / "vocab.txt").exists()
        lines = [line.removeprefix("wordpiece-studio: ") for line in err.splitlines()]
        return self.told("\n".join([*lines, *out.splitlines()]))

    def prepares(self, *arguments: object) -> None:
        """Train for what is to be tried; it says nothing that belongs to the case."""
        result, _, err = self.run(("train", *arguments, "-o", OUTPUT), 10)
        assert result == 0, err

    def tokens(self) -> list[str]:
        """Return the tokens of the vocabulary that was trained last."""
        return (self.folder / OUTPUT / "vocab.txt").read_text(encoding="utf-8").splitlines()

    def run(self, arguments: tuple[object, ...], within_s: float) -> tuple[int, str, str]:
        """Return the exit code, stdout and stderr of a command that must end within some seconds of work."""
        started = time.process_time()  # others may be at work beside
        code = cli.run([str(argument) for argument in arguments])
        assert time.process_time() - started < within_s
        captured = self.capsys.readouterr()
        return code, captured.out, captured.err

    def _files(self) -> dict[str, tuple[int, int, int]]:
        """Return what tells whether anything in the folder was written to."""
        states = {str(path): path.lstat() for path in self.folder.rglob("*")}
        return {name: (state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states.items()}
