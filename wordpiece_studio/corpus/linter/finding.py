"""A finding of the linter: its text with numbers and examples, and the one fix that helps, as plain data.

Also here: which other pipelines to try as a fix, by name, those that change the present one least first; each check
tries them itself. Not here: the checks (`linter`), and applying a fix: choosing a pipeline, reading a file or setting a
length is up to whoever shows the finding; `linter` repairs texts.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.normalizers import BertNormalizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.text.pipeline import Pipeline


FindingKind = Literal[
    "lost-marks",
    "jamo",
    "characters-alone",
    "mojibake",
    "twins",
    "invisible",
    "long-words",
    "long-line",
    "word-counts",
    "left-out",
]
Severity = Literal["warning", "note"]
Repair = Literal["decode-again", "remove-invisible", "remove-long-words", "wrap-lines"]


@dataclass(frozen=True, slots=True)
class PipelineFix:
    """Choose another normalizer or pre-tokenizer; both are given, including the one that stays."""

    normalizer: str
    pre_tokenizer: str


@dataclass(frozen=True, slots=True)
class TextFix:
    """Change the text, by :func:`~wordpiece_studio.corpus.linter.linter.repaired`."""

    repair: Repair


@dataclass(frozen=True, slots=True)
class ReadingFix:
    """Read a file in another encoding."""

    path: str
    encoding: str


@dataclass(frozen=True, slots=True)
class LengthFix:
    """Leave out words of more characters than this."""

    max_word_length: int


Fix = PipelineFix | TextFix | ReadingFix | LengthFix


@dataclass(frozen=True, slots=True)
class Example:
    """Something in the corpus, and what it becomes or should be.

    Attributes
    ----------
    before
        As it is in the corpus; several things that become the same are joined by ``" / "``.
    after
        What the trainer sees, words joined by ``" · "``; for damaged text, what it should be.
    source, line
        Where it is, if known: the file, and the line, from 1.
    """

    before: str
    after: str = ""
    source: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that was found.

    Attributes
    ----------
    kind
        The kind of problem; there is at most one finding of each kind.
    severity
        ``"warning"``, or ``"note"`` if very little of the corpus is affected.
    title_template
        A few words with ``{named}`` fields, so that a window can translate them; `title` has the values filled in.
    detail_templates
        Sentences that say how much is affected and what else to know, such as the cost of the fix; as above.
    values
        The values of the fields of all templates.
    examples
        At most three.
    fix, fix_name
        The fix, None if none can be offered here; and a few words for its button.
    is_sample
        Whether the numbers are for a part of the corpus rather than all of it.
    """

    kind: FindingKind
    severity: Severity
    title_template: str
    detail_templates: tuple[str, ...]
    values: dict[str, int | str]
    examples: tuple[Example, ...] = ()
    fix: Fix | None = None
    fix_name: str = ""
    is_sample: bool = False

    @property
    def title(self) -> str:
        """A few words that name the problem."""
        return self._filled(self.title_template)

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences that say how much is affected and what else to know."""
        return tuple(map(self._filled, self.detail_templates))

    @property
    def count(self) -> int:
        """How many words, places, files or lines have the problem."""
        return (
            sum(int(self.values.get(name, 0)) for name in ("occurrences", "left_out", "places", "lost", "files")) or 1
        )

    def __str__(self) -> str:
        details = ("In a sample:", *self.details) if self.is_sample and self.detail_templates else self.details
        return " ".join([f"{self.title}.", *details])

    def _filled(self, template: str) -> str:
        values = {name: printable(value) if isinstance(value, str) else value for name, value in self.values.items()}
        return template.format(**values)


def plural(number: int, one: str, many: str) -> tuple[str, ...]:
    """Return the sentence for `number` things: `one` or `many`, or no sentence for 0."""
    return () if not number else (one,) if number == 1 else (many,)


def fix_to(pipeline: Pipeline) -> PipelineFix:
    """Return the fix that chooses `pipeline`."""
    return PipelineFix(pipeline.normalizer.name, pipeline.pre_tokenizer.name)


_FRIENDLY, _FRIENDLY_TOGETHER = "language-friendly", "language-friendly:keep-chinese"

_COMPOSED = {"nfd": "nfc", "nfkd": "nfkc"}


def keeping_marks(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines that keep letters whole, with their accents."""
    present = pipeline.normalizer.name
    kept = _with_steps(present, _keeping_marks)
    friendly = _FRIENDLY_TOGETHER if _keeps_chinese(present) else _FRIENDLY
    for name in (kept, f"{kept}+nfc", friendly):
        yield name, pipeline.pre_tokenizer.name


def composed(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines in which the two normal forms of a word become one."""
    present = pipeline.normalizer.name
    steps = _with_steps(present, lambda step: _COMPOSED.get(step, step))
    for name in ("nfc" if present == "none" else f"nfc+{present}", steps, f"{steps}+nfc"):
        yield name, pipeline.pre_tokenizer.name


def keeping_together(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines that do not make each character a word."""
    present, cut = pipeline.normalizer.name, pipeline.pre_tokenizer.name
    kept = _with_steps(present, _keeping_chinese)
    yield from ((kept, cut), (present, "bert"), (kept, "bert"))


def cleaned(pipeline: Pipeline, characters: str) -> Iterator[tuple[str, str]]:
    """Yield pipelines that remove invisible characters."""
    present = pipeline.normalizer.name
    removing = f"remove:{characters}"
    for name in (_with_steps(present, _cleaning), removing if present == "none" else f"{removing}+{present}"):
        yield name, pipeline.pre_tokenizer.name


def cut_shorter(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines that split a text in more places."""
    yield pipeline.normalizer.name, "bert"


def _with_steps(name: str, change: Callable[[str], str]) -> str:
    """Return the name of a normalizer with each step changed; an empty one is left out."""
    steps = [change(step) for step in name.split("+")]
    return "+".join(step for step in steps if step) or "none"


def _keeping_marks(step: str) -> str:
    if step == "strip-accents":
        return ""
    bert = _bert(step)
    if bert is None:
        return _COMPOSED.get(step, step)
    strips = bert.lowercase if bert.strip_accents is None else bert.strip_accents
    return replace(bert, strip_accents=False).name if strips else step


def _keeping_chinese(step: str) -> str:
    if step == _FRIENDLY:
        return _FRIENDLY_TOGETHER
    bert = _bert(step)
    return step if bert is None else replace(bert, handle_chinese_chars=False).name


def _cleaning(step: str) -> str:
    bert = _bert(step)
    return step if bert is None else replace(bert, clean_text=True).name


def _keeps_chinese(name: str) -> bool:
    steps = name.split("+")
    return _FRIENDLY not in steps and all(bert is None or not bert.handle_chinese_chars for bert in map(_bert, steps))


def _bert(step: str) -> BertNormalizer | None:
    with suppress(ValueError):
        return BertNormalizer.from_name(step)
    return None
