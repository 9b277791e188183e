"""The window that extends or prunes a vocabulary in three steps: vocabulary and texts, tokens, export.

What is chosen and found is in `session/adaptation.py`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QHBoxLayout,
    QMessageBox,
    QProgressBar,
    QRadioButton,
    QSpinBox,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.evaluation.extension import Extension, Pruning
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.storage import adapted_vocabulary as files
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.adapt_tokens import TokensPage
from wordpiece_studio.ui.dialogs.export_dialog import file_purpose, folder_for
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.messages import ask, question_box
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, FileDrops, ScreenDialog, combo_box, line_field
from wordpiece_studio.ui.widgets.pane import fill, grid_in
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    FittingLabel,
    WholeLabel,
    plain_label,
    push_button,
    set_look,
    shown,
)
from wordpiece_studio.ui.widgets.token_text import run_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.session.adaptation import Adaptation
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.widgets.theme import Theme

_MOST = 100_000
_LONGEST_NAME = 60
_MOST_NAMES = 6
_TEXTS, _TOKENS, _EXPORT = range(3)


class _TextsPage(QWidget):
    changed = Signal()

    def __init__(self, adaptation: Adaptation, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._adaptation, self._session = adaptation, session
        self._folder = ""
        self._files: dict[str, tuple[str, ...]] = {"domain": (), "general": ()}
        is_extending = adaptation.kind == "extend"
        self.vocabulary = combo_box(self, self.tr("Vocabulary"))
        self.vocabulary.setPlaceholderText(self.tr("Choose a run or a folder"))
        self._titles = {"domain": self.tr("Text of the domain"), "general": self.tr("General text")}
        self.domain, self.general = (combo_box(self, title) for title in self._titles.values())
        self.domain.setPlaceholderText(self.tr("Add files"))
        self.choose_folder = push_button(self, self.tr("Choose a &folder…"), self._ask_for_folder)
        self.add_files = push_button(self, self.tr("&Add files…"), partial(self._ask_for_files, "domain"))
        self.choose_file = push_button(self, self.tr("Choose &general files…"), partial(self._ask_for_files, "general"))
        self.number = QSpinBox(self, minimum=1, maximum=_MOST, value=500 if is_extending else 1)
        self.number.setGroupSeparatorShown(True)
        self.number.setSuffix(self.tr(" tokens") if is_extending else "")
        said = self.tr("Add at &most") if is_extending else self.tr("Remove tokens used fewer ti&mes than")
        self.number.setAccessibleName(said.replace("&", ""))
        self.append = QRadioButton(self.tr("At the &end of the vocabulary; every ID stays the same"), self)
        self.append.setChecked(True)
        self.replace = QRadioButton(self)
        for button in (self.append, self.replace):
            button.setVisible(is_extending)
        self.note = WholeLabel(self, role="hint")
        grid = grid_in(None, (0, 0, 0, 0), across=12, down=10)
        grid.setColumnStretch(1, 1)
        rows = (
            (self.tr("&Vocabulary"), self.vocabulary, self.choose_folder),
            (self.tr("Text of the &domain"), self.domain, self.add_files),
            (self.tr("General te&xt"), self.general, self.choose_file),
            (said, self.number, QWidget(self)),
        )
        for row, (caption, field, beside) in enumerate(rows):
            for column, part in enumerate((BuddyLabel(caption, field, self), field, beside)):
                grid.addWidget(part, row, column)
        hint = (
            self.tr("Finds the tokens that the vocabulary lacks for a text, and what they gain on a part of it that is "
                    "held out, before anything is written.")
            if is_extending else
            self.tr("Finds the tokens that a text does not use, and what removing them changes. Special tokens and "
                    "single characters stay. With longest match no token needs another one, so the others are still "
                    "found.")
        )  # fmt: skip
        parts = plain_label(hint, self, role="hint", wrap=True), grid, self.append, self.replace, self.note, 1
        fill(QVBoxLayout(self), *parts, margins=(4, 10, 4, 4), spacing=10)
        self._fill_vocabularies()
        self._fill_texts()
        session.runs.changed.connect(self._fill_vocabularies)
        session.corpus_taken.connect(self._fill_texts)
        self.vocabulary.activated.connect(lambda: adaptation.take(self.vocabulary.currentData()))
        for box in (self.domain, self.general):
            box.activated.connect(self.changed)
        self.number.valueChanged.connect(self.changed)
        self.replace.toggled.connect(self.changed)

    def _fill_vocabularies(self) -> None:
        chosen = self.vocabulary.currentData()
        self.vocabulary.clear()
        for run, name in run_names(self._session.runs.all).items():
            title = filled(self.tr("Run {letter}: {name}"), letter=run.letter, name=name)
            self.vocabulary.addItem(shown(title, _LONGEST_NAME), run)
        if self._folder:
            self.vocabulary.addItem(shown(display_name(self._folder), 2 * _LONGEST_NAME), self._folder)
        self.vocabulary.setCurrentIndex(self.vocabulary.findData(chosen))

    def _fill_texts(self) -> None:
        domain, general = self.domain.currentData(), self.general.currentData()
        vocabulary = self._adaptation.vocabulary
        self.domain.clear()
        if self._adaptation.present_corpus is not None:
            name = shown(self._session.corpus_name, _LONGEST_NAME)
            self.domain.addItem(filled(self.tr("Present corpus: {name}"), name=name), "corpus")
        self.general.clear()
        if vocabulary is not None and vocabulary.training is not None:
            self.general.addItem(self.tr("A tenth of the training text"), "training")
        for box, which in ((self.domain, "domain"), (self.general, "general")):
            if paths := self._files[which]:
                names = ", ".join(display_name(Path(path).name) for path in paths)
                box.addItem(shown(filled(self.tr("Files: {names}"), names=names), _LONGEST_NAME), "files")
        self.general.addItem(self.tr("None"), "none")
        self.domain.setCurrentIndex(max(self.domain.findData(domain), min(self.domain.count(), 1) - 1))
        self.general.setCurrentIndex(max(self.general.findData(general), 0))

    def show_vocabulary(self) -> None:
        vocabulary = self._adaptation.vocabulary
        self.general.setCurrentIndex(-1)  # what is best for this one
        self._fill_texts()
        unused = 0 if vocabulary is None else vocabulary.unused
        self.replace.setText(
            counted(unused, "&In place of [unused0] (1 available)",
                    "&In place of [unused0], [unused1] and so on ({count} available)")
        )  # fmt: skip
        self.replace.setEnabled(unused > 0)
        if not unused:
            self.append.setChecked(True)

    @property
    def domain_text(self) -> files.TextToAdapt | None:
        chosen = self.domain.currentData()
        return files.TextToAdapt(self._files["domain"]) if chosen == "files" else self._adaptation.present_corpus

    @property
    def general_text(self) -> files.TextToAdapt | None:
        chosen, vocabulary = self.general.currentData(), self._adaptation.vocabulary
        if chosen == "training" and vocabulary is not None:
            return vocabulary.training
        return files.TextToAdapt(self._files["general"]) if chosen == "files" else None

    def show_note(self) -> None:
        vocabulary, is_unknown = self._adaptation.vocabulary, self.general.currentData() == "none"
        self.number.setMaximum(vocabulary.unused if vocabulary is not None and self.replace.isChecked() else _MOST)
        said = ""
        if is_unknown:
            said = self.tr("The effect on general text is unknown. Choose a text to see it.")
        elif self._adaptation.is_of_same_text(self.domain_text):
            said = self.tr("The vocabulary was trained on this text, so no part of it is really held out: the effect "
                           "on other text may differ.")  # fmt: skip
        self.note.show_text(said)

    def take_folder(self, folder: str) -> None:
        self._folder = folder
        self._fill_vocabularies()
        self.take(folder)

    def take(self, source: Run | str) -> None:
        self.vocabulary.setCurrentIndex(self.vocabulary.findData(source))
        self._adaptation.take(source)

    def take_files(self, which: str, paths: Iterable[str]) -> None:
        self._files[which] = tuple(paths)
        self._fill_texts()
        box: QComboBox = getattr(self, which)
        box.setCurrentIndex(box.findData("files"))
        self.changed.emit()

    def _ask_for_folder(self) -> None:
        title = self.tr("Choose the folder of a vocabulary")
        ask_for_place(self.window(), title, "folder", lambda paths: self.take_folder(paths[0]))

    def _ask_for_files(self, which: str) -> None:
        ask_for_place(self.window(), self._titles[which], "files", partial(self.take_files, which))


class _PlacePage(QWidget):
    def __init__(self, adaptation: Adaptation, parent: QWidget) -> None:
        super().__init__(parent)
        self._adaptation = adaptation
        self.place = line_field(self, most=LONGEST_LIST, name=self.tr("Location"))
        browse = push_button(self, self.tr("C&hoose…"), self._ask_for_folder)
        caption = BuddyLabel(self.tr("L&ocation"), self.place, self, role="heading")
        location = fill(QHBoxLayout(), caption, (self.place, 1), browse, spacing=8)
        purposes = {
            files.NEW_TOKENS_FILE: self.tr("The IDs of the tokens that spell each new one"),
            files.RESIZE_FILE: self.tr("A script that adds the rows of the new tokens to a model"),
            files.ID_MAP_FILE: self.tr("The old and the new ID of each token that stays"),
            files.PRUNE_FILE: self.tr("A script that removes the rows of the other tokens from a model"),
        }
        grid = grid_in(None, (0, 0, 0, 0), across=14, down=6)
        grid.setColumnStretch(1, 1)
        for row, name in enumerate(files.adapted_names(adaptation.kind)):
            grid.addWidget(plain_label(name, self), row, 0)
            grid.addWidget(plain_label(purposes.get(name) or file_purpose(name), self, role="hint", wrap=True), row, 1)
        self.opens = QCheckBox(self.tr("Open as a &run next to the original, and compare them"), self)
        self.opens.setChecked(True)
        self.said = WholeLabel(self)
        title = plain_label(self.tr("These files will be written"), self, role="heading")
        parts = location, title, grid, self.opens, self.said, 1
        fill(QVBoxLayout(self), *parts, margins=(4, 10, 4, 4), spacing=10)

    @property
    def folder(self) -> Path:
        place = Path(self.place.text().strip())
        with suppress(RuntimeError):  # no user is called "~name": then it is a plain name
            place = place.expanduser()
        return place.absolute()

    def suggest(self, folder: Path, name: str) -> None:
        if not self.place.text():
            self.place.setText(str(folder / name))

    def _ask_for_folder(self) -> None:
        name = self.folder.name
        ask_for_place(
            self.window(), self.tr("Export"), "folder", folder=self.folder.parent, accept=self.tr("Use this folder"),
            take=lambda paths: self.place.setText(str(folder_for(Path(paths[0]), name))),
        )  # fmt: skip


class AdaptWindow(ScreenDialog):
    """Guides through an `Adaptation`; stays open beside the work until it is closed."""

    def __init__(self, adaptation: Adaptation, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        is_extending = adaptation.kind == "extend"
        title = self.tr("Extend a vocabulary") if is_extending else self.tr("Prune a vocabulary")
        super().__init__(title, parent, entry="extend" if is_extending else "prune")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.adaptation, self._session = adaptation, session
        self._wants_tokens = self._is_exported = False  # the search that is running leads to the second step
        self.steps = QTabBar(self, expanding=False, drawBase=False)
        self.steps.setAccessibleName(self.tr("Steps"))
        self.texts = _TextsPage(adaptation, session, self)
        self.tokens = TokensPage(adaptation, theme, self)
        self.export = _PlacePage(adaptation, self)
        self._pages = QStackedWidget(self)
        for page, name in (
            (self.texts, self.tr("1  Vocabulary and texts")),
            (self.tokens, self.tr("2  Tokens")),
            (self.export, self.tr("3  Export")),
        ):
            self._pages.addWidget(page)
            self.steps.addTab(name)
        self.error = WholeLabel(self, role="error")
        self._doing = FittingLabel(self, role="hint")
        self.progress = QProgressBar(self, textVisible=False)
        self.progress.setAccessibleName(self.tr("Progress"))
        buttons, roles = QDialogButtonBox(self), QDialogButtonBox.ButtonRole
        self.stop = buttons.addButton(self.tr("&Stop"), roles.ResetRole)
        self.back = buttons.addButton(self.tr("&Back"), roles.ActionRole)
        self.next = buttons.addButton("", roles.ActionRole)
        self.stop.setAutoDefault(False)
        self.back.setAutoDefault(False)
        set_look(self.next, role="primary")
        self.next.setDefault(True)
        parts = self.steps, (self._pages, 1), self.error, self._doing, self.progress, buttons
        fill(QVBoxLayout(self), *parts, margins=(16, 10, 16, 12), spacing=6)
        self.stop.clicked.connect(self._stop)
        self.back.clicked.connect(lambda: self.steps.setCurrentIndex(self.step - 1))
        self.next.clicked.connect(self._go_on)
        self.steps.currentChanged.connect(self._show_step)
        self.texts.changed.connect(self._on_texts_changed)
        self.export.place.textChanged.connect(self._on_place_changed)
        adaptation.changed.connect(self.refresh)
        adaptation.loading.finished.connect(self.export.place.clear)
        adaptation.loading.finished.connect(self.texts.show_vocabulary)
        adaptation.searching.finished.connect(self._on_searched)
        adaptation.exporting.finished.connect(self._on_exported)
        self._drops = FileDrops(self, self.tr("Drop to use as the text of the domain"))
        self._drops.files_dropped.connect(partial(self.texts.take_files, "domain"))
        self.size_to(140, 40)
        if session.runs.current is not None:
            self.texts.take(session.runs.current)
        self.texts.show_vocabulary()
        self.refresh()

    @property
    def step(self) -> int:
        return self.steps.currentIndex()

    def refresh(self) -> None:
        adaptation, found = self.adaptation, self.adaptation.found
        busy = adaptation.searching.is_running or adaptation.exporting.is_running or adaptation.opening.is_running
        is_change = bool(found.removed) if isinstance(found, Pruning) else bool(adaptation.wanted)
        self.steps.setTabEnabled(_TOKENS, found is not None)
        self.steps.setTabEnabled(_EXPORT, is_change)
        can_search = adaptation.vocabulary is not None and self.texts.domain_text is not None
        can_export = is_change and adaptation.result is not None and bool(self.export.place.text().strip())
        self.next.setEnabled(not busy and (can_search, is_change, can_export or self._is_exported)[self.step])
        self.back.setEnabled(self.step > _TEXTS and not busy)
        last = self.tr("&Close") if self._is_exported else self.tr("&Export")
        self.next.setText(last if self.step == _EXPORT else self.tr("&Next"))
        self.stop.setVisible(busy)
        self.texts.setEnabled(not busy)
        self._show_progress(busy or adaptation.loading.is_running)
        self.error.show_text(next((str(task.error) for task in adaptation.tasks if task.error is not None), ""))
        self.texts.show_note()
        self.tokens.refresh()

    def _show_progress(self, is_busy: bool) -> None:
        adaptation = self.adaptation
        what, done, total = adaptation.searching.progress or ("", 0, 0)
        words = {
            "Reading the domain": self.tr("Reading the text of the domain: {percent}%"),
            "Reading the general text": self.tr("Reading the general text: {percent}%"),
            "Choosing tokens": self.tr("Choosing tokens: {percent}%"),
            "Measuring": self.tr("Measuring the effect…"),
        }
        said = words.get(what, self.tr("Getting ready…")).format(percent=100 * done // max(total, 1))
        if adaptation.loading.is_running:
            said = self.tr("Reading the vocabulary…")
        elif adaptation.exporting.is_running:
            said = self.tr("Writing the files…")
        elif adaptation.opening.is_running:
            said = self.tr("Opening the result as a run…")
        self._doing.show_forms(said if is_busy else "")
        self.progress.setVisible(is_busy)
        self.progress.setRange(0, total if what != "Measuring" else 0)
        self.progress.setValue(done)

    def _show_step(self, step: int) -> None:
        self._pages.setCurrentIndex(step)
        if step == _TOKENS:
            self.tokens.show_chart()
        elif step == _EXPORT and self.adaptation.vocabulary is not None:
            vocabulary, document = self.adaptation.vocabulary, self._session.document
            folder = Path.home() if document.path is None else document.path.parent
            suffix = self.tr("extended") if self.adaptation.kind == "extend" else self.tr("pruned")
            self.export.suggest(Path(vocabulary.path).parent if vocabulary.path else folder,
                                f"{vocabulary.name}-{suffix}")  # fmt: skip
        self.refresh()
        self.next.setFocus()

    def _go_on(self) -> None:
        adaptation = self.adaptation
        if self.step == _TOKENS:
            self.steps.setCurrentIndex(_EXPORT)
        elif self.step == _EXPORT and self._is_exported:
            self.close()
        elif self.step == _EXPORT:
            self._export()
        elif adaptation.found is not None and adaptation.searching.request is not None:
            self.steps.setCurrentIndex(_TOKENS)
        elif (domain := self.texts.domain_text) is not None:
            self._wants_tokens = True
            if adaptation.kind == "extend":
                self.tokens.importing.ask()  # what draws the curve, while the tokens are being found
            adaptation.search(domain, self.texts.general_text, self.texts.number.value())

    def _export(self, may_replace: bool = False) -> None:
        adaptation, is_in_unused = self.adaptation, self.texts.replace.isChecked()
        adaptation.exporting.run(self.export.folder, adaptation.result, is_in_unused, may_replace)

    def _stop(self) -> None:
        self._wants_tokens = False
        for task in self.adaptation.tasks:
            task.stop()

    def _on_texts_changed(self) -> None:
        if self.adaptation.found is not None or self.adaptation.searching.error is not None:
            self.adaptation.forget()  # it was of other texts
        self.refresh()

    def _on_place_changed(self) -> None:
        self._is_exported = False
        self.adaptation.exporting.stop()
        self.export.said.show_text("")
        self.refresh()

    def _on_searched(self) -> None:
        self._is_exported = False
        self.refresh()
        if self._wants_tokens:
            self._wants_tokens = False
            self.steps.setCurrentIndex(_TOKENS)

    def _on_exported(self, there: tuple[str, ...]) -> None:
        folder = self.export.folder
        if there:
            names = ", ".join(there[:_MOST_NAMES]) + (", …" if len(there) > _MOST_NAMES else "")
            title = self.tr("Replace files in “{name}”?").format(name=display_name(folder.name))
            text = self.tr("These files already exist: {names}\n{path}").format(names=names, path=display_name(folder))
            yes = QMessageBox.StandardButton.Yes  # Enter twice replaces nothing
            box = question_box(self, title, text, {yes: self.tr("&Replace")})
            ask(box, {yes: partial(self._export, may_replace=True)})
            return
        self._is_exported = True
        result, vocabulary = self.adaptation.result, self.adaptation.vocabulary
        assert result is not None
        assert vocabulary is not None
        name = vocabulary.name
        if isinstance(result, Extension):
            size, changed = len(result.extended()), len(result.proposals)
            name = counted(changed, "{name} + 1 token", "{name} + {count} tokens", name=name)
        else:
            size, changed = len(result.kept), len(result.removed)
            name = counted(changed, "{name} − 1 token", "{name} − {count} tokens", name=name)
        path = display_name(folder)
        said = counted(size, "Exported 1 token to {path}", "Exported {count} tokens to {path}", path=path)
        self.export.said.show_text(said)
        if self.export.opens.isChecked():
            self.adaptation.open_result(name)

    def done(self, result: int) -> None:
        for task in self.adaptation.tasks:
            task.close()
        super().done(result)
