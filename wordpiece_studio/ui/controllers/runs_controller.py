"""Commands about runs: show another one, keep, rename and close it, and bring back the text that it was trained on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wordpiece_studio.session.tokenizer_figures import FiguresText
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.panes.comparison.comparison_pane import Tab
from wordpiece_studio.ui.widgets.fields import LineDialog
from wordpiece_studio.ui.widgets.plain import menu_text
from wordpiece_studio.ui.widgets.token_text import run_names
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.controllers.project_controller import ProjectController


_KEYS = 8  # Alt and a digit show a run


class RunsController(Controller):
    def __init__(self, window: Workspace, project: ProjectController) -> None:
        super().__init__(window)
        self._project = project
        self._runs = window.session.runs
        window.run_strip.tabs.rename_wanted.connect(self._ask_for_name)
        window.comparison_pane.summary.files_requested.connect(self._ask_for_texts)
        window.comparison_pane.summary.tokenizers_requested.connect(self._ask_for_tokenizers)
        window.comparison_pane.divergences.went.connect(lambda: window.docks.bring("history"))  # which shows the step
        window.tokenization_pane.comparison_requested.connect(partial(self.show_comparison, Tab.TEXT))
        self._runs.chosen.connect(self._on_runs_chosen)
        self._comparison = window.session.comparison
        self._actions.bind(self, self._comparison.changed)

    # -- showing another run

    def _has_others(self) -> bool:
        return len(self._runs.all) > 1

    @command(tr("&Next run"), tr("Show the run in the next tab"), "Ctrl+Tab", when=_has_others)
    def next_run(self) -> None:
        self._runs.show_next()

    @command(tr("&Previous run"), tr("Show the run in the previous tab"), "Ctrl+Shift+Tab", when=_has_others)
    def previous_run(self) -> None:
        self._runs.show_next(-1)

    def _places(self) -> Iterator[MenuChoice]:
        for place in range(_KEYS):
            text = self.tr("Run {place}").format(place=place + 1)
            yield MenuChoice(place, text, self.tr("Show the run in this tab"), f"Alt+{place + 1}")

    def _look_of_place(self, place: int) -> tuple[str, str]:
        runs = self._runs.all
        return (
            menu_text(f"{runs[place].letter}  {run_names(runs, self._model.last_told)[runs[place]]}")
            if place < len(runs)
            else "",
            "",
        )

    @command(choices=_places, look=_look_of_place, when=lambda self, place: place < len(self._runs.all))
    def show_run(self, place: int) -> None:
        self._runs.show(self._runs.all[place])

    # -- the run that is shown

    def _has_run(self) -> bool:
        return self._runs.current is not None

    @command(
        tr("&Keep this run"), tr("Keep this preview as a run; the next change opens a new preview"),
        when=lambda self: self._has_run() and not self._runs.current.is_kept,
    )  # fmt: skip
    def keep_run(self) -> None:
        self._runs.keep(self._shown)

    @command(tr("&Rename this run…"), tr("Rename the current run"), when=_has_run)
    def rename_run(self) -> None:
        self._ask_for_name(self._shown)

    @command(tr("&Close this run"), tr("Close the current run; Undo brings it back"), "Ctrl+W", when=_has_run)
    def close_run(self) -> None:
        self._runs.close(self._shown)

    @command(
        tr("Make a run of this si&ze"), tr("Train a run that ends at the current step, with the settings of this one"),
        when=lambda self: 0 < self._model.step < self._model.merge_count and self._actions.train.isEnabled(),
    )  # fmt: skip
    def run_of_size(self) -> None:
        run, size = self._shown, self._shown.history.vocabulary_size(self._model.step)
        self._runs.keep(run)
        self._session.settings.set_config(replace(run.config, vocab_size=size, max_merges=None))
        self._actions.train.trigger()

    @property
    def _shown(self) -> Run:
        assert self._runs.current is not None
        return self._runs.current

    def _ask_for_name(self, run: Run) -> None:
        title = self.tr("Rename run {letter}").format(letter=run.letter)
        label = self.tr("Leave empty to name the run after what sets it apart.")
        LineDialog(
            title, label, run.name, self._window, name=self.tr("Run name"), accept=self.tr("&Rename"), entry="run",
            take=partial(self._runs.rename, run),
        ).open()  # fmt: skip

    @command(
        tr("Re&store this run’s corpus"), tr("Reopen the corpus that this run was trained on"),
        when=lambda self: self._window.run_strip.restores_text,
        look=lambda self: (self._window.run_strip.restoring_words, ""),
    )  # fmt: skip
    def bring_text_back(self) -> None:
        """Show the text of the run; where it is an earlier state of the present one, as an edit that can be undone."""
        run = self._shown
        corpus = run.origin.corpus
        if corpus is None:
            return
        document = self._session.document
        is_earlier = not self._session.changes_since_run().is_other_corpus and not document.is_files
        if is_earlier and corpus.text is not None:
            # The text of a sample's or a saved run in place of another unedited one loses nothing.
            is_edit = document.is_modified or corpus.is_edited or run.is_unsaved or document.path is not None
            document.set_text(corpus.text)
            if not is_edit:
                document.note_saved()
            self._session.note_text_of(run)
        else:
            self._project.when_safe(partial(self._bring_back, run), keeps_run=True)

    def _bring_back(self, run: Run) -> None:
        self._window.project.detach()
        self._session.bring_back(run)

    # -- comparing

    def show_comparison(self, tab: Tab) -> None:
        if self._window.docks.layout_taken.name != "compare":  # else it would be arranged anew
            self._actions.choice("choose_layout", "compare").trigger()
        self._window.docks.bring("comparison")
        self._window.comparison_pane.show_tab(tab)

    @command(
        tr("Co&mpare all runs"), tr("Show all runs side by side, or the current run alone"),
        when=_has_others, unless=Controller.why_hidden,
        checked=lambda self: len(self._runs.compared) == len(self._runs.all) > 1,
    )  # fmt: skip
    def compare_runs(self) -> None:
        self._runs.compare_all(len(self._runs.compared) < len(self._runs.all))

    @command(tr("Run metr&ics"), tr("Evaluate runs and other tokenizers on a text, such as held-out text"))
    def figures(self) -> None:
        self.show_comparison(Tab.SUMMARY)

    @command(
        tr("&Words split differently"), tr("List the words that the compared runs split differently"),
        "Ctrl+Shift+W", when=lambda self: self._comparison.has_any,
    )  # fmt: skip
    def word_differences(self) -> None:
        self.show_comparison(Tab.WORDS)

    @command(
        tr("Vocabulary &overlap"),
        tr("Show how many tokens the compared runs share, overall and among the first 100, 200 and so on"),
        when=lambda self: self._comparison.has_any,
    )
    def vocabulary_overlap(self) -> None:
        self.show_comparison(Tab.VOCABULARIES)

    @command(
        tr("Where r&uns diverge"), tr("List the first step at which each two compared runs merge different pairs"),
        "Ctrl+Shift+G", when=lambda self: bool(self._comparison.others),
    )  # fmt: skip
    def divergences(self) -> None:
        self.show_comparison(Tab.DIVERGENCES)

    def _ask_for_texts(self) -> None:
        title = self.tr("Choose files to measure, such as one per language")
        ask_for_place(self._window, title, "files", self._measure_on)

    def _ask_for_tokenizers(self) -> None:
        title = self.tr("Add tokenizers: tokenizer.json, vocab.txt, vocab.json or a SentencePiece .model")
        ask_for_place(self._window, title, "files", self._session.figures.open)

    def _measure_on(self, paths: list[str]) -> None:
        self._session.figures.measure_on(FiguresText("files", tuple(dict.fromkeys(paths))))

    def _on_runs_chosen(self, _run: Run) -> None:
        left = self._runs.current
        if left is not None and left.stop_reason is None and self._session.model.state is TrainerState.TRAINING:
            words = self.tr("Training of run {letter} is paused. Switch back to the run to resume it.")
            self._window.notices.training.show_message(words.format(letter=left.letter))
