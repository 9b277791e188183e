"""What manifests say about a corpus: its hash, its files, and the published names of these."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import (
    HASHING_STOPPED,
    MOST_FILES,
    RecordedFile,
    corpus_hash,
    noted_files,
    places_of,
    published_path,
    record_of_files,
    record_of_project,
    recorded_files,
)
from wordpiece_studio.storage.exports import Export, Exported, counts_name
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run
from wordpiece_studio.storage.verification import verify
from wordpiece_studio.storage.view import View
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train


@pytest.fixture
def files(tmp_path: Path) -> list[CorpusFile]:
    for name, data in (("a.txt", b"hug"), ("b.jsonl", b'{"text": "pug"}\n')):
        (tmp_path / name).write_bytes(data)
    return [CorpusFile(str(tmp_path / "a.txt")), CorpusFile(str(tmp_path / "b.jsonl"), "jsonl", "text")]


def test_the_hash_of_a_corpus_is_that_of_the_hashes_of_its_files(files: list[CorpusFile]) -> None:
    record = record_of_files(recorded_files(noted_files(files)), max_word_length=1000)
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


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
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
    stored = Run(run.counts, run.config, run.history, is_of_corpus=is_of_corpus)
    return Project(settings=settings, corpus=corpus, view=View(), runs=(stored,))


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


def test_where_hashing_was_stopped_no_other_hash_is_taken(files: list[CorpusFile]) -> None:
    of_text = project(ProjectCorpus(text="hug", origin=noted_files(files)[0]))
    stopped = record_of_project(of_text, lambda: True)
    assert (stopped.sha256, stopped.sha256_of) == (None, "files")
    assert stopped.sha256_missing.endswith(HASHING_STOPPED)


def test_of_very_many_files_only_the_hash_of_all_is_kept() -> None:
    file = RecordedFile(path="a.txt", sha256="ab" * 32)
    record = record_of_files((file,) * (MOST_FILES + 1), max_word_length=1000)
    assert record.files == ()
    assert record.sha256 == corpus_hash(["ab" * 32] * (MOST_FILES + 1))
    assert len(record_of_files((file,) * MOST_FILES, max_word_length=1000).files) == MOST_FILES


BPE = TrainingConfig(objective="count", continuing_subword_prefix="", max_merges=3)


def exported(path: Path, config: TrainingConfig) -> Exported:
    files = [CorpusFile(str(path))]
    noted = noted_files(files)
    counts = count_words(files)
    record = record_of_files(recorded_files(noted), max_word_length=1000)
    run = train(counts, config)
    return Exported(counts, run.config, run.history, 3, record)


@pytest.mark.parametrize("is_changed", [False, True])
def test_no_manifest_names_a_folder_of_the_machine(tmp_path: Path, is_changed: bool) -> None:
    corpus = tmp_path / "private-person" / "corpus.txt"
    corpus.parent.mkdir()
    corpus.write_bytes("\ufeffhug pug hugs".encode("utf-16-le"))  # which the statistics note for this file
    out = tmp_path / "work" / "public"
    out.mkdir(parents=True)
    state = exported(corpus, TrainingConfig(max_merges=3))
    if is_changed:
        corpus.write_text("other")
        noted = record_of_files(
            recorded_files(noted_files([CorpusFile("none/private-person/x.txt")])), max_word_length=9
        )
        state = Exported(state.counts, state.config, state.history, 3, noted)
    Export("folder", out).write(state)
    Export("word-counts", out / counts_name(state.counts)).write(state)
    Export("vocabulary", out / "words.txt").write(state)
    Export("merges", out / "m.csv").write(state)
    corpus.write_text("hug pug hugs")
    Export("bpe", tmp_path / "work" / "bpe").write(exported(corpus, BPE))
    manifests = [path for path in tmp_path.rglob("*.json") if b'"program"' in path.read_bytes()]
    assert len(manifests) == 5
    for manifest in manifests:
        assert b"private-person" not in manifest.read_bytes(), manifest
        assert os.fsencode(tmp_path) not in manifest.read_bytes()
    if not is_changed:
        assert json.loads((out / "wordpiece-studio.json").read_bytes())["corpus"]["files"][0]["path"] == "corpus.txt"


def test_a_corpus_beside_the_folder_is_found_wherever_both_are_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "here" / "texts" / "corpus.txt"
    corpus.parent.mkdir(parents=True)
    corpus.write_text("hug pug hugs")
    monkeypatch.chdir(tmp_path / "here")
    Export("folder", Path("out")).write(exported(Path("texts/corpus.txt"), TrainingConfig(max_merges=3)))
    manifest = json.loads(Path("out/wordpiece-studio.json").read_bytes())
    assert manifest["corpus"]["files"][0]["path"] == "../texts/corpus.txt"
    assert manifest["corpus"]["statistics"]["files"][0]["name"] == "../texts/corpus.txt"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").rename(tmp_path / "there")
    result = verify(tmp_path / "there" / "out")
    assert (result.agrees, result.source) == (True, str(tmp_path / "there" / "texts" / "corpus.txt"))


def test_a_corpus_elsewhere_is_looked_for_by_its_name_and_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, out = tmp_path / "far" / "corpus.txt", tmp_path / "a" / "b" / "out"
    corpus.parent.mkdir()
    corpus.write_text("hug pug hugs")
    Export("folder", out).write(exported(corpus, TrainingConfig(max_merges=3)))
    with pytest.raises(
        StudioError, match=r"^corpus\.txt, one of the files it was trained on, does not exist\. Specify the corpus"
    ):
        verify(out)
    assert verify(out, [str(corpus)]).agrees
    monkeypatch.chdir(corpus.parent)
    assert verify(out).agrees
    (out / "corpus.txt").write_text("another text of the same name")
    assert verify(out).agrees  # that one has another size


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, names are Unicode")
@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"\xff\xfe.txt", b"caf\\xe9.txt"])
def test_a_corpus_whose_name_is_no_text_is_found(tmp_path: Path, name: bytes) -> None:
    corpus = tmp_path / "texts" / os.fsdecode(name)
    corpus.parent.mkdir()
    corpus.write_text("hug pug hugs")
    Export("folder", tmp_path / "out").write(exported(corpus, TrainingConfig(max_merges=3)))
    assert verify(tmp_path / "out").agrees


@pytest.mark.parametrize(
    ("path", "folder", "name"),
    [
        ("/a/b/out/c.txt", "/a/b/out", "c.txt"),
        ("/a/b/x/y/c.txt", "/a/b/out", "../x/y/c.txt"),
        ("/a/bc/c.txt", "/a/b/out", "c.txt"),
        ("/home/ann/c.txt", "/out", "c.txt"),  # below the root lies everything
        ("/a/b/c.txt", None, "c.txt"),
        ("s3://key:secret@bucket/a/c.txt", "/a", "s3://bucket/a/c.txt"),
        ("file:///home/ann/c.txt", "/a", "c.txt"),
        ("https://[bad/c.txt", "/a", "a URL"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="paths of POSIX")
def test_published_path(path: str, folder: str | None, name: str) -> None:
    assert published_path(path, folder) == name


def test_nothing_is_looked_for_on_other_machines() -> None:
    for path in (
        "//server/a", "\\\\server\\a", "https://example.org/a", "/\\server\\s\\a", "\\/server/s/a", "/dev/zero",
        "C:\\a", "../../a", "a/../../../b",
    ):  # fmt: skip
        assert list(places_of(RecordedFile(path=path), "/a")) == []
