"""The commands of the window, each declared once: on the method of a controller that does it.

Menus, buttons, the palette, the list of keys and the tips are made from the declarations. What can be done now is asked
a moment after something changed that a controller follows: at once of the commands that someone has taken for a button,
of all others when a menu is opened or a key is pressed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Qt, SignalInstance
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QAbstractScrollArea, QMainWindow, QMenu, QWidget

from wordpiece_studio.session.task import single_shot
from wordpiece_studio.ui.widgets.plain import add_heading, explain, key_text, plain_title, set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wordpiece_studio.ui.widgets.theme import Theme, ThemedIcon

MethodT = TypeVar("MethodT", bound="Callable[..., None]")
Keys = str | QKeySequence.StandardKey

REASON = "reason"  # the property of a `QAction` that says why it cannot be done now
_LEAST_MS = 50  # between two times that commands are asked; a training changes something every frame


def tr(text: str) -> str:
    """Mark a text of a declaration for translation, in the context of the class around it."""
    return text


@dataclass(frozen=True, slots=True)
class MenuChoice:
    value: Any
    text: str
    tip: str = ""
    keys: str = ""
    group: str = ""  # the heading above it and those after it


@dataclass(frozen=True, slots=True)
class command:
    """Declares that a method does a command, which has the name of the method.

    Functions get the owner of the method, and the value if there are choices, as the method does.
    """

    text: str = ""
    tip: str = ""
    keys: Keys | tuple[Keys, ...] = ""  # several stand between spaces or in a tuple
    icon: str = ""
    when: Callable[..., bool] | None = None
    unless: Callable[..., str] | None = None  # why it cannot be done, empty if it can
    checked: Callable[..., bool] | None = None
    look: Callable[..., tuple[str, str]] | None = None  # text and icon now; not shown without a text
    choices: Callable[[Any], Iterable[MenuChoice]] | None = None  # each an entry of the menu, in place of the command
    button: str = ""  # a shorter text
    key_of_fields: QKeySequence.StandardKey | None = None  # the menu shows it, but must not take it from them
    is_primary: bool = False  # on a button in the accent color
    role: QAction.MenuRole | None = None  # the place that a system may have for it

    def __call__(self, method: MethodT) -> MethodT:
        vars(method)["declared"] = self
        return method


class Menu:
    """A menu to be made: groups with a line between them, of names of commands, other actions and further menus.

    A word with a colon is the entry of the help that explains what follows, also in the groups below.
    """

    def __init__(self, title: str, *groups: str | list[str | QAction | Menu], shows_tips: bool = False) -> None:
        self.title = title
        self.groups = [group if isinstance(group, list) else [group] for group in groups]
        self.only_name = groups[0] if len(groups) == 1 and isinstance(groups[0], str) else ""
        self.shows_tips = shows_tips


@dataclass(slots=True, eq=False)
class _Entry:
    declared: command
    action: QAction
    tip: str
    icon: ThemedIcon | None
    arguments: tuple[Any, ...] = ()  # once it is bound: the owner, and the value if there are choices
    reason: str = ""


@dataclass(slots=True, eq=False)
class _Command:
    declared: command
    entries: list[_Entry]
    owner: object = None  # once it is there
    do: Callable[..., None] | None = None
    choices: tuple[MenuChoice, ...] = ()
    menu: QMenu | None = None  # if its choices have one of their own
    is_taken: bool = False  # and may be a button

    @property
    def actions(self) -> list[QAction]:
        return [entry.action for entry in self.entries]

    def fill_menu(self) -> None:
        if self.menu is not None:
            self.menu.clear()
            group = ""
            for choice, action in zip(self.choices, self.actions, strict=False):  # there are none before it is bound
                if choice.group != group:
                    add_heading(self.menu, group := choice.group)
                self.menu.addAction(action)
            self.menu.setEnabled(bool(self.entries))


class Actions(QObject):
    """The commands as attributes, by their names.

    The commands of `owners` are there at once, for buttons; they do something as soon as their owner is bound.
    """

    def __init__(self, theme: Theme, owners: Iterable[type], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._commands: dict[str, _Command] = {}
        self._names: dict[type, list[str]] = {}
        self._asked_at = 0.0
        self._is_behind = False  # those that are not taken are to be asked
        self._bar: Sequence[QAction] = ()
        self._timer = single_shot(self, self.refresh)
        for owner in owners:
            self._declare(owner)

    def __getattr__(self, name: str) -> QAction:
        made = self._commands.get(name)
        if made is None:
            raise AttributeError(f"there is no command {name}")
        made.is_taken = True
        if self._is_behind:
            self._ask_all([made])
        return made.actions[0]

    def choices(self, name: str) -> list[QAction]:
        self.catch_up()
        return self._commands[name].actions

    def choice(self, name: str, value: object) -> QAction:
        return next(action for action in self.choices(name) if action.data() == value)

    def all(self) -> list[QAction]:
        return [action for made in self._commands.values() for action in made.actions]

    # -- making them

    def _declare(self, owner: type) -> None:
        names = self._names[owner] = []
        translated = partial(QCoreApplication.translate, owner.__name__)
        for name, method in vars(owner).items():
            declared = getattr(method, "declared", None)
            if isinstance(declared, command):
                names.append(name)
                self._commands[name] = made = _Command(declared, [])
                if declared.choices is None:
                    tip = translated(declared.tip)
                    made.entries.append(self._entry(declared, translated(declared.text), tip, declared.keys))
                if declared.button:
                    made.actions[0].setIconText(translated(declared.button))

    def _entry(self, declared: command, text: str, tip: str, keys: Keys | tuple[Keys, ...]) -> _Entry:
        action = QAction(text, self)
        several = keys if isinstance(keys, tuple) else (keys,)
        action.setShortcuts(
            [QKeySequence(key) for some in several for key in (some.split() if isinstance(some, str) else (some,))]
        )
        if tip:
            action.setStatusTip(tip)
            shown_key = key_text(action.shortcut())
            tip = f"{tip} ({shown_key})" if shown_key else tip
            set_plain_tooltip(action, tip)
        if declared.key_of_fields is not None:
            action.setText(f"{text}\t{key_text(declared.key_of_fields)}")
        action.setCheckable(declared.checked is not None)
        if declared.is_primary:
            action.setIconVisibleInMenu(False)  # it is drawn for the button's background
        if declared.role is not None:
            action.setMenuRole(declared.role)
        color = "accent_text" if declared.is_primary else "text"
        icon = self._theme.set_icon(action, declared.icon, color, "faint") if declared.icon else None
        return _Entry(declared, action, tip, icon)

    # -- the owners

    def bind(self, owner: QObject, *follows: SignalInstance) -> None:
        """Let `owner` do the commands that it declares, and ask all commands again after any of these signals."""
        for name in next(self._names[each] for each in type(owner).__mro__ if each in self._names):
            made = self._commands[name]
            made.owner, made.do = owner, getattr(owner, name)
            for entry in made.entries:
                self._begin(made, entry)
            self._renew_choices(made)
        for signal in follows:
            signal.connect(self.refresh_soon)

    def _renew_choices(self, made: _Command) -> None:
        choices = () if made.declared.choices is None else tuple(made.declared.choices(made.owner))
        if choices == made.choices:
            return
        for action in made.actions:
            action.deleteLater()
        group = QActionGroup(self) if made.declared.checked is not None else None
        made.choices, made.entries = choices, []
        for choice in choices:
            entry = self._entry(made.declared, choice.text, choice.tip, choice.keys)
            entry.action.setData(choice.value)
            if group is not None:
                group.addAction(entry.action)
            made.entries.append(entry)
            self._begin(made, entry, choice.value)
        made.fill_menu()

    def _begin(self, made: _Command, entry: _Entry, *values: object) -> None:
        entry.arguments = (made.owner, *values)
        entry.action.triggered.connect(partial(self._do, made, entry))
        self._ask(entry)

    def _do(self, made: _Command, entry: _Entry, _is_checked: bool = False) -> None:
        is_possible, _ = _possible(entry)  # the button may be a moment behind
        if is_possible and made.do is not None:
            made.do(*entry.arguments[1:])
        self.refresh()

    # -- what can be done now

    def refresh_soon(self) -> None:
        """Ask whether the commands can be done, when everything else has been told what has changed."""
        self._is_behind = True
        if not self._timer.isActive():
            since_ms = round(1000 * (time.monotonic() - self._asked_at))
            self._timer.start(max(0, _LEAST_MS - since_ms))

    def catch_up(self) -> None:
        if self._is_behind:
            self._timer.stop()
            self._is_behind = False
            self._ask_all(self._commands.values())

    def refresh(self) -> None:
        self._timer.stop()
        self._is_behind = True
        self._ask_all(made for made in self._commands.values() if made.is_taken)
        self._asked_at = time.monotonic()

    def _ask_all(self, commands: Iterable[_Command]) -> None:
        for made in commands:
            if made.owner is not None:
                for entry in made.entries:
                    self._ask(entry)

    def _ask(self, entry: _Entry) -> None:
        declared, action, arguments = entry.declared, entry.action, entry.arguments
        if declared.look is not None:
            text, icon_name = declared.look(*arguments)
            action.setVisible(bool(text))
            if text:
                action.setText(text)
            if entry.icon is not None:
                entry.icon.show(icon_name)
        if declared.checked is not None:
            action.setChecked(declared.checked(*arguments))
        is_possible, reason = _possible(entry)
        action.setEnabled(is_possible)
        if reason != entry.reason:
            entry.reason = reason
            action.setProperty(REASON, reason)
            set_plain_tooltip(action, f"{entry.tip}\n{reason}" if reason else entry.tip)

    # -- the menus

    def place(self, window: QMainWindow, *menus: Menu) -> None:
        bar = window.menuBar()
        for wanted in menus:
            menu = bar.addMenu(wanted.title)
            self._fill(menu, wanted, "window")
            menu.aboutToShow.connect(self.refresh_menus)
        self._bar = bar.actions()
        window.addActions(self.all())

    def _fill(self, menu: QMenu, wanted: Menu, entry: str) -> None:
        menu.setToolTipsVisible(wanted.shows_tips)
        explain(entry, menu, menu.menuAction())
        if (only := self._commands.get(wanted.only_name)) is not None:
            only.menu = menu
            only.fill_menu()
            return
        for number, group in enumerate(wanted.groups):
            if number:
                menu.addSeparator()
            for part in group:
                if isinstance(part, Menu):
                    self._fill(menu.addMenu(part.title), part, entry)
                elif isinstance(part, QAction):
                    menu.addAction(part)
                else:
                    for name in part.split():
                        if name.endswith(":"):
                            entry = name[:-1]
                            continue
                        menu.addActions(self._commands[name].actions)
                        if entry:
                            explain(entry, *self._commands[name].actions)

    def give_menu(self, part: QWidget, *groups: str) -> None:
        menu = QMenu(part)
        self._fill(menu, Menu("", *groups), "")
        menu.aboutToShow.connect(self.refresh_menus)
        ground = part.viewport() if isinstance(part, QAbstractScrollArea) else part
        part.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        part.customContextMenuRequested.connect(lambda place: menu.popup(ground.mapToGlobal(place)))

    def menu(self, name: str) -> QMenu:
        menu = self._commands[name].menu
        assert menu is not None
        return menu

    def refresh_menus(self) -> None:
        """Bring up to date what the menus show; some of it changes without a signal."""
        for made in self._commands.values():
            if made.menu is not None:
                self._renew_choices(made)
        self._is_behind = True
        self.catch_up()

    def placed(self) -> list[tuple[str, QAction]]:
        return [each for action in self._bar for each in _placed(action, "")]


def _possible(entry: _Entry) -> tuple[bool, str]:
    """Return whether a command can be done now, and what there is to say about it if not."""
    declared, arguments = entry.declared, entry.arguments
    reason = declared.unless(*arguments) if declared.unless is not None else ""
    return not reason and (declared.when is None or declared.when(*arguments)), reason


def _placed(action: QAction, path: str) -> Iterator[tuple[str, QAction]]:
    menu = action.menu()
    if isinstance(menu, QMenu):
        inner = f"{path} › {plain_title(action.text())}" if path else plain_title(action.text())
        for each in menu.actions():
            yield from _placed(each, inner)
    elif not action.isSeparator() and action.text():  # not a heading
        yield path, action
