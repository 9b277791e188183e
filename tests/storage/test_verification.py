from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import noted_files, record_of_files, record_of_text, recorded_files
from wordpiece_studio.storage.exports import Export, Exported, counts_name
from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run
from wordpiece_studio.storage.project.project_file import save_project
from wordpiece_studio.storage.tokenizer_directory import save_directory
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.storage.verification import verify
from wordpiece_studio.storage.view import View
from wordpiece_studio.text.normalizers import BertNormalizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.storage.verification import Verification

TEXT = "hug hugs pug pun bun puns\nhugging a pug is fun; a bun is not\n" * 3


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "texts" / "corpus.txt"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    return path


def trained(corpus: Path, step: int | None = None, **settings: Any) -> Exported:
    files = [CorpusFile(str(corpus))]
    noted = noted_files(files)
    counts = count_words(files)
    run = train(counts, TrainingConfig(**settings))
    record = record_of_files(recorded_files(noted), max_word_length=1000)
    steps = len(run.history) if step is None else step
    return Exported(counts, run.config, run.history, steps, record)


@pytest.fixture
def folder(corpus: Path, tmp_path: Path) -> Path:
    exported = trained(corpus, max_merges=12)
    place = tmp_path / "out"
    Export("folder", place).write(exported)
    Export("word-counts", place / counts_name(exported.counts)).write(exported)
    Export("merges", place / "merges.csv").write(exported)
    return place


def outcomes(result: Verification) -> dict[str, str]:
    return {check.name: check.outcome for check in result.checks}


def test_all_of_a_folder_agrees(folder: Path) -> None:
    result = verify(folder)
    assert result.agrees
    assert set(outcomes(result).values()) == {"agrees"}
    assert set(outcomes(result)) == {
        "corpus", "word counts", "vocabulary", "vocab.txt", "tokenizer.json", "tokenizer_config.json",
        "special_tokens_map.json", "vocabulary of merges.csv", "merges.csv", "word-counts.tsv",
    }  # fmt: skip
    assert (result.merges, result.source, result.versions) == (12, str(folder / "word-counts.tsv"), ())


def test_the_corpus_that_the_manifest_names_is_found_and_must_be_what_it_was(folder: Path, corpus: Path) -> None:
    for path in folder.glob("word-counts*"):
        path.unlink()
    result = verify(folder)
    assert (result.agrees, result.source) == (True, str(corpus))
    corpus.write_text(TEXT.replace("fun", "fan"), encoding="utf-8")
    with pytest.raises(StudioError, match=r"is not the file that was trained on.*Specify the corpus"):
        verify(folder)
    result = verify(folder, [str(corpus)])
    assert not result.agrees
    assert outcomes(result)["corpus"] == outcomes(result)["word counts"] == "differs"
    corpus.unlink()
    with pytest.raises(StudioError, match=r"does not exist\. Specify the corpus"):
        verify(folder)


@pytest.mark.parametrize("is_given", [False, True])
def test_a_corpus_that_changes_while_it_is_counted_is_not_compared(folder: Path, corpus: Path, is_given: bool) -> None:
    for path in folder.glob("word-counts*"):
        path.unlink()
    before = corpus.stat().st_size

    def grow(_: CountingProgress) -> None:
        if corpus.stat().st_size == before:
            corpus.write_text(TEXT + "a", encoding="utf-8")

    result = verify(folder, [str(corpus)] if is_given else [], counting=grow)
    (check,) = (check for check in result.checks if check.name == "corpus")
    assert (check.outcome, "was changed after it was counted" in check.detail) == ("unchecked", True)


def test_the_preparation_of_the_corpus_is_repeated_but_the_tokenizer_does_not_keep_it(corpus: Path) -> None:
    corpus.write_text("This, this THIS", encoding="utf-8")
    counts = count_words([corpus], "corpus:lowercase+corpus:remove:,+bert-cased")
    run = train(counts, TrainingConfig())
    out = corpus.parent / "out"
    save_directory(out, run.vocabulary, counts.normalizer, counts.pre_tokenizer, config=run.config, counts=counts)
    loaded = load_tokenizer(out)
    assert loaded.encode("This, this").tokens == ["[UNK]", "[UNK]", "this"]
    assert loaded.normalizer == run.tokenizer().normalizer == BertNormalizer()
    assert verify(out, [str(corpus)]).agrees


def test_every_changed_byte_is_reported_with_its_place(folder: Path) -> None:
    for name in ("vocab.txt", "tokenizer.json", "merges.csv"):
        path = folder / name
        data = path.read_bytes()
        path.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
        check = next(check for check in verify(folder).checks if check.name == name)
        line = data.count(b"\n", 0, 60) + 1
        assert (check.outcome, check.detail) == ("differs", f"first difference at line {line}, byte 60")
        path.write_bytes(data)
    (folder / "vocab.txt").write_bytes((folder / "vocab.txt").read_bytes() + b"more\n")
    assert "the file continues there" in str(verify(folder).checks)


def noticed(folder: Path) -> str:
    """Return what is reported about a changed folder; the table of words may be unreadable."""
    try:
        result = verify(folder)
    except StudioError as error:
        return str(error)
    return str([check for check in result.checks if check.outcome == "differs"])


@pytest.mark.slow
def test_any_one_byte_of_any_file_is_noticed(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        if path.name.endswith(("card.json", MANIFEST_FILE)):
            continue
        data = path.read_bytes()
        for place in (0, len(data) // 3, len(data) - 1):
            path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            assert path.name in noticed(folder), place
        path.write_bytes(data)
    assert verify(folder).agrees


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"])
def test_a_file_that_is_gone_does_not_agree(folder: Path, name: str) -> None:
    (folder / name).unlink()
    check = next(check for check in verify(folder).checks if check.name == name)
    assert (check.outcome, check.detail) == ("differs", "it does not exist")


@pytest.mark.parametrize("name", ["added_tokens.json", "vocab.json", "merges.txt"])
def test_a_file_that_others_would_read_does_not_agree(folder: Path, name: str) -> None:
    (folder / name).write_text("{}")
    check = next(check for check in verify(folder).checks if check.name == name)
    assert check.outcome == "differs"


def test_a_file_without_end_is_not_read_whole(folder: Path) -> None:
    path = folder / "vocab.txt"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(1 << 40)  # a sparse one
    check = next(check for check in verify(folder).checks if check.name == "vocab.txt")
    assert check.detail.startswith(f"first difference at byte {size:,} of {1 << 40:,}: the file continues there")
    path.unlink()
    path.symlink_to("/dev/zero")
    assert outcomes(verify(folder))["vocab.txt"] == "differs"
    (folder / "loop").symlink_to("loop")
    (folder / "\x1b]0;x\x07.txt").write_text("")
    assert {"loop", "\\x1b]0;x\\x07.txt"} <= set(outcomes(verify(folder)))


def test_a_changed_table_of_words_does_not_agree(folder: Path, corpus: Path) -> None:
    path = folder / "word-counts.tsv"
    path.write_bytes(path.read_bytes().replace(b"hug\t3", b"hug\t4"))
    assert outcomes(verify(folder))["word counts"] == "differs"  # it is trained from that table
    result = verify(folder, [str(corpus)])
    assert {name for name, outcome in outcomes(result).items() if outcome == "differs"} == {"word-counts.tsv"}


def test_a_changed_manifest_does_not_agree(folder: Path) -> None:
    path = folder / MANIFEST_FILE
    values = json.loads(path.read_text())
    for change in ({"merges": 11}, {"vocabulary_sha256": "0" * 64}):
        path.write_text(json.dumps(values | change))
        assert outcomes(verify(folder))["vocabulary"] == "differs"
    path.write_text(json.dumps(values | {"training": values["training"] | {"objective": "count"}}))
    assert not verify(folder).agrees
    path.write_text(json.dumps(values | {"training": None}))
    with pytest.raises(StudioError, match="does not say how the vocabulary was trained"):
        verify(folder, [str(folder / "word-counts.tsv")])


def test_a_step_on_the_way_is_made_again(corpus: Path, tmp_path: Path) -> None:
    for step in (0, 3):
        Export("folder", tmp_path / str(step)).write(trained(corpus, step, max_merges=12))
        result = verify(tmp_path / str(step))
        assert (result.agrees, result.merges) == (True, step)


def test_a_limit_of_time_is_replaced_by_the_merges_it_came_to(corpus: Path, tmp_path: Path) -> None:
    exported = trained(corpus, 5, max_seconds=60.0)
    Export("vocabulary", tmp_path / "vocab.txt").write(exported)
    result = verify(tmp_path / "vocab.txt")
    assert (result.agrees, result.merges) == (True, 5)
    assert "depended on the machine: exactly its 5 merges were reproduced" in result.notes[0]


@pytest.mark.parametrize("suffix", [None, "</w>"])
def test_byte_pair_encoding(corpus: Path, tmp_path: Path, suffix: str | None) -> None:
    settings = {"objective": "count", "continuing_subword_prefix": "", "end_of_word_suffix": suffix}
    exported = trained(corpus, max_merges=9, end_of_word="attached", **settings)
    Export("bpe", tmp_path / "bpe").write(exported)
    result = verify(tmp_path / "bpe")
    assert result.agrees
    assert {"vocab.json", "merges.txt"} <= set(outcomes(result))


def test_bytes_of_an_earlier_version(corpus: Path, tmp_path: Path) -> None:
    before = trained(corpus, max_merges=5)
    counts, config = count_words([corpus], "none", "byte-level"), TrainingConfig(max_merges=5, byte_alphabet="seen")
    exported = Exported(counts, config, train(counts, config).history, 5, before.record)
    Export("folder", tmp_path / "out").write(exported)
    manifest = tmp_path / "out" / "wordpiece-studio.json"
    values = json.loads(manifest.read_text(encoding="utf-8"))
    assert values["training"].pop("byte_alphabet") == "seen"  # which was no setting there
    manifest.write_text(json.dumps(values), encoding="utf-8")
    assert verify(tmp_path / "out").agrees


def test_from_a_project(corpus: Path, folder: Path, tmp_path: Path) -> None:
    exported = trained(corpus, max_merges=12)
    run = Run(
        counts=exported.counts, config=exported.config, history=exported.history, is_of_corpus=True
    )  # fmt: skip
    normalizer, pre_tokenizer = {"type": "unchanged"}, {"type": "bert"}
    settings = ProjectSettings(
        training=exported.config.to_dict(), normalizer=normalizer, pre_tokenizer=pre_tokenizer
    )  # fmt: skip
    files = tuple(noted_files([CorpusFile(str(corpus))]))
    project = Project(settings=settings, corpus=ProjectCorpus(text=None, files=files), view=View(), runs=(run,))
    save_project(tmp_path / "a.wpstudio", project)
    result = verify(folder, [str(tmp_path / "a.wpstudio")])
    assert result.agrees
    assert outcomes(result)["corpus"] == "agrees"


def test_a_text_of_the_editor_that_was_saved_meanwhile_is_known_again(corpus: Path, tmp_path: Path) -> None:
    exported = trained(corpus, max_merges=3)
    record = record_of_text(TEXT, max_word_length=1000)
    text = Exported(exported.counts, exported.config, exported.history, 3, record)
    Export("folder", tmp_path / "out").write(text)
    result = verify(tmp_path / "out", [str(corpus)])
    assert outcomes(result)["corpus"] == "agrees"
    assert result.agrees


def test_what_is_not_compared_is_reported(folder: Path) -> None:
    (folder / "notes.md").write_text("mine")
    result = verify(folder)
    assert outcomes(result)["notes.md"] == "unchecked"
    assert result.agrees


def test_where_there_is_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\n")
    for place in (tmp_path, tmp_path / "vocab.txt"):
        with pytest.raises(StudioError, match="has no manifest that says how it was made"):
            verify(place)
    with pytest.raises(StudioError, match="does not exist"):
        verify(tmp_path / "none")


def test_versions_that_differ_are_reported(folder: Path) -> None:
    values = json.loads((folder / MANIFEST_FILE).read_text())
    values["versions"]["numpy"] = "0.1"
    (folder / MANIFEST_FILE).write_text(json.dumps(values))
    assert [version[:2] for version in verify(folder).versions] == [("numpy", "0.1")]


@pytest.mark.parametrize(
    "path", ["//server/share/a.txt", "\\\\server\\a.txt", "https://example.org/a", "a\0b", "/dev/zero"]
)
def test_a_manifest_makes_nothing_be_fetched_or_read_that_is_no_file(folder: Path, path: str) -> None:
    for table in folder.glob("word-counts*"):
        table.unlink()
    values = json.loads((folder / MANIFEST_FILE).read_text())
    values["corpus"]["files"][0]["path"] = path
    (folder / MANIFEST_FILE).write_text(json.dumps(values))
    with pytest.raises(StudioError, match="does not exist"):
        verify(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"special_tokens": ["hug"]},
        {"unk_token": "x"},
        {"continuing_subword_prefix": "@@"},
        {"end_of_word_suffix": "</w>"},
        {"vocabulary_size": 7},
        {"file_sha256": {"vocab.txt": "0" * 64}},
    ],
)
def test_what_a_manifest_says_of_itself_is_checked_too(folder: Path, corpus: Path, change: dict[str, object]) -> None:
    (name,) = change
    values = json.loads((folder / MANIFEST_FILE).read_text())
    (folder / MANIFEST_FILE).write_text(json.dumps(values | change))
    check = next(check for check in verify(folder, [str(corpus)]).checks if check.name == MANIFEST_FILE)
    assert check.outcome == "differs"
    assert check.detail.startswith(f"wrong in it: {name}")
    values["corpus"]["words"] += 1
    (folder / MANIFEST_FILE).write_text(json.dumps(values))
    assert "wrong in it: words" in str(verify(folder, [str(corpus)]).checks)
