"""What is said about a training that has ended, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from wordpiece_studio.model.trainer_model import TrainerModel


def _tr(text: str) -> str:
    return QCoreApplication.translate("training_words", text)


def outcome_words(model: TrainerModel) -> str:
    """Return how the training stands: tokens, merges, and why it ended; empty if nothing was trained."""
    if model.history is None:
        return ""
    progress = model.progress
    result = _tr("{size:,} tokens, {merges:,} merges").format(size=progress.vocabulary_size, merges=progress.merges)
    reason = _reason_words(model)
    return f"{result} · {reason}" if reason else result


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


def why_nothing_was_learned(model: TrainerModel) -> str:
    """Return why a training ended without one merge and what to change; empty if it did not."""
    if model.merge_count or model.history is None or model.config is None:
        return ""
    reasons = {
        "no_pair": _tr("No merges: every word of the corpus is one symbol. BERT’s normalizer and pre-tokenizer make "
                       "each Chinese character a word of its own; try the normalizer “Unchanged”."),
        "min_frequency": _tr("No merges: no pair occurs {count:,} times. Lower “Min. pairs”."),
    }  # fmt: skip
    return reasons.get(model.stop_reason or "", "").format(count=model.config.min_frequency)


def changed_words(corpus: bool, settings: bool) -> str:
    """Return what the present run does not know yet; empty if it is up to date."""
    if corpus and settings:
        return _tr("corpus and settings changed since this training")
    if corpus:
        return _tr("corpus changed since this training")
    if settings:
        return _tr("settings changed since this training")
    return ""
