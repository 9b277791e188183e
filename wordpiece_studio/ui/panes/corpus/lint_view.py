"""Problems with the corpus and the chosen pipeline: one warning each, with a fix button and examples to unfold.

The view only displays: the core's linter finds the problems, and the controller carries out the fixes.

The corpus is checked whenever its words have been counted, and fixed on request. A warning disappears because the
corpus was checked again, never because its button was pressed.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.corpus.linter.finding import LengthFix, PipelineFix, ReadingFix, TextFix
from wordpiece_studio.corpus.linter.linter import findings_in, repaired
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.ui.widgets.pane import fill, grid_in
from wordpiece_studio.ui.widgets.plain import WholeLabel, menu_text, set_plain_tooltip, tool_button
from wordpiece_studio.ui.widgets.theme import icon
from wordpiece_studio.ui.widgets.token_text import jamo_apart, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.corpus.linter.finding import Example, Finding
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.ui.panes.corpus.corpus_figures import CorpusFiguresView
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "LintView")

_ICON = QSize(16, 16)
_log = logging.getLogger(__name__)
LARGEST_IN_THREAD = 40_000  # in characters, and in distinct words; anything larger is checked in a child process
_DELAY_MS = 400
_LONG_DELAY_MS = 900


class LintRow(QFrame):
    """One finding: its title and button, with numbers and examples below them if its kind is among the `unfolded`."""

    def __init__(
        self, finding: Finding, unfolded: set[str], fix: Callable[[Finding], None], theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._unfolded = unfolded
        self._fix = fix
        self.setObjectName("banner")
        self.setProperty("kind", "warning" if finding.severity == "warning" else "info")
        self.finding = finding
        self._theme = theme
        self._icon_label = QLabel(self)
        self.title_label, self.detail_label = WholeLabel(self), WholeLabel(self)
        for label, text in ((self.title_label, title_words(finding)), (self.detail_label, detail_words(finding))):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)  # for the row's own hint
            label.show_text(text)
        self.detail_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fix_button = QPushButton(menu_text(_translated(finding.fix_name)), self)
        self.fix_button.setVisible(finding.fix is not None)
        self.unfold_button = tool_button("", self.tr("Details and examples"), self, is_switch=True)
        self.unfold_button.setChecked(finding.kind in unfolded)
        self._name_parts()
        self._lay_out()
        self.detail_label.setVisible(finding.kind in unfolded)
        self.fix_button.clicked.connect(self._ask_to_fix)
        self.unfold_button.toggled.connect(self._unfold)
        theme.dress(self._draw_icons)

    def _draw_icons(self) -> None:
        is_warning = self.finding.severity == "warning"
        sign = icon("warning" if is_warning else "info", self._theme.tie_text if is_warning else self._theme.muted)
        self._icon_label.setPixmap(sign.pixmap(_ICON))
        self.unfold_button.setIcon(icon("up" if self.unfold_button.isChecked() else "down", self._theme.muted))

    def _name_parts(self) -> None:
        title, details, fix = self.title_label.text(), self.detail_label.text(), self.fix_button.text()
        self._icon_label.setAccessibleName(self.tr("Warning"))
        self.fix_button.setAccessibleName(" · ".join((fix, title)))
        self.fix_button.setAccessibleDescription(details)
        set_plain_tooltip(self, f"{title}\n{details}")
        self.unfold_button.setAccessibleName(" · ".join((self.tr("Details and examples"), title)))

    def _lay_out(self) -> None:
        grid = grid_in(self, (8, 4, 4, 4), across=6, down=2)
        grid.addWidget(self._icon_label, 0, 0)
        grid.addWidget(self.title_label, 0, 1)
        grid.addWidget(self.unfold_button, 0, 2)
        grid.addWidget(self.fix_button, 1, 1, 1, 2, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self.detail_label, 2, 1, 1, 2)
        grid.setColumnStretch(1, 1)

    def _ask_to_fix(self) -> None:
        self.fix_button.setEnabled(False)  # until the corpus has been checked again
        self._fix(self.finding)

    def _unfold(self, is_unfolded: bool) -> None:
        (self._unfolded.add if is_unfolded else self._unfolded.discard)(self.finding.kind)
        self.detail_label.setVisible(is_unfolded)
        self._draw_icons()


class LintView(QWidget):
    """The first finding, and the others if they are asked for; hidden while there are none."""

    fix_requested = Signal(object)  # the user asks to fix a finding, a Finding

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.findings: tuple[Finding, ...] = ()
        self._unfolded: set[str] = set()
        self.rows: list[LintRow] = []  # one for each
        self._more_button = tool_button(self.tr("Show fewer"), "", self, self._show_rows, is_switch=True)
        self._layout = fill(QVBoxLayout(self), self._more_button, margins=(10, 4, 10, 4), spacing=4)
        self.setAccessibleName(self.tr("Warnings about the corpus"))
        self.hide()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        has_focus = any(row.isAncestorOf(focus) for row in self.rows) if (focus := self.focusWidget()) else False
        if tuple(findings) == self.findings:
            for row in self.rows:
                row.fix_button.setEnabled(True)
            return
        self.findings = tuple(findings)
        for row in self.rows:
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        fix = self.fix_requested.emit
        self.rows = [LintRow(finding, self._unfolded, fix, self._theme, self) for finding in self.findings]
        for place, row in enumerate(self.rows):
            self._layout.insertWidget(place, row)
        self._show_rows()
        if has_focus and self.rows:
            self.rows[0].fix_button.setFocus()

    def clear(self) -> None:
        self._more_button.setChecked(False)
        self.show_findings(())

    def _show_rows(self) -> None:
        number = len(self.rows) - 1
        shows_all = self._more_button.isChecked() or number == 0
        for place, row in enumerate(self.rows):
            row.setVisible(shows_all or place == 0)
        text = self.tr("Show fewer") if shows_all else self.tr("Show {number} more").format(number=number_text(number))
        self._more_button.setText(text)
        self._more_button.setVisible(number > 0)
        self.setVisible(bool(self.rows))


def title_words(finding: Finding) -> str:
    return _translated(finding.title_template).format(**_values(finding))


def detail_words(finding: Finding) -> str:
    values = _values(finding)
    sentences = [_translated(template).format(**values) for template in finding.detail_templates]
    if finding.is_sample:
        sentences.append(_tr("Only part of the corpus was checked for this."))
    return "\n".join([" ".join(sentences), *map(_example_words, finding.examples)])


def _example_words(example: Example) -> str:
    texts = (example.before, example.after) if example.after else (example.before,)
    words = " → ".join(jamo_apart(token_text(text, 60)) for text in texts)
    if example.line is None:
        return words
    return _tr("Line {line}: {example}").format(line=number_text(example.line), example=words)


def _values(finding: Finding) -> dict[str, int | str]:
    return {name: token_text(value, 24) if isinstance(value, str) else value for name, value in finding.values.items()}


def _translated(template: str) -> str:
    return QCoreApplication.translate("linter", template)


class LintController(QObject):
    """Checks the corpus, shows the findings in the view, and carries out their fixes."""

    def __init__(
        self, document: Document, counting: CorpusCounting, figures: CorpusFiguresView, view: LintView, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._counting = counting
        self._figures = figures
        self._view = view
        self.task = Task(
            findings_in, "The corpus cannot be checked", self,
            in_child=lambda text, files, counts, _: bool(files) or max(len(text), len(counts)) > LARGEST_IN_THREAD,
            on_answer=view.show_findings, on_error=view.clear,
        )  # fmt: skip
        self._repair = Task(
            repaired, "The text cannot be repaired", self,
            in_child=lambda text, _: len(text) > LARGEST_IN_THREAD,
            on_answer=self._on_repair_finished, on_error=self._on_repair_failed,
        )  # fmt: skip
        self._timer = single_shot(self, self._check)
        counting.counts_changed.connect(self._check_soon)
        document.reset.connect(view.clear)
        view.fix_requested.connect(self._fix)
        for task in (self.task, self._repair):
            task.failed.connect(lambda error: _log.info("the corpus could not be checked or repaired: %s", error))

    @property
    def is_under_way(self) -> bool:
        return self._timer.isActive() or self.task.is_running or self._repair.is_running

    def check_again(self) -> None:
        """Withdraw the findings, and check once more, as files have changed, are missing, or are there again."""
        self._view.clear()
        self._check_soon()

    def _check(self) -> None:
        counts = self._counting.counts
        if counts is None:
            return  # they will be known soon
        files = tuple(self._document.files.files) if self._document.is_files else ()
        states = {row.shown_state for row in self._document.files.rows} if files else set()
        if states & {FileState.OUTSIDE, FileState.CHANGED, FileState.FAULT}:
            self._view.clear()  # the banner above the corpus says that they are not read, or not what was counted
            return
        text = "" if files else self._document.text
        self.task.run(text, files, counts, self._counting.pipeline)

    def _check_soon(self) -> None:
        self._timer.stop()
        self.task.forget()  # its input is out of date
        counts = self._counting.counts
        if counts is not None:
            is_long = max(len(self._document.text), len(counts)) > LARGEST_IN_THREAD
            self._timer.start(_LONG_DELAY_MS if is_long else _DELAY_MS)

    def _fix(self, finding: Finding) -> None:
        match finding.fix:
            case PipelineFix(normalizer, pre_tokenizer):
                self._figures.choose(normalizer, pre_tokenizer)
            case TextFix() as fix:
                self._repair.run(self._document.text, fix)
            case LengthFix(length):
                self._counting.set_longest_word(length)
            case ReadingFix(path, encoding):
                files = self._document.files
                places = [place for place, file in enumerate(files.files) if file.path == path]
                files.read_as(places, encoding=encoding)

    def _on_repair_finished(self, better: str) -> None:
        text, _fix = self._repair.forget()
        if self._document.text != text:
            self._view.show_findings(self._view.findings)  # edited meanwhile: the button may be pressed again
        else:
            self._document.set_text(better)

    def _on_repair_failed(self) -> None:
        self._repair.forget()
        self._view.show_findings(self._view.findings)
