"""The compiled way to count gives what the plain one gives, to the last statistic."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting import part_counts, segments
from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter
from wordpiece_studio.corpus.counting.counting import count_stream, count_texts, count_words
from wordpiece_studio.corpus.counting.part_counts import PlainCounter
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.files import TextOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.pipeline import AlignedText, Normalizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts

CORPORA = sorted((Path(__file__).resolve().parents[4] / "shared" / "corpora").glob("*.txt"))
NORMALIZERS = [
    "language-friendly",
    "nfkc",
    "nfd+strip-accents",
    "none",
    "lowercase",
    "bert-cased",
    "bert-uncased",
    "bert-uncased:keep-controls",
    "lowercase+remove:,.",
]
PRE_TOKENIZERS = [
    "bert", "whitespace-split", "unicode-punctuation", "digits-single+whitespace-split", "whitespace-split+byte-level",
]  # fmt: skip
NOTHING = np.zeros(0, np.int32), np.zeros(0, np.int64)
NASTY = (
    "aΣσéÉİ,.- \n\r\t\x0b\x1c\x85\xa0\u2028中한글\ufdfaﬃ\u1112\u1161\u11ab\u0301\u0323\u1baa\ua9c0\u200b\u3000\ufeff😀"
)
PARTS = st.sampled_from([*NASTY, *"    \n\n", "[UNK]", "[CLS][CLS]", "word", "x" * 30, "한" * 12, "İ" * 12])
TEXTS = st.lists(PARTS, max_size=60).map("".join)
SIZES = st.sampled_from([1, 7, 50, 1 << 20])
# NULs, and bytes that are no UTF-8 anywhere in a character.
RAW = st.lists(PARTS.map(str.encode) | st.sampled_from([b"\0", b"\xff", b"\xe4\xb8", b"\xad", b"\xf0\x9f"])).map(
    b"".join
)


class Doubled(Normalizer):
    """Someone's own: local, not by character, and a character becomes more than four."""

    name = "doubled"
    is_local = True

    def align(self, text: str) -> AlignedText:
        starts = [index for index, character in enumerate(text) for _ in range(1 if character in " \n" else 6)]
        return AlignedText("".join(text[start] for start in starts), starts, [start + 1 for start in starts])


def assert_alike(block_bytes: int, count: Callable[[], WordCounts]) -> None:
    """Count in both ways and compare; the compiled one with blocks of that size, and chunks forgotten as often."""
    with pytest.MonkeyPatch.context() as patch:
        compile_from(patch, 1 << 60)
        plain = outcome(count)
        compile_from(patch, 0)
        patch.setattr(segments.raw_blocks, "__defaults__", (block_bytes,))
        patch.setitem(CompiledCounter.__init__.__kwdefaults__, "block_bytes", block_bytes)
        patch.setitem(CompiledCounter.__init__.__kwdefaults__, "most_chunk_bytes", block_bytes)
        assert outcome(count) == plain


def compile_from(patch: pytest.MonkeyPatch, size: int) -> None:
    for name in ("FEW_BYTES", "FEW_BYTES_UNCOMPILED"):
        patch.setattr(part_counts, name, size)


def outcome(count: Callable[[], WordCounts]) -> Any:
    try:
        counts = count()
    except StudioError as error:
        return str(error)
    return counts.items(), counts.statistics, counts.skipped


@pytest.mark.slow
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
@given(
    texts=st.lists(TEXTS, max_size=4),
    normalizer=st.sampled_from([*NORMALIZERS, Doubled()]),
    limit=st.sampled_from([1000, 40, 12, 1]),
    block_bytes=SIZES,
)
def test_texts(
    pre_tokenizer: str, texts: list[str], normalizer: str | Normalizer, limit: int, block_bytes: int
) -> None:
    assert_alike(block_bytes, lambda: count_texts(texts, normalizer, pre_tokenizer, max_word_length=limit))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", [None, "utf-16-le", "gb18030"])
@given(
    raw=RAW,
    errors=st.sampled_from(["strict", "replace", "skip-line"]),
    piece_bytes=SIZES,
    block_bytes=SIZES,
    limit=st.sampled_from([1000, 12]),
)
@example(raw="\ufeff".encode(), errors="strict", piece_bytes=1, block_bytes=1, limit=1000)
def test_files(
    tmp_path_factory: pytest.TempPathFactory,
    encoding: str | None,
    raw: bytes,
    errors: Any,
    piece_bytes: int,
    block_bytes: int,
    limit: int,
) -> None:
    path = tmp_path_factory.mktemp("counting") / "a.txt"
    path.write_bytes(raw.decode("utf-8", "ignore").encode(encoding) + raw[:3] if encoding else raw)
    options: dict[str, Any] = {"encoding": encoding, "errors": errors, "max_word_length": limit}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextOnDisk.pieces, "__defaults__", (piece_bytes,))
        assert_alike(block_bytes, lambda: count_words([path, path], "bert-uncased", **options))
        assert_alike(
            block_bytes, lambda: count_stream(io.BytesIO(path.read_bytes()), "stdin", "bert-uncased", **options)
        )


@pytest.mark.slow
@pytest.mark.skipif(not CORPORA, reason="the corpora lie beside the project")
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "paths"),
    [
        ("bert-uncased", "bert", [path for path in CORPORA if path.stem[-2:] in {"hi", "ja", "ko", "vi"}]),
        pytest.param("bert-uncased", "bert", CORPORA, marks=pytest.mark.slow),
        pytest.param("lowercase", "whitespace-split", CORPORA, marks=pytest.mark.slow),
    ],
    ids=["some", "all", "all-lowercase"],
)
def test_real_corpora(normalizer: str, pre_tokenizer: str, paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> WordCounts:
        return count_words(paths, normalizer, pre_tokenizer, max_word_length=30)

    compile_from(monkeypatch, 0)
    compiled = outcome(count)
    compile_from(monkeypatch, 1 << 60)
    assert outcome(count) == compiled
    assert compiled[2]


@pytest.mark.slow
def test_which_way_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    ways: list[str] = []
    for kind in (PlainCounter, CompiledCounter):
        monkeypatch.setattr(kind, "_tally", lambda self: ways.append(type(self).__name__) or NOTHING)
    for kilobytes, is_cached in [(500, True), (600, True), (16_000, False), (17_000, False)]:
        path.write_bytes(b"some word\n" * (kilobytes * 100))
        monkeypatch.setattr(part_counts, "kernels_are_cached", lambda package, cached=is_cached: cached)
        count_words(path)
    count_words(path, "lowercase+remove: ")
    assert ways == ["PlainCounter", "CompiledCounter", "PlainCounter", "CompiledCounter", "PlainCounter"]


@pytest.mark.slow
def test_little_text_needs_no_kernels() -> None:
    script = "import sys; from wordpiece_studio import count_texts; count_texts(['a b ' * 100_000]); assert {}"
    for condition in ("'llvmlite' not in sys.modules", "'wordpiece_studio.corpus.counting.counting' in sys.modules"):
        subprocess.run([sys.executable, "-c", script.format(condition)], check=True, timeout=60)


def test_the_cache_is_not_looked_at_for_each_of_many_short_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(part_counts, "kernels_are_cached", looked.append)
    assert len(count_texts(["some words"] * 1000).words) == 2
    assert not looked


def test_progress_and_stopping(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"some words\n" * 400_000)
    calls: list[tuple[int, int]] = []
    count_words(path, progress=lambda done: calls.append((done.bytes_done, done.bytes_total)))
    assert calls == sorted(calls)
    assert calls[-1] == (4_400_000, 4_400_000)
    for checks in (2, 4):
        answers = chain([False] * checks, [True])
        with pytest.raises(CountingStopped):
            count_words(path, should_stop=lambda answers=answers: next(answers))
