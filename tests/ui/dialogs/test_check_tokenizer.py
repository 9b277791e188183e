"""A tokenizer is checked in the window: that of a run at once, and one in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import wordpiece_studio as wps

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_a_run_a_file_and_a_file_that_is_none(studio: Studio, tmp_path: Path) -> None:
    window = studio.window
    controller, action = window.vocabulary_controller, window.actions_.check_tokenizer
    action.trigger()
    dialog = controller.checking
    assert dialog is not None
    studio.qtbot.waitUntil(lambda: len(dialog.rows.records) == 8, timeout=30_000)
    assert dialog.tokenizer.currentData() is window.session.runs.current
    assert not dialog.error.text()
    assert not dialog.progress.isVisibleTo(dialog)
    results = [[dialog.rows.text(row, column) for column in range(4)] for row in range(8)]
    assert [row[1] for row in results][:2] == ["IDs", "Special tokens"]
    assert {row[0] for row in results} <= {"Pass", "Warning", "Skipped"}
    assert all(row[3] for row in results if row[0] == "Warning")
    action.trigger()
    assert controller.checking is dialog

    tokens = [*SPECIAL, "hug", "Hug", "##,"]
    wps.Tokenizer(wps.Vocabulary(tokens, SPECIAL), "bert-uncased").save(tmp_path)
    dialog.open_file(str(tmp_path / "tokenizer.json"))
    assert not dialog.rows.records
    studio.qtbot.waitUntil(lambda: len(dialog.rows.records) == 8, timeout=30_000)
    assert dialog.tokenizer.currentText().endswith("tokenizer.json")
    row = [dialog.rows.text(6, column) for column in range(4)]
    assert (row[0], row[2].splitlines()[1]) == ("Fail", "Hug  ##,")

    (tmp_path / "broken.json").write_text("{")
    dialog.open_file(str(tmp_path / "broken.json"))
    studio.qtbot.waitUntil(lambda: bool(dialog.error.text()), timeout=30_000)
    assert "broken.json" in dialog.error.text()
    assert not dialog.rows.records
    dialog.close()
    assert controller.checking is None


def test_the_window_ends_while_it_checks(studio: Studio) -> None:
    window = studio.window
    window.actions_.check_tokenizer.trigger()
    dialog = window.vocabulary_controller.checking
    assert dialog is not None
    task = dialog.task
    assert task.is_running
    window.vocabulary_controller.close()
    assert not task.is_running
    assert window.vocabulary_controller.checking is None
