"""Extending or pruning a vocabulary: what is chosen, what was found, and which of the tokens are wanted.

The window has three steps for it (`ui/dialogs/adapt_vocabulary.py`). The search is done in a child process: it is pure
Python that takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.corpus.counting.counting import count_texts, count_words
from wordpiece_studio.evaluation.extension import UNUSED, Extension, Pruning, check_wordpiece
from wordpiece_studio.libraries.library_training import LibraryHistory, LibraryRun
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.session.commands import Command
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.tokenizer_figures import corpus_to_divide
from wordpiece_studio.storage.adapted_vocabulary import TextToAdapt, adapted, export_adapted, training_files
from wordpiece_studio.storage.manifest import TOKENIZER_FILE
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.tokenizer.vocabulary import ROLES
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.storage.adapted_vocabulary import Adapting
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

_DEBOUNCE_MS = 150


@dataclass(frozen=True, slots=True, eq=False)
class AdaptableVocabulary:
    """A vocabulary that can be adapted: of a run, or of a folder; `training` is a tenth of what it was trained on."""

    tokenizer: Tokenizer
    name: str
    training: TextToAdapt | None = None
    run: Run | None = None
    path: str = ""
    unused: int = 0  # how many tokens are called ``[unused0]`` and so on


def vocabulary_to_adapt(source: Run | str) -> AdaptableVocabulary:
    if isinstance(source, Run):
        tokenizer: Any = source.new_tokenizer(len(source.history))
        corpus = corpus_to_divide(source)
        files = () if corpus is None else tuple(each.file for each in corpus.files)
        training = None if corpus is None else TextToAdapt(files, corpus.text or "", is_tenth=True)
        found = AdaptableVocabulary(tokenizer, source.letter, training, source)
    else:
        tokenizer, files = load_tokenizer(source), training_files(Path(source))
        training = TextToAdapt(files, is_tenth=True) if files else None
        found = AdaptableVocabulary(tokenizer, Path(source).name, training, path=source)
    check_wordpiece(tokenizer)
    return replace(found, unused=sum(UNUSED.fullmatch(token) is not None for token in tokenizer.tokens))


class Adaptation(QObject):
    """One extension or pruning, from the choice of a vocabulary to its files."""

    changed = Signal()  # any of the attributes, or of the tasks
    selected = Signal()  # other tokens are wanted
    compared = Signal()  # the result is no run, but a row of the table of metrics
    edition = 0  # for the chart, which sees other tokens by its state

    def __init__(self, kind: Adapting, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.kind = kind
        self._session = session
        self.undo_stack = QUndoStack(self)
        self.wanted: frozenset[str] = frozenset()  # the tokens that are to be added
        self.loading = self.task(vocabulary_to_adapt, "The vocabulary cannot be read")
        self.searching = self.task(adapted, "The tokens cannot be chosen", on_answer=self._take_found, in_child=True)
        self.choosing = self.task(Extension.chosen, "The effect cannot be measured", debounce_ms=_DEBOUNCE_MS)
        self.exporting = self.task(export_adapted, "The files cannot be exported")
        self.opening = self.task(opened_runs, "The vocabulary cannot be opened as a run", on_answer=self._take_runs)

    def task(self, work: Callable[..., Any], failure: str, **how: Any) -> Task:
        task = Task(work, failure, self, **how)
        task.changed.connect(self.changed)
        return task

    @property
    def tasks(self) -> list[Task]:
        return self.findChildren(Task)

    @property
    def vocabulary(self) -> AdaptableVocabulary | None:
        return cast("AdaptableVocabulary | None", self.loading.answer)

    @property
    def found(self) -> Extension | Pruning | None:
        return cast("Extension | Pruning | None", self.searching.answer)

    @property
    def present_corpus(self) -> TextToAdapt | None:
        document = self._session.document
        if document.is_files:
            files = tuple(document.files.files)
            return TextToAdapt(files) if files else None
        text = document.text
        return TextToAdapt(text=text) if text.strip() and not is_typed_counts(text) else None

    def is_of_same_text(self, domain: TextToAdapt | None) -> bool:
        """Return whether the vocabulary was trained on this text."""
        training = None if self.vocabulary is None else self.vocabulary.training
        return training is not None and domain == replace(training, is_tenth=False)

    def take(self, source: Run | str) -> None:
        self.forget()
        self.loading.forget()
        self.loading.run(source)

    def search(self, domain: TextToAdapt, general: TextToAdapt | None, number: int) -> None:
        assert self.vocabulary is not None
        self.searching.run(self.kind, self.vocabulary.tokenizer, domain, general, number, ())

    def search_without(self, tokens: Iterable[str]) -> None:
        assert self.searching.answered is not None
        *request, rejected = self.searching.answered
        self.searching.run(*request, tuple(sorted({*rejected, *tokens})))

    def forget(self) -> None:
        for task in (self.searching, self.choosing, self.exporting):
            task.forget()
        self.undo_stack.clear()
        self.wanted = frozenset()
        self.changed.emit()

    def _take_found(self, found: Extension | Pruning) -> None:
        self.undo_stack.clear()
        self.wanted = frozenset(found.tokens) if isinstance(found, Extension) else frozenset()

    def want(self, tokens: Iterable[str], is_wanted: bool = True) -> None:
        chosen = frozenset(tokens)
        self.want_only(self.wanted | chosen if is_wanted else self.wanted - chosen)

    def want_only(self, tokens: Iterable[str]) -> None:
        before, after = self.wanted, frozenset(tokens)
        if after != before:
            self.undo_stack.push(Command(lambda: self._set_wanted(after), lambda: self._set_wanted(before)))

    def _set_wanted(self, tokens: frozenset[str]) -> None:
        self.wanted = tokens
        if isinstance(self.found, Extension) and len(tokens) != len(self.found.proposals):
            self.choosing.ask(self.found, tokens)
        else:
            self.choosing.stop()
        self.selected.emit()

    @property
    def result(self) -> Extension | Pruning | None:
        """What was found with the wanted tokens alone; None while its effect is being measured."""
        found = self.found
        if not isinstance(found, Extension) or len(self.wanted) == len(found.proposals):
            return found
        return self.choosing.answer if self.choosing.answered == (found, self.wanted) else None

    def open_result(self, name: str) -> None:
        assert self.exporting.answered is not None
        assert self.searching.answered is not None
        assert self.vocabulary is not None
        folder, found, in_unused, _ = self.exporting.answered
        _, _, domain, *_ = self.searching.answered
        tokenizer = found.pruned() if isinstance(found, Pruning) else found.extended(in_unused=in_unused)
        result = AdaptableVocabulary(tokenizer, name, path=str(folder))
        if domain == self.present_corpus:
            origin = self._session.origin(is_wanted=True)
        else:
            first = next(iter(domain.files), "")
            origin = RunOrigin(is_wanted=True, corpus_name=Path(first if isinstance(first, str) else first.path).name)
        self.opening.run(self.vocabulary, result, domain, origin)

    def _take_runs(self, runs: list[Run]) -> None:
        assert self.opening.answered is not None
        vocabulary, result, *_ = self.opening.answered
        self.opening.forget()
        if not runs:
            self._session.figures.open([each.path for each in (vocabulary, result) if each.path])
            self.compared.emit()
            return
        shown = self._session.runs
        original = vocabulary.run if vocabulary.run in shown.all else runs[0]
        for run in runs:
            shown.add(run)
        shown.set_compared(original, True)


def opened_runs(
    original: AdaptableVocabulary, result: AdaptableVocabulary, domain: TextToAdapt, origin: RunOrigin, *,
    should_stop: Callable[[], bool],
) -> list[Run]:  # fmt: skip
    """Return the result as a run, after the original if this is no run yet; nothing if it cannot be one.

    Its words are those of the original run, or else of the domain.
    """
    if original.run is not None:
        counts, origin, opened = original.run.counts, replace(original.run.origin, is_wanted=True), [result]
    else:
        pipeline, opened = result.tokenizer.pipeline, [original, result]
        steps: dict[str, Any] = {"should_stop": should_stop}
        steps |= {"normalizer": pipeline.normalizer, "pre_tokenizer": pipeline.pre_tokenizer}
        counts = count_words(domain.files, **steps) if domain.files else count_texts([domain.text], **steps)
    origin = replace(origin, corpus=None)  # it was not trained on it, and must not be trained anew on a part of it
    runs = [run for each in opened if (run := _as_run(each, counts, origin)) is not None]
    return runs if len(runs) == len(opened) else []


def _as_run(adapted: AdaptableVocabulary, counts: WordCounts, origin: RunOrigin) -> Run | None:
    """Return a vocabulary as a run without steps; None if its special tokens do not come first, as those of runs do."""
    file, vocabulary = Path(adapted.path) / TOKENIZER_FILE, adapted.tokenizer.vocabulary
    special, tokens = tuple(vocabulary.special_tokens), tuple(vocabulary.tokens)
    if not file.is_file() or tokens[: len(special)] != special:
        return None
    config = TrainingConfig(
        vocab_size=len(tokens), special_tokens=special, objective="count",
        continuing_subword_prefix=vocabulary.continuing_subword_prefix,
        **{role: getattr(vocabulary, role) for role in ROLES},
    )  # fmt: skip
    if config.vocabulary(tokens) != vocabulary:
        return None
    library_run = LibraryRun("tokenizers-wordpiece", config, counts, Learned("", tokens), file.read_bytes())
    library = library_run.tokenizer()
    return Run(
        counts, config, LibraryHistory(library_run, counts, library), stop_reason="peer", origin=origin, saved_merges=0,
        name=adapted.name, library_run=library_run, library=library,
    )  # fmt: skip
