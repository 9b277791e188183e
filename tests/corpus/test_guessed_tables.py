"""Files of rows that are tables of words and their counts, without being declared so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.inspection import described
from wordpiece_studio.corpus.listing import listed_files, listing

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = [("hug", 10), ("pug", 5), ("hugs", 5)]


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


TABLES = {
    "a.tsv": "hug\t10\npug\t5\nhugs\t5\n",
    "b.csv": "hug,10\npug,5\nhugs,5\n",
    "c.csv": "hug;10\r\npug;5\r\nhugs;5",
    "d.tsv": "word\tcount\nhug\t10\npug\t5\nhugs\t5\n",
    "e.csv": "guarded_word,count\nhug,10\n'pug,5\nhugs,5\n",
    "f.csv": "freq,token\n10,hug\n5,pug\n5,hugs\n",
    "g.tsv": "Wort\tAnzahl\nhug\t10\npug\t5\nhugs\t5\n",
    "h.csv": "단어,빈도\nhug,10\npug,5\nhugs,5\n",
    "i.txt": "word\tcount\nhug\t10\npug\t5\nhugs\t5\n",
    "j.txt": "\ufeffword\tcount\r\nhug\t10\r\npug\t5\r\nhugs\t5\r\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_two_columns_with_whole_numbers_in_every_row_are_counts(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, TABLES[name])
    counts = wps.count_words(path)
    assert [(word.removeprefix("'"), count) for word, count in counts.items()] == PAIRS
    assert counts.statistics.guessed_tables == (str(path),)
    assert (described(path).kind, described(path).is_kind_guess) == ("word-counts", True)


TEXTS = {
    "a number is missing": "hug\t10\npug\t\nhugs\t5\n",
    "one of the last rows has none": "hug\t10\n" * 30_000 + "pug\tfive\n",
    "not a whole number": "hug\t1.5\npug\t5\n",
    "a label from 0": "good\t1\nbad\t0\n",
    "a third column": "hug\t10\ta\npug\t5\tb\n",
    "sentences": "I liked it\t5\nSo did I\t4\nmeh\t2\n",
    "another header": "name\tage\nBob\t30\nEve\t31\n",
    "other numbers of a text": "text\tlabel\ngood\t1\nbad\t2\n",
    "numbers alone": "1\t10\n2\t5\n",
    "nothing": "",
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_anything_else_is_a_text(tmp_path: Path, content: str) -> None:
    found = listing(written(tmp_path / "a.tsv", content))
    assert ([file.kind for file in found.files], found.guessed_tables) == (["tsv"], ())
    assert described(found.files[0].path).kind == "tsv"


@pytest.mark.parametrize("content", ["hug\t10\npug\t5\n", "word\tcounts\nhug\t10\n", "word count\nhug 10\n", ""])
def test_a_text_is_a_table_only_if_its_first_line_says_so(tmp_path: Path, content: str) -> None:
    path = written(tmp_path / "a.txt", content)
    assert [file.kind for file in listing(path).files] == ["text"]
    assert described(path).kind == "text"


def test_an_explicit_kind_of_a_file_is_respected(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", TABLES["a.tsv"])
    assert wps.count_words(CorpusFile(str(path), "tsv")).words == ["pug", "hugs"]
    assert wps.count_words(path, column="1").words == ["hug", "pug", "hugs"]
    for counts in (wps.count_words(CorpusFile(str(path), "word-counts")), wps.count_words(listed_files(path))):
        assert counts.statistics.guessed_tables == ()


def test_tables_beside_texts(tmp_path: Path) -> None:
    for name in ("a.tsv", "b.csv"):
        written(tmp_path / name, TABLES[name])
    written(tmp_path / "c.txt", "bun hug")
    counts = wps.count_words(tmp_path)
    assert dict(counts.items()) == {"hug": 21, "pug": 10, "hugs": 10, "bun": 1}
    assert counts.statistics.guessed_tables == (str(tmp_path / "a.tsv"), str(tmp_path / "b.csv"))


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def kind(**columns: list[object]) -> str:
        parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
        (file,) = listing(tmp_path / "a.parquet").files
        return file.kind

    assert kind(word=["hug", "pug"], count=[10, 5]) == "word-counts"
    assert wps.count_words(tmp_path / "a.parquet").items() == [("hug", 10), ("pug", 5)]
    assert kind(word=["hug", "pug"], count=[10, None]) == "parquet"
    assert kind(word=["hug", "pug"], count=[10.0, 5.0]) == "parquet"
    assert kind(word=["hug", "pug"], count=[10, 5], other=[1, 2]) == "parquet"
    assert kind(text=["good", "bad"], label=[1, 2]) == "parquet"


def test_the_linter_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", "hug\u200b\t10\nhug\t5\n")
    found = {finding.kind: str(finding) for finding in wps.lint(path, "lowercase")}
    assert set(found) > {"word-counts"}  # of the words that are in it
    assert found["word-counts"].startswith(f"{path} is read as words and their counts. Two columns")
    written(tmp_path / "b.tsv", TABLES["a.tsv"])
    assert any(str(each).startswith("2 files are read as words") for each in wps.lint(tmp_path))


def test_tables_are_not_encoded(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", TABLES["a.tsv"])
    run = wps.train(wps.count_words(path), wps.TrainingConfig(max_merges=1))
    with pytest.raises(wps.StudioError, match="Only counting and training accept it"):
        wps.encode_files(run.tokenizer(), [path])
    assert wps.encode_files(run.tokenizer(), [CorpusFile(str(path), "tsv", "1")]).statistics.texts == 3
