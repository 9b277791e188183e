"""Work on texts in a child process: finding problems, repairing, holding out a part, figures on them.

This module is imported by the child, which has no window: it must not import Qt.
`file_rows` has what children do with single files.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counts import CountingProgress, PartsReader, parts_of
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.linter.finding import TextFix, as_data, from_data
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.file_rows import written_file
from wordpiece_studio.system.child_process import lower_priority, written_error
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.linter.finding import Finding
    from wordpiece_studio.evaluation.figures import Evaluation, Measurable
    from wordpiece_studio.evaluation.held_out import DividedCorpus
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.storage.project.contents import ProjectCorpus
    from wordpiece_studio.system.child_process import ParentConnection
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.training.config import TrainingConfig

PROGRESS_INTERVAL_SECONDS = 0.05
TEXT_PIECE = 1 << 20  # characters
READY, TEXT = b"?", b"t"
"""Message kinds: ready to receive; a piece of the text."""


END, FINDINGS = b".", b"f"
"""Message kinds of a check besides those of word counts: end of input, the findings."""


def lint_in_child(connection: ParentConnection, order: str) -> None:
    """Check the corpus received, or files, and send the findings."""
    from wordpiece_studio.corpus.linter.evidence import sample_of_files, sample_of_text
    from wordpiece_studio.corpus.linter.linter import findings

    gc.disable()  # a million words are many small objects, and the child ends soon
    wanted = json.loads(order)
    pipeline = Pipeline(normalizers.from_spec(wanted["normalizer"]), pre_tokenizers.from_spec(wanted["pre_tokenizer"]))
    reader = PartsReader(pipeline.normalizer, pipeline.pre_tokenizer)
    connection.send_bytes(READY)
    text = _received(connection, reader)
    files = [CorpusFile(**file) for file in wanted["files"]]
    sample = sample_of_files(files) if files else sample_of_text(text)
    found = findings(sample, reader.counts(), pipeline)
    connection.send_bytes(FINDINGS + json.dumps([as_data(finding) for finding in found]).encode())


def repair_in_child(connection: ParentConnection, repair: str) -> None:
    """Repair the text received, and send it back."""
    from wordpiece_studio.corpus.linter.linter import repaired

    connection.send_bytes(READY)
    text = repaired(_received(connection, None), TextFix(repair))  # type: ignore[arg-type]
    for piece in pieces_of(text):
        connection.send_bytes(TEXT + piece)


FIGURES = b"j"
"""The kind of the message with figures; for `judge_in_child`: tokens a word, and the unknown share, by objective."""
_READING_PART, _TRAINING_PART = 0.1, 0.3
"""How much of the progress is reading the corpus, and each of three trainings."""


def judge_in_child(connection: ParentConnection, order: str) -> None:
    """Hold out a part of the text received, or of files, and send what vocabularies of the rest make of it.

    Messages: ``?`` ready for the text, ``p`` the progress, from 0 to 1, and `FIGURES`.
    """
    from wordpiece_studio.evaluation.held_out import divided_corpus, held_out_figures
    from wordpiece_studio.training.config import TrainingConfig

    wanted = json.loads(order)
    config = TrainingConfig.from_dict(wanted["config"])
    pipeline = normalizers.from_spec(wanted["normalizer"]), pre_tokenizers.from_spec(wanted["pre_tokenizer"])
    reading: Any = {name: getattr(config, name) for name in ("special_tokens", "user_tokens")}
    reading["max_word_length"] = wanted["max_word_length"]
    lower_priority()  # the window comes first
    connection.send_bytes(READY)
    text = _received(connection, None)
    files = [CorpusFile(**file) for file in wanted["files"]]
    report = _JudgingProgress(connection, config)
    corpus = divided_corpus(files, *pipeline, texts=() if files else [text], **reading, progress=report.read)
    _check_unchanged(corpus, files, config, wanted["trained_on"])
    figures = held_out_figures(corpus.rest, corpus.held_out, config, progress=report.trained)
    found = {objective: (rate, figures.unknown[objective]) for objective, rate in figures.tokens_per_word.items()}
    connection.send_bytes(FIGURES + json.dumps(found).encode())


def written_judge_order(counts: WordCounts, config: TrainingConfig, corpus: ProjectCorpus, max_word_length: int) -> str:
    """Return an order for `judge_in_child` as JSON; without files, the text is sent once the child is ready."""
    return json.dumps(
        {
            "normalizer": normalizers.to_spec(counts.normalizer),
            "pre_tokenizer": pre_tokenizers.to_spec(counts.pre_tokenizer),
            "files": [written_file(each.file) for each in corpus.files],
            "max_word_length": max_word_length,
            "config": config.to_dict(),
            "trained_on": _trained_on(counts, corpus),
        }
    )


def _trained_on(counts: WordCounts, corpus: ProjectCorpus) -> dict[str, Any]:
    """Return what tells whether files still hold the corpus of a run, for `_check_unchanged`."""
    return {
        "words": counts.total + counts.statistics.skipped_words,
        "sum": _sum_of_words(counts),
        "states": [[each.size, each.modified_ns] for each in corpus.files],
    }


def _sum_of_words(counts: WordCounts) -> int:
    """Return a checksum of words and their counts; those of the parts of a corpus add up to that of the whole."""
    encoded = (word.encode("utf-8", "surrogatepass") for word in counts.words)
    return sum(zlib.crc32(word) * count for word, count in zip(encoded, counts.counts.tolist(), strict=True))


def _check_unchanged(
    divided: DividedCorpus, files: list[CorpusFile], config: TrainingConfig, trained_on: dict[str, Any]
) -> None:
    """Check that what was divided is the corpus that a run was trained on, see `_trained_on`."""
    from wordpiece_studio.storage.corpus_record import noted_files

    rest, held_out = divided.rest, divided.held_out
    if held_out.special_tokens or config.user_tokens:  # they were taken out, so that words cannot be compared
        is_same = [[each.size, each.modified_ns] for each in noted_files(files)] == trained_on["states"]
    else:
        words = rest.total + rest.statistics.skipped_words + held_out.words
        found = words, _sum_of_words(rest) + _sum_of_words(held_out.counts)
        is_same = found == (trained_on["words"], trained_on["sum"])
    if not is_same:
        raise StudioError("The corpus has changed since it was counted", "Train again on the corpus as it is now.")


class _JudgingProgress:
    """Reports the progress of three trainings to the parent, and of the reading before them."""

    def __init__(self, connection: ParentConnection, config: TrainingConfig) -> None:
        self._connection = connection
        self._size = config.vocab_size
        self._begun: list[str] = []  # the objectives, the present one last
        self._next = 0.0

    def read(self, progress: CountingProgress) -> None:
        self._send(_READING_PART * progress.bytes_done / max(progress.bytes_total, 1))

    def trained(self, objective: str, tokens: int) -> None:
        if objective not in self._begun:
            self._begun.append(objective)
        part = 0.0 if self._size is None else min(tokens / self._size, 1.0)
        self._send(_READING_PART + _TRAINING_PART * (len(self._begun) - 1 + part))

    def _send(self, part: float) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_INTERVAL_SECONDS
            self._connection.send_bytes(b"p" + json.dumps(part).encode())


FAILURES = b"x"
"""The kind of the message with the error of each tokenizer that failed, by name."""


def measure_in_child(connection: ParentConnection, order: str) -> None:
    """Send the figures of tokenizers on the text or the words received, on files, or on what is held out of a corpus.

    Messages: ``?`` ready for the tokenizers, see `written_tokenizer`, and the text or the words; ``p`` what is being
    done, how much of it is done, and how much there is; `FAILURES`, and unless all failed, `FIGURES`.
    """
    wanted = json.loads(order)
    lower_priority()  # the window comes first
    connection.send_bytes(READY)
    contents = {name: connection.recv_bytes() for name in wanted["tokenizers"]}
    reader = None
    if wanted["normalizer"]:
        reader = PartsReader(*_pipeline(wanted))
    text, report = _received(connection, reader), _MeasuringProgress(connection)
    corpus = [CorpusFile(**file) for file in wanted["corpus"] or ()]
    rest = _Rest(corpus, text, wanted["max_word_length"], report)
    failures: dict[str, str] = {}
    named: dict[str, Measurable] = {}
    for name, file_name in wanted["tokenizers"].items():
        with _noting(failures, name):
            named[name] = _read_tokenizer(contents[name], file_name, name, rest)
            if name in wanted["words_of"]:
                named[name] = _with_words_of(named[name], wanted["words_of"][name])
    on: dict[str, Any] = {"on": reader.counts()} if reader is not None else {"texts": [text]}
    if wanted["files"]:
        on = {"on": wanted["files"], "is_parallel": wanted["is_parallel"]}
    elif wanted["corpus"] is not None:
        on = {"on": corpus, "texts": () if corpus else [text], "is_held_out": True}
    found = _figures(named, {**on, "progress": report}, failures)
    connection.send_bytes(FAILURES + json.dumps(failures).encode())
    if found is not None:
        parts = {"": found.figures, **found.parts}
        figures = {name: [dataclasses.asdict(each) for each in part] for name, part in parts.items()}
        connection.send_bytes(FIGURES + json.dumps({"figures": figures, "words_of": found.words_of}).encode())


def written_pipeline(counts: WordCounts) -> dict[str, Any]:
    """Return what found words, as data."""
    return {
        "normalizer": normalizers.to_spec(counts.normalizer),
        "pre_tokenizer": pre_tokenizers.to_spec(counts.pre_tokenizer),
    }


def written_tokenizer(run: Run, step: int) -> bytes:
    """Return what makes the tokenizer of a run at a step; for one that a library runs, the content of its file."""
    if run.library_run is not None and run.is_run_by_library(step):
        return run.library_run.content or b"\0"  # without any, the child would look for a file of that name
    history = run.history
    pairs = history.pair_steps() if history.config.is_byte_pair_encoding else {}
    described = {
        "config": history.config.to_dict(),
        "tokens": history.vocabulary(step).tokens,
        **written_pipeline(run.counts),
        "merges": [pair for pair, first in pairs.items() if first <= step],
    }
    return json.dumps(described).encode()


def written_training(run: Run, config: TrainingConfig, corpus: ProjectCorpus) -> bytes:
    """Return what trains a run anew on a part of its corpus, with these settings."""
    described = {
        "trainer": "" if run.library_run is None else run.library_run.trainer,
        "is_of_lines": run.library_run is not None and run.library_run.learned.is_of_lines,
        "config": config.to_dict(),
        **written_pipeline(run.counts),
        "trained_on": _trained_on(run.counts, corpus),
    }
    return json.dumps(described).encode()


class _Rest:
    """What is not held out of a corpus, to train on: as words, or for a library that reads text, as lines."""

    def __init__(self, files: list[CorpusFile], text: str, max_word_length: int, report: _MeasuringProgress) -> None:
        self._files = files
        self._text = text
        self._max_word_length = max_word_length
        self._report = report
        self._known: dict[tuple[object, ...], DividedCorpus] = {}

    def trained(self, name: str, order: dict[str, Any], config: TrainingConfig) -> Measurable:
        """Return what one learns from it, see `written_training`."""
        from wordpiece_studio.libraries.library_training import train_library
        from wordpiece_studio.training.trainer import train

        divided = self._divided(*_pipeline(order), config)
        _check_unchanged(divided, self._files, config, order["trained_on"])
        counts = divided.rest
        if order["is_of_lines"]:
            self._report(f"Training {name}", 0, 1)
            return train_library(self._files or [self._text], config, order["trainer"], is_rest=True)
        if order["trainer"]:
            self._report(f"Training {name}", 0, 1)
            return train_library(counts, config, order["trainer"])
        return train(counts, config, progress=lambda done, size: self._report(f"Training {name}", done, size or done))

    def _divided(self, normalizer: Normalizer, pre_tokenizer: PreTokenizer, config: TrainingConfig) -> DividedCorpus:
        from wordpiece_studio.evaluation.held_out import divided_corpus

        key = normalizer, pre_tokenizer, config.special_tokens, config.user_tokens
        if key not in self._known:
            self._known[key] = divided_corpus(
                self._files, normalizer, pre_tokenizer, texts=() if self._files else [self._text],
                special_tokens=config.special_tokens, user_tokens=config.user_tokens,
                max_word_length=self._max_word_length,
                progress=lambda read: self._report("Reading", read.bytes_done, read.bytes_total),
            )  # fmt: skip
        return self._known[key]


def _pipeline(described: dict[str, Any]) -> tuple[Normalizer, PreTokenizer]:
    return normalizers.from_spec(described["normalizer"]), pre_tokenizers.from_spec(described["pre_tokenizer"])


def _with_words_of(trained: Any, described: dict[str, Any]) -> Measurable:
    """Return the tokenizer of a library with the words that the run was counted in."""
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.tokenizer.added_tokens import TextReading

    tokenizer: LibraryTokenizer = trained if isinstance(trained, LibraryTokenizer) else trained.tokenizer()
    normalizer, pre_tokenizer = _pipeline(described)
    tokenizer.words_of = TextReading(Pipeline(normalizer.kept, pre_tokenizer))
    return tokenizer


def _read_tokenizer(content: bytes, file_name: str, name: str, rest: _Rest) -> Measurable:
    """Return what was written; with a file name, that of a library, or without content that file's."""
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import TokenList
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.trainer import by_merges

    if file_name:
        return LibraryTokenizer(file_name, content=content) if content else load_tokenizer(file_name)
    read = json.loads(content)
    config = TrainingConfig.from_dict(read["config"])
    if "trainer" in read:
        return rest.trained(name, read, config)
    vocabulary = config.vocabulary(TokenList(read["tokens"]))
    if config.is_byte_pair_encoding:
        return by_merges(vocabulary, map(tuple, read["merges"]), *_pipeline(read), config)
    return Tokenizer(vocabulary, *_pipeline(read))


def _figures(named: dict[str, Measurable], on: dict[str, Any], failures: dict[str, str]) -> Evaluation | None:
    """Return the figures; where a tokenizer fails, those of the others. None if there is none."""
    from wordpiece_studio.evaluation.figures import evaluate

    try:
        return evaluate(named, **on) if named else None
    except StudioError:
        failing: dict[str, str] = {}
        for name, each in named.items():
            with _noting(failing, name):
                evaluate({name: each}, **on)
        if len(failing) == len(named):
            raise
        failures |= failing
        return evaluate({name: each for name, each in named.items() if name not in failing}, **on)


@contextlib.contextmanager
def _noting(failures: dict[str, str], name: str) -> Iterator[None]:
    """Note an error in place of raising it."""
    try:
        yield
    except StudioError as error:
        failures[name] = written_error(error).decode()
    except OSError as error:
        failures[name] = written_error(StudioError("{reason}", reason=error)).decode()


class _MeasuringProgress:
    """Reports to the parent what is being done."""

    def __init__(self, connection: ParentConnection) -> None:
        self._connection = connection
        self._next = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_INTERVAL_SECONDS
            self._connection.send_bytes(b"p" + json.dumps([what, done, total]).encode())


def written_lint_order(pipeline: Pipeline, files: Sequence[CorpusFile]) -> str:
    """Return an order for `lint_in_child` as JSON."""
    return json.dumps(
        {
            "normalizer": normalizers.to_spec(pipeline.normalizer),
            "pre_tokenizer": pre_tokenizers.to_spec(pipeline.pre_tokenizer),
            "files": [written_file(file) for file in files],
        }
    )


def messages_of(text: str, counts: WordCounts | None) -> Iterator[bytes]:
    """Yield the messages that send the text and the word counts to the child."""
    for piece in pieces_of(text):
        yield TEXT + piece
    for kind, content in parts_of(counts) if counts is not None else ():
        yield kind + content
    yield END


def pieces_of(text: str) -> Iterator[bytes]:
    for start in range(0, len(text), TEXT_PIECE):
        yield text[start : start + TEXT_PIECE].encode("utf-8", "surrogatepass")


def read_findings(content: bytes) -> tuple[Finding, ...]:
    """Return the content of a message of kind `FINDINGS`."""
    return tuple(map(from_data, json.loads(content)))


def _received(connection: ParentConnection, reader: PartsReader | None) -> str:
    """Return the text received, and pass word counts to the reader."""
    pieces: list[str] = []
    while (message := connection.recv_bytes())[:1] != END:
        if message[:1] == TEXT:
            pieces.append(message[1:].decode("utf-8", "surrogatepass"))
        elif reader is not None:
            reader.take(message[:1], message[1:])
    return "".join(pieces)
