"""The warnings about the corpus in the window: what they say, that their buttons mend it, and that they go then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest

from wordpiece_studio.corpus.linter.finding import Example, Finding, LengthFix, PipelineFix
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.task import Task
from wordpiece_studio.ui.panes.corpus.lint_view import LintView, detail_words, title_words

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.panes.corpus.lint_view import LintRow
    from wordpiece_studio.ui.widgets.theme import Theme


def settle(studio: Studio) -> None:
    pane = studio.window.corpus_pane
    studio.wait(lambda: studio.window.session.counting.counts is not None and not pane.lint_controller.is_under_way)


def kinds(studio: Studio) -> list[str]:
    return [finding.kind for finding in studio.window.corpus_pane.lint_view.findings]


def row(studio: Studio, kind: str) -> LintRow:
    (found,) = [row for row in studio.window.corpus_pane.lint_view.rows if row.finding.kind == kind]
    return found


def finding(number: int = 1, **changes: object) -> Finding:
    values: dict[str, object] = {
        "kind": "jamo", "severity": "warning", "title_template": "Decomposed Hangul: {word} → {letters} letters",
        "detail_templates": ("{distinct:,} words change.",), "values": {"word": "한", "letters": 3, "distinct": number},
        "examples": (Example("한", "\u1112\u1161\u11ab", line=1234),), "fix": PipelineFix("none", "bert"),
        "fix_name": "Keep syllables whole",
    }  # fmt: skip
    return Finding(**values | changes)  # type: ignore[arg-type]


# -- the view


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> LintView:
    view = LintView(theme)
    qtbot.addWidget(view)
    return view


def test_nothing_is_shown_while_nothing_is_wrong(view: LintView) -> None:
    assert view.isHidden()
    view.show_findings([finding()])
    assert not view.isHidden()
    view.clear()
    assert view.isHidden()


def test_what_is_said(view: LintView) -> None:
    assert title_words(finding()) == "Decomposed Hangul: 한 → 3 letters"
    thin = "\u2009"
    assert detail_words(finding(12345)).splitlines() == [
        "12,345 words change.",
        f"Line 1,234: 한 → \u1112{thin}\u1161{thin}\u11ab",
    ]
    assert "Only part" in detail_words(finding(is_sample=True))
    assert "⟨U+200B⟩" in detail_words(finding(examples=(Example("a\u200bb", "ab"),)))


def test_all_but_the_first_wait_behind_a_button(view: LintView) -> None:
    view.show_findings([finding(kind=kind) for kind in ("jamo", "twins", "mojibake", "invisible")])
    assert [row.isHidden() for row in view.rows] == [False, True, True, True]
    assert view._more_button.text() == "Show 3 more"
    view._more_button.click()
    assert not any(row.isHidden() for row in view.rows)
    view._more_button.click()
    assert [row.isHidden() for row in view.rows] == [False, True, True, True]


def test_details_stay_unfolded_when_the_numbers_change(view: LintView) -> None:
    view.show_findings([finding(1)])
    view.rows[0].unfold_button.click()
    view.show_findings([finding(2)])
    assert view.rows[0].unfold_button.isChecked()
    assert not view.rows[0].detail_label.isHidden()


def test_a_pressed_button_waits_until_it_was_looked_at_again(qtbot: QtBot, view: LintView) -> None:
    view.show_findings([finding()])
    button = view.rows[0].fix_button
    with qtbot.waitSignal(view.fix_requested) as caught:
        button.click()
    assert caught.args == [finding()]
    assert not button.isEnabled()
    view.show_findings([finding()])
    assert button.isEnabled()


def test_there_is_a_button_only_for_what_can_be_mended(view: LintView) -> None:
    view.show_findings([finding(fix=None, fix_name=""), finding(kind="long-words", fix=LengthFix(50))])
    assert [row.fix_button.isHidden() for row in view.rows] == [True, False]


def test_it_can_be_used_with_the_keyboard_and_by_ear(qtbot: QtBot, view: LintView) -> None:
    view.show_findings([finding()])
    view.show()
    first = view.rows[0]
    assert first.fix_button.accessibleName() == "Keep syllables whole · Decomposed Hangul: 한 → 3 letters"
    assert first.unfold_button.accessibleName().startswith("Details and examples")
    assert first.unfold_button.focusPolicy() & Qt.FocusPolicy.TabFocus
    with qtbot.waitSignal(view.fix_requested):
        qtbot.keyClick(first.fix_button, Qt.Key.Key_Space)
    qtbot.keyClick(first.unfold_button, Qt.Key.Key_Space)
    assert first.unfold_button.isChecked()


@pytest.mark.parametrize("width", [200, 260, 340, 700])
def test_the_texts_are_whole_at_every_width(view: LintView, width: int) -> None:
    view.show_findings([finding()])
    view.rows[0].unfold_button.click()
    view.show()
    heights = []
    for each in (width, 110, width):
        view.setFixedWidth(each)
        QCoreApplication.processEvents()
        for label in (view.rows[0].title_label, view.rows[0].detail_label):
            assert (
                label.height()
                >= label.fontMetrics()
                .boundingRect(0, 0, label.width(), 10_000, int(Qt.TextFlag.TextWordWrap), label.text())
                .height()
            )
        heights.append(view.rows[0].sizeHint().height())
    assert heights[0] == heights[2] < heights[1]  # no room is left from the narrower time


# -- in the window


@pytest.mark.slow
def test_accents_are_kept_at_the_press_of_a_button(studio: Studio) -> None:
    pane = studio.window.corpus_pane
    studio.set_text("El niño tiene un año.\n" * 3)
    settle(studio)
    assert kinds(studio) == []
    pane.figures.choose("bert-uncased", "bert")
    settle(studio)
    assert kinds(studio) == ["lost-marks"]
    row(studio, "lost-marks").fix_button.click()
    assert kinds(studio) == ["lost-marks"]  # until it was looked at again
    settle(studio)
    assert kinds(studio) == []
    assert pane.figures.normalizer.name == "bert-uncased:keep-accents"
    counts = studio.window.session.counting.counts
    assert counts is not None
    assert "niño" in counts.words


@pytest.mark.slow
def test_tab_comes_to_the_buttons_where_they_stand(studio: Studio) -> None:
    """Controls that are made late would else come last, after those of all other panes."""
    pane = studio.window.corpus_pane
    studio.set_text("El niÃ±o\n")
    settle(studio)
    buttons = row(studio, "mojibake")
    pane.editor.setFocus()
    QTest.keyClick(pane.editor, Qt.Key.Key_Tab)
    order = [buttons.unfold_button]
    while (control := order[-1].nextInFocusChain()) is not pane.figures.normalizer_box:
        assert control is not order[0]
        order.append(control)
    assert buttons.fix_button in order
    assert all(pane.isAncestorOf(control) for control in order)


@pytest.mark.slow
def test_a_misread_text_is_mended_by_an_edit_that_can_be_undone(studio: Studio) -> None:
    window = studio.window
    text = "uno\nEl niÃ±o y la niÃ±a.\ntres\n"
    studio.set_text(text)
    settle(studio)
    assert kinds(studio) == ["mojibake"]
    row(studio, "mojibake").fix_button.click()
    settle(studio)
    studio.wait(lambda: kinds(studio) == [])
    assert window.session.document.text == "uno\nEl niño y la niña.\ntres\n"
    tasks = window.corpus_pane.lint_controller.findChildren(Task)
    assert text not in [request[0] for task in tasks for request in (task.request, task.answered) if request]
    window.actions_.undo.trigger()
    assert window.session.document.text == text
    settle(studio)
    studio.wait(lambda: kinds(studio) == ["mojibake"])


@pytest.mark.slow
def test_a_text_in_one_line_is_wrapped_and_can_be_edited_then(studio: Studio) -> None:
    document = studio.window.session.document
    text = "Hug a pug. Pun a bun! " * 1000
    studio.set_text(text)
    settle(studio)
    assert document.is_kept
    row(studio, "long-line").fix_button.click()
    settle(studio)
    studio.wait(lambda: kinds(studio) == [])
    assert document.text.splitlines()[:2] == ["Hug a pug.", "Pun a bun!"]
    assert not document.is_kept
    document.undo_stack.undo()
    assert document.text == text


@pytest.mark.slow
def test_an_edit_in_the_meantime_is_not_lost(studio: Studio) -> None:
    window = studio.window
    studio.set_text("El niÃ±o\n")
    settle(studio)
    row(studio, "mojibake").fix_button.click()
    window.session.document.edit(0, 0, "x")
    studio.wait(lambda: not window.corpus_pane.lint_controller.is_under_way)
    settle(studio)
    assert window.session.document.text == "xEl niÃ±o\n"
    assert row(studio, "mojibake").fix_button.isEnabled()


@pytest.mark.slow
def test_warnings_about_another_text_go_at_once(studio: Studio) -> None:
    studio.set_text("El niÃ±o\n")
    settle(studio)
    assert kinds(studio) == ["mojibake"]
    studio.window.corpus_controller.load_sample("hug.txt")
    assert kinds(studio) == []


@pytest.mark.slow
def test_warnings_about_files_that_have_changed_go_until_these_are_counted_again(
    studio: Studio, tmp_path: Path
) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("El niÃ±o\n", encoding="utf-8")
    studio.open(*paths)
    studio.wait_opened()
    settle(studio)
    assert kinds(studio) == ["mojibake"]
    studio.wait(lambda: not studio.window.session.watch.is_pending)
    paths[0].write_text("otro niÃ±o\n", encoding="utf-8")
    studio.wait(lambda: bool(studio.window.notices.files.text), 20_000)
    settle(studio)
    assert kinds(studio) == []
    studio.window.notices.files.button.click()
    studio.wait(lambda: kinds(studio) == ["mojibake"], 20_000)


@pytest.mark.slow
def test_warnings_are_not_kept_of_files_that_are_known_to_have_changed(studio: Studio, tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("El niÃ±o\n", encoding="utf-8")
    studio.open(*paths)
    studio.wait_opened()
    settle(studio)
    pane = studio.window.corpus_pane
    pane.lint_controller.check_again()
    pane.lint_view.show_findings([finding()])  # those of the count before
    studio.window.session.document.files.mark([str(paths[0])], FileState.CHANGED)
    settle(studio)
    assert kinds(studio) == []


@pytest.mark.slow
def test_typing_does_not_wait_for_it(studio: Studio) -> None:
    """It begins a while after the last key only."""
    studio.set_text("El niño\n")
    controller = studio.window.corpus_pane.lint_controller
    settle(studio)
    studio.window.session.document.edit(0, 0, "a")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    assert controller.is_under_way
    assert not controller.task.is_running
    studio.window.session.document.edit(0, 0, "b")
    assert not controller.task.is_running
    settle(studio)
