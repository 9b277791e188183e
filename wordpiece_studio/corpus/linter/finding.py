"""What the linter examines, and what it finds: a text with numbers and examples, and the one fix that helps.

Examined are a bounded sample of the raw text, and the words of the whole corpus with their counts. Applying a fix is up
to whoever shows the finding; `linter` repairs texts.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.corpus.files import CorpusFile, FileOnDisk, compression_in, reading
from wordpiece_studio.corpus.inspection import preview
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wordpiece_studio.corpus.counts import WordCounts

FindingKind = Literal[
    "lost-marks", "jamo", "characters-alone", "mojibake", "twins", "invisible", "long-words", "long-line",
    "word-counts", "left-out",
]  # fmt: skip
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
    path: str
    encoding: str


@dataclass(frozen=True, slots=True)
class LengthFix:
    max_word_length: int


Fix = PipelineFix | TextFix | ReadingFix | LengthFix


@dataclass(frozen=True, slots=True)
class Example:
    before: str  # several things that become the same are joined by " / "
    after: str = ""  # what the trainer sees, words joined by " · "; for damaged text, what it should be
    source: str = ""  # the file, if known
    line: int | None = None  # from 1


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
        names = ("occurrences", "left_out", "places", "lost", "files")
        return sum(int(self.values.get(name, 0)) for name in names) or 1

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
    return PipelineFix(pipeline.normalizer.name, pipeline.pre_tokenizer.name)


# -- what is examined

LARGEST_SAMPLE = 2_000_000  # characters of a text that are examined
LARGEST_SAMPLE_OF_FILES = 1_000_000  # bytes of files that are examined

# For all files together, and for one file at most: numbering the lines of a part means reading all before it.
_PARTS, _PLACES = 64, 16
_FEW_STRETCHES = 3000


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str
    source: str = ""
    first_line: int | None = 1


@dataclass(frozen=True, slots=True)
class CorpusSample:
    """The part of the raw text that is examined: stretches that begin and end where words do.

    It is editable unless it is read from files. The longest line is that of all the text, whose `characters` count.
    """

    parts: tuple[TextPart, ...]
    is_whole: bool = True
    is_editable: bool = False
    longest_line: int = 0
    characters: int = 0
    files: tuple[CorpusFile, ...] = ()


def sample_of_text(text: str, largest: int = LARGEST_SAMPLE) -> CorpusSample:
    """Return the text, or evenly spaced parts of it that together have about `largest` characters."""
    line_length = max(map(len, text.split("\n")))
    if len(text) <= largest:
        return CorpusSample((TextPart(text),), True, True, line_length, len(text))
    size = largest // _PARTS
    parts: list[TextPart] = []
    end, line = 0, 1
    for number in range(_PARTS):
        start = _after_blank(text, max(number * len(text) // _PARTS, end), end)
        line += text.count("\n", end, start)
        end = _after_blank(text, min(start + size, len(text)), start + size)
        parts.append(TextPart(text[start:end], first_line=line))
        line += text.count("\n", start, end)
    return CorpusSample(tuple(parts), False, True, line_length, len(text))


def sample_of_texts(texts: Iterable[str], largest: int = LARGEST_SAMPLE) -> CorpusSample:
    parts: list[TextPart] = []
    taken = 0
    is_whole = True
    for number, text in enumerate(texts, start=1):
        if taken >= largest:
            is_whole = False
            break
        part = sample_of_text(text, largest - taken)
        is_whole = is_whole and part.is_whole
        parts += [TextPart(each.text, f"text {number}", each.first_line) for each in part.parts]
        taken += sum(len(each.text) for each in part.parts)
    return _measured(parts, is_whole, ())


def sample_of_files(files: Sequence[CorpusFile], largest: int = LARGEST_SAMPLE_OF_FILES) -> CorpusSample:
    """Return small files whole, and evenly spaced parts of others, together about `largest` bytes.

    Of many files some are evenly chosen, of compressed ones the beginning. Unreadable ones and word counts are skipped.
    """
    texts = [file for file in files if file.kind != "word-counts" and not file.unagreed]
    chosen = [texts[number * len(texts) // _PARTS] for number in range(_PARTS)] if len(texts) > _PARTS else texts
    are_small = sum(map(_size_of, chosen)) <= largest
    places = 1 if are_small else max(1, min(_PLACES, _PARTS // max(1, len(chosen))))
    size = largest if are_small else largest // (places * len(chosen))
    parts: list[TextPart] = []
    is_whole = len(chosen) == len(files)
    for file in chosen:
        try:
            found, is_all = _parts_of_file(file, places, size)
        except StudioError:
            is_whole = False
        else:
            parts += found
            is_whole = is_whole and is_all
    return _measured(parts, is_whole, tuple(chosen))


def _parts_of_file(file: CorpusFile, places: int, size: int) -> tuple[list[TextPart], bool]:
    """Return parts of a file of about `size` bytes each, and whether they are all of it."""
    with reading(file.path) as content:
        is_compressed = compression_in(content) is not None
    if is_compressed:  # a later part can be read only through everything before it
        places, size = 1, places * size
    parts: list[TextPart] = []
    end, total, is_all = 0, 1, True
    for number in range(places):
        seen = preview(file, max(end, number * total // places), size)
        text = seen.text.replace("\0", "\ufffd")  # as reading replaces it
        # A very long line may be cut inside a character.
        text = text.lstrip("\ufffd") if seen.start else text
        text = text.rstrip("\ufffd") if seen.end < seen.total else text
        parts.append(TextPart(text, file.path, seen.first_line))
        is_all = is_all and seen.start <= end
        end, total = seen.end, seen.total
        if end >= total:
            break
    return parts, is_all and end >= total


def _size_of(file: CorpusFile) -> int:
    with suppress(StudioError):
        return FileOnDisk(file.path).size
    return 0


@dataclass
class Evidence:
    """A sample and the word counts of the whole corpus from a pipeline, with what several checks need from them."""

    sample: CorpusSample
    counts: WordCounts
    pipeline: Pipeline

    @cached_property
    def stretches(self) -> Counter[str]:
        """The distinct stretches of the sample that are split into words independently, and how often each occurs."""
        found: Counter[str] = Counter()
        for part in self.sample.parts:
            text = part.text
            found.update(text.replace("\n", " ").split(" ") if self.pipeline.is_local else text.split("\n"))
        found.pop("", None)
        return found

    @cached_property
    def non_ascii_stretches(self) -> list[tuple[str, int]]:
        return [(stretch, count) for stretch, count in self.stretches.items() if not stretch.isascii()]

    @cached_property
    def non_ascii_words(self) -> list[tuple[str, int]]:
        return [(word, count) for word, count in self.words() if not word.isascii()]

    def words(self) -> Iterator[tuple[str, int]]:
        return zip(self.counts.words, self.counts.counts.tolist(), strict=True)

    def place_of(self, text: str) -> tuple[str, int | None]:
        for part in self.sample.parts:
            place = part.text.find(text)
            if place >= 0:
                line = None if part.first_line is None else part.first_line + part.text.count("\n", 0, place)
                return part.source, line
        return "", None

    def first_that_fixes(
        self, normalizers: Iterable[str], is_fixed: Callable[[Pipeline], bool], pre_tokenizer: str = ""
    ) -> Pipeline | None:
        pre_tokenizer = pre_tokenizer or self.pipeline.pre_tokenizer.name
        for normalizer in normalizers:
            if (normalizer, pre_tokenizer) == (self.pipeline.normalizer.name, self.pipeline.pre_tokenizer.name):
                continue
            with suppress(StudioError):  # custom steps have no name by which to choose them
                steps = resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
                other = Pipeline(*steps, self.pipeline.user_tokens)
                if is_fixed(other):
                    return other
        return None


def few(stretches: list[str]) -> list[str]:
    """Return the stretches to try a fix on: all, or evenly chosen ones if there are very many."""
    return stretches[:: len(stretches) // _FEW_STRETCHES + 1]


def _after_blank(text: str, start: int, least: int) -> int:
    """Return the first position from `start` on that follows a blank or line end; `start` if there is none near."""
    if start <= 0 or start >= len(text):
        return min(start, len(text))
    near = text[start - 1 : start + 1000]
    place = min((place for place in (near.find("\n"), near.find(" ")) if place >= 0), default=-1)
    return max(start + place, least) if place >= 0 else start


def _measured(parts: list[TextPart], is_whole: bool, files: tuple[CorpusFile, ...]) -> CorpusSample:
    longest = max((len(line) for part in parts for line in part.text.split("\n")), default=0)
    characters = sum(len(part.text) for part in parts)
    return CorpusSample(tuple(parts), is_whole, False, longest, characters, files)
