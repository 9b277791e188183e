"""What the training bar says in words: of a run that is not under way, and of the fast engine while it is prepared."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from wordpiece_studio.text.character_tables import bert_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.notices import Notice
    from wordpiece_studio.ui.panes.training_bar.run_record import Changes, RunRecord

_READY_MS = 4000


def _tr(text: str) -> str:
    return QCoreApplication.translate("training_words", text)


def outcome_words(model: TrainerModel) -> str:
    """Return how the training stands: tokens, merges, and why it ended; empty if nothing was trained."""
    return _outcome_forms(model)[0]


def _outcome_forms(model: TrainerModel) -> tuple[str, ...]:
    """Return `outcome_words`, and shorter forms of them."""
    if model.history is None:
        return ("",)
    progress = model.progress
    size = _tr("{size:,} tokens").format(size=progress.vocabulary_size)
    both = f"{size}, {_merges_words(progress.merges)}"
    return _joined(both, _reason_words(model)), both, size


def idle_words(model: TrainerModel, record: RunRecord, proposed: str, needs: tuple[str, ...]) -> tuple[str, ...]:
    """Return what there is to say while nothing trains, the whole and then shorter forms of it.

    `proposed` is said of the settings, or empty; `needs`, what the next training needs, and the same shorter; or none.
    It comes first: without it no one knows whether to begin.
    """
    changes = record.changes()
    if proposed:  # the user knows of those settings
        changes = dataclasses.replace(changes, settings=False)
    changed = _changed_words(changes, record.corpus_name)
    said = _joined(changed, proposed)
    if not needs or (model.history is not None and not said):
        return (said,) if said else _outcome_forms(model)
    short = _joined(changed, _tr("suggested") if proposed else "")
    *longer, brief, briefest = needs
    forms = (
        *(_joined(need, said) for need in longer), *(_joined(need, short) for need in (*longer, brief)),
        _joined(brief, changed), *longer, brief, briefest,
    )  # fmt: skip
    return tuple(dict.fromkeys(forms))


def _joined(*words: str) -> str:
    return " · ".join(filter(None, words))


def _merges_words(merges: int) -> str:
    """Return ``"1 merge"``, ``"2 merges"``, and so on."""
    return _tr("1 merge") if merges == 1 else _tr("{merges:,} merges").format(merges=merges)


def _reason_words(model: TrainerModel) -> str:
    config = model.config
    reasons = {
        "vocab_size": _tr("size reached"),
        "no_pair": _tr("no pair is left to merge"),
        "min_frequency": _tr("no pair occurs {count:,} times").format(count=config.min_frequency if config else 0),
        "min_value": _tr("no pair is as good as asked for"),
        "max_merges": _tr("all merges asked for"),
        "max_seconds": _tr("the time is over"),
        "user": _tr("stopped, and kept"),
    }
    return reasons.get(model.stop_reason or "", "")


def why_not_further(model: TrainerModel) -> str:
    """Return why training further would learn nothing, and what to do; empty if it may learn something."""
    if model.config is None:
        return ""
    reasons = {
        "no_pair": _tr("No pair is left to merge: every word is one token already."),
        "min_frequency": _tr("No pair occurs {count:,} times any more. Lower “Min. pairs” and train again."),
        "min_value": _tr("No pair is as good as asked for any more."),
    }
    return reasons.get(model.stop_reason or "", "").format(count=model.config.min_frequency)


def why_nothing_was_learned(model: TrainerModel) -> str:
    """Return why a training ended without one merge and what to change; empty if it did not."""
    if model.merge_count or model.history is None or model.config is None or model.counts is None:
        return ""
    if model.stop_reason == "min_frequency":
        words = _tr("No merges: no pair occurs {count:,} times. Lower “Min. pairs”.")
        return words.format(count=model.config.min_frequency)
    if model.stop_reason != "no_pair" or not model.history.is_whole:  # the words are still being read
        return ""
    chinese = bert_tables().chinese
    if any(ord(word[0]) in chinese for word in model.counts.words):
        return _tr("No merges: every word is a single character. BERT’s normalizer makes each Chinese character a "
                   "word of its own; try the normalizer “BERT, cased, Chinese kept together”.")  # fmt: skip
    return _tr("No merges: every word is a single character, so there is no pair to merge.")


def why_no_words(counts: WordCounts) -> str:
    """Return why there is nothing to train on, and what to do."""
    if not counts.skipped:
        return _tr("The corpus holds no words. Type or open a text, and train then.")
    first, number = counts.skipped[0], counts.statistics.skipped_words
    if number == 1:
        words = _tr("The only word of the corpus was left out as too long: in line {line:,}, {length:,} characters. "
                    "Put spaces or line breaks between its words.")  # fmt: skip
    else:
        words = _tr("All {number:,} words of the corpus were left out as too long; the first is in line {line:,} and "
                    "has {length:,} characters. Put spaces or line breaks between the words.")  # fmt: skip
    return words.format(number=number, line=first.line, length=first.length)


def notice_words(notices: Sequence[Notice]) -> str:
    """Return what is unusual about the corpus; empty if nothing is."""
    return " ".join(_translated(notice.template).format(**notice.values) for notice in notices)


def _translated(template: str) -> str:
    return QCoreApplication.translate("notices", template)


def _changed_words(changes: Changes, corpus_name: str) -> str:
    """Return what the present run, learned from the corpus of that name, does not know yet; empty if it is up to date.

    After another corpus was opened that one matters, not what else was changed for it.
    """
    settings = changes.pipeline or changes.settings
    if changes.is_other_corpus:
        return _tr("the merges are those of “{name}”").format(name=corpus_name)
    if changes.corpus and settings:
        return _tr("corpus and settings changed since this training")
    if changes.corpus:
        return _tr("corpus changed since this training")
    if settings:
        return _tr("settings changed since this training")
    return ""


def further_note(changes: Changes, corpus_name: str) -> str:
    """Return what going on with the present run does not take into account; empty if it takes all."""
    if changes.is_other_corpus:
        note = _tr("It goes on with the corpus “{name}”, not with the one that is open now.")
        return note.format(name=corpus_name)
    if changes.corpus:
        return _tr("It goes on with the corpus as it was when this training began, without the changes since.")
    if changes.pipeline:
        return _tr("It goes on with the words as they were when this training began, not with the normalizer and "
                   "pre-tokenizer chosen now.")  # fmt: skip
    return _tr("It goes on with the settings of this training, not with those chosen now.") if changes.rules else ""


class EngineNotice(QObject):
    """Turns the status of the warm-up into words; where the engine was there already it says nothing."""

    changed = Signal()
    """There is something else to say."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._forms: tuple[str, ...] = ()
        self._is_preparing = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_READY_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def take_status(self, status: str) -> None:
        """Note the status of the warm-up: "compiling", "loading", "ready" or "failed"."""
        if status == "compiling":
            self._is_preparing = True
            whole = self.tr("Preparing the fast engine (only at the first start)…")
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
        """What is said of a training that has not begun yet."""
        return self._forms[-1] if self._is_preparing else self.tr("Getting ready…")

    def beside(self, *forms: str) -> tuple[str, ...]:
        """Return a text, given whole and then in shorter forms, with what there is to say of the engine before it."""
        if not self._forms:
            return forms
        both = (" · ".join(filter(None, (said, form))) for said in self._forms for form in forms)
        return tuple(dict.fromkeys((*both, *self._forms)))

    def _say(self, *forms: str) -> None:
        self._timer.stop()
        self._forms = forms
        self.changed.emit()

    def _on_timer_timeout(self) -> None:
        self._say()
