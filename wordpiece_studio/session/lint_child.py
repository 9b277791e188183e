"""Looking for problems in a corpus in a child process: the code that runs there, and how corpus and findings are sent.

This module is imported by the child, which has no window: it must not import Qt.
"""

from __future__ import annotations

import dataclasses
import gc
import json
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.corpus_file import CorpusFile
from wordpiece_studio.corpus.counts import PartsReader, parts_of
from wordpiece_studio.corpus.linter.finding import TextFix, as_data, from_data
from wordpiece_studio.session.corpus_child import TEXT_PIECE
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.linter.finding import Finding
    from wordpiece_studio.system.child_process import ParentConnection

READY, TEXT, END, FINDINGS = b"?", b"t", b".", b"f"
"""Message kinds besides those of word counts: ready to receive, a piece of text, end of input, the findings."""


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


def written_order(pipeline: Pipeline, files: Sequence[CorpusFile]) -> str:
    """Return an order for `lint_in_child` as JSON.

    Raises
    ------
    StudioError
        If the pipeline is not built in, so that it cannot be described.
    """
    return json.dumps(
        {
            "normalizer": normalizers.to_spec(pipeline.normalizer),
            "pre_tokenizer": pre_tokenizers.to_spec(pipeline.pre_tokenizer),
            "files": [dataclasses.asdict(file) for file in files],
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
    """Yield a text in pieces."""
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
