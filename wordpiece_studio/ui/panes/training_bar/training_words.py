"""What the training bar says about a run that is not in progress and while the fast engine is prepared; what it asks.

It asks whether merges may be discarded, and to what size to train further.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtWidgets import QDialogButtonBox, QFormLayout, QSpinBox, QWidget

from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.ui.widgets.plain import plain_label
from wordpiece_studio.ui.widgets.screen_room import QuestionDialog
from wordpiece_studio.ui.widgets.token_text import merges_text, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.session import Changes, Session
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.forecast import Notice

_tr = partial(QCoreApplication.translate, "training_words")
_READY_MS = 4000


def outcome_words(model: TrainerModel) -> str:
    """Return the outcome of training: tokens, merges, and why it ended; empty if nothing was trained."""
    return _outcome_forms(model)[0]


def _outcome_forms(model: TrainerModel) -> tuple[str, ...]:
    """Return `outcome_words`, and shorter forms of them."""
    if model.history is None:
        return ("",)
    progress = model.progress
    library_run = None if model.run is None else model.run.library_run
    wanted = None if library_run is None else library_run.config.vocab_size
    size = size_words(progress.vocabulary_size, wanted if progress.vocabulary_size < (wanted or 0) else None)
    both = _joined(size, merges_text(progress.merges) if model.history.has_steps else "")
    return _joined(both, _reason_words(model)), both, size


def size_words(size: int, wanted: int | None) -> str:
    if wanted is None:
        return plural(size, "1 token", "{count} tokens").format(count=number_text(size))
    words = plural(wanted, "{size} of 1 token", "{size} of {wanted} tokens")
    return words.format(size=number_text(size), wanted=number_text(wanted))


def idle_words(session: Session, needs: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the message while no training is in progress, the full text and shorter forms; and more for its tooltip.

    `needs`: what the next run needs, and shorter forms, or nothing; if anything, it stands alone, because without it no
    one knows whether to start.
    """
    model, suggested = session.model, session.settings.suggestion.words
    changes = session.changes_since_run()
    if suggested:  # the user knows about those settings
        changes = dataclasses.replace(changes, settings=False)
    said = tuple(filter(None, (_changed_words(changes, model.origin.corpus_name), suggested)))
    if needs and (model.history is None or said):
        return needs, "\n".join(said)
    return (said[:1], "\n".join(said[1:])) if said else (_outcome_forms(model), "")


def _joined(*words: str) -> str:
    return " · ".join(filter(None, words))


def _reason_words(model: TrainerModel) -> str:
    config = model.config
    reasons = {
        "vocab_size": _tr("vocabulary size reached"),
        "no_pair": _tr("no pair left to merge"),
        "min_frequency": _tr("no pair reaches the minimum frequency of {count:,}").format(
            count=config.min_frequency if config else 0
        ),
        "min_value": _tr("no pair reaches the minimum merge score"),
        "max_merges": _tr("all requested merges done"),
        "max_seconds": _tr("time limit reached"),
        "user": _tr("stopped"),
        "peer": _tr("trained with another library"),
    }
    return reasons.get(model.stop_reason or "", "")


def why_not_further(model: TrainerModel) -> str:
    """Return why training further would learn nothing, and what to do; empty if it could learn something."""
    if model.config is None:
        return ""
    if model.run is not None and model.run.library_run is not None:
        return _tr("This run was trained with another library and cannot be continued here.")
    reasons = {
        "no_pair": _tr("No pair is left to merge: every word is already a single token."),
        "min_frequency": _tr(
            "No remaining pair reaches the minimum frequency of {count:,}. Lower “Min. frequency” and train again."
        ),
        "min_value": _tr("No remaining pair reaches the minimum merge score."),
    }
    return reasons.get(model.stop_reason or "", "").format(count=model.config.min_frequency)


def why_nothing_was_learned(model: TrainerModel) -> str:
    """Return why training ended without a single merge, and what to change; empty if it did not."""
    if model.merge_count or model.history is None or model.config is None or model.counts is None:
        return ""
    if model.stop_reason == "min_frequency":
        words = _tr("No merges: no pair reaches the minimum frequency of {count:,}. Lower “Min. frequency”.")
        return words.format(count=model.config.min_frequency)
    if model.stop_reason != "no_pair" or not model.history.is_whole:  # the words are still being read
        return ""
    chinese = bert_tables().chinese
    if any(ord(word[0]) in chinese for word in model.counts.words):
        return _tr("No merges: every word is a single character. BERT’s normalizer makes each Chinese character a "
                   "separate word; try the normalizer “BERT, cased, Chinese kept together”.")  # fmt: skip
    return _tr("No merges: every word is a single character, so there is no pair to merge.")


def why_no_words(counts: WordCounts) -> str:
    if not counts.skipped:
        return _tr("The corpus has no words. Type or open a text, then train.")
    first, number = counts.skipped[0], counts.statistics.skipped_words
    words = plural(
        number,
        "The only word in the corpus was left out because it is too long: line {line:,}, length {length:,}. Put spaces "
        "or line breaks between words.",
        "All {number:,} words in the corpus were left out because they are too long; the first: line {line:,}, length "
        "{length:,}. Put spaces or line breaks between words.",
    )
    return words.format(number=number, line=first.line, length=first.length)


def notice_words(notices: Sequence[Notice]) -> str:
    translate = QCoreApplication.translate
    return " ".join(translate("notices", notice.template).format(**notice.values) for notice in notices)


def _changed_words(changes: Changes, corpus_name: str) -> str:
    """Return what has changed since the current run, learned from the corpus of that name; empty if nothing has.

    If another corpus has been opened, only that matters.
    """
    settings = changes.pipeline or changes.settings
    if changes.is_other_corpus:
        return _tr("Merges are from “{name}”").format(name=corpus_name)
    if changes.corpus and not changes.is_edited:
        if settings:
            return _tr("Trained on a different text with different settings")
        return _tr("Trained on a different text")
    if changes.corpus and settings:
        return _tr("Corpus and settings changed since this run")
    if changes.corpus:
        return _tr("Corpus changed since this run")
    if settings:
        return _tr("Settings changed since this run")
    return ""


def further_note(changes: Changes, corpus_name: str) -> str:
    """Return what training the current run further does not take into account; empty if nothing."""
    if changes.is_other_corpus:
        note = _tr("This continues with the corpus “{name}”, not with the one open now.")
        return note.format(name=corpus_name)
    if changes.corpus:
        return _tr("This continues with the corpus as it was when the run began, not as it is now.")
    if changes.pipeline:
        return _tr("This continues with the words as they were when the run began, not with the normalizer and "
                   "pre-tokenizer chosen now.")  # fmt: skip
    return _tr("This continues with the settings of the run, not with those chosen now.") if changes.rules else ""


class EngineNotice(QObject):
    """Turns the status of the warm-up into messages; if the engine was already compiled, there are none."""

    changed = Signal()
    """The message has changed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._forms: tuple[str, ...] = ()
        self._is_preparing = False
        self._timer = single_shot(self, self._say, _READY_MS)

    def take_status(self, status: str) -> None:
        """Take the status of the warm-up: "compiling", "loading", "ready" or "failed"."""
        if status == "compiling":
            self._is_preparing = True
            whole = self.tr("Preparing the fast engine (first start only)…")
            self._say(whole, self.tr("Preparing the fast engine…"))
        elif self._is_preparing and status != "loading":
            self._is_preparing = False
            if status == "ready":
                self._say(self.tr("The fast engine is ready"))
                self._timer.start()
            else:
                self._say()

    @property
    def waiting_words(self) -> str:
        return self._forms[-1] if self._is_preparing else self.tr("Getting ready…")

    def beside(self, *forms: str) -> tuple[str, ...]:
        """Return a text (full, then shorter forms) with the message about the engine before it."""
        if not self._forms:
            return forms
        both = (" · ".join(filter(None, (said, form))) for said in self._forms for form in forms)
        return tuple(dict.fromkeys((*both, *self._forms)))

    def _say(self, *forms: str) -> None:
        self._timer.stop()
        self._forms = forms
        self.changed.emit()


_LARGEST_SIZE = 10_000_000
_STEPS = (100, 200, 500, 1000, 2000, 5000, 8000, 10_000, 16_000, 20_000, 30_000, 50_000, 100_000)


class FurtherDialog(QuestionDialog):
    """Asks to what size the vocabulary should grow.

    Parameters
    ----------
    note
        What training further does not take into account; with it, there is a button to train again instead.
    """

    again_chosen = Signal()
    """The user prefers to train again."""

    def __init__(self, size: int, parent: QWidget | None = None, *, note: str = "") -> None:
        super().__init__(self.tr("Train further"), parent, entry="vocabulary")
        intro = plain_label(
            plural(
                size,
                "The vocabulary has 1 token. Everything learned so far is kept.",
                "The vocabulary has {size:,} tokens. Everything learned so far is kept.",
            ).format(size=size),
            self, role="caption", wrap=True,
        )  # fmt: skip
        self.size_box = QSpinBox(self)
        self.size_box.setRange(size + 1, max(size + 1, _LARGEST_SIZE))
        self.size_box.setGroupSeparatorShown(True)
        self.size_box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        self.size_box.setValue(next_size(size))
        self.size_box.setAccessibleName(self.tr("New vocabulary size"))
        self.size_box.selectAll()
        self.note = note
        form = QFormLayout()
        form.addRow(self.tr("New vocabulary size"), self.size_box)
        notes = [plain_label(note, self, wrap=True)] if note else []
        self.lay_out(intro, *notes, form, accept=self.tr("&Train further"), cancel=self.tr("&Cancel"))
        if note:
            again = self.buttons.addButton(self.tr("Train &again"), QDialogButtonBox.ButtonRole.ResetRole)
            again.clicked.connect(self.reject)
            again.clicked.connect(self.again_chosen)
        self.size_box.setFocus()


def next_size(size: int) -> int:
    """Return the size to offer after `size`: the next usual one, or a fifth more beyond those.

    >>> next_size(70), next_size(8000), next_size(200_000)
    (100, 10000, 240000)
    """
    return next((step for step in _STEPS if step > size * 1.1), size + max(1, size // 5))
