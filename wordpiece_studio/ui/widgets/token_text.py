"""How tokens, numbers, the reasons why a token is never used, and runs are written, the same way in every pane.

A token is shown as it is, never obeyed; only invisible characters are spelled out. Numbers are written as in English,
the language of all words: 29,792 and 0.05.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QPoint, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.system.printable import visible_character
from wordpiece_studio.training.config import RULES, TrainingConfig
from wordpiece_studio.training.engine import formula_of as formula_of
from wordpiece_studio.training.engine import fraction_text as fraction_text
from wordpiece_studio.training.engine import number_text as number_text
from wordpiece_studio.training.engine import value_text as value_text
from wordpiece_studio.ui.widgets.plain import shown
from wordpiece_studio.ui.widgets.theme import Theme, run_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.evaluation.differences import Pair
    from wordpiece_studio.evaluation.usage import DeadReason
    from wordpiece_studio.session.measuring import HeldOutFigure
    from wordpiece_studio.session.runs import ComparedStep, RunDivergence
    from wordpiece_studio.storage.project.contents import Run

_tr = partial(QCoreApplication.translate, "token_text")

_NAMES = {"\t": "⟨tab⟩", "\r": "⟨CR⟩", "\xa0": "⟨nbsp⟩", "\ufeff": "⟨BOM⟩", "\xad": "⟨shy⟩"}
DEAD_MARK = "†"


@lru_cache(maxsize=65536)
def token_text(token: str, limit: int = 60) -> str:
    r"""Return the text of a token for display.

    Invisible characters are spelled out, a combining mark without a letter gets a dotted circle to stand on,
    and a token of more than `limit` characters is cut.

    >>> token_text("##\u200b")
    '##⟨U+200B⟩'
    """
    if token.isascii() and token.isprintable():
        return shown(token, limit)
    count = len(token) if len(token) <= limit else limit - 1
    text = "".join(visible_character(token, index) for index in range(count))
    return text if count == len(token) else text + "…"


def line_text(line: str) -> str:
    r"""Return a line of text with invisible characters spelled out as in :func:`token_text`, the common ones by name.

    >>> line_text("a\tb\u200b")
    'a⟨tab⟩b⟨U+200B⟩'
    """
    if line.isascii() and line.isprintable():
        return line
    return "".join(_NAMES.get(character) or visible_character(line, index) for index, character in enumerate(line))


def signed_text(change: int) -> str:
    return f"−{number_text(-change)}" if change < 0 else f"+{number_text(change)}" if change else "±0"


def dead_words(reason: DeadReason) -> str:
    templates = {
        "merged": plural(
            reason.merges,
            "All merged into {token} at step {step}",
            "Merged into {merges} others, the last being {token} at step {step}",
        ),
        "covered": _tr("“{word}” uses {token} instead"),
        "unknown": _tr("“{word}” is unknown"),
        "absent": _tr("In no word"),
    }
    return _filled(templates[reason.kind], reason)


def dead_sentence(reason: DeadReason, spelled: int | None = None) -> str:
    """Return the reason in sentences; `spelled` is how many distinct words contain the token, if known."""
    templates = {
        "merged": plural(
            reason.merges,
            "Unused: an intermediate token. Every occurrence was merged into {token} at step {step}, as in “{word}”.",
            "Unused: an intermediate token. {merges} merges absorbed every occurrence; the last created {token} at "
            "step {step}, as in “{word}”.",
        ),
        "covered": _tr("Unused: in “{word}”, longest match takes {token}, created at step {step}, instead."),
        "unknown": _tr("Unused: “{word}”, which contains it, is unknown as a whole."),
        "absent": _tr("Unused: no word in the corpus contains it where it could match."),
    }
    if reason.kind == "covered" and not reason.step:
        templates["covered"] = _tr("Unused: in “{word}”, longest match takes {token}, from the alphabet, instead.")
        if reason.is_required:
            templates["covered"] = _tr("Unused: in “{word}”, longest match takes {token}, which is required, instead.")
    sentence = _filled(templates[reason.kind], reason)
    if not spelled:
        return sentence
    more = counted(
        spelled,
        "One word contains it; longest match splits that word differently.",
        "{count} words contain it; longest match splits all of them differently.",
    )
    return f"{sentence} {more}"


def _filled(template: str, reason: DeadReason) -> str:
    word, token = token_text(reason.word, 40), token_text(reason.token)
    return filled(template, word=word, token=token, step=reason.step, merges=reason.merges)


def held_out_text(figure: HeldOutFigure) -> str:
    """Return tokens per word; with the share of unknown tokens if that makes them seem fewer."""
    rate = value_text(figure.rate)
    if not figure.loses_text:
        return rate
    return _tr("{rate} ({share} unknown)").format(rate=rate, share=f"{figure.unknown:.1%}")


_NORMALIZERS = (
    "bert-cased", "bert-uncased", "bert-uncased:keep-accents", "bert-cased:keep-chinese", "language-friendly",
    "language-friendly:keep-chinese", "lowercase", "nfc", "nfkc", "none",
)  # fmt: skip
_LINE = QPoint(0, 3)  # below the disc
_PRE_TOKENIZERS = (
    "bert", "bert+digits-single", "whitespace", "whitespace-split", "unicode-punctuation", "byte-level",
    "whitespace-split+byte-level",
)  # fmt: skip


def run_names(runs: Sequence[Run], last: float = math.inf) -> dict[Run, str]:
    """Return the name of each run: the user's, or its objective or library, and what differs from others of these.

    Of merges chosen for steps after the `last` one, nothing is said.
    """
    features = {run: [_rules(run, last), *(say(run) for say in _FEATURES)] for run in runs}
    names = {}
    for run in runs:
        learned_by = _learned_by(run)
        alike = [said for each, said in features.items() if _learned_by(each) == learned_by]
        differing = [said[0] for said in zip(features[run], *alike, strict=True) if len(set(said)) > 1]
        names[run] = run.name or " · ".join([learned_by, *differing])
    return names


@dataclass(frozen=True, slots=True)
class TrainingRule:
    """One of what is required, forbidden or chosen for a training: an item of the setting `name`."""

    name: str
    item: Any
    text: str
    tip: str


def rules_of(config: TrainingConfig, last: float = math.inf) -> Iterator[TrainingRule]:
    """Yield the rules of a training, without merges chosen for steps after the `last` one."""
    words: dict[str, tuple[str, str]] = {
        "required_tokens": (
            _tr("Require {0}"), _tr("{0} is in the vocabulary from the start, for longest match to use."),
        ),
        "forbidden_tokens": (_tr("Never {0}"), _tr("No pair that would become {0} is a candidate.")),
        "forbidden_pairs": (_tr("Never {0} + {1}"), _tr("The pair {0} + {1} is not a candidate.")),
        "chosen_merges": (
            _tr("Step {0}: {1} + {2}"), _tr("At step {0}, {1} + {2} are merged instead of the best pair."),
        ),
    }  # fmt: skip
    if config.base_merges:
        number = len(config.base_merges)
        yield TrainingRule(
            "base_merges", None, counted(number, "Continues after 1 merge", "Continues after {count} merges"),
            counted(number, "The merge of another run is replayed on the text first.",
                    "The {count} merges of another run are replayed on the text first."),
        )  # fmt: skip
    for name, (text, tip) in words.items():
        for item in getattr(config, name):
            if name == "chosen_merges" and item[0] > last:
                continue
            parts = item if isinstance(item, tuple) else (item,)
            said = [number_text(part) if isinstance(part, int) else token_text(part, 20) for part in parts]
            yield TrainingRule(name, item, text.format(*said), tip.format(*said))


def objective_name(objective: str) -> str:
    return {"likelihood": _tr("Likelihood"), "score": _tr("Score"), "count": _tr("Count")}[objective]


def library_trainer_name(trainer: str) -> str:
    library, kind = trainer.split("-")
    kind = {"wordpiece": "WordPiece", "bpe": "BPE", "unigram": "Unigram"}[kind]
    name = {"tokenizers": "tokenizers", "sentencepiece": "SentencePiece"}[library]
    return _tr("{kind} ({library})").format(kind=kind, library=name)


def badges_text(run: Run, merges: int) -> str:
    """Return its merges, or ``"final only"`` without steps, and whether its library does not always learn the same."""
    text = merges_text(merges) if run.history.has_steps else _tr("final only")
    repetition = None if run.library_run is None else run.library_run.repetition
    return text if repetition is None or repetition.is_same else " · ".join((text, _tr("results vary")))


def repetition_text(run: Run) -> str:
    """Return what differed when its library trained twice; empty if it trained once."""
    repetition = None if run.library_run is None else run.library_run.repetition
    if repetition is None:
        return ""
    if repetition.is_same:
        return _tr("Trained twice, with the same result.")
    text = _tr("Trained twice, with different results. Tokens in only one vocabulary: {tokens}; others with a "
               "different ID: {ids}, with a different score: {scores}.")  # fmt: skip
    return filled(text, tokens=repetition.tokens, ids=repetition.ids, scores=repetition.scores)


def step_name(compared: ComparedStep, names: Mapping[Run, str]) -> str:
    note = compared.bookmark
    if compared.is_longest_first:
        return _tr("longest token first")
    return names[compared.run] if note is None else f"@{number_text(note.step)} {note.text}"


def where_text(compared: ComparedStep) -> str:
    run = compared.run
    if not run.history.has_steps:
        return run.letter
    return _tr("{letter} at step {step}").format(letter=run.letter, step=number_text(compared.step))


def divergence_words(found: RunDivergence) -> tuple[str, int | None, str, str]:
    """Return the runs, the step at which they diverge, and what each does there; or why there is no such step."""
    shown, other, apart = found.shown, found.other, found.divergence
    runs = _tr("{first} and {second}").format(first=shown.letter, second=other.letter)
    if not found.is_known:
        unknown = other if shown.history.has_steps else shown
        return runs, None, _tr("Merges of {run} not available").format(run=unknown.letter), ""
    if apart is None:
        return runs, None, _tr("The same merges"), ""
    tie = _tr(" (tie)") if apart.is_tie else ""
    return runs, apart.step, _side(shown.letter, apart.first), _side(other.letter, apart.second) + tie


def _side(letter: str, pair: Pair | None) -> str:
    if pair is None:
        return _tr("{run} ends").format(run=letter)
    return _tr("{run} merges {pair}").format(run=letter, pair=" + ".join(token_text(each, 20) for each in pair))


def merges_text(merges: int) -> str:
    return counted(merges, "1 merge", "{count} merges")


def duration(seconds: float) -> str:
    """Return a time span in short form.

    >>> duration(0.2), duration(75), duration(7300)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return _tr("{seconds} s").format(seconds=whole)
    if whole < 3600:
        return _tr("{minutes} min {seconds} s").format(minutes=whole // 60, seconds=whole % 60)
    return _tr("{hours} h {minutes} min").format(hours=whole // 3600, minutes=whole % 3600 // 60)


def paint_run_disc(painter: QPainter, run: Run, disc: QRectF, theme: Theme, font: QFont) -> None:
    color = theme.run_color(run.color)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawEllipse(disc)
    painter.setPen(theme.run_ink(run.color))
    font.setBold(True)
    font.setPixelSize(max(int(disc.height() * (0.62 if len(run.letter) == 1 else 0.45)), 1))
    painter.setFont(font)
    painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, run.letter)
    painter.setPen(QPen(color, 2, run_line(run.color), Qt.PenCapStyle.FlatCap))
    painter.drawLine(disc.bottomLeft().toPoint() + _LINE, disc.bottomRight().toPoint() + _LINE)


def _learned_by(run: Run) -> str:
    if run.library_run is None:
        return objective_name(run.config.objective)
    name = library_trainer_name(run.library_run.trainer)
    return _tr("{name}, trained on words").format(name=name) if run.library_run.is_of_words else name


def _special_tokens(run: Run) -> str:
    number = len(run.config.special_tokens)
    return counted(number, "1 special token", "{count} special tokens") if number else _tr("no special tokens")


def _size(run: Run) -> str:
    size = run.config.vocab_size
    return _tr("no size limit") if size is None else _tr("size {size}").format(size=number_text(size))


def pipeline_text(steps: WordCounts) -> str:
    words = _tr("normalizer {normalizer}, pre-tokenizer {pre_tokenizer}")
    return words.format(normalizer=steps.normalizer.name, pre_tokenizer=steps.pre_tokenizer.name)


def _rules(run: Run, last: float) -> str:
    number = sum(len(getattr(run.config, name)) for name in RULES)
    number -= sum(step > last for step, *_ in run.config.chosen_merges)
    if number > 1:
        return counted(number, "1 rule", "{count} rules")
    return next((rule.text for rule in rules_of(run.config, last)), _tr("no rules"))


_FEATURES: tuple[Callable[[Run], str], ...] = (
    _size,
    lambda run: _tr("min. frequency {count}").format(count=number_text(run.config.min_frequency)),
    _special_tokens,
    lambda run: name if (name := run.counts.normalizer.name) in _NORMALIZERS else _tr("other normalizer"),
    lambda run: name if (name := run.counts.pre_tokenizer.name) in _PRE_TOKENIZERS else _tr("other pre-tokenizer"),
    lambda run: run.origin.corpus_name,
    lambda run: counted(run.counts.total, "1 word", "{count} words"),
)


_JAMO = re.compile("[\u1100-\u11ff](?=[\u1100-\u11ff])")


def jamo_apart(text: str) -> str:
    """Return the text with a thin space between Hangul letters that a font would draw as one syllable.

    >>> jamo_apart("\u1112\u1161\u11ab") == "\u1112\u2009\u1161\u2009\u11ab"
    True
    """
    return _JAMO.sub("\\g<0>\u2009", text) if not text.isascii() else text
