"""Exporting the merge history from the window: the question, the file, giving it up, and what goes wrong."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QRadioButton

from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.storage import merge_table
from wordpiece_studio.storage.merge_table import read_merge_table
from wordpiece_studio.ui.dialogs.export_dialog import HistoryExportDialog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio


def choose(studio: Studio, text: str = "", kind: str = "jsonl") -> None:
    """Answer the question of the export: the choice that holds `text`, and the format."""
    studio.window.actions_.export_history.trigger()
    dialog = studio.window.findChild(HistoryExportDialog)
    for button in dialog.findChildren(QRadioButton):
        if button.text().startswith(kind) or (text and text in button.text()):
            button.click()
    dialog.accept()


def export(studio: Studio, path: Path, text: str = "") -> None:
    choose(studio, text, path.suffix[1:])
    dialog = studio.window.findChild(QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.reject()


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_all_merges_are_exported(studio: Studio, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"merges.{kind}"
    export(studio, path)
    studio.wait(lambda: "Exported 25 merges" in studio.window.notices.export.text)
    assert read_merge_table(path)["token"] == [merge.token for merge in studio.window.model.history]
    assert studio.window.notices.export.button.isHidden()


def test_the_rows_shown_are_exported_in_their_order(studio: Studio, tmp_path: Path) -> None:
    pane, path = studio.window.history_pane, tmp_path / "merges.jsonl"
    pane.filter_row.only_ties.setChecked(True)
    pane.view.sortByColumn(HistoryColumn.VALUE, Qt.SortOrder.DescendingOrder)
    export(studio, path, "The 9 shown")
    studio.wait(lambda: "Exported 9 merges" in studio.window.notices.export.text)
    assert read_merge_table(path)["step"].tolist() == (pane.rows.shown_items() + 1).tolist()


def test_an_export_is_given_up_and_leaves_nothing(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = merge_table.merge_columns

    def slow(*args: object) -> object:
        time.sleep(0.05)
        return genuine(*args)

    monkeypatch.setattr(merge_table, "_ROWS", 1)
    monkeypatch.setattr(merge_table, "merge_columns", slow)
    path, banner = tmp_path / "merges.csv", studio.window.notices.export
    studio.window.history_pane.export_button.setFocus()
    export(studio, path)
    assert banner.text == "Writing 0 of 25 merges…"
    assert not studio.window.actions_.export_history.isEnabled()
    studio.qtbot.mouseClick(banner.button, Qt.MouseButton.LeftButton)
    assert banner.isHidden()
    assert studio.window.actions_.export_history.isEnabled()
    assert studio.window.focusWidget() is studio.window.history_pane.export_button
    studio.window.export_controller.history.close()
    assert not list(tmp_path.glob("*merges*"))


def test_a_full_disk_is_reported(studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    export(studio, tmp_path / "merges.csv")
    assert "cannot be written" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)
    assert not list(tmp_path.glob("*merges*"))
    assert studio.window.notices.export.isHidden()


def test_a_missing_folder_is_reported_at_once(studio: Studio, tmp_path: Path) -> None:
    export(studio, tmp_path / "none" / "merges.csv")
    assert "does not exist" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)


def test_there_is_nothing_to_export_before_a_training(empty_studio: Studio) -> None:
    assert not empty_studio.window.actions_.export_history.isEnabled()
    assert not empty_studio.window.history_pane._controls.export.isEnabled()


def test_keys_go_to_a_step_and_to_the_row_of_the_step(studio: Studio) -> None:
    window = studio.window
    window.actions_.go_to_step.trigger()
    studio.wait(window.history_pane.filter_row._step.hasFocus)
    studio.qtbot.keyClicks(window.history_pane.filter_row._step, "7\r")
    assert window.model.step == 7
    window.history_pane.view.clearSelection()
    window.actions_.show_step_row.trigger()
    assert window.history_pane.view.selected_steps().tolist() == [7]


def test_chosen_columns_are_remembered(studio: Studio) -> None:
    view = studio.window.history_pane.view
    view.choose_columns(frozenset({HistoryColumn.STEP, HistoryColumn.TOKEN}))
    assert studio.window.settings.values.history_columns == view.column_names()
