"""A finding of the linter: what it says, with numbers and examples, and the one thing that mends it, as plain data.

Not here: how anything is found (`linter`), and doing what mends it: a pipeline is chosen, a file read or a length set
by whoever shows the finding; `repairs` mends texts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
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
    """Choose another normalizer or pre-tokenizer; both are named, the one that stays too."""

    normalizer: str
    pre_tokenizer: str


@dataclass(frozen=True, slots=True)
class TextFix:
    """Change the text, by :func:`~wordpiece_studio.corpus.linter.repairs.repaired`."""

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

_FIXES: dict[str, type[Fix]] = {
    "pipeline": PipelineFix, "text": TextFix, "reading": ReadingFix, "length": LengthFix,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """Something in the corpus, what becomes of it now, and what becomes of it after the fix.

    Attributes
    ----------
    before
        As it is in the corpus; several things that become one and the same are joined by ``" / "``.
    after
        What it is to the trainer, words joined by ``" · "``; for damaged text, what it should be.
    source, line
        Where it is, if that is known: the file, and the line, from 1.
    """

    before: str
    after: str = ""
    source: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found.

    Attributes
    ----------
    kind
        What is the matter; there is at most one finding of a kind.
    severity
        ``"warning"``, or ``"note"`` for what concerns very little of the corpus.
    title_template
        A few words with ``{named}`` fields, so that a window can translate them; `title` has the values filled in.
    detail_templates
        Sentences that say how much is concerned and what else should be known, such as the price of the fix; as above.
    values
        The values of the fields of all templates.
    examples
        At most three.
    fix, fix_name
        What mends it, None if nothing does that can be offered here; and a few words for a button.
    is_sample
        Whether the numbers are those of a part of the corpus; else they are those of all of it.
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
        """A few words that say what is the matter."""
        return self._filled(self.title_template)

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences that say how much is concerned and what else should be known."""
        return tuple(map(self._filled, self.detail_templates))

    def __str__(self) -> str:
        details = ("In a sample:", *self.details) if self.is_sample and self.detail_templates else self.details
        return " ".join([f"{self.title}.", *details])

    def _filled(self, template: str) -> str:
        values = {name: printable(value) if isinstance(value, str) else value for name, value in self.values.items()}
        return template.format(**values)


def told(number: int, one: str, many: str) -> tuple[str, ...]:
    """Return the sentence for a number of things: none, `one` or `many`."""
    return () if not number else (one,) if number == 1 else (many,)


def fix_to(pipeline: Pipeline) -> PipelineFix:
    """Return the fix that chooses `pipeline`."""
    return PipelineFix(pipeline.normalizer.name, pipeline.pre_tokenizer.name)


def as_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as data that JSON can hold."""
    data = asdict(finding)
    if finding.fix is not None:
        data["fix"]["type"] = next(name for name, kind in _FIXES.items() if kind is type(finding.fix))
    return data


def from_data(data: dict[str, Any]) -> Finding:
    """Return the finding that `as_data` described."""
    fix = data["fix"]
    if fix is not None:
        fix = _FIXES[fix["type"]](**{name: value for name, value in fix.items() if name != "type"})
    examples = tuple(Example(**example) for example in data["examples"])
    details = tuple(data["detail_templates"])
    return Finding(**data | {"fix": fix, "examples": examples, "detail_templates": details})
