"""A sample is all its own, and New is new, whatever was open before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.session.project_state import unsaved_work
from wordpiece_studio.session.samples import sample_project, samples
from wordpiece_studio.storage.view import Breakpoint
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

NAMES = [name for name, _, _ in samples()]


def settled(studio: Studio) -> None:
    window = studio.window
    studio.wait(lambda: not window.project.reading.is_running and window.session.counting.counts is not None)


def everything(studio: Studio) -> dict[str, Any]:
    """Return all that a project holds, and what else the window shows of it."""
    settled(studio)
    window = studio.window
    session, project = window.session, window.project.capture()
    runs = [
        (run.config, list(run.history), dict(run.counts.items()), run.counts.normalizer, run.counts.pre_tokenizer,
         run.tab, run.stop_reason, run.origin.is_wanted, run.origin.corpus_name, run.text, run.is_of_corpus)
        for run in project.runs
    ]  # fmt: skip
    return {
        "runs": runs, "settings": project.settings, "corpus": project.corpus, "view": project.view,
        "counts": dict(session.counting.counts.items()),
        "field": window.tokenization_pane.text,
        "name": session.corpus_name, "suggested": session.settings.suggestion.words,
        "undo": session.document.undo_stack.count(), "unsaved": unsaved_work(session, window.project),
        "state": window.model.state,
        "notices": [window.notices.training.text, window.notices.files.text], "path": window.project.path,
    }  # fmt: skip


def change_everything(studio: Studio) -> None:
    """Leave as many traces as a user does."""
    window = studio.window
    session = window.session
    session.settings.choose(objective="count", special_tokens=("[X]",), vocab_size=999, min_frequency=3)
    session.counting.set_pipeline(resolve_normalizer("none"), resolve_pre_tokenizer("whitespace-split"), 20)
    window.tokenization_pane.set_text("mine")
    session.marks.bookmarks.keep("mine", 0)
    session.marks.breakpoints.set_marks([Breakpoint("size", number=20.0)])
    session.comparison.set_longest_first(not session.comparison.is_longest_first)
    session.runs.keep(session.runs.current)
    session.document.edit(0, 0, "mine ")


@pytest.mark.parametrize("name", [*NAMES, "New"])
def test_a_sample_opened_after_any_other_is_as_in_a_fresh_window(empty_studio: Studio, name: str) -> None:
    window = empty_studio.window
    controller = window.corpus_controller

    def open_it() -> dict[str, Any]:
        controller._begin_empty() if name == "New" else controller.load_sample(name)
        return everything(empty_studio)

    fresh = open_it()
    for before in NAMES:
        controller.load_sample(before)
        settled(empty_studio)
        now = open_it()
        assert {key: (fresh[key], now[key]) for key in fresh if fresh[key] != now[key]} == {}, before
    controller.load_sample(NAMES[-1])
    settled(empty_studio)
    change_everything(empty_studio)
    now = open_it()
    assert {key: (fresh[key], now[key]) for key in fresh if fresh[key] != now[key]} == {}
    offers = [item.target for item in window.tokenization_pane._field.offer.items]
    assert offers == (["This is the Hugging Face course!"] if name == "spanish-course" else ["mine"])


def test_the_notes_of_a_sample_go_with_its_run_and_those_of_the_user_stay(studio: Studio) -> None:
    session = studio.window.session
    assert [note.step for note in session.marks.bookmarks.records] == [25]
    session.marks.bookmarks.keep("mine", 3)
    session.take_corpus("another")
    assert [note.text for note in session.marks.bookmarks.records] == ["mine"]


@pytest.mark.parametrize("name", ["hug.txt", "spanish-course"])
def test_a_run_goes_the_way_of_the_course_to_hug(name: str) -> None:
    project = sample_project(name)
    run = project.runs[-1]
    assert [(merge.left, merge.right) for merge in run.history] == [("##g", "##s"), ("h", "##u"), ("hu", "##g")]
    assert run.tokenizer_at(3).encode("hugs").tokens == ["hug", "##s"]
    assert "2/45" in project.view.notes[0].text
