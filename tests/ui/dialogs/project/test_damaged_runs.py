"""Projects whose words or places cannot be read: shown without them, and reported once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from tests.storage.project.making import course_project, forged, run_of
from wordpiece_studio.session import project_state
from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import Breakpoint, Selection, View
from wordpiece_studio.ui.messages import Messages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects
    from wordpiece_studio.errors import StudioError

WORD, TOKEN, PAIR = (
    Selection("word", text="hugs"),
    Selection("token", text="##gs"),
    Selection("pair", left="##g", right="##s"),
)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    show = Messages.show_error

    def noted(messages: Messages, error: StudioError) -> None:
        found.append(str(error))
        show(messages, error)

    monkeypatch.setattr(Messages, "show_error", noted)
    return found


def damage(path: Path, part: str) -> None:
    def cut(database: Any) -> None:
        query = "UPDATE chunk SET data = x'00' WHERE id = (SELECT first FROM part WHERE name = ?)"
        database.execute(query, (part,))

    path.write_bytes(forged(path.read_bytes(), cut))


def saved(path: Path, selection: Selection, **others: Any) -> Path:
    view = View(step=3, selection=selection, live_text="hugs bugs", breakpoints=(Breakpoint("word", "hugs"),))
    save_project(path, replace(course_project(), view=view, **others))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("part", ["runs/0/places/positions", "runs/0/words/text"])
@pytest.mark.parametrize("is_small", [True, False])
def test_with_something_selected_it_is_reported_once_and_the_rows_stay(
    projects: Projects,
    told: list[str],
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    is_small: bool,
) -> None:
    if not is_small:
        monkeypatch.setattr(project_state, "_FEW", 0)
    window, model = projects.window, projects.window.model
    for selection in (WORD, TOKEN, PAIR):
        path = saved(projects.path(f"bad {selection.kind}"), selection)
        damage(path, part)
        told.clear()
        projects.open(path)
        assert len(told) == 1
        assert f"{path.name} is damaged at {part}" in told[0]
        assert model.history is not None
        assert model.history.is_damaged
        assert (model.merge_count, model.step) == (9, 3)
        projects.studio.box().done(0)
        others = (Selection("word", text="pug"), Selection("token", text="hug"), Selection("pair", "h", "##u"), None)
        for each in others:
            model.set_selection(each)
            for step in (0, 5, 9):
                model.seek(step)
                projects.studio.qtbot.wait(1)
        window.history_pane.rows.sort(HistoryColumn.WORDS, Qt.SortOrder.DescendingOrder)
        projects.studio.wait(lambda: not window.history_pane.rows.task.is_running)
        assert not window.session.marks.watch.is_searching
        assert len(told) == 1


def test_damaged_words_of_the_corpus_do_not_harm_its_run(projects: Projects, told: list[str]) -> None:
    """The corpus was edited after the training: it has words of its own, which can be counted again."""
    path = saved(projects.path("bad"), WORD, counts=run_of([("hug", 2), ("pug", 1)]).counts)
    project = open_project(path)
    assert project.counts is not None
    damage(path, "corpus/words/text")
    projects.open(path)
    projects.studio.wait(lambda: projects.window.session.counting.counts is not None)
    assert len(told) == 1
    history = projects.window.model.history
    assert history is not None
    assert history.is_whole
    projects.studio.box().done(0)


def test_without_a_damaged_part_the_rest_is_opened_without_a_file(projects: Projects, told: list[str]) -> None:
    path = saved(projects.path("bad"), WORD)
    damage(path, "corpus/text")
    before = path.read_bytes()
    projects.open(path)
    window = projects.window
    assert told == [
        f"{path} is damaged and was opened without the text. The file was left as it is. Save your project under "
        "another name, or open a backup of the file."
    ]
    projects.studio.box().done(0)
    assert (window.session.document.text, window.model.merge_count, window.project.path) == ("", 9, None)
    assert path.read_bytes() == before


def test_what_is_lost_and_what_cannot_be_read_is_said_in_one_message(projects: Projects, told: list[str]) -> None:
    path = projects.path("bad")
    save_project(path, course_project(others=(replace(run_of([("cat", 3), ("cats", 2)]), number=1),)))
    for part in ("runs/1/tokens/text", "runs/0/places/positions"):
        damage(path, part)
    projects.open(path)
    assert told == [
        f"{path} is damaged and was opened without run B. {path} is damaged at runs/0/places/positions: it is not what "
        "was saved. The file was left as it is. Save your project under another name, or open a backup of the file."
    ]
    projects.studio.box().done(0)


def test_a_word_that_is_waited_for_is_found_when_the_words_are_read(projects: Projects) -> None:
    path = saved(projects.path("good"), WORD)
    projects.open(path)
    projects.studio.wait(lambda: not projects.window.session.marks.watch.is_searching)
    run = open_project(path).run
    assert run is not None
    whole = next(merge.step for merge in run.history if merge.token == "hugs")
    assert projects.window.session.marks.watch.steps.tolist() == [whole]
