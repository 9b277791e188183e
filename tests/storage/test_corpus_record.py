from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.corpus_file import CorpusFile
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.storage.corpus_record import (
    MOST_FILES,
    HashingBeside,
    RecordedFile,
    corpus_hash,
    noted_files,
    record_of_files,
    record_of_project,
    recorded_files,
)
from wordpiece_studio.storage.project.contents import (
    CorpusReference,
    Project,
    ProjectCorpus,
    ProjectRun,
    ProjectSettings,
    ProjectView,
)
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> list[CorpusFile]:
    for name, data in (("a.txt", b"hug"), ("b.jsonl", b'{"text": "pug"}\n')):
        (tmp_path / name).write_bytes(data)
    return [CorpusFile(str(tmp_path / "a.txt")), CorpusFile(str(tmp_path / "b.jsonl"), "jsonl", "text")]


def test_the_hash_of_a_corpus_is_that_of_the_hashes_of_its_files(files: list[CorpusFile]) -> None:
    record = record_of_files(HashingBeside(noted_files(files)).files(), max_word_length=1000)
    digests = [hashlib.sha256(data) for data in (b"hug", b'{"text": "pug"}\n')]
    assert [file.sha256 for file in record.files] == [digest.hexdigest() for digest in digests]
    assert record.sha256 == hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()
    assert record.sha256_missing == ""
    assert record.files[1].file("x") == CorpusFile("x", "jsonl", "text")


def test_a_file_that_was_changed_since_has_no_hash_and_the_reason(files: list[CorpusFile], tmp_path: Path) -> None:
    noted = noted_files(files)
    (tmp_path / "a.txt").write_bytes(b"hugs")
    record = record_of_files(recorded_files(noted), max_word_length=1000)
    assert record.sha256 is None
    assert record.sha256_missing.endswith("a.txt: the file was changed after it was counted")
    assert record.files[1].sha256 is not None
    (tmp_path / "a.txt").unlink()
    assert recorded_files(noted)[0].sha256_missing == "the file is no longer there"


def test_a_change_that_keeps_the_size_is_noticed_by_the_time(files: list[CorpusFile], tmp_path: Path) -> None:
    noted = noted_files(files)
    (tmp_path / "a.txt").write_bytes(b"HUG")
    os.utime(tmp_path / "a.txt", ns=(0, noted[0].modified_ns + 1))
    assert recorded_files(noted)[0].sha256 is None


def test_what_is_no_file_on_a_disk_is_not_opened(tmp_path: Path) -> None:
    places = [str(tmp_path), "https://example.org/a.txt", str(tmp_path / "none"), "a\0b"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        places.append(str(tmp_path / "pipe"))
    for file in recorded_files(noted_files(map(CorpusFile, places))):
        assert file.sha256 is None
        assert file.sha256_missing


def test_a_known_hash_is_taken_over(files: list[CorpusFile]) -> None:
    noted = noted_files(files[:1])[0]
    known = CorpusReference(noted.file, noted.size, noted.modified_ns, "ab" * 32)
    assert recorded_files([known])[0].sha256 == "ab" * 32


def project(corpus: ProjectCorpus, *, is_of_corpus: bool = True) -> Project:
    run = train(WordCounts.from_pairs([("hug", 2)]), TrainingConfig())
    settings = ProjectSettings(training={}, normalizer={}, pre_tokenizer={}, max_word_length=7)
    stored = ProjectRun(counts=run.counts, config=run.config, history=run.history, is_of_corpus=is_of_corpus)
    return Project(settings=settings, corpus=corpus, view=ProjectView(), run=stored)


def test_the_corpus_of_a_project(files: list[CorpusFile]) -> None:
    text = record_of_project(project(ProjectCorpus(text="hug")))
    assert (text.sha256, text.sha256_of) == (hashlib.sha256(b"hug").hexdigest(), "text")
    origin = noted_files(files)[0]
    of_file = record_of_project(project(ProjectCorpus(text="hug", origin=origin)))
    assert of_file.sha256 == hashlib.sha256(hashlib.sha256(b"hug").digest()).hexdigest()
    assert record_of_project(project(ProjectCorpus(text="hug", origin=origin, is_edited=True))) == text
    listed = record_of_project(project(ProjectCorpus(text=None, files=tuple(noted_files(files)))))
    assert (len(listed.files), listed.max_word_length, listed.sha256_missing) == (2, 7, "")
    other = record_of_project(project(ProjectCorpus(text="hug"), is_of_corpus=False))
    assert other.sha256 is None
    assert "changed or replaced" in other.sha256_missing


def test_of_very_many_files_only_the_hash_of_all_is_kept() -> None:
    file = RecordedFile(path="a.txt", sha256="ab" * 32)
    record = record_of_files((file,) * (MOST_FILES + 1), max_word_length=1000)
    assert record.files == ()
    assert record.sha256 == corpus_hash(["ab" * 32] * (MOST_FILES + 1))
    assert len(record_of_files((file,) * MOST_FILES, max_word_length=1000).files) == MOST_FILES
