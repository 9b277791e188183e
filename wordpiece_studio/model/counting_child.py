"""Counting words in a child process: what runs there, and how the result travels back.

The result comes as a few long byte strings, because taking in millions of small objects would stall the window. This
module is imported by the child, which has no window: it must not import Qt.
"""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.core.corpus.counts import CorpusStatistics, SkippedWord
from wordpiece_studio.core.text import normalizers, pre_tokenizers
from wordpiece_studio.model.alphabet import CountsWithAlphabet, alphabet_size

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer

PROGRESS_INTERVAL_SECONDS = 0.05
TEXT_PIECE = 1 << 20  # characters


def count_in_child(connection: Connection, order: str) -> None:
    """Count what `order`, see `written_order`, asks for, and send the parts of the result.

    Kinds of messages: ``?`` ready for the text, ``p`` progress, ``w`` words, ``l`` their lengths, ``c`` their counts,
    ``s`` statistics.
    """
    from wordpiece_studio.core.corpus.counting import count_texts, count_words

    wanted = json.loads(order)
    normalizer = normalizers.from_spec(wanted["normalizer"])
    pre_tokenizer = pre_tokenizers.from_spec(wanted["pre_tokenizer"])
    progress = _Progress(connection)
    if wanted["paths"] is None:
        connection.send_bytes(b"?")
        counts = count_texts([_received_text(connection)], normalizer, pre_tokenizer, progress=progress)
    else:
        counts = count_words(wanted["paths"], normalizer, pre_tokenizer, encoding=wanted["encoding"], progress=progress)
    for kind, content in parts_of(counts):
        connection.send_bytes(kind + content)


def written_order(
    normalizer: Normalizer, pre_tokenizer: PreTokenizer, paths: list[str] | None, encoding: str | None
) -> str:
    """Return an order as JSON; without paths the text is sent once the child is ready.

    Raises
    ------
    StudioError
        If the pipeline is not built in and so cannot be described.
    """
    return json.dumps(
        {
            "normalizer": normalizers.to_spec(normalizer),
            "pre_tokenizer": pre_tokenizers.to_spec(pre_tokenizer),
            "paths": paths,
            "encoding": encoding,
        }
    )


def parts_of(counts: WordCounts) -> list[tuple[bytes, bytes]]:
    """Return word counts as (kind, content): UTF-8 words joined, their lengths in characters, counts, the rest."""
    lengths = np.fromiter(map(len, counts.words), dtype="<i4", count=len(counts.words))
    rest = {
        "statistics": dataclasses.asdict(counts.statistics),
        "skipped": [dataclasses.asdict(word) for word in counts.skipped],
        "alphabet_size": alphabet_size(counts.words),
    }
    return [
        (b"w", "".join(counts.words).encode("utf-8", "surrogatepass")),
        (b"l", lengths.tobytes()),
        (b"c", counts.counts.astype("<i8").tobytes()),
        (b"s", json.dumps(rest).encode()),
    ]


def joined_parts(parts: dict[bytes, bytes], normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> CountsWithAlphabet:
    """Return the word counts that `parts_of` took apart."""
    text = parts[b"w"].decode("utf-8", "surrogatepass")
    words: list[str] = []
    start = 0
    # A loop and no single call: it lets other threads have their turn.
    for length in np.frombuffer(parts[b"l"], dtype="<i4").tolist():
        words.append(text[start : start + length])
        start += length
    counts = np.frombuffer(parts[b"c"], dtype="<i8").astype(np.int64)
    rest: dict[str, Any] = json.loads(parts[b"s"])
    statistics = rest["statistics"]
    statistics["changed_files"] = tuple(statistics["changed_files"])
    skipped = [SkippedWord(**word) for word in rest["skipped"]]
    result = CountsWithAlphabet(words, counts, normalizer, pre_tokenizer, CorpusStatistics(**statistics), skipped)
    result.alphabet_size = rest["alphabet_size"]
    return result


def _received_text(connection: Connection) -> str:
    """Return the text that the parent sends in pieces; an empty piece ends it."""
    pieces: list[str] = []
    while piece := connection.recv_bytes():
        pieces.append(piece.decode("utf-8", "surrogatepass"))
    return "".join(pieces)


class _Progress:
    """Tells the parent how many bytes are done, at most 20 times a second."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next or done >= total:
            self._next = now + PROGRESS_INTERVAL_SECONDS
            self._connection.send_bytes(b"p" + json.dumps([done, total]).encode())
