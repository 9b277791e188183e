"""The commands that change how the window looks."""

from __future__ import annotations

from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from wordpiece_studio.ui.actions.action_maker import ActionMaker


class ViewActions(ActionMaker):
    """The commands about theme, size of text and layout, as attributes."""

    def _make_view_actions(self) -> None:
        self.themes = QActionGroup(self)
        self.theme_system = self._theme_action(self.tr("Like the &system"), "system")
        self.theme_light = self._theme_action(self.tr("&Light"), "light")
        self.theme_dark = self._theme_action(self.tr("&Dark"), "dark")
        self.theme_contrast = self._theme_action(self.tr("&High contrast"), "contrast")
        standard = QKeySequence.StandardKey
        self.larger_text = self._action(
            self.tr("La&rger text"),
            (standard.ZoomIn, "Ctrl+="),
            self.tr("Zoom in: a larger font, for the last row of the room"),
        )
        self.smaller_text = self._action(
            self.tr("S&maller text"), (standard.ZoomOut,), self.tr("Zoom out: a smaller font")
        )
        self.normal_text = self._action(self.tr("&Normal text"), ("Ctrl+0",), self.tr("The system's size of text"))
        self.larger_pane = self._action(
            self.tr("Larger text in this &pane"),
            ("Ctrl+Alt+=", "Ctrl+Alt++"),
            self.tr("Zoom in only the pane that has the keyboard"),
        )
        self.smaller_pane = self._action(
            self.tr("Smaller te&xt in this pane"),
            ("Ctrl+Alt+-",),
            self.tr("Zoom out only the pane that has the keyboard"),
        )
        self.normal_pane = self._action(
            self.tr("Normal text in &all panes"), ("Ctrl+Alt+0",), self.tr("All panes with the window's size of text")
        )

    def _make_layout_actions(self) -> None:
        self.layouts = QActionGroup(self)
        self.layout_teach = self._layout_action(
            self.tr("&Teach"), "teach", "Ctrl+1", self.tr("Layout to teach: corpus, scoreboard, history and tokens")
        )
        self.layout_engineer = self._layout_action(
            self.tr("&Engineer"), "engineer", "Ctrl+2", self.tr("Layout to work: history, vocabulary and charts")
        )
        self.layout_demo = self._layout_action(
            self.tr("De&mo"),
            "demo",
            "Ctrl+3",
            self.tr("Layout to show: full screen, large type; formula, tokens, timeline"),
        )
        self.reset_layout = self._action(
            self.tr("&Reset layout"), (), self.tr("All panes of this layout where they were at first")
        )
        self.full_screen = self._action(self.tr("F&ull screen"), ("F11",), self.tr("The whole screen, and back"))
        self.full_screen.setCheckable(True)
        self.command_palette = self._action(
            self.tr("Find or &do anything…"), ("Ctrl+K", "Ctrl+Shift+P"), self.tr("Type the name of any command")
        )

    def _theme_action(self, text: str, choice: str) -> QAction:
        action = self._action(text, (), "")
        action.setCheckable(True)
        action.setData(choice)
        self.themes.addAction(action)
        return action

    def _layout_action(self, text: str, layout: str, key: str, tip: str) -> QAction:
        action = self._action(text, (key,), tip)
        action.setCheckable(True)
        action.setData(layout)
        self.layouts.addAction(action)
        return action
