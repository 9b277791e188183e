"""A project from one start of the Studio to the next: saved by key, opened from the recent ones, gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from tests.end_to_end.agreement import assert_all_panes_agree
from wordpiece_studio.storage.view import Selection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.driver import Driver


def test_a_project_is_saved_and_opened_at_the_next_start(start: Callable[[], Driver], tmp_path: Path) -> None:
    driver = start()
    driver.press("F5")
    driver.wait_finished()
    driver.model.seek(9)
    driver.model.set_selection(Selection("token", text="Th"))
    driver.window.session.marks.bookmarks.keep("the start of a sentence")
    merges = list(driver.model.history)
    driver.press("Ctrl+S")
    dialog = next(each for each in driver.window.findChildren(QFileDialog) if each.isVisible())
    dialog.fileSelected.emit(str(tmp_path / "course"))
    dialog.done(1)
    driver.wait(lambda: driver.window.project.path is not None)

    driver = start()
    assert driver.window.windowTitle().startswith("Untitled")
    driver.window.actions_.refresh_menus()
    recent = driver.window.actions_.choices("open_recent")[0]
    assert recent.text() == "course.wpstudio"
    recent.trigger()
    driver.wait(lambda: driver.window.project.path is not None and not driver.window.project.reading.is_running)
    assert driver.window.windowTitle().startswith("course[*]")
    assert (driver.model.step, driver.model.selection) == (9, Selection("token", text="Th"))
    assert list(driver.model.history) == merges
    assert_all_panes_agree(driver)
    driver.press("Right")
    assert driver.model.step == 10
    assert_all_panes_agree(driver)
