from __future__ import annotations

import codecs
import dataclasses
import io
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
import tokenizers
import tokenizers.models
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import one_example_in
from wordpiece_studio.corpus import decoding
from wordpiece_studio.corpus.counting.counting import count_stream, count_texts, count_words
from wordpiece_studio.corpus.counts import CountingStopped, SkippedWord
from wordpiece_studio.corpus.files import TextOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.normalizers import Unchanged, resolve_normalizer
from wordpiece_studio.text.patterns import PatternPreTokenizer
from wordpiece_studio.text.pipeline import AlignedText, Normalizer, Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from wordpiece_studio.corpus.counts import CountingProgress

NORMALIZERS = ["none", "lowercase", "bert-cased", "bert-uncased", "remove:,.", "lowercase+remove: ", "remove:\n\t"]
PRE_TOKENIZERS = ["bert", "whitespace-split", "unicode-punctuation"]
TEXTS = st.text(st.sampled_from("abΣé \n\t\r\x0b\x1c\x85\xa0,.-中한İ\u0301\u200b\u3000"), max_size=60)


class Unlocal(Normalizer):
    """Joins what blanks separate, so nothing may be counted by stretches."""

    name = "unlocal"

    def align(self, text: str) -> AlignedText:
        starts = [index for index, character in enumerate(text) if character != " "]
        return AlignedText(text.replace(" ", ""), starts, [start + 1 for start in starts])


def line_by_line(text: str, normalizer: Normalizer, pre_tokenizer: str) -> list[tuple[str, int]]:
    """Count in the obvious way: every line is normalized and cut by itself."""
    words: Counter[str] = Counter()
    for line in text.split("\n"):
        words.update(resolve_pre_tokenizer(pre_tokenizer).split(normalizer.normalize(line)))
    return list(words.items())


@pytest.mark.parametrize("normalizer", [*NORMALIZERS, Unlocal()])
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
@one_example_in(2)
@given(text=TEXTS, limit=st.sampled_from([1000, 12, 1]))
def test_counting_by_stretches_is_counting_line_by_line(
    normalizer: str | Normalizer, pre_tokenizer: str, text: str, limit: int
) -> None:
    normalizer = resolve_normalizer(normalizer)
    expected = line_by_line(text, normalizer, pre_tokenizer)
    counts = count_texts([text], normalizer, pre_tokenizer, max_word_length=limit)
    assert counts.items() == [(word, n) for word, n in expected if len(word) <= limit]
    assert counts.statistics.skipped_words == sum(n for word, n in expected if len(word) > limit)
    assert Counter(Pipeline(normalizer, resolve_pre_tokenizer(pre_tokenizer)).words(text)) == dict(expected)


@given(
    texts=st.lists(st.text("abA_- \n", max_size=20), max_size=4),
    user_tokens=st.lists(st.text("abA_- ", min_size=1, max_size=3).filter(str.strip), unique=True, max_size=3),
    pre_tokenizer=st.sampled_from(["bert", "punctuation", r"pattern:\w+"]),
)
def test_user_tokens_are_taken_out_as_tokenizers_does(
    texts: list[str], user_tokens: list[str], pre_tokenizer: str
) -> None:
    counts = count_texts(texts, "bert-uncased", pre_tokenizer, user_tokens=user_tokens)
    found = tokenizers.Tokenizer(tokenizers.models.BPE())
    found.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in user_tokens])
    stretches: list[str] = []
    for text in texts:
        done = 0
        for start, end in found.encode(text).offsets:
            stretches.append(text[done:start])
            done = end
        stretches.append(text[done:])
    assert counts == count_texts(stretches, "bert-uncased", pre_tokenizer)
    assert counts.statistics.user_tokens == tuple(user_tokens)
    pipeline = Pipeline(counts.normalizer, counts.pre_tokenizer, tuple(user_tokens))
    words = [word for text in texts for word in pipeline.words(text)]
    assert Counter(words) == dict(counts.items())
    assert words == [word.text for text in texts for word in pipeline.aligned_words(text)]


@pytest.mark.parametrize("tokens", ["<url>", [""], [7]])
def test_user_tokens_of_the_wrong_type(tokens: Any) -> None:
    with pytest.raises(StudioError, match="user tokens cannot be"):
        count_texts(["a"], user_tokens=tokens)


@given(text=TEXTS, cut=st.integers(0, 60))
def test_files_and_pieces_count_like_one_text(tmp_path_factory: pytest.TempPathFactory, text: str, cut: int) -> None:
    path = tmp_path_factory.mktemp("counting") / "a.txt"
    path.write_bytes(text.encode())
    expected = count_texts([text])
    for piece_bytes in (1, 3, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TextOnDisk.pieces, "__defaults__", (piece_bytes,))
            patch.setattr(decoding, "_PIECE_CHARACTERS", piece_bytes)
            streamed = count_stream(io.BytesIO(text.encode()), "x")
            for counts in (count_words([path]), count_texts([text]), streamed):
                assert counts == expected
                assert dataclasses.replace(counts.statistics, files=()) == expected.statistics


def test_the_samples() -> None:
    hug = count_words(resource_path("samples/hug.txt"))
    assert hug.items() == [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
    course = count_words([resource_path("samples/course-en.txt")])
    assert course.items()[:6] == [("This", 3), ("is", 2), ("the", 1), ("Hugging", 1), ("Face", 1), ("Course", 1)]
    lower = count_words([resource_path("samples/course-en.txt")], "lowercase+remove:,.")
    assert lower.items()[:3] == [("this", 3), ("is", 2), ("the", 1)]
    assert "." in course.words
    assert "." not in lower.words


def test_order_is_that_of_first_appearance_over_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("b a\n")
    (tmp_path / "b.txt").write_text("c a")
    assert count_words([tmp_path / "b.txt", tmp_path / "a.txt"]).items() == [("c", 1), ("a", 2), ("b", 1)]


def test_no_word_reaches_from_one_text_into_the_next(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert count_words([tmp_path / "a.txt"] * 2).items() == [("x", 2)]
    assert count_texts(["x", "x"]).items() == [("x", 2)]


def test_statistics(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("é\nb".encode("utf-8-sig"))
    statistics = count_words([path, path]).statistics
    assert (statistics.lines, statistics.characters, statistics.bytes) == (4, 6, 14)
    assert count_texts(["é\nb\n", ""]).statistics.lines == 2


def test_long_words_are_left_out_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(("é one\ntwo " + "x" * 1001 + " " + "y" * 1000 + ".\n" + "z" * 1500 + "," + "한" * 2000).encode())
    counts = count_words(path)
    assert counts.words == ["é", "one", "two", "y" * 1000, ".", ","]
    assert counts.skipped == (
        SkippedWord(str(path), 2, 11, 1001),
        SkippedWord(str(path), 3, 2015, 1500),
        SkippedWord(str(path), 3, 2015, 2000),
    )
    assert counts.statistics.skipped_words == 3


def test_length_counts_after_normalization() -> None:
    assert count_texts(["한" * 400], "bert-uncased").skipped == (SkippedWord("text 1", 1, 0, 1200),)
    assert count_texts(["한" * 400]).words == ["한" * 400]


@pytest.mark.parametrize(
    ("character", "normalizer", "pre_tokenizer", "length"),
    [
        ("\u3316", "nfkd", "whitespace-split", 30),
        ("\ufdfa", "nfkd", "pattern:[^a]+", 90),
        ("日", "none", "byte-level", 16),
        ("日", "none", "whitespace-split+byte-level", 16),
    ],
)
def test_a_short_stretch_may_become_a_long_word(
    character: str, normalizer: str, pre_tokenizer: str, length: int
) -> None:
    counts = count_texts([f"a\na\n{character * 5}\n"], normalizer, pre_tokenizer, max_word_length=length - 1)
    assert counts.skipped == (SkippedWord("text 1", 3, 4, length),)


def test_a_runaway_pattern_is_reported_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    runaway = PatternPreTokenizer(r"(?:\w|\w\w)+!", timeout=0.05)
    line = "x" * 40 + " !"
    for before in ("one\ntwo\none\n", "z! " * 500 + "\ntwo\n\n", "one\r\n" * 3):
        path.write_text(f"{before}{line}\nthree\n{line}\n", newline="")
        with pytest.raises(StudioError) as raised:
            count_words(path, None, runaway)
        assert f'takes too long in line 4 of {path}: "{line}"' in str(raised.value)
    path.write_text(f"one\n{' ' * 500}{line}")
    with pytest.raises(StudioError, match=r"in line 2 of .*a\.txt"):
        count_words(path, None, runaway)
    with pytest.raises(StudioError, match="in line 2 of text 2: "):
        count_texts(["a", f"b\n{line}"], None, runaway)


def test_only_the_first_thousand_long_words_are_listed() -> None:
    counts = count_texts([f"{number}{'x' * 30} " * 2 for number in range(1500)], max_word_length=20)
    assert (len(counts), len(counts.skipped), counts.statistics.skipped_words) == (0, 1000, 3000)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x" * 5_000_000, "中" * 1_000_000, "x," * 1_000_000, "한" * 1_000_000])
def test_a_huge_line_takes_no_quadratic_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    started = time.process_time()
    count_words(path)
    assert time.process_time() - started < 10


def test_bad_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a b\nc \xff d\ne\n")
    with pytest.raises(StudioError, match="line 2: the bytes FF at byte 6 are not UTF-8"):
        count_words([path])
    replaced = count_words([path], None, "whitespace-split", errors="replace")
    assert (replaced.words, replaced.statistics.replaced) == (["a", "b", "c", "\ufffd", "d", "e"], 1)
    skipped = count_words([path], errors="skip-line")
    assert (skipped.words, skipped.statistics.skipped_lines) == (["a", "b", "e"], 1)
    assert count_words([path], encoding="latin-1").words == ["a", "b", "c", "ÿ", "d", "e"]


def test_progress_ends_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a b\n" * 10)
    calls: list[CountingProgress] = []
    counts = count_words([path, path], progress=calls.append)
    last = calls[-1]
    assert (last.bytes_done, last.bytes_total, last.files_done, last.files_total) == (80, 80, 2, 2)
    assert (last.words, last.seconds_left) == (counts.total, 0.0)
    assert len(calls) < 4
    calls.clear()
    count_texts(["é", "a"], progress=calls.append)
    assert [(call.bytes_done, call.bytes_total) for call in (calls[0], calls[-1])] == [(2, 3), (3, 3)]


def test_a_file_that_changes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\n")

    def grow(_: CountingProgress) -> None:
        path.write_bytes(b"a\nb\n")

    assert count_words([path], progress=grow).statistics.changed_files == (str(path),)
    assert count_words([path]).statistics.changed_files == ()


def test_stopping(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\n")
    with pytest.raises(CountingStopped):
        count_words([path], should_stop=lambda: True)
    with pytest.raises(StudioError):
        count_texts(["a"], should_stop=lambda: True)
    assert count_texts(["a"], should_stop=lambda: False).words == ["a"]


def test_nothing_to_count() -> None:
    assert len(count_texts([])) == len(count_texts(["", " \n"])) == 0
    with pytest.raises(StudioError, match="no file"):
        count_words([])


@pytest.mark.parametrize("texts", ["one text", [b"bytes"], [None], ["ok", 3], None, 5])
def test_things_that_are_not_texts_are_rejected(texts: object) -> None:
    with pytest.raises(StudioError):
        count_texts(texts)


@pytest.mark.parametrize("paths", [5, None, [5], [["a.txt"]]])
def test_things_that_are_not_paths_are_rejected(paths: object) -> None:
    with pytest.raises(StudioError, match="Files are expected, not"):
        count_words(paths)


def test_a_believed_byte_order_mark_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for encoding, noted in [("utf-8-sig", {}), ("utf-16", {str(path): "utf-16-le"})]:
        path.write_bytes(codecs.BOM_UTF16_LE + "a b".encode("utf-16-le") if noted else "a b".encode(encoding))
        assert count_words(path).statistics.marked_files == noted
    assert count_words(path, encoding="utf-16").statistics.marked_files == {}


def test_a_streams_long_words_are_found() -> None:
    counts = count_stream(io.BytesIO(b"a b\ncd " + b"x" * 2000), "stdin")
    assert (counts.words, counts.skipped) == (["a", "b", "cd"], (SkippedWord("stdin", 2, 7, 2000),))


def test_half_a_character_is_named() -> None:
    with pytest.raises(StudioError, match=r"Text 2 contains an unpaired surrogate \(U\+D800\) at position 1"):
        count_texts(["a", "b\ud800"])


def test_the_longest_word_must_be_one() -> None:
    with pytest.raises(StudioError, match="at least one character"):
        count_texts(["a"], Unchanged(), max_word_length=0)


def test_a_place_behind_what_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\n\xff\0 \xff b " + b"x" * 30 + b"\n")
    counts = count_words(path, errors="replace", max_word_length=20)
    assert counts.skipped == (SkippedWord(str(path), 2, 9, 30),)
