"""The window that checks a tokenizer: of a run, on its words; or of a file, on the words of the current run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialogButtonBox, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from wordpiece_studio.session.measuring import checked
from wordpiece_studio.session.plural import filled
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.tokenizer_figures import tokenizer_of
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.widgets.fields import ScreenDialog, combo_box
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import BuddyLabel, WholeLabel, plain_label, push_button, shown
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.token_text import run_names, token_text

if TYPE_CHECKING:
    from wordpiece_studio.evaluation.check import TokenizerCheck
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "CheckWindow")
_LONGEST_NAME = 60
_INKS = {"pass": "success", "warning": "tie_text", "fail": "error", "skipped": "muted"}


def _titled(name: str) -> str:
    return _tr(name[:1].upper() + name[1:])


def _reason(row: TokenizerCheck) -> str:
    reason = _tr(row.reason_template).format(**row.values)
    is_about_them = bool(row.examples) and row.status in ("warning", "fail")
    return "\n".join([reason, "  ".join(map(token_text, row.examples))] if is_about_them else [reason])


class CheckWindow(ScreenDialog):
    """Checks what is chosen, at once; stays open beside the work until it is closed."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Check a tokenizer"), parent, entry="check")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._session = session
        self._path = ""
        self.task = Task(
            checked, "The tokenizer cannot be checked", self, in_child=True,
            on_answer=lambda report: self.rows.set_records(report.checks),
        )  # fmt: skip
        self.tokenizer = combo_box(self, self.tr("Tokenizer"))
        self.tokenizer.setPlaceholderText(self.tr("Choose a run or a file"))
        open_file = push_button(self, self.tr("&Open…"), self._ask_for_file)
        hint = self.tr("A run is checked on the words that it was trained on, a file on those of the current run.")
        columns = (
            TableColumn(self.tr("Result"), each_row(lambda row: _titled(row.status)), align=LEFT, width="Warning",
                        ink=each_row(lambda row: _INKS[row.status])),
            TableColumn(self.tr("Check"), each_row(lambda row: _titled(row.name)), align=LEFT,
                        width="Reachable tokens"),
            TableColumn(self.tr("Reason"), each_row(_reason), align=LEFT, stretch=1, width="m" * 20),
            TableColumn(self.tr("What to do"), each_row(lambda row: _tr(row.advice_template).format(**row.values)),
                        align=LEFT, stretch=1, width="m" * 14),
        )  # fmt: skip
        self.rows: RecordTableModel[TokenizerCheck] = RecordTableModel(columns, self)
        table = TableView(self.rows, theme, self, name=self.tr("Checks"), wraps=True, several=True)
        self.error = WholeLabel(self, role="error")
        self.progress = QProgressBar(self, textVisible=False)
        self.progress.setAccessibleName(self.tr("Progress"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.close)
        choice = fill(
            QHBoxLayout(), BuddyLabel(self.tr("&Tokenizer"), self.tokenizer, self), (self.tokenizer, 1), open_file,
            spacing=8,
        )  # fmt: skip
        parts = choice, plain_label(hint, self, role="hint", wrap=True), (table, 1), self.error, self.progress, buttons
        fill(QVBoxLayout(self), *parts, margins=(16, 10, 16, 12), spacing=8)
        self.task.changed.connect(self._show_state)
        self.tokenizer.activated.connect(self._check)
        session.runs.changed.connect(self._fill)
        self.size_to(130, 36)
        self._check_this(session.runs.current)

    def _fill(self) -> None:
        chosen = self.tokenizer.currentData()
        self.tokenizer.clear()
        for run, name in run_names(self._session.runs.all).items():
            title = filled(self.tr("Run {letter}: {name}"), letter=run.letter, name=name)
            self.tokenizer.addItem(shown(title, _LONGEST_NAME), run)
        if self._path:
            name = display_name("/".join(Path(self._path).parts[-2:]))
            self.tokenizer.addItem(shown(name, _LONGEST_NAME), self._path)
        self.tokenizer.setCurrentIndex(self.tokenizer.findData(chosen))

    def _ask_for_file(self) -> None:
        title = self.tr("Choose a tokenizer.json, vocab.txt, vocab.json or SentencePiece .model")
        ask_for_place(self, title, "files", lambda paths: self.open_file(paths[0]))

    def open_file(self, path: str) -> None:
        """Check the tokenizer in a file, with those beside it."""
        self._path = path
        self._check_this(path)

    def _check_this(self, source: Run | str | None) -> None:
        self._fill()
        self.tokenizer.setCurrentIndex(self.tokenizer.findData(source))
        self._check()

    def _check(self) -> None:
        source, counts = self.tokenizer.currentData(), self._session.model.counts
        self.rows.set_records(())
        if isinstance(source, str):
            self.task.run(source, counts or ())
        elif source is not None:
            self.task.run(tokenizer_of(source, len(source.history)), source.counts)

    def _show_state(self) -> None:
        self.error.show_text(str(self.task.error or ""))
        self.progress.setVisible(self.task.is_running)
        _, done, total = self.task.progress or ("", 0, 0)
        self.progress.setRange(0, total)
        self.progress.setValue(done)

    def done(self, result: int) -> None:
        self.task.close()
        super().done(result)
