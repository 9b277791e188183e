"""The commands that move in time, mark steps, and say what is looked at."""

from __future__ import annotations

from wordpiece_studio.ui.actions.action_maker import ActionMaker


class StepActions(ActionMaker):
    """The commands about the step and the focus, as attributes."""

    def _make_step_actions(self) -> None:
        # Left and Right belong to the text in a text field; the others work everywhere.
        self.next_merge = self._action(
            self.tr("&Next merge"), ("Alt+Right", "Right", "F10"),
            self.tr("One merge on; at the last one, learn one more"), "next",
        )  # fmt: skip
        self.previous_merge = self._action(
            self.tr("Pre&vious merge"), ("Alt+Left", "Left", "Shift+F10"), self.tr("One merge back"), "previous"
        )
        self.first_merge = self._action(
            self.tr("To the b&eginning"), ("Alt+Home", "Home"), self.tr("Before the first merge"), "first"
        )
        self.last_merge = self._action(
            self.tr("To the &last merge"), ("Alt+End", "End"), self.tr("After the last merge learned"), "last"
        )
        self.play = self._action(
            self.tr("Pl&ay the merges"), ("F8",), self.tr("Show the merges one after the other"), "play"
        )
        self.play.setCheckable(True)
        self.ten_on = self._action(
            self.tr("Ten merges &on"), ("Alt+PgDown", "Shift+Right"), self.tr("Ten merges on"), "ten_on"
        )
        self.ten_back = self._action(
            self.tr("&Ten merges back"), ("Alt+PgUp", "Shift+Left"), self.tr("Ten merges back"), "ten_back"
        )
        self.next_change = self._action(
            self.tr("Next &change of the text"), ("F9", "Ctrl+Right"),
            self.tr("To the next step that changes how the live text is tokenized"), "next_change",
        )  # fmt: skip
        self.previous_change = self._action(
            self.tr("Previous change of the te&xt"), ("Shift+F9", "Ctrl+Left"),
            self.tr("To the step before that changed how the live text is tokenized"), "previous_change",
        )  # fmt: skip
        self.go_to_step = self._action(self.tr("&Go to step…"), ("Ctrl+G",), self.tr("Type the number of a step"))

    def _make_mark_actions(self) -> None:
        self.breakpoints = self._action(
            self.tr("&Breakpoints…"), ("Ctrl+B",), self.tr("Choose where playing and running halt"), "breakpoint"
        )
        self.run_to_breakpoint = self._action(
            self.tr("&Run to the next breakpoint"), ("Ctrl+F8",),
            self.tr("On to the next step that a breakpoint is at; trains if it must"), "run",
        )  # fmt: skip
        self.run_back = self._action(
            self.tr("Run bac&k to a breakpoint"), ("Ctrl+Shift+F8",),
            self.tr("Back to the step before that a breakpoint is at"), "run_back",
        )  # fmt: skip
        self.set_marker_a = self._action(
            self.tr("Set marker &A"), ("Alt+A", "["), self.tr("Mark this step as A; again takes it away"), "marker_a"
        )
        self.set_marker_b = self._action(
            self.tr("Set marker &B"), ("Alt+B", "]"), self.tr("Mark this step as B; again takes it away"), "marker_b"
        )
        self.go_to_marker_a = self._action(
            self.tr("Go to marker A"), ("Alt+Shift+A",), self.tr("Back to the step marked A")
        )
        self.go_to_marker_b = self._action(
            self.tr("Go to marker B"), ("Alt+Shift+B",), self.tr("Back to the step marked B")
        )
        self.keep_step = self._action(
            self.tr("Boo&kmark this step…"),
            ("Ctrl+D",),
            self.tr("Bookmark this step, with a line of text"),
            "keep",
        )
        self.bookmarks = self._action(
            self.tr("B&ookmarks…"), ("Ctrl+Shift+D",), self.tr("The steps kept, each with a note"), "bookmarks"
        )

    def _make_focus_actions(self) -> None:
        self.go_to_birth = self._action(
            self.tr("To the birt&h of the token"), ("Ctrl+Shift+B",),
            self.tr("To the step that made the token that is looked at"),
        )  # fmt: skip
        self.clear_focus = self._action(
            self.tr("Look at noth&ing"), ("Esc",), self.tr("Take away the mark of what is looked at, in all panes")
        )
        self.find_token = self._action(self.tr("Find a to&ken…"), ("Ctrl+Shift+F",), self.tr("Search the vocabulary"))
        self.show_step_row = self._action(
            self.tr("Sho&w this step in the history"), ("Ctrl+J",), self.tr("Bring the row of this step into view")
        )
        self.export_history = self._action(
            self.tr("&Export merge history…"), ("Ctrl+E",), self.tr("Save the merges as csv, jsonl or parquet")
        )
        self.save_chart = self._action(
            self.tr("Save c&hart…"), (), self.tr("Save the chart that is shown as a picture, PNG or SVG")
        )
