from __future__ import annotations

import gzip
import importlib.util
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wordpiece_studio.corpus.count_tables import write_word_counts
from wordpiece_studio.corpus.counting.counting import count_words, read_word_counts
from wordpiece_studio.corpus.counts import CountingProgress, CountingStopped, FileStatistics, WordCounts
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
NEEDS_PYARROW = pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="pyarrow is not installed")
EACH = pytest.mark.parametrize("suffix", [".tsv", ".txt", ".csv", pytest.param(".parquet", marks=NEEDS_PYARROW), ""])


def read(path: Path, content: bytes | str) -> list[tuple[str, int]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_word_counts(path).items()


@pytest.mark.slow
@EACH
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(pairs=st.dictionaries(WORDS, st.integers(1, 2**40)))
def test_what_is_written_is_read_or_refused(tmp_path: Path, suffix: str, pairs: dict[str, int]) -> None:
    path = tmp_path / f"counts{suffix}"
    counts = WordCounts.from_pairs(pairs)
    try:
        write_word_counts(path, counts)
    except StudioError:
        assert suffix not in (".csv", ".parquet")
        assert any(character in word for word in pairs for character in "\t\n\ufeff")
    else:
        assert read_word_counts(path).items() == counts.items()


@EACH
@pytest.mark.parametrize("word", ["\r", '"', "'", "=1+1", " a ", "#", "word", "-5", "\u2028", "a,b;c", "\ufeff"])
def test_unusual_words(tmp_path: Path, suffix: str, word: str) -> None:
    counts = WordCounts.from_pairs([("first", 3), (word, 2), (f"{word}x", 1)])
    write_word_counts(tmp_path / f"counts{suffix}", counts)
    assert read_word_counts(tmp_path / f"counts{suffix}").items() == counts.items()


@NEEDS_PYARROW
@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\0b", "\ud800"])
def test_words_that_could_not_be_read_back_are_refused(tmp_path: Path, word: str) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("kept")
    for suffix in (".tsv", ".csv", ".parquet"):
        path = tmp_path / f"counts{suffix}"
        path.write_text("kept")
        counts = WordCounts(["good", word], [1, 1], *normalizing())
        if (suffix == ".parquet" and word != "\ud800") or (suffix == ".csv" and word in ("a\tb", "a\nb")):
            write_word_counts(path, counts)
            assert read_word_counts(path).items() == counts.items()
        else:
            with pytest.raises(StudioError, match=f"1 of the words cannot be written to .*counts{suffix}"):
                write_word_counts(path, counts)
            assert path.read_text() == "kept"


def normalizing() -> tuple[object, ...]:
    counts = WordCounts.from_pairs([("a", 1)])
    return counts.normalizer, counts.pre_tokenizer


def test_a_mark_at_the_start_is_refused_where_there_is_no_header(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="byte order mark"):
        write_word_counts(tmp_path / "counts.tsv", WordCounts.from_pairs([("\ufeffa", 1)]))


def test_nothing_is_written_compressed(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="would have to be compressed"):
        write_word_counts(tmp_path / "counts.tsv.gz", WordCounts.from_pairs([("a", 1)]))


@pytest.mark.parametrize(
    "content", ["a\t2\nb\t3\n", "a\t2\r\nb\t3", "word\tcount\na\t2\n\nb\t3\n", "\ufeffa\t2\nb\t 3\n"]
)
def test_lines_with_a_tab(tmp_path: Path, content: str) -> None:
    assert read(tmp_path / "counts.txt", content) == [("a", 2), ("b", 3)]


@pytest.mark.parametrize(
    "content",
    [
        "a,2\nb,3\n",
        "word,count\na,2\nb,3\n",
        'id,count,word\n1,2,a\n2,3,"b"\n',
        "token;freq\na;2\nb;3\n",
        '"a",2\r\nb,3',
    ],
)  # fmt: skip
def test_csv(tmp_path: Path, content: str) -> None:
    assert read(tmp_path / "counts.csv", content) == [("a", 2), ("b", 3)]


def test_repeated_words_add_up_within_and_between_tables(tmp_path: Path) -> None:
    (tmp_path / "1.tsv").write_text("a\t1\nb\t2\na\t3\n")
    (tmp_path / "2.csv").write_text("c,1\na,10\n")
    counts = read_word_counts([tmp_path / "1.tsv", tmp_path / "2.csv"], "bert-uncased", "whitespace")
    assert counts.items() == [("a", 14), ("b", 2), ("c", 1)]
    first, second = counts.statistics.files
    assert first == FileStatistics(str(tmp_path / "1.tsv"), 12, 3, 6, 2)
    assert (second.words, second.distinct_words) == (11, 2)
    assert counts.statistics.bytes == 12 + 9


def test_compressed_tables_and_other_encodings_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"a\t2\n"))
    assert read_word_counts(tmp_path / "a.tsv.gz").items() == [("a", 2)]
    (tmp_path / "b.tsv").write_bytes("é\t2\n".encode("cp1252"))
    assert read_word_counts(CorpusFile(str(tmp_path / "b.tsv"), "word-counts", encoding="cp1252")).items() == [("é", 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\t2\nb\n", "line 2: the number of cells is 1, not 2"),
        ("a\t2\nb\t3\t4\n", "line 2: the number of cells is 3, not 2"),
        ("a\n", "line 1: the number of cells is 1, and no header"),
        ("a\t2\nb\t0\n", "line 2: the count is '0'"),
        ("a\t2\nb\t-1\n", "line 2: the count is '-1'"),
        ("a\t2\nb\t1.5\n", "line 2: the count is '1.5'"),
        ("a\t2\nb\t1_0\n", "line 2: the count is '1_0'"),
        ("a\t2\nb\t\n", "line 2: the count is ''"),
        ("a\t2\nb\t٣\n", "line 2: the count is"),
        (f"a\t2\nb\t{2**63}\n", "line 2: the count is '9223372036854775808'"),
        ("a\t2\n\t3\n", "line 2: there is an empty word"),
        (f"a\t{2**62}\nb\t{2**62}\n", "more than 2**63 - 1 times"),
        ("a\t2\n\udcff\t1\n", "line 2: the bytes FF at byte 4 are not UTF-8"),
    ],
)
def test_faults_are_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(StudioError) as caught:
        read(tmp_path / "counts.tsv", content.encode("utf-8", "surrogateescape"))
    assert message in str(caught.value)


def test_faults_of_csv_are_named(tmp_path: Path) -> None:
    for content, message in [
        ("a,2\nb,x\n", "line 2: the count is 'x'"),
        ('a,2\n"b,3\n', "line 2, byte 4: the quote that opens here"),
        ("a,2\nb\n", "line 2, byte 4: the number of cells is 1, not 2"),
        ("a,b,c\n1,2,3\n", "the number of cells is 3, and no header names word and count"),
    ]:
        with pytest.raises(StudioError, match=message):
            read(tmp_path / "counts.csv", content)


def test_faults_of_parquet_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "counts.parquet"
    for columns, message in [
        ({"word": ["a", None], "count": [1, 2]}, "row 2: there is no word"),
        ({"word": ["a", "b"], "count": [1, None]}, "row 2: the count is None"),
        ({"word": ["a", "b"], "count": [1, 0]}, "row 2: the count is 0"),
        ({"word": ["a", "b"], "count": [1.0, 2.0]}, r"row 1: the count is 1\.0"),
        ({"a": ["a"], "b": [1]}, "no columns called word and count"),
    ]:
        parquet.write_table(arrow.table(columns), path)
        with pytest.raises(StudioError, match=message):
            read_word_counts(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StudioError, match=r"pip install pyarrow"):
        read_word_counts(path)


def test_tables_are_counted_as_they_are_and_add_up_with_texts(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\t5\nA b\t2\n")
    (tmp_path / "b.txt").write_text("a b a")
    table, text = CorpusFile(str(tmp_path / "a.tsv"), "word-counts"), CorpusFile(str(tmp_path / "b.txt"))
    assert count_words([table, table], "bert-uncased").items() == [("a", 10), ("A b", 4)]
    assert count_words([table, text]).items() == [("a", 7), ("A b", 2), ("b", 1)]
    with pytest.raises(StudioError, match=r"b\.txt is not a table of words and their counts"):
        read_word_counts([table, text])


def test_an_empty_table(tmp_path: Path) -> None:
    assert read(tmp_path / "counts.tsv", "") == []
    assert read(tmp_path / "counts.csv", "word,count\n") == []


def test_faulty_lines_are_skipped_and_counted_on_request(tmp_path: Path) -> None:
    content = b"a\t2\nb\tx\nc\n\t3\nd\xff\t1\ne\t5\n"
    (tmp_path / "a.tsv").write_bytes(content)
    (tmp_path / "a.csv").write_bytes(content.replace(b"\t", b","))
    for name in ("a.tsv", "a.csv"):
        counts = read_word_counts(CorpusFile(str(tmp_path / name), "word-counts", errors="skip-line"))
        assert counts.items() == [("a", 2), ("e", 5)]
        assert counts.statistics.skipped_lines == counts.statistics.files[0].skipped_lines == 4
        separator = b"," if name == "a.csv" else b"\t"
        (tmp_path / name).write_bytes(b"d\xff\t1\ne\t5\n".replace(b"\t", separator))
        counts = read_word_counts(CorpusFile(str(tmp_path / name), "word-counts", errors="replace"))
        assert counts.items() == [("d\ufffd", 1), ("e", 5)]
        assert counts.statistics.replaced == counts.statistics.files[0].replaced == 1


@NEEDS_PYARROW
def test_faulty_rows_of_parquet_are_skipped_and_counted(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"word": ["a", None, "", "b"], "count": [0, 1, 1, 2]})
    parquet.write_table(table, tmp_path / "a.parquet")
    counts = read_word_counts(CorpusFile(str(tmp_path / "a.parquet"), "word-counts", errors="skip-line"))
    assert (counts.items(), counts.statistics.skipped_lines) == ([("b", 2)], 3)


def test_windows_line_ends_where_the_word_comes_last(tmp_path: Path) -> None:
    assert read(tmp_path / "a.tsv", "count\tword\r\n5\ta\r\n\r\n2\tb\r\n") == [("a", 5), ("b", 2)]


def test_progress_and_stop(tmp_path: Path) -> None:
    for name, words in (("a.tsv", 30_000), ("b.tsv", 5)):
        (tmp_path / name).write_bytes(b"".join(b"w%d\t1\n" % number for number in range(words)))
    told: list[CountingProgress] = []
    assert len(count_words(tmp_path, progress=told.append)) == 30_000
    assert told[0].files_done == 0
    assert 0 < told[0].bytes_done < told[0].bytes_total == told[-1].bytes_done
    assert (told[-1].files_done, told[-1].files_total) == (2, 2)
    with pytest.raises(CountingStopped):
        read_word_counts([tmp_path / "a.tsv", tmp_path / "b.tsv"], should_stop=lambda: True)
