"""Other people's tokenizers against their library, and spoiled ones: ``python -m tests.reliability.library_models``.

First the same lines go through tokenizers of every structure in `tests.libraries.library_models`, here and in their own
library: ids, tokens, offsets and words must be equal. Then spoiled ones, each made from one of these by its number, are
loaded and given a text, through the library and through the command line: each is loaded, or refused in one clear line
that names the file. How often the child process ended over one is counted. Ends with 1 if anything was otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.libraries.library_models import STRUCTURES, assert_same, texts
from tests.reliability.mutations_tokenizer import TEXT, mutate
from wordpiece_studio import cli
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

_SLOW_SECONDS = 60.0
_HUGE = (2**31, 2**32, 2**40, 2**63, 10**30, -1)
_LINES = [TEXT + " [CLS] <unk> \u0301", "a" * 200]


def lines_of(count: int, corpora: Path | None) -> list[str]:
    """Return lines of text: those of a folder's files in turn, and made ones that no one would write."""
    found = []
    for path in sorted(corpora.glob("*.txt")) if corpora is not None else ():
        found += path.read_text(encoding="utf-8").split("\n")[: count // 16]
    return (found + texts(1, count))[:count]


def compare(count: int, corpora: Path | None) -> int:
    """Print a line for each structure, and return how many are not equal to their library."""
    lines, unequal = lines_of(count, corpora), 0
    for name, made in STRUCTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tokenizer.json")
            made().save(str(path))
            theirs = made().from_file(str(path))
            ours = load_tokenizer(path)
            began = time.monotonic()
            try:
                result = f"{assert_same(ours, theirs, lines):9,} tokens equal"
            except AssertionError as error:
                result, unequal = f"NOT EQUAL: {str(error)[:200]}", unequal + 1
            _say(f"{name:18}{type(ours).__name__:19}{len(lines):,} lines {result} {time.monotonic() - began:6.1f} s")
    return unequal


def spoiled(number: int) -> bytes:
    """Return the spoiled tokenizer of this number."""
    rng = random.Random(f"foreign {number}")
    data = _saved(rng.choice(sorted(STRUCTURES)))
    return _with_huge_number(rng, data) if rng.random() < 0.2 else mutate(rng, data)


def read_all(count: int, way: str) -> tuple[Counter[str], list[str]]:
    """Read spoiled tokenizers in one way, and return what became of them and what was not as it should be."""
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            path = Path(folder, f"spoiled-{number}.json")
            path.write_bytes(spoiled(number))
            began = time.monotonic()
            try:
                told = by_library(path) if way == "library" else by_command_line(path)
            except BaseException as error:
                faults.append(f"{number}: {type(error).__name__}: {str(error)[:200]}")
                continue
            outcomes[_outcome(told)] += 1
            if told and not _is_clear(told, path):
                faults.append(f"{number}: {told!r}")
            if time.monotonic() - began > _SLOW_SECONDS:
                faults.append(f"{number}: took {time.monotonic() - began:.0f} s")
            path.unlink()
    return outcomes, faults


def by_library(path: Path) -> str:
    """Return what is said of a tokenizer when it is loaded and used; nothing if it works."""
    try:
        tokenizer = load_tokenizer(path)
        for line in _LINES:
            tokenizer.decode(tokenizer.encode(line).ids)
    except StudioError as error:
        return str(error)
    return ""


def by_command_line(path: Path) -> str:
    """Return what the command line says on stderr of a tokenizer; nothing if it works."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run(["tokenize", "--vocab", str(path), "\n".join(_LINES)])
    if code == 0 and err.getvalue() == "":
        return ""
    assert code == 1, f"exit code {code}"
    return err.getvalue().removesuffix("\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--spoiled", type=int, default=1000)
    parser.add_argument("--corpora", type=Path, help="a folder with .txt files, whose lines are taken too")
    given = parser.parse_args(arguments)
    bad = compare(given.lines, given.corpora)
    for way in ("library", "command line"):
        began = time.monotonic()
        outcomes, faults = read_all(given.spoiled, way)
        figures = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(outcomes.items()))
        took = f"{given.spoiled:,} spoiled files in {time.monotonic() - began:.0f} s"
        _say(f"{way}: {took}: {figures}; {len(faults)} faults")
        for fault in faults[:20]:
            _say(f"    {fault}")
        bad += len(faults)
    return int(bool(bad))


@cache
def _saved(name: str) -> bytes:
    return STRUCTURES[name]().to_str().encode()


def _with_huge_number(rng: random.Random, data: bytes) -> bytes:
    """Return a tokenizer that fills up or cuts off its texts at a huge length, or has a huge number somewhere else."""
    value: dict[str, Any] = json.loads(data)
    huge = rng.choice(_HUGE)
    padding = {"direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x", "pad_to_multiple_of": None}
    match rng.randrange(5):
        case 0:
            value["padding"] = {"strategy": {"Fixed": huge}, **padding}
        case 1:
            value["padding"] = {"strategy": "BatchLongest", **padding, "pad_to_multiple_of": huge}
        case 2:
            value["truncation"] = {"max_length": huge, "stride": rng.choice((0, huge)), "strategy": "LongestFirst",
                                   "direction": "Right"}  # fmt: skip
        case 3:
            value["added_tokens"] = [*value["added_tokens"], {"id": huge, "content": "x", "single_word": False,
                "lstrip": False, "rstrip": False, "normalized": False, "special": True}]  # fmt: skip
        case _:
            value["model"][rng.choice(("unk_id", "max_input_chars_per_word", "dropout"))] = huge
    return json.dumps(value, ensure_ascii=False).encode()


def _outcome(told: str) -> str:
    if not told:
        return "loaded"
    ends = ("crashed on it", "did not finish", "was ended")
    return "child ended" if any(words in told for words in ends) else "refused"


def _is_clear(told: str, path: Path) -> bool:
    return "\n" not in told and len(told) < 1200 and path.name in told and "Traceback" not in told


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
