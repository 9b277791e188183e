"""Saving a chart from the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio


def dialog_of(studio: Studio) -> QFileDialog:
    studio.window.actions_.save_chart.trigger()
    studio.wait(lambda: bool(studio.window.findChildren(QFileDialog)))
    return studio.window.findChildren(QFileDialog)[-1]


@pytest.mark.slow
def test_the_command_saves_what_is_shown_as_png_or_svg(studio: Studio, tmp_path: Path) -> None:
    dialog = dialog_of(studio)
    assert dialog.selectedFiles()[0].endswith("merge-score.png")
    dialog.filterSelected.emit("SVG image (*.svg)")
    assert dialog.defaultSuffix() == "svg"
    for name in ("chart.png", "chart.svg"):
        dialog.fileSelected.emit(str(tmp_path / name))
    dialog.reject()
    assert not QImage(str(tmp_path / "chart.png")).isNull()
    assert b"Merge score</text>" in (tmp_path / "chart.svg").read_bytes()
    assert "chart.svg" in studio.window.notices.export.text


def test_a_place_that_cannot_be_written_to_is_reported(studio: Studio, tmp_path: Path) -> None:
    studio.window.export_controller.write_chart(str(tmp_path / "nowhere" / "chart.png"))
    assert "cannot be written" in studio.box().text()
    studio.answer(studio.box().standardButtons())


def test_there_is_nothing_to_save_before_the_first_merge(empty_studio: Studio) -> None:
    assert not empty_studio.window.actions_.save_chart.isEnabled()
