"""Commands as they are declared, and when they are asked whether they can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMainWindow

from wordpiece_studio.ui.actions import REASON, Actions, Menu, MenuChoice, command, tr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.ui.widgets.theme import Theme


class Owner(QObject):
    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.reason, self.is_on, self.name, self.files = "", False, "&Go", ["a", "b"]
        self.asked = 0
        self.done: list[object] = []

    def _why_not(self) -> str:
        self.asked += 1
        return self.reason

    @command(tr("&Save"), tr("Write it down"), "Ctrl+S F2", "save", unless=_why_not)
    def save(self) -> None:
        self.done.append("saved")

    @command(tr("Loud"), tr("On or off"), checked=lambda self: self.is_on, when=lambda self: bool(self.name))
    def loud(self) -> None:
        self.done.append("loud")

    @command(
        tr("&Go"), tr("Go on"), icon="pause", look=lambda self: (self.name, "play" if self.name == "&Stay" else "pause")
    )
    def go(self) -> None:
        self.done.append("gone")

    def _files(self) -> Iterator[MenuChoice]:
        return (MenuChoice(name, f"File {name}", f"/{name}") for name in self.files)

    @command(choices=_files, checked=lambda self, name: name == "b")
    def open(self, name: str) -> None:
        self.done.append(name)


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def actions(owner: Owner, theme: Theme, qtbot: QtBot) -> Actions:
    actions = Actions(theme, [Owner], owner)
    actions.bind(owner, owner.changed)
    return actions


def test_a_command_is_there_before_its_owner_and_does_nothing_yet(owner: Owner, theme: Theme) -> None:
    actions = Actions(theme, [Owner], owner)
    assert actions.save.text() == "&Save"
    actions.save.trigger()
    assert not owner.done
    with pytest.raises(AttributeError, match="there is no command sve"):
        _ = actions.sve


def test_a_declaration_says_all_about_a_command(owner: Owner, actions: Actions) -> None:
    save = actions.save
    assert [key.toString() for key in save.shortcuts()] == ["Ctrl+S", "F2"]
    assert save.statusTip() == "Write it down"
    assert "Write it down (Ctrl+S)" in save.toolTip()
    assert not save.isCheckable()
    save.trigger()
    assert owner.done == ["saved"]


def test_it_says_why_it_cannot_be_done(owner: Owner, actions: Actions) -> None:
    owner.reason = "Not on <Sundays>"
    owner.changed.emit(None)
    assert not actions.save.isEnabled()
    assert actions.save.property(REASON) == "Not on <Sundays>"
    assert "(Ctrl+S)\nNot on &lt;Sundays&gt;" in actions.save.toolTip()
    owner.reason = ""
    owner.changed.emit(None)
    assert actions.save.isEnabled()
    assert "Sundays" not in actions.save.toolTip()


def test_a_command_for_a_button_is_asked_once_for_many_changes(owner: Owner, actions: Actions, qtbot: QtBot) -> None:
    assert actions.save.isEnabled()
    before = owner.asked
    for _ in range(100):
        owner.changed.emit(None)
    assert owner.asked == before
    qtbot.waitUntil(lambda: owner.asked > before)
    qtbot.wait(100)
    assert owner.asked == before + 1


def test_a_command_that_only_a_menu_shows_is_asked_when_someone_looks(
    owner: Owner, actions: Actions, qtbot: QtBot
) -> None:
    before = owner.asked
    owner.changed.emit(None)
    qtbot.wait(100)
    assert owner.asked == before
    actions.catch_up()
    actions.catch_up()
    assert owner.asked == before + 1


def test_a_button_that_is_behind_does_nothing(owner: Owner, actions: Actions) -> None:
    save = actions.save
    owner.reason = "Too late"
    save.trigger()
    assert not owner.done
    assert not save.isEnabled()


def test_a_check_mark_shows_what_is(owner: Owner, actions: Actions) -> None:
    actions.loud.trigger()  # which does not put it on
    assert owner.done == ["loud"]
    assert not actions.loud.isChecked()
    owner.is_on, owner.name = True, ""
    actions.refresh()
    assert actions.loud.isChecked()
    assert not actions.loud.isEnabled()


def test_a_command_may_look_otherwise_or_not_be_shown(owner: Owner, actions: Actions) -> None:
    paused = actions.go.icon().pixmap(16).toImage()
    owner.name = "&Stay"
    actions.refresh()
    assert actions.go.text() == "&Stay"
    assert actions.go.icon().pixmap(16).toImage() != paused
    owner.name = ""
    actions.refresh()
    assert not actions.go.isVisible()


def test_choices_are_entries_and_are_made_anew_when_they_change(owner: Owner, actions: Actions) -> None:
    assert [action.text() for action in actions.choices("open")] == ["File a", "File b"]
    assert actions.choice("open", "b").isChecked()
    actions.choice("open", "a").trigger()
    assert owner.done == ["a"]
    assert actions.choice("open", "b").isChecked()


def test_a_menu_of_choices_shows_those_of_now(owner: Owner, theme: Theme, qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    actions = Actions(theme, [Owner], window)
    actions.bind(owner)
    actions.place(window, Menu("&File", ["save", Menu("&Recent", "open", shows_tips=True)], "go loud"))
    assert [(where, action.text()) for where, action in actions.placed()] == [
        ("File", "&Save"), ("File › Recent", "File a"), ("File › Recent", "File b"), ("File", "&Go"), ("File", "Loud"),
    ]  # fmt: skip
    owner.files = ["c"]
    actions.refresh_menus()
    assert [action.text() for action in actions.menu("open").actions()] == ["File c"]
    assert actions.menu("open").isEnabled()
    owner.files = []
    actions.refresh_menus()
    assert not actions.menu("open").isEnabled()
