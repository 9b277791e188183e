"""What of a machine stands in a folder that is published."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from wordpiece_studio.corpus.corpus_file import CorpusFile
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import RecordedFile, noted_files, record_of_files, recorded_files
from wordpiece_studio.storage.exports import Exported, Origin, counts_name, manifest_of, write_export
from wordpiece_studio.storage.merge_table import write_merge_table
from wordpiece_studio.storage.published_paths import places_of, published_path
from wordpiece_studio.storage.verification.verification import verify
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

BPE = TrainingConfig(objective="count", continuing_subword_prefix="", max_merges=3)


def exported(path: Path, config: TrainingConfig) -> Exported:
    files = [CorpusFile(str(path))]
    noted = noted_files(files)
    counts = count_words(files)
    record = record_of_files(recorded_files(noted), max_word_length=1000)
    run = train(counts, config)
    return Exported(counts, run.config, run.history, 3, Origin(merges=3, corpus=record))


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
        state = Exported(state.counts, state.config, state.history, 3, Origin(corpus=noted))
    write_export("folder", state, out)
    write_export("word-counts", state, out / counts_name(state.counts))
    write_export("vocabulary", state, out / "words.txt")
    write_merge_table(out / "m.csv", state.history, manifest=manifest_of("merges", state, "m.csv", folder=out))
    corpus.write_text("hug pug hugs")
    write_export("bpe", exported(corpus, BPE), tmp_path / "work" / "bpe")
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
    write_export("folder", exported(Path("texts/corpus.txt"), TrainingConfig(max_merges=3)), Path("out"))
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
    write_export("folder", exported(corpus, TrainingConfig(max_merges=3)), out)
    with pytest.raises(StudioError, match=r"^corpus\.txt, a file that was trained on, is not there\. Name the corpus"):
        verify(out)
    assert verify(out, [str(corpus)]).agrees
    monkeypatch.chdir(corpus.parent)
    assert verify(out).agrees
    (out / "corpus.txt").write_text("another text of the same name")
    assert verify(out).agrees  # that one has another size


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
    for path in ("//server/a", "\\\\server\\a", "https://example.org/a"):
        assert list(places_of(RecordedFile(path=path), "/a")) == []
