"""Opening in the background: a small text is read, everything else becomes a list; and previews of files."""

from __future__ import annotations

import gc
import gzip
import json
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session import document
from wordpiece_studio.session.document import CorpusOpening, Reading, TextFile, Undecodable, text_size
from wordpiece_studio.session.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.corpus_files import FileRow


@pytest.fixture
def opening(qapp: object) -> Iterator[CorpusOpening]:
    opening = CorpusOpening()
    yield opening
    for task in opening.findChildren(Task):
        task.close()


def listed(qtbot: QtBot, opening: CorpusOpening, *paths: Path) -> list[FileRow]:
    rows: list[FileRow] = []
    numbers: list[int] = []
    opening.files_found.connect(lambda found, number: (rows.extend(found), numbers.append(number)))
    with qtbot.waitSignal(opening.ended, timeout=20_000) as caught:
        opening.open(tuple(map(str, paths)))
    assert caught.args == ["listed"]
    assert set(numbers) == {len(rows)}
    return rows


def test_a_small_text_is_read(qtbot: QtBot, opening: CorpusOpening, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    with qtbot.waitSignal(opening.ended, timeout=5000) as caught:
        opening.open((str(tmp_path / "a.txt"),), Reading("latin-1"))
    assert caught.args[0].text == "café"
    with qtbot.waitSignal(opening.ended, timeout=5000) as caught:
        opening.open((str(tmp_path / "a.txt"),))
    assert isinstance(caught.args[0], Undecodable)
    assert "a.txt, line 1" in str(caught.args[0].error)
    assert not opening.is_running


def test_a_text_that_was_read_is_not_kept(qtbot: QtBot, opening: CorpusOpening, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug pug of this test", encoding="utf-8")
    texts = []
    opening.ended.connect(lambda file: texts.append(file.text))
    opening.open((str(tmp_path / "a.txt"),))
    qtbot.waitUntil(lambda: texts == ["hug pug of this test"])

    def is_kept() -> bool:
        return any(type(each) is TextFile and each.text == texts[0] for each in gc.get_objects())

    qtbot.waitUntil(lambda: not is_kept())  # the thread may still be in the call


@pytest.mark.slow
def test_a_folder_of_every_kind_is_listed_and_described(qtbot: QtBot, opening: CorpusOpening, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug pug\n" * 20, encoding="utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"hug\n"))
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "1", "text": "hug pug bun"}), encoding="utf-8")
    (tmp_path / "d.txt").write_text("hug\n" * 5, encoding="utf-16")
    (tmp_path / "e.txt").write_bytes("La niña contó los años del señor\n".encode("cp1252") * 20)
    (tmp_path / "ignored.exe").write_bytes(b"MZ")
    rows = listed(qtbot, opening, tmp_path)
    assert [each.file.kind for each in rows] == ["text", "text", "jsonl", "text", "text"]
    assert rows[1].compression
    assert rows[2].file.column == "text"
    assert (rows[3].known, rows[4].known) == ("byte order mark", "guess")
    assert rows[4].file.encoding == rows[4].encoding == "cp1252"
    assert rows[0].size == 160


@pytest.mark.slow
def test_several_files_are_a_list_even_if_small(qtbot: QtBot, opening: CorpusOpening, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("hug", encoding="utf-8")
    assert len(listed(qtbot, opening, tmp_path / "a", tmp_path / "b")) == 2


def test_what_belongs_into_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 11)
    (tmp_path / "packed").write_bytes(gzip.compress(b"hug"))
    (tmp_path / "c.csv").write_bytes(b"a,b\n")
    found = {name: text_size(str(tmp_path / name)) for name in ("a.txt", "packed", "c.csv", "*.txt", "gone.txt")}
    assert found == {"a.txt": "small", "packed": None, "c.csv": None, "*.txt": None, "gone.txt": "small"}
    assert text_size(str(tmp_path)) is None
    monkeypatch.setattr(document, "LARGEST_TEXT", 10)
    assert text_size(str(tmp_path / "a.txt")) == "long"


@pytest.mark.slow
def test_a_text_too_long_to_be_edited_is_read_as_was_chosen(
    qtbot: QtBot, opening: CorpusOpening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 \x80" * 3)
    monkeypatch.setattr(document, "LARGEST_TEXT", 10)
    rows: list[FileRow] = []
    opening.files_found.connect(lambda found, _number: rows.extend(found))
    with qtbot.waitSignal(opening.ended, timeout=20_000) as caught:
        opening.open((str(tmp_path / "a.txt"),), Reading("cp1252", "replace"))
    assert caught.args == ["long"]
    assert [(row.file.encoding, row.file.errors, row.known) for row in rows] == [("cp1252", "replace", "chosen")]


def test_what_is_not_there_is_reported(qtbot: QtBot, opening: CorpusOpening, tmp_path: Path) -> None:
    for name, words in (("gone.txt", "does not exist"), ("gone.csv", "does not exist"), ("*.csv", "No file matches")):
        with qtbot.waitSignal(opening.ended, timeout=20_000) as caught:
            opening.open((str(tmp_path / name),))
        assert words in str(caught.args[0])


def test_a_listing_that_is_canceled_leaves_nothing(qtbot: QtBot, opening: CorpusOpening, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n", encoding="utf-8")
    outcomes = []
    opening.ended.connect(outcomes.append)
    opening.open((str(tmp_path),))
    qtbot.wait(50)
    opening.stop()
    qtbot.wait(300)
    assert outcomes == ["stopped"]
