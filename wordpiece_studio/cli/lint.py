"""``wordpiece-studio lint``."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Annotated, Any

from wordpiece_studio.cli import options as shared
from wordpiece_studio.cli.messages import STDIN, no_words, number_of, print_result
from wordpiece_studio.cli.options import FILES
from wordpiece_studio.cli.parameters import Argument
from wordpiece_studio.corpus.linter.evidence import LARGEST_SAMPLE
from wordpiece_studio.corpus.linter.finding import LengthFix, PipelineFix, ReadingFix
from wordpiece_studio.corpus.linter.linter import lint
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.text.normalizers import resolve_normalizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.corpus.linter.finding import Example, Finding

_MOST_CHECKED = 64
_MOST_CHARACTERS = 60


def lint_command(
    options: dict[str, Any],
    files: Annotated[list[str], Argument(help=FILES, metavar="FILES")],
    as_json: shared.JsonOption = False,
    kind: shared.KindOption = None,
    word_counts: shared.WordCountsOption = False,
    column: shared.ColumnOption = None,
    encoding: shared.EncodingOption = None,
    normalizer: shared.NormalizerOption = "bert-cased",
    pre_tokenizer: shared.PreTokenizerOption = "bert",
    remove: shared.RemoveOption = "",
    user_tokens: shared.UserTokensOption = None,
) -> int:
    """Look for what would spoil a vocabulary, and say which option helps. The exit code is 1 if there are warnings.

    A large corpus is examined in parts, evenly chosen.
    """
    started = time.monotonic()
    normalizing = shared.with_removal(resolve_normalizer(normalizer), remove)
    options["errors"] = "replace"  # what cannot be decoded is a finding
    sources, own = shared.listed_sources(options), shared.tokens_in(user_tokens)
    texts = [_beginning_of_stdin(options)] if sources is None else []
    has_text = [*map(bool, texts)] if sources is None else [*map(_has_text, sources.files[:_MOST_CHECKED])]
    if not any(has_text):
        raise no_words(files)
    found = lint(() if sources is None else sources, normalizing, pre_tokenizer, texts=texts, user_tokens=own)
    number = 1 if sources is None else len(sources.files)
    warnings = sum(finding.severity == "warning" for finding in found)
    lines = [line for finding in found for line in _lines(finding, options)]
    notes = number_of(len(found) - warnings, "note")
    lines.append(f"{number_of(warnings, 'warning')} and {notes} about {number_of(number, 'file')}")
    data = [_as_data(finding, options) for finding in found]
    seconds = round(time.monotonic() - started, 3)
    summary = {"findings": data, "warnings": warnings, "files": number, "seconds": seconds}
    print_result(summary, "\n".join(lines), as_json=as_json)
    return 1 if warnings else 0


def _has_text(file: CorpusFile) -> bool:
    """Return whether there is text in a file where it is looked for, such as in a column."""
    return file.kind == "word-counts" or next(iter(opened(file).pieces()), None) is not None


def _beginning_of_stdin(options: Mapping[str, Any]) -> str:
    texts: list[str] = []
    length = 0
    with shared.opened_stdin(options) as stream:
        for piece in stream.pieces():
            texts.append(piece.text)
            length += len(piece.text)
            if length > LARGEST_SAMPLE:
                break
    return "".join(texts)


def _lines(finding: Finding, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a finding like a compiler's message, with where it is first, and then its examples and its fix."""
    places = [_place(example, options) for example in finding.examples]
    first = next((f"{place}: " for place in places if place), "")
    yield f"{first}{finding.severity}: {finding}"
    for example, place in zip(finding.examples, places, strict=True):
        becomes = f" → {example.after[:_MOST_CHARACTERS]}" if example.after else ""
        yield printable(f"    {place + ': ' if place else ''}{example.before[:_MOST_CHARACTERS]}{becomes}")
    if fix := _fix(finding, options):
        yield f"    {finding.fix_name}: {fix}"


def _place(example: Example, options: Mapping[str, Any]) -> str:
    line = "" if example.line is None else f":{example.line}"
    return _file(example, options) + line if example.source else ""


def _file(example: Example, options: Mapping[str, Any]) -> str:
    return STDIN if options["files"] == ["-"] else display_name(example.source)


def _fix(finding: Finding, options: Mapping[str, Any]) -> str:
    """Return the options that would help; empty if none would."""
    fix, given = finding.fix, {}
    if isinstance(fix, PipelineFix):
        given = {"normalizer": fix.normalizer, "pre_tokenizer": fix.pre_tokenizer}
        given = {name: value for name, value in given.items() if value != options[name]}
    elif isinstance(fix, ReadingFix):
        given = {"encoding": fix.encoding}
    elif isinstance(fix, LengthFix):
        given = {"max_word_length": str(fix.max_word_length)}
    return " ".join(f"--{name.replace('_', '-')} {printable(shlex.quote(value))}" for name, value in given.items())


def _as_data(finding: Finding, options: Mapping[str, Any]) -> dict[str, Any]:
    examples = [
        {"before": each.before, "after": each.after, "file": _file(each, options), "line": each.line}
        for each in finding.examples
    ]
    first = next((each for each in examples if each["line"] is not None), {})
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "file": first.get("file"),
        "line": first.get("line"),
        "finding": finding.title,
        "details": list(finding.details),
        "count": finding.count,
        "is_sample": finding.is_sample,
        "examples": examples,
        "fix": _fix(finding, options) or None,
    }
