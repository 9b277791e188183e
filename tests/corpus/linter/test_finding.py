"""What is looked at: all of a small text, evenly taken parts of a large one and of files, with their line numbers."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.linter.finding import ReadingFix, sample_of_files, sample_of_text, sample_of_texts
from wordpiece_studio.corpus.linter.linter import findings, lint
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

LINES = [f"line {number} of the text, with some words" for number in range(1, 20_001)]
TEXT = "\n".join(LINES) + "\n"


def test_a_small_text_is_looked_at_whole() -> None:
    sample = sample_of_text("one\ntwo three\n")
    assert [(part.text, part.first_line) for part in sample.parts] == [("one\ntwo three\n", 1)]
    assert (sample.is_whole, sample.is_editable, sample.longest_line, sample.characters) == (True, True, 9, 14)


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", " "), TEXT.replace(" ", "").replace("\n", "")])
def test_of_a_large_text_parts_are_looked_at(text: str) -> None:
    sample = sample_of_text(text, 50_000)
    assert not sample.is_whole
    assert 40_000 <= sum(len(part.text) for part in sample.parts) <= 200_000
    end = 0
    for part in sample.parts:
        place = text.index(part.text, end)
        assert place == 0 or text[place - 1] in " \n" or " " not in text
        assert part.first_line == text.count("\n", 0, place) + 1
        end = place + len(part.text)
    assert end > 0.9 * len(text)  # they reach to the end
    assert sample.longest_line == max(map(len, text.split("\n")))


def test_several_texts() -> None:
    sample = sample_of_texts(["one\n", "two\n"])
    assert [(part.source, part.text) for part in sample.parts] == [("text 1", "one\n"), ("text 2", "two\n")]
    assert sample.is_whole
    assert not sample_of_texts(["x" * 100, "y"], 50).is_whole


def test_a_small_file_is_looked_at_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("El niÃ±o\n", encoding="utf-8")
    sample = sample_of_files([CorpusFile(str(tmp_path / "a.txt"))])
    assert sample.is_whole
    assert "".join(part.text for part in sample.parts) == "El niÃ±o\n"
    (finding,) = lint(tmp_path / "a.txt")
    assert (finding.kind, finding.fix, finding.is_sample) == ("mojibake", None, False)


def test_of_large_files_parts_are_looked_at(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    files = [CorpusFile(str(tmp_path / f"{name}.txt")) for name in "ab"]
    sample = sample_of_files(files, 100_000)
    assert not sample.is_whole
    assert {part.source for part in sample.parts} == {file.path for file in files}
    assert sum(len(part.text) for part in sample.parts) <= 300_000
    for part in sample.parts:
        if part.first_line is not None:
            assert part.text.splitlines()[0] == LINES[part.first_line - 1]
    assert any("line 19" in part.text for part in sample.parts)


def test_of_a_compressed_file_the_beginning_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    sample = sample_of_files([CorpusFile(str(path))], 100_000)
    assert [part.first_line for part in sample.parts] == [1]
    assert not sample.is_whole
    assert sample_of_files([CorpusFile(str(path))]).is_whole


def test_a_line_cut_within_a_character_is_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("한" * 2_000_000, encoding="utf-8")
    sample = sample_of_files([CorpusFile(str(path))], 100_000)
    assert len(sample.parts) > 1
    assert all(set(part.text) == {"한"} for part in sample.parts)


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    sample = sample_of_files([CorpusFile(str(tmp_path / "gone.txt"))])
    assert (sample.parts, sample.is_whole) == ((), False)


def test_a_file_that_was_read_in_a_wrong_encoding_is_read_in_another(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("El niño y la niña\n", encoding="utf-8")
    file = CorpusFile(str(path), encoding="cp1252")
    pipeline = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
    (finding,) = findings(sample_of_files([file]), None, pipeline)
    assert finding.fix == ReadingFix(str(path), "utf-8")
    assert wps.count_words(path, encoding="utf-8").words == ["El", "niño", "y", "la", "niña"]


@pytest.mark.slow
def test_a_sample_says_that_it_is_one() -> None:
    text = "El niño tiene un año\n" * 100_000
    (finding,) = lint(texts=[text], normalizer="bert-uncased")
    assert finding.is_sample
    assert "In a sample: " in str(finding)
