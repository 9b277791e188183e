"""The linter: finds all known problems of a corpus and a pipeline in one run, and repairs texts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import regex

from wordpiece_studio.corpus.counting.counting import count_texts, count_words
from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.corpus.inspection import preview
from wordpiece_studio.corpus.linter import text_checks, word_checks
from wordpiece_studio.corpus.linter.finding import (
    CorpusSample,
    Evidence,
    Finding,
    sample_of_files,
    sample_of_text,
    sample_of_texts,
)
from wordpiece_studio.corpus.linter.text_checks import decoded_again
from wordpiece_studio.corpus.linter.word_checks import LONG_RUN, without_stray_characters
from wordpiece_studio.corpus.listing import FOLDER_SUFFIXES, Listing, listing
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.corpus.linter.finding import Repair, TextFix

    Path = str | os.PathLike[str] | CorpusFile

_CHECKS = (
    text_checks.mojibake, word_checks.jamo, word_checks.lost_marks, word_checks.characters_alone, word_checks.twins,
    word_checks.invisible, word_checks.long_words, text_checks.long_line,
)  # fmt: skip


def findings(sample: CorpusSample, counts: WordCounts | None, pipeline: Pipeline) -> list[Finding]:
    """Return all findings, warnings first; without the words of the whole corpus, those of the sample are counted."""
    is_sample = counts.statistics.is_partial if counts is not None else not sample.is_whole
    if counts is None:
        texts = [part.text for part in sample.parts]
        counts = count_texts(texts, pipeline.normalizer, pipeline.pre_tokenizer, user_tokens=pipeline.user_tokens)
    evidence = Evidence(sample, counts, pipeline)
    found = [finding for check in _CHECKS if (finding := check(evidence)) is not None]
    if is_sample:
        found = [replace(finding, is_sample=True) for finding in found]
    return sorted(found, key=lambda finding: finding.severity == "note")


def findings_in(text: str, files: Sequence[CorpusFile], counts: WordCounts, pipeline: Pipeline) -> tuple[Finding, ...]:
    sample = sample_of_files(files) if files else sample_of_text(text)
    return tuple(findings(sample, counts, pipeline))


def lint(
    paths: Path | Iterable[Path] | Listing = (),
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    texts: Iterable[str] = (),
    counts: WordCounts | None = None,
    user_tokens: Sequence[str] = (),
) -> list[Finding]:
    """Return the problems that would spoil a vocabulary learned from files or texts, with their fixes.

    Parameters
    ----------
    paths
        Files, folders or globs; or none, and `texts` instead.
    normalizer, pre_tokenizer
        What turns the text into words: names, or custom objects.
    texts
        Texts, in anything that :func:`~wordpiece_studio.count_texts` takes; or none, and `paths` instead.
    counts
        The words of the whole corpus from the same normalizer and pre-tokenizer, if known. Otherwise a sample of two
        million characters is counted.
    user_tokens
        The tokens of one's own that the training will name: no words, and nothing in them is spoiled.

    Returns
    -------
    list[Finding]
        Warnings first; ``str(finding)`` describes the problem, ``finding.fix`` is the fix.

    Raises
    ------
    StudioError
        If there are no such files, or none of them can be read, or no such normalizer or pre-tokenizer; or something in
        `texts` is not a text.

    >>> finding, = lint(texts=["El niño y la niña"], normalizer="bert-uncased")
    >>> finding.fix.normalizer
    'bert-uncased:keep-accents'
    """
    pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer), tuple(user_tokens))
    given = list(checked_texts(texts))
    if given:
        return findings(sample_of_texts(given), counts, pipeline)
    listed = listing(paths)
    if counts is None and all(file.kind == "word-counts" for file in listed.files):
        counts = count_words(listed, pipeline.normalizer, pipeline.pre_tokenizer, user_tokens=pipeline.user_tokens)
    sample = sample_of_files(listed.files)
    if sample.files and not sample.parts:
        preview(sample.files[0], 0, 1)  # raises, and says why
    return [*findings(sample, counts, pipeline), *_decisions(listed)]


def _decisions(listed: Listing) -> list[Finding]:
    tables, left_out, found = listed.guessed_tables, listed.left_out_files, []
    if tables:
        one, many = "{name} is read as words and their counts", "{files:,} files are read as words and their counts"
        details = (
            *(("The first is {name}.",) if len(tables) > 1 else ()),
            "Two columns, the second with whole numbers in every row.",
            "If a file is not such a table, specify its kind.",
        )
        values: dict[str, int | str] = {"name": tables[0], "files": len(tables)}
        found.append(Finding("word-counts", "note", one if len(tables) == 1 else many, details, values))
    if left_out:
        one, many = "{name} is not read", "{files:,} files are not read, such as {name}"
        details = (
            "From a folder, only files whose names end in {suffixes} are read.",
            "Specify others one by one, or with a pattern.",
        )
        values = {"name": listed.left_out_example, "files": left_out, "suffixes": ", ".join(FOLDER_SUFFIXES)}
        found.append(Finding("left-out", "note", one if left_out == 1 else many, details, values))
    return found


_WRAPPED_FROM = 1000
_LONGEST_LINE = 5000
_SENTENCE_END = regex.compile(
    r"(?<=[.!?…؟।။](?:[\"'”’»)\]])*)[ \t\u00a0]+|(?<=[。！？](?:[”’」』）])*)(?![”’」』）。！？])[ \u3000]*"
)


def repaired(text: str, fix: TextFix) -> str:
    """Return `text` after the fix.

    >>> from wordpiece_studio.corpus.linter.finding import TextFix
    >>> repaired("niÃ±o", TextFix("decode-again"))
    'niño'
    """
    return _REPAIRS[fix.repair](text)


def _wrapped(text: str) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    return "\n".join(line_end.join(_sentences(line)) if len(line) > _WRAPPED_FROM else line for line in lines)


def _sentences(line: str) -> list[str]:
    lines: list[str] = []
    for sentence in _SENTENCE_END.sub("\n", line).removesuffix("\n").split("\n"):
        while len(sentence) > _LONGEST_LINE:
            place = sentence.rfind(" ", 0, _LONGEST_LINE)
            if place <= 0:
                break
            lines.append(sentence[:place])
            sentence = sentence[place + 1 :]
        lines.append(sentence)
    return lines


_REPAIRS: Mapping[Repair, Callable[[str], str]] = {
    "decode-again": decoded_again,
    "remove-invisible": without_stray_characters,
    "remove-long-words": partial(LONG_RUN.sub, ""),
    "wrap-lines": _wrapped,
}
