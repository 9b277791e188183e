"""What a window works on, without a window: a corpus, its counts, the settings, the run, and all that looks at them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.corpus.files import CorpusFile, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import end_libraries
from wordpiece_studio.session.corpus_counting import CorpusCounting
from wordpiece_studio.session.document import CorpusOpening, Document, TextFile
from wordpiece_studio.session.kernel_warmup import warm_up
from wordpiece_studio.session.live_text import LiveChanges
from wordpiece_studio.session.prediction import Prediction
from wordpiece_studio.session.runs import Comparison, Runs
from wordpiece_studio.session.size_sweep import SizeSweep
from wordpiece_studio.session.step_marks import Player, StepMarks
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.token_usage import TokenUsage
from wordpiece_studio.session.tokenizer_figures import FiguresMeasuring, HeldOutJudging
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState, trained_by_library
from wordpiece_studio.session.watched_files import FileWatch, moved_files
from wordpiece_studio.storage.project.contents import ProjectCorpus, Run, RunOrigin
from wordpiece_studio.storage.view import Bookmark, View
from wordpiece_studio.training.config import BASE, RULES, TrainingConfig
from wordpiece_studio.training.segmentation import minimum_vocab_size

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusReference, FileKind
    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.training.config import Objective

MOST_BYTES = 120_000  # a larger corpus is not trained as one types


@dataclass(frozen=True, slots=True)
class Changes:
    is_other_corpus: bool = False
    corpus: bool = False  # it has other words
    pipeline: bool = False  # text becomes words in another way
    settings: bool = False
    rules: bool = False  # settings beside the size of the vocabulary
    is_edited: bool = False  # the corpus may be a later state of the run's, not just another text


class Session(QObject):
    corpus_taken = Signal()  # another text, or another list of files, is the corpus
    live_text_changed = Signal(object)

    def __init__(self, store: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store  # of the user's preferences
        self.document = Document(self)
        self.opening = CorpusOpening(self)
        self.watch = FileWatch(self)  # what files were like when they were read, and whether they change
        self.searching = Task(moved_files, "The missing files cannot be searched for", self)
        self.counting = CorpusCounting(self.document, self)
        self.settings = ChosenSettings(self)
        self.model = TrainerModel(self)
        self.prediction = Prediction(self.model, self)
        self.runs = Runs(self.model, self.document.undo_stack, self)
        self.marks = StepMarks(self.model, self)
        self.comparison = Comparison(self.model, self.runs, self.marks.bookmarks, self)
        self.player = Player(self.model, self, watch=self.marks.watch)
        self.usage = TokenUsage(self.model, self)
        self.library_job = Task(trained_by_library, "The library cannot train on this corpus", self)
        self.judging = HeldOutJudging(self.model, self.runs, self.counting, self)
        self.figures = FiguresMeasuring(self.model, self.comparison, self.counting, self)
        self.sizes = SizeSweep(self.model, self.runs, self.counting, self)
        self.live_text_changed.connect(self.figures.set_live_text)
        self.changes = LiveChanges(self)
        self.warm_up = Task(warm_up, "The fast engine cannot be loaded", self)
        self.given_name = self.tr("Untitled")
        self.sample_notes: tuple[Bookmark, ...] = ()  # which go with the sample's run
        self.live_text = ""
        self._known_name = self._name
        self._is_taking = False  # another corpus, with settings of its own
        self.runs.numbered.connect(self.marks.bookmarks.disown)
        self.runs.chosen.connect(self._on_runs_chosen)
        self.runs.shown.connect(self._on_runs_shown)

    def close(self) -> None:
        self.player.stop()
        self.model.close()
        for task in self.findChildren(Task):
            task.close()
        end_libraries()
        self.document.close()

    # The corpus.

    @property
    def corpus_name(self) -> str:
        return self._noted(self._name)

    @property
    def _name(self) -> str:
        document = self.document
        if document.is_files and document.files.rows:
            return document.files.name
        return document.path.name if document.path is not None else self.given_name

    def _noted(self, name: str) -> str:
        return self.tr("{name} (partial)").format(name=name) if self.counting.is_partial else name

    def take_corpus(self, name: str) -> None:
        """Take what the document holds as another corpus, which is called `name` where it has no file."""
        self.given_name = name
        self._known_name = self._name
        self.settings.drop_rules()
        self.settings.suggestion.expect_text()
        self.corpus_taken.emit()
        self._is_taking = True
        self.runs.discard_previews()
        self._is_taking = False
        bookmarks, numbers = self.marks.bookmarks, {run.number for run in self.runs.all}
        left = [note for note in bookmarks.records if note not in self.sample_notes or note.owner in numbers]
        if len(left) < len(bookmarks.records):
            bookmarks.set_marks(left)

    def corpus(self) -> ProjectCorpus:
        document, watch = self.document, self.watch
        if document.is_files:
            files = tuple(map(watch.reference, document.files.files))
            return ProjectCorpus(name=self.given_name, text=None, files=files)
        file, path = document.file, document.path
        origin: CorpusReference | None = document.unread_origin
        # A file that holds more than could be read must never be overwritten: do not record it.
        if path is not None and not file.is_lossy:
            kind: FileKind = "word-counts" if is_typed_counts(document.text) else "text"
            origin = watch.reference(CorpusFile(str(path), kind, encoding=file.encoding))
        return ProjectCorpus(
            name=self.given_name if path is None else path.name, text=document.text, encoding=file.encoding,
            mark=file.mark, is_edited=document.is_modified or file.is_lossy, origin=origin,
        )  # fmt: skip

    def show_corpus(self, corpus: ProjectCorpus) -> None:
        """Take a corpus that was here before; `take_corpus` must follow."""
        document = self.document
        if corpus.text is None:
            document.take_files()
            document.files.take_references(corpus.files)
            self.watch.expect(corpus.files)
        else:
            origin = corpus.origin
            read = None if origin is None or origin.file.unagreed or is_url(origin.file.path) else origin
            path, unread = (None, origin) if read is None else (Path(read.file.path), None)
            file = TextFile(corpus.text, corpus.encoding, corpus.mark)
            document.take_text(file, path, is_modified=corpus.is_edited, unread_origin=unread)
            self.watch.expect(() if read is None else (read,))
        self.opening.stop()

    def agree(self) -> None:
        """Read the files outside the project's folder from now on: the user has seen their names, and agrees."""
        document, before = self.document, self.corpus()
        document.agree()
        if not document.is_files:
            if before.origin is not None and document.path is not None:
                moved = replace(before.origin.file, path=str(document.path), unagreed=())
                self.watch.expect((replace(before.origin, file=moved),))
            return
        corpus = self.corpus()
        pairs = zip(before.files, corpus.files, strict=True)
        files = tuple(replace(old, file=new.file) for old, new in pairs)  # what is known of them, at their places
        self.watch.expect(files)
        for run in self.runs.all:
            known = run.origin.corpus
            if known is not None and known.text is None and known.files == before.files:
                run.origin = replace(run.origin, corpus=replace(known, files=files))
        self.figures.refresh()
        if self.counting.counts is None and not self.counting.is_under_way:
            self.counting.count_now()

    def bring_back(self, run: Run) -> None:
        corpus = run.origin.corpus
        if corpus is None:
            return
        self.show_corpus(corpus)
        self.given_name = corpus.name
        self._known_name = self._name
        self.settings.suggestion.withdraw()
        self.corpus_taken.emit()
        self._on_runs_chosen(run)
        if corpus.text is None:
            self._take_pipeline_of(run)
        else:
            self.note_text_of(run)

    def note_text_of(self, run: Run) -> None:
        serial, length = self.counting.text_serial, run.origin.max_word_length
        if length is None:  # it is counted again, as words may have been left out
            self._take_pipeline_of(run)
            return
        for each in self.runs.all:
            if each is run or self._has_text_of(each):
                each.origin = replace(each.origin, text_serial=serial)
        self.counting.take_known(run.counts, length)

    def _take_pipeline_of(self, run: Run) -> None:
        self.counting.set_pipeline(run.counts.normalizer, run.counts.pre_tokenizer, run.origin.max_word_length)

    def note_renamed(self) -> None:
        name = self._name
        if name != self._known_name:
            self.runs.rename_corpus(self._noted(self._known_name), self._noted(name))
        self._known_name = name

    def set_live_text(self, text: str) -> None:
        if text != self.live_text:
            self.live_text = text
            self.live_text_changed.emit(text)

    # What is shown.

    def view(self) -> View:
        model, marks, current = self.model, self.marks, self.runs.current
        selection = model.selection
        if selection is not None:  # of which the text may be an `UnknownToken`
            selection = msgspec.structs.replace(selection, text=str(selection.text))
        tabs = {run: run.tab for run in self.runs.all}
        if current is not None:
            tabs[current] = msgspec.structs.replace(current.tab, step=model.step)
        return View(
            step=model.step, selection=selection, live_text=self.live_text, notes=marks.bookmarks.records,
            breakpoints=marks.breakpoints.records, tabs=tuple(tabs.values()),
            current=0 if current is None else current.number, is_longest_first=self.comparison.is_longest_first,
            is_predicting=self.prediction.is_on, is_after=model.is_after, in_text_order=model.text_order,
        )  # fmt: skip

    def show_view(self, view: View) -> None:
        self.marks.breakpoints.set_marks(view.breakpoints)
        self.marks.bookmarks.set_notes(view.notes)
        self.model.hide_future(False)
        self.model.seek(view.step)
        self.model.hide_future(view.is_predicting)
        self.model.set_selection(view.selection)
        self.set_live_text(view.live_text)
        self.comparison.set_longest_first(view.is_longest_first)
        self.model.set_after(view.is_after)
        self.model.set_text_order(view.in_text_order)

    # The run.

    def origin(self, *, is_wanted: bool) -> RunOrigin:
        name, serial = self._noted(self._known_name), self.counting.text_serial
        return RunOrigin(is_wanted, name, serial, self.corpus(), self.counting.max_word_length)

    def _on_runs_chosen(self, run: Run) -> None:
        if run.library_run is None:  # else they are not settings of our training
            self.take_settings_of(run, run.config)

    def take_settings_of(self, run: Run, config: TrainingConfig) -> None:
        """Let the next run have the settings of one of the present corpus; those of others say nothing about it."""
        if self._is_of_corpus(run):
            self.settings.set_config(config)

    def _on_runs_shown(self, run: Run) -> None:
        """Make words as they were made for a run of the present corpus, in the window and for the next run."""
        if not self._is_of_corpus(run) or self.has_pipeline_of(run):
            return
        is_its_text = run.origin.text_serial == self.counting.text_serial or self._has_text_of(run)
        if is_its_text and run.history.is_read:
            self.note_text_of(run)
        else:
            self._take_pipeline_of(run)

    def _is_of_corpus(self, run: Run) -> bool:
        """Return whether a run is of the present corpus, in whatever state that was, and no other is taken now."""
        return not self._is_taking and run.origin.corpus_name == self._noted(self._known_name)

    def has_pipeline_of(self, run: Run | None) -> bool:
        if run is None:
            return True
        counting, counts = self.counting, run.counts
        is_same_length = run.origin.max_word_length in (None, counting.max_word_length)
        steps = counting.pipeline.normalizer, counting.pipeline.pre_tokenizer
        return is_same_length and (counts.normalizer, counts.pre_tokenizer) == steps

    def show_repeated(self, run: Run) -> None:
        """Show a run that the next one would repeat: the longest word chosen now leaves it the same words."""
        run.origin = replace(run.origin, max_word_length=self.counting.max_word_length)
        self.runs.show(run)

    def changes_since_run(self, run: Run | None = None) -> Changes:
        """Return what has changed since a run began; None is the one that is shown."""
        run = run or self.model.run
        if run is None:
            return Changes()
        is_same_pipeline = self.has_pipeline_of(run)
        try:
            config = self.settings.config()
        except StudioError:
            config = None
        same_size = None if config is None else replace(config, vocab_size=run.config.vocab_size)
        return Changes(
            is_other_corpus=run.origin.corpus_name != self._noted(self._known_name),
            corpus=self._is_corpus_changed(run, is_same_pipeline),
            pipeline=not is_same_pipeline,
            settings=config != run.config and run.library_run is None,
            rules=same_size != run.config and run.library_run is None,
            is_edited=self.document.is_files or self.document.is_modified,
        )

    def _is_corpus_changed(self, run: Run, comparable: bool) -> bool:
        if self.counting.text_serial == run.origin.text_serial:
            return False
        counts = self.counting.counts
        if counts is None or not comparable:
            return not self._has_text_of(run)  # as far as is known
        if not run.history.is_read:  # its words are being read, or cannot be
            return run.history.is_damaged
        return counts is not run.counts and counts != run.counts

    def _has_text_of(self, run: Run) -> bool:
        known, document = run.origin.corpus, self.document
        return known is not None and not document.is_files and known.text == document.text


class LiveTraining(QObject):
    """A small corpus is trained again at every edit and change of a setting, beside the run shown, as a preview."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.is_on = session.store.values.train_as_you_type  # see `set_on`
        self._is_touched = False  # there is a change that was not trained
        session.corpus_taken.connect(self.forget_change)  # it is not trained before it is edited
        session.document.text_changed.connect(self._on_text_changed)
        session.settings.changed.connect(self._on_settings_changed)
        session.counting.pipeline_changed.connect(self._on_pipeline_changed)

    def set_on(self, is_on: bool) -> None:
        self.is_on = is_on
        self.forget_change()
        self._session.store.change(train_as_you_type=is_on)

    def can_train(self, counts: WordCounts) -> bool:
        model = self._session.model
        is_small = 0 < counts.total and counts.statistics.bytes <= MOST_BYTES
        is_idle = not model.is_busy and model.state is not TrainerState.PAUSED
        return self.is_on and self._is_touched and is_small and is_idle

    def forget_change(self) -> None:
        self._is_touched = False

    def train(self, counts: WordCounts, config: TrainingConfig) -> None:
        """Show a run of these counts: one that is there, or a preview trained beside the run that is shown."""
        self.forget_change()
        runs, model = self._session.runs, self._session.model
        found = runs.trained_on(counts, config)
        if found is None:
            model.replace(counts, config, origin=self._session.origin(is_wanted=False))
            return
        model.give_up_replacement()
        self._session.show_repeated(found)
        if found.is_kept:
            runs.drop_preview()

    def _on_text_changed(self) -> None:
        self._is_touched = True

    def _on_settings_changed(self) -> None:
        """A setting beside a corpus that was not trained yet does not train it."""
        session = self._session
        if session.model.run is not None and not session.changes_since_run().is_other_corpus:
            self._is_touched = True

    def _on_pipeline_changed(self) -> None:
        if self._session.changes_since_run().pipeline:  # else that of the run shown was chosen
            self._on_settings_changed()


SUGGESTED_OBJECTIVE: Objective = "likelihood"  # the score would need a floor that no one knows beforehand
_FIRST_CONFIG = TrainingConfig(vocab_size=70)
_LARGE_TEXT = 5000  # characters; a text that is longer and has at least doubled was pasted or dropped, not typed
_SIZES = (500, 1000, 2000, 4000, 8000, 16_000, 30_000)
_TOY_BYTES = 5000
_TOY_MERGES = 25
_MANY_BYTES = 1_000_000
_OFTEN = 6  # words that occur less often are mostly numbers, names and codes
_MOST_WORDS = 20_000  # distinct words; of more, the smallest size is found from their characters


class ChosenSettings(QObject):
    """The settings as the fields show them; a value that the trainer refuses is kept until it is corrected."""

    changed = Signal()  # by the user
    replaced = Signal()  # by the program, or what is suggested is something else

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._base = _FIRST_CONFIG
        self._values: dict[str, Any] = {}  # in place of those of the base
        self.suggestion = Suggestion(self)

    def config(self) -> TrainingConfig:
        return dataclasses.replace(self._base, **self._values)

    def valid_config(self) -> TrainingConfig:
        """Return the settings as they stand; where the trainer refuses a value, those that were set last."""
        try:
            return self.config()
        except StudioError:
            return self._base

    def set_config(self, config: TrainingConfig) -> None:
        self._base, self._values = config, {}
        self.replaced.emit()

    def begin_anew(self) -> None:
        self.set_config(_FIRST_CONFIG)
        self.suggestion.begin_anew()

    def drop_rules(self) -> None:
        """Require, forbid and choose nothing any more: another corpus has other tokens and steps."""
        config = self.valid_config()
        if config.has_rules or config.base_merges:
            self.set_values(**dict.fromkeys((*RULES, *BASE), ()))

    def choose(self, **values: Any) -> None:
        self._values.update(values)
        self.suggestion.note_choice(is_of_objective="objective" in values)
        self.changed.emit()

    @property
    def target_size(self) -> int:
        return self._value("vocab_size") or 0

    def set_target_size(self, size: int) -> None:
        if size != self.target_size:
            self.choose(vocab_size=size or None)
            self.replaced.emit()

    @property
    def limits(self) -> tuple[int, int]:
        return self.target_size, self._value("min_frequency")

    def set_values(self, **values: Any) -> None:
        self._values.update(values)
        self.replaced.emit()

    @property
    def special_tokens(self) -> tuple[str, ...]:
        return tuple(self._value("special_tokens"))

    @property
    def objective(self) -> str:
        return str(self._value("objective"))

    def _value(self, name: str) -> Any:
        return self._values.get(name, getattr(self._base, name))


class SuggestedSettings(NamedTuple):
    vocab_size: int  # 0 for no limit
    min_frequency: int = 0


class Suggestion(QObject):
    """Suggests objective and limits once for each corpus that is opened, never in place of what was chosen for it."""

    def __init__(self, settings: ChosenSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._is_awaited = False
        self._is_users = False  # the user has chosen the size since this corpus was opened
        self._is_objective_users = False  # likewise
        self._is_objective_suggested = False
        self._characters = 0
        self._shown: SuggestedSettings | None = None
        self._floor = 0  # the smallest count that was suggested, not chosen

    @property
    def words(self) -> str:
        """What is suggested, as long as the settings are that and nothing was trained with it; else empty."""
        if self._shown is None:
            return ""
        size = self.tr("size {size}").format(size=f"{self._shown.vocab_size:,}")
        floor = self.tr("min. frequency {count}").format(count=self._shown.min_frequency)
        parts = (
            self.tr("Likelihood") if self._is_objective_suggested else "",
            size if self._shown.vocab_size else self.tr("no size limit"),
            floor if self._shown.min_frequency else "",
        )
        return self.tr("Suggested for this corpus: {settings}").format(settings=" · ".join(filter(None, parts)))

    def expect_text(self) -> None:
        self._is_awaited, self._is_users, self._shown = True, False, None
        self._is_objective_users = self._is_objective_suggested = False

    def withdraw(self) -> None:
        """Suggest nothing: the limits are known, or were used."""
        self._is_awaited = False
        _, self._floor = self._settings.limits
        self.forget()

    def begin_anew(self) -> None:
        """Take the limits as nobody's choice, so that a text pasted over the corpus has its own suggested."""
        self._is_users = self._is_objective_users = False
        _, self._floor = self._settings.limits

    def keep_saved(self) -> None:
        """Suggest nothing for this corpus: it was saved with settings."""
        self.withdraw()
        self._is_users = self._is_objective_users = True

    def forget(self) -> None:
        """Say no more about the suggestion: it was used, or something else was chosen."""
        if self._shown is not None:
            self._shown = None
            self._settings.replaced.emit()

    def take_counts(self, counts: WordCounts) -> None:
        read, before = counts.statistics, self._characters
        characters = read.characters or read.bytes
        self._characters = characters
        is_pasted = characters > _LARGE_TEXT and characters > 2 * before and not self._is_users
        if self._is_awaited or is_pasted:
            self._is_awaited = False
            if len(counts):
                self._is_objective_suggested = not self._is_objective_users
                self._suggest(counts)

    def take_refusal(self, counts: WordCounts) -> bool:
        """Suggest another size where one turned out too small that the user did not choose; return whether it did."""
        return not self._is_users and self._suggest(counts)

    def note_choice(self, *, is_of_objective: bool = False) -> None:
        if is_of_objective:
            self._is_objective_users, self._is_objective_suggested = True, False
            self.forget()
            return
        size, floor = self._settings.limits
        if self._shown is None or size != self._shown.vocab_size:
            self._is_users = True
        if self._shown is not None and (size != self._shown.vocab_size or floor != self._floor):
            self.forget()

    def _suggest(self, counts: WordCounts) -> bool:
        try:
            suggested = suggested_settings(counts, self._settings.config())
        except StudioError:
            return False  # training says what is wrong with the settings
        self._is_awaited = False
        _, present = self._settings.limits
        is_ours = present == self._floor  # a floor that the user chose stays
        self._floor = suggested.min_frequency if is_ours else 0
        self._shown = SuggestedSettings(suggested.vocab_size, self._floor)
        self._settings.set_values(
            vocab_size=suggested.vocab_size or None, min_frequency=self._floor if is_ours else present,
            objective=SUGGESTED_OBJECTIVE if self._is_objective_suggested else self._settings.objective,
        )  # fmt: skip
        return True


def suggested_settings(counts: WordCounts, config: TrainingConfig) -> SuggestedSettings:
    """Return limits for training on this corpus with these settings.

    A toy text gets a few merges to look at. For a larger one, the size is the largest usual one that has no more tokens
    than special tokens, alphabet and words that occur often, so that the last merges still make words, in whatever
    script; at least a quarter more than special tokens and alphabet. Above a megabyte a pair must occur twice.
    """
    size = max(counts.statistics.bytes, counts.statistics.characters)
    is_small = len(counts) <= _MOST_WORDS
    least = minimum_vocab_size(counts, config) if is_small else len(config.reserved_tokens) + counts.alphabet_size
    if size <= _TOY_BYTES:
        return SuggestedSettings(-(-(least + _TOY_MERGES) // 5) * 5)
    wanted = least * 5 // 4
    fitting = next((usual for usual in _SIZES if usual >= wanted), -(-wanted // 1000) * 1000)
    most = least + int(np.count_nonzero(counts.counts >= _OFTEN))
    largest = max((usual for usual in _SIZES if usual <= most), default=0)
    return SuggestedSettings(max(fitting, largest), 2 if size > _MANY_BYTES else 0)
