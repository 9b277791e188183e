"""``wordpiece-studio count`` and ``wordpiece-studio lint``: what a corpus contains."""

from __future__ import annotations

import dataclasses
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.cli.messages import (
    LOSSES,
    STDIN,
    no_words,
    number_of,
    print_result,
    progress,
    table_of_files,
    warn,
)
from wordpiece_studio.cli.options import (
    FILES,
    FORCE,
    JSON,
    CorpusCommand,
    CorpusNotes,
    CountingOptions,
    FileOptions,
    PipelineOptions,
    check_results,
    results,
    tokens_in,
)
from wordpiece_studio.cli.parameters import CliCommand, argument, option
from wordpiece_studio.corpus.count_tables import check_table_place
from wordpiece_studio.corpus.files import is_url
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.manifest import write_word_counts_with_manifest
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.linter.finding import Example, Finding

_MOST_CHECKED = 64
_NO_OPTIONS = ("repair", "path")  # fields of fixes that no option of the command line stands for
_MOST_CHARACTERS = 60


class CountCommand(CorpusCommand):
    output: str | None = option("The .tsv, .csv or .parquet file to write.", names=("-o", "--output"), metavar="FILE")
    top: int = option("Print this many of the most common words.", default=0, least=0)
    as_json: bool = JSON
    force: bool = FORCE

    def run(self) -> None:
        started, output = time.monotonic(), self.output
        tokens, normalizer = self.tokens, self.whole_normalizer()
        sources = self.listed(self.files)
        read = [] if sources is None else [file.path for file in sources.files]
        if output is not None:
            check_table_place(Path(output))
            if Path(output).exists() and any(not is_url(path) and Path(output).samefile(path) for path in read):
                what = "{path} is one of the files to count"
                raise StudioError(what, "Write to another file.", path=display_name(output))
            check_results([output], force=self.force)
        notes = CorpusNotes(sources, self)
        with progress(of_bytes=True) as report:
            counts = self.counted(sources, normalizer, report)
        if not set(tokens) <= set(counts.statistics.user_tokens):
            warn("The words of a table are taken as they are, whatever --user-tokens says.")
        warn(*self.reading_warnings(counts, sources))
        order = np.argsort(-counts.counts, kind="stable")[: self.top]  # ties in order of appearance
        most_common = [(counts.words[index], int(counts.counts[index])) for index in order]
        if output is not None:
            record = notes.record()
            with results(force=self.force):
                write_word_counts_with_manifest(Path(output), counts, record)
        seconds = time.monotonic() - started
        lines = [*table_of_files(counts.statistics.files)]
        lines += [f"{number:>12,}  {printable(word)}" for word, number in most_common]
        figures = f"{number_of(counts.total, 'word')}, {len(counts):,} distinct, in {seconds:.1f} s"
        lines.append(f"{figures}, written to {display_name(output)}" if output else figures)
        print_result(_summary(counts, most_common, output, seconds), "\n".join(lines), as_json=self.as_json)


def _summary(
    counts: WordCounts, most_common: list[tuple[str, int]], output: str | None, seconds: float
) -> dict[str, Any]:
    statistics = counts.statistics
    names = ("name", "bytes", "lines", "words", "distinct_words", "encoding", "replaced", "skipped_lines")
    return {
        "output": output,
        "files": [{name: getattr(file, name) for name in names} for file in statistics.files],
        **{name: getattr(statistics, name) for name in ("bytes", "lines")},
        "words": counts.total,
        "distinct_words": len(counts),
        **{name: getattr(statistics, name) for name in LOSSES},
        "top": most_common,
        "seconds": round(seconds, 3),
    }


# ---- lint ------------------------------------------------------------------------------------------------------------


class LintCommand(CliCommand, FileOptions, PipelineOptions):
    files: list[str] = argument(FILES, "FILES")
    as_json: bool = JSON
    user_tokens: str | None = CountingOptions.user_tokens
    errors = "replace"  # what cannot be decoded is a finding

    def run(self) -> int:
        from wordpiece_studio.corpus.linter.linter import lint  # counting does not need it

        started = time.monotonic()
        normalizer = self.whole_normalizer()
        sources, own = self.listed(self.files), tokens_in(self.user_tokens)
        texts = [self._beginning_of_stdin()] if sources is None else []
        files = () if sources is None else sources.files[:_MOST_CHECKED]
        # Whether there is text where it is looked for, such as in a column.
        has_text = (file.kind == "word-counts" or next(iter(opened(file).pieces()), None) is not None for file in files)
        if not any(texts) and not any(has_text):
            raise no_words(self.files)
        found = lint(() if sources is None else sources, normalizer, self.pre_tokenizer, texts=texts, user_tokens=own)
        number = 1 if sources is None else len(sources.files)
        warnings = sum(finding.severity == "warning" for finding in found)
        lines = [line for finding in found for line in self._lines(finding)]
        notes = number_of(len(found) - warnings, "note")
        lines.append(f"{number_of(warnings, 'warning')} and {notes} about {number_of(number, 'file')}")
        seconds = round(time.monotonic() - started, 3)
        data = [self._as_data(finding) for finding in found]
        summary = {"findings": data, "warnings": warnings, "files": number, "seconds": seconds}
        print_result(summary, "\n".join(lines), as_json=self.as_json)
        return 1 if warnings else 0

    def _beginning_of_stdin(self) -> str:
        from wordpiece_studio.corpus.linter.finding import LARGEST_SAMPLE

        texts: list[str] = []
        length = 0
        with self.opened(self.files) as stream:
            for piece in stream.pieces():
                texts.append(piece.text)
                length += len(piece.text)
                if length > LARGEST_SAMPLE:
                    break
        return "".join(texts)

    def _lines(self, finding: Finding) -> Iterator[str]:
        """Yield a finding like a compiler's message, with where it is first, and then its examples and its fix."""
        places = [self._place(example) for example in finding.examples]
        first = next((f"{place}: " for place in places if place), "")
        yield f"{first}{finding.severity}: {finding}"
        for example, place in zip(finding.examples, places, strict=True):
            becomes = f" → {example.after[:_MOST_CHARACTERS]}" if example.after else ""
            yield printable(f"    {place + ': ' if place else ''}{example.before[:_MOST_CHARACTERS]}{becomes}")
        if fix := self._fix(finding):
            yield f"    {finding.fix_name}: {fix}"

    def _place(self, example: Example) -> str:
        line = "" if example.line is None else f":{example.line}"
        return self._file(example) + line if example.source else ""

    def _file(self, example: Example) -> str:
        return STDIN if self.files == ["-"] else display_name(example.source)

    def _fix(self, finding: Finding) -> str:
        """Return the options that would help; empty if none would."""
        given = {} if finding.fix is None else dataclasses.asdict(finding.fix)
        given = {
            name: str(value)
            for name, value in given.items()
            if name not in _NO_OPTIONS and value != getattr(self, name, None)
        }
        return " ".join(f"--{name.replace('_', '-')} {printable(shlex.quote(value))}" for name, value in given.items())

    def _as_data(self, finding: Finding) -> dict[str, Any]:
        examples = [
            {"before": each.before, "after": each.after, "file": self._file(each), "line": each.line}
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
            "fix": self._fix(finding) or None,
        }
