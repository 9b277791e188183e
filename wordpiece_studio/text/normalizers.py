"""The built-in normalizers, by name and as plain data to write beside a vocabulary.

BERT's is exactly what Hugging Face's `BertNormalizer` computes, with alignment to the original text. The Unicode
normalization forms are exactly as the `tokenizers` library computes them, but only the stretches are processed that may
change: characters that change on their own, and those that may combine with the character before, with that one.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import asdict, dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, get_args

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import (
    FIRST_SYLLABLE,
    LAST_SYLLABLE,
    CharacterMap,
    bert_tables,
    form_tables,
    rough_pattern,
)
from wordpiece_studio.text.pipeline import MOST_GROWTH, AlignedText, CharacterNormalizer, Normalizer, checked_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


FormName = Literal["nfc", "nfd", "nfkc", "nfkd"]
FORM_NAMES: tuple[FormName, ...] = get_args(FormName)

_LONGEST_KEPT, _MOST_KEPT = 16, 1 << 16
_VIRAMA_CLASS = 9

# Characters, each with how it changes the length, as the `tokenizers` library records it: 1 for one that is added, 0
# for one that replaces another, -n for one that replaces another and the n after it.
Items = list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class UnicodeForm(CharacterNormalizer):
    r"""One of the four Unicode normalization forms.

    Parameters
    ----------
    form
        ``"nfc"`` composes characters with their marks where a composed character exists, ``"nfd"`` decomposes them;
        ``"nfkc"`` and ``"nfkd"`` also replace compatibility characters, such as ligatures and full-width letters.

    >>> UnicodeForm("nfc").normalize("nin\u0303o") == "niño"
    True
    """

    form: FormName

    def __post_init__(self) -> None:
        if self.form not in FORM_NAMES:
            what = "{form} is not a Unicode normalization form"
            raise StudioError(what, "Choose one of {forms}.", form=repr(self.form)[:50], forms=", ".join(FORM_NAMES))

    @property
    def name(self) -> str:
        return self.form

    @property
    def growth(self) -> int:
        return MOST_GROWTH if self.form in ("nfkc", "nfkd") else 4

    def regards_neighbours(self, character: str) -> bool:
        """Return whether the character may compose with one before it, or change places with adjacent marks."""
        return character in _forms(self.form).regarding

    def normalize(self, text: str) -> str:
        return _forms(self.form).normalize(text)

    def align(self, text: str) -> AlignedText:
        # A composed character maps to the stretch of its first part only, as in the `tokenizers` library.
        return _forms(self.form).align(text)


def put_in_order(items: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    classes = bert_tables().combining
    for _, run in groupby(items, key=lambda item: item[0] in classes):
        # The sort is stable, and characters that do not combine all have class 0.
        yield from sorted(run, key=lambda item: classes.get(item[0], 0))


def text_in_order(match: re.Match[str]) -> str:
    return "".join(character for character, _ in put_in_order((character, 0) for character in match[0]))


def positions_of(items: Iterable[tuple[str, int]]) -> Iterator[int]:
    """Yield the position that each item came from as the `tokenizers` library does: in the order of the result."""
    taken = 0
    for _, change in items:
        yield taken if change <= 0 else max(taken - 1, 0)
        taken += max(1 - change, 0)


def decomposed(text: str, table: CharacterMap) -> Iterator[tuple[str, int]]:
    return ((part, int(number > 0)) for character in text for number, part in enumerate(table[ord(character)] or ""))


class _Form:
    def __init__(self, form: FormName) -> None:
        tables, self._forms = bert_tables(), form_tables()
        self._composes = form.endswith("c")
        is_compatible = "k" in form
        self._classes = tables.combining
        self._decompose = CharacterMap(self._forms.decompose_compatibly if is_compatible else tables.decompose)
        self.kept: dict[str, str] = {}
        special = {*map(chr, tables.decompositions), *self._classes, *self._forms.following()}
        if is_compatible:
            special.update(map(chr, self._forms.compatible))
        following = self._classes.keys() | (self._forms.following() if self._composes else set())
        # Characters that may interact with the character before them.
        self._following = {character for character in special if self._parts(character)[0] in following}
        self.regarding = frozenset(self._regarding(special))
        behind = rough_pattern(self._following)
        changing = {character for character in special if self._changed(character) != character}
        if not self._composes:
            changing.update(map(chr, range(FIRST_SYLLABLE, LAST_SYLLABLE + 1)))
        self.stretch = re.compile(f"[{rough_pattern(self._following | changing)}][{behind}]*")
        combining = rough_pattern(self._classes)
        self._disorder = re.compile(f"[{combining}][{combining}]+")

    def normalize(self, text: str) -> str:
        if text.isascii() or not self.stretch.search(text):
            return text
        if not self._composes:
            return self._disorder.sub(text_in_order, text.translate(self._decompose))
        parts: list[str] = []
        done = 0
        for start, end in self._stretches(text):
            stretch = text[start:end]
            result = self.kept.get(stretch)
            if result is None:
                result = self._changed(stretch)
                if len(stretch) <= _LONGEST_KEPT and len(self.kept) < _MOST_KEPT:  # short ones recur again and again
                    self.kept[stretch] = result
            parts += text[done:start], result
            done = end
        return "".join([*parts, text[done:]])

    def align(self, text: str) -> AlignedText:
        if text.isascii() or not self.stretch.search(text):
            return AlignedText.identity(text)
        parts: list[str] = []
        positions: list[int] = []
        done = 0
        for start, end in self._stretches(text):
            items = self._items(text[start:end])
            parts += text[done:start], *(character for character, _ in items)
            positions += range(done, start)
            positions += (start + position for position in positions_of(items))
            done = end
        positions += range(done, len(text))
        return AlignedText.at("".join([*parts, text[done:]]), positions)

    def _stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of the stretches that may change, none of which depends on the rest."""
        for match in self.stretch.finditer(text):
            start = match.start()
            # The character before it is in no other stretch: whatever may interact with it would be in that one.
            yield start - (start > 0 and text[start] in self._following), match.end()

    def _changed(self, stretch: str) -> str:
        return "".join(character for character, _ in self._items(stretch))

    def _items(self, stretch: str) -> Items:
        items = list(put_in_order(decomposed(stretch, self._decompose)))
        return self._composed(items) if self._composes else items

    def _composed(self, items: Items) -> Items:
        result: Items = []
        starter: int | None = None
        # The class of the last mark between the starter and this character; it blocks classes that are not higher.
        between: int | None = None
        for character, change in items:
            combining = self._classes.get(character, 0)
            if starter is not None and (between is None or between < combining):
                composite = self._forms.compose(result[starter][0], character)
                if composite is not None:
                    result[starter] = composite, result[starter][1] + change - 1
                    continue
            if combining == 0:
                starter, between = len(result), None
            elif starter is not None:
                between = combining
            result.append((character, change))
        return result

    def _parts(self, character: str) -> str:
        return self._decompose[ord(character)] or ""

    def _regarding(self, special: set[str]) -> set[str]:
        """Return the characters whose result depends on their neighbours."""
        if not self._composes:
            return self._following
        # In Indian languages every other word contains a virama. It is never composed itself, and may change places
        # only beside marks of other classes, of which those that end the result of another character are to be watched.
        viramas = {mark for mark, number in self._classes.items() if number == _VIRAMA_CLASS}
        viramas = {mark for mark in viramas if self._parts(mark) == mark} - self._forms.following()
        endings = {
            character for character in special if self._classes.get(self._changed(character)[-1], 0) > _VIRAMA_CLASS
        }
        return (self._following | endings) - viramas


_forms = cache(_Form)


CORPUS_PREFIX = "corpus:"
_OPTIONS = {"keep-controls": "clean_text", "keep-chinese": "handle_chinese_chars"}


@dataclass(frozen=True, slots=True)
class BertNormalizer(CharacterNormalizer):
    """BERT's normalizer with its four switches.

    Parameters
    ----------
    clean_text
        Whether control characters are removed and white space becomes a blank.
    handle_chinese_chars
        Whether Chinese characters get a blank on either side.
    strip_accents
        Whether accents are stripped; None means only if `lowercase`.
    lowercase
        Whether characters are lower-cased, each on its own.

    >>> BertNormalizer(lowercase=True).normalize("Él vio el Ñandú")
    'el vio el nandu'
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = False

    @property
    def name(self) -> str:
        """``"bert-cased"`` or ``"bert-uncased"``, followed by a colon and the differences from it, if any."""
        options = [option for option, field in _OPTIONS.items() if not getattr(self, field)]
        if self.strip_accents is not None:
            options.append("strip-accents" if self.strip_accents else "keep-accents")
        base = "bert-uncased" if self.lowercase else "bert-cased"
        return f"{base}:{','.join(options)}" if options else base

    growth = 4  # as in the longest canonical decomposition

    def regards_neighbours(self, character: str) -> bool:
        return character in self._maps().unsteady

    def normalize(self, text: str) -> str:
        maps = self._maps()
        if maps.decompose is not None and not text.isascii() and maps.combining.search(text):
            return maps.normalize_in_stages(text)
        return text.translate(maps.whole)

    def align(self, text: str) -> AlignedText:
        normalized = self.normalize(text)
        # Nothing that is removed or decomposed is ever restored, and nothing in ASCII becomes longer.
        if normalized == text or (len(normalized) == len(text) and text.isascii()):
            return AlignedText.identity(normalized)
        maps = self._maps()
        if maps.decompose is None or maps.finish is None or not maps.combining.search(text):
            return _each_replaced(text, maps.whole)
        cleaned = _each_replaced(text, maps.clean)
        items = list(put_in_order(decomposed(cleaned.text, maps.decompose)))
        parts = AlignedText.at("".join(character for character, _ in items), list(positions_of(items)))
        return cleaned.then(parts).then(_each_replaced(parts.text, maps.finish))

    @classmethod
    def from_name(cls, name: str) -> BertNormalizer:
        """Return the normalizer called `name`; raises `ValueError` if there is none."""
        base, _, options = name.partition(":")
        flags: dict[str, bool] = {"lowercase": ["bert-cased", "bert-uncased"].index(base) == 1}
        for option in options.split(",") if options else []:
            if option in _OPTIONS:
                flags[_OPTIONS[option]] = False
            elif option in ("strip-accents", "keep-accents"):
                flags["strip_accents"] = option == "strip-accents"
            else:
                raise ValueError(option)
        return cls(**flags)

    def _maps(self) -> _Maps:
        strips = self.lowercase if self.strip_accents is None else self.strip_accents
        return _maps(self.clean_text, self.handle_chinese_chars, strips, self.lowercase)


class _Maps:
    def __init__(self, clean_text: bool, handle_chinese: bool, strips: bool, lowercase: bool) -> None:
        tables = bert_tables()

        def cleaned(code_point: int) -> str:
            if clean_text and code_point in tables.removed:
                return ""
            if clean_text and code_point in tables.to_space:
                return " "
            is_isolated = handle_chinese and code_point in tables.chinese
            return f" {chr(code_point)} " if is_isolated else chr(code_point)

        def finished(code_point: int) -> str:
            if strips and code_point in tables.marks:
                return ""
            lower = tables.lower_case.get(code_point) if lowercase else None
            return chr(code_point) if lower is None else lower

        self.clean = CharacterMap(cleaned)
        self.decompose = CharacterMap(tables.decompose) if strips else None
        self.finish = CharacterMap(finished) if strips or lowercase else None
        # All stages in one table: correct unless a character combines with the one before it, which may reorder them.
        self.whole = CharacterMap(lambda code_point: self.normalize_in_stages(chr(code_point)))
        marks = rough_pattern(tables.combining)
        beginning = {chr(code) for code, text in tables.decompositions.items() if text[0] in tables.combining}
        self.combining = re.compile(f"[{rough_pattern(beginning.union(tables.combining))}]")
        self._disorder = re.compile(f"[{marks}][{marks}]+")
        # Characters that leave a combining character in the result, if combining characters are reordered at all.
        self.unsteady = frozenset(filter(self._leaves_combining, {*tables.combining, *map(chr, tables.decompositions)}))

    def normalize_in_stages(self, text: str) -> str:
        text = text.translate(self.clean)
        if self.decompose is not None:
            text = self._disorder.sub(text_in_order, text.translate(self.decompose))
        return text if self.finish is None else text.translate(self.finish)

    def _leaves_combining(self, character: str) -> bool:
        if self.decompose is None or self.finish is None:
            return False
        pieces = self.decompose[ord(character)] or ""
        return any(piece in bert_tables().combining and self.finish[ord(piece)] for piece in pieces)


def _each_replaced(text: str, table: CharacterMap) -> AlignedText:
    if text.translate(table) == text:
        return AlignedText.identity(text)
    pieces = [table[ord(character)] or "" for character in text]
    return AlignedText.at("".join(pieces), [position for position, piece in enumerate(pieces) for _ in piece])


_maps = cache(_Maps)  # by four switches: faster than by their normalizer


class _ByCharacter(CharacterNormalizer):
    __slots__ = ()
    growth = 2  # a capital I with a dot is lower-cased to an i and a dot

    @abstractmethod
    def _table(self) -> CharacterMap: ...

    def regards_neighbours(self, character: str) -> bool:
        return False

    def normalize(self, text: str) -> str:
        return text.translate(self._table())

    def align(self, text: str) -> AlignedText:
        normalized = self.normalize(text)
        if len(normalized) == len(text):  # no table both removes characters and makes several of one
            return AlignedText(normalized, *AlignedText.identity(text)[1:])
        return _each_replaced(text, self._table())


@dataclass(frozen=True, slots=True)
class Unchanged(_ByCharacter):
    """Leaves a text unchanged."""

    name = "none"

    def _table(self) -> CharacterMap:
        return CharacterMap(chr)

    def normalize(self, text: str) -> str:
        return text


@dataclass(frozen=True, slots=True)
class Lowercase(_ByCharacter):
    """Lower-cases each character on its own, as the `tokenizers` library does.

    Python's `str.lower` also looks at the context: a capital sigma becomes another letter at the end of a word.

    >>> Lowercase().normalize("ΣΟΦΟΣ")
    'σοφοσ'
    """

    name = "lowercase"

    @staticmethod
    @cache
    def _table() -> CharacterMap:
        lower_case = bert_tables().lower_case
        return CharacterMap(lambda code_point: lower_case.get(code_point) or chr(code_point))

    def normalize(self, text: str) -> str:
        return text.lower() if text.isascii() else text.translate(self._table())


@dataclass(frozen=True, slots=True)
class StripAccents(_ByCharacter):
    r"""Removes combining marks; it decomposes no character, so "é" stays unless NFD or NFKD comes first.

    >>> StripAccents().normalize("nin\u0303o, niño")
    'nino, niño'
    """

    name = "strip-accents"

    @staticmethod
    @cache
    def _table() -> CharacterMap:
        marks = form_tables().marks
        return CharacterMap(lambda code_point: "" if code_point in marks else chr(code_point))

    def normalize(self, text: str) -> str:
        return text if text.isascii() else text.translate(self._table())


@dataclass(frozen=True, slots=True)
class RemoveCharacters(_ByCharacter):
    """Removes every occurrence of some characters; their neighbours are joined.

    >>> RemoveCharacters(",.").normalize("Well, well.")
    'Well well'
    """

    characters: str

    @property
    def name(self) -> str:
        """``"remove:"`` and the characters; ``%`` and ``+`` are written ``%25`` and ``%2B``."""
        return "remove:" + self.characters.replace("%", "%25").replace("+", "%2B")

    @property
    def is_local(self) -> bool:  # type: ignore[override]  # elsewhere it does not depend on an option
        return not set(self.characters) & {" ", "\n"}

    @cache  # noqa: B019  # of few of them
    def _table(self) -> CharacterMap:
        return CharacterMap(lambda code_point: "" if chr(code_point) in self.characters else chr(code_point))


class _Steps(Normalizer):
    __slots__ = ()

    @property
    @abstractmethod
    def _steps(self) -> tuple[Normalizer, ...]: ...

    @property
    def is_local(self) -> bool:
        return all(step.is_local for step in self._steps)

    @property
    def is_by_character(self) -> bool:
        return all(step.is_by_character for step in self._steps)

    @property
    def growth(self) -> int:
        # What one of them decomposed is not decomposed again.
        return max((step.growth for step in self._steps), default=1)

    def regards_neighbours(self, character: str) -> bool:
        text = character
        for step in self._steps:
            if any(map(step.regards_neighbours, text)):
                return True
            text = step.normalize(text)
        return False

    def normalize(self, text: str) -> str:
        for step in self._steps:
            text = step.normalize(text)
        return text

    def align(self, text: str) -> AlignedText:
        aligned = AlignedText.identity(text)
        for step in self._steps:
            aligned = aligned.then(step.align(aligned.text))
        return aligned


@dataclass(frozen=True, slots=True, init=False)
class CorpusOnly(_Steps):
    """A step that prepares the corpus, and that a tokenizer learned from it does not keep.

    What it removes or changes in the corpus is then unknown to the tokenizer. `normalizer` is the step or its name.

    >>> cleaning = resolve_normalizer("corpus:lowercase+corpus:remove:,.+bert-cased")
    >>> cleaning.normalize("This, too."), cleaning.kept.name
    ('this too', 'bert-cased')
    """

    normalizer: Normalizer

    def __init__(self, normalizer: str | Normalizer) -> None:
        object.__setattr__(self, "normalizer", resolve_normalizer(normalizer))

    @property
    def name(self) -> str:
        """``"corpus:"`` and the name of the step; for a sequence without a name of its own, those of all its steps."""
        name = self.normalizer.name
        return "+".join(CORPUS_PREFIX + part for part in name.split("+"))

    kept = Unchanged()

    @property
    def _steps(self) -> tuple[Normalizer, ...]:
        return (self.normalizer,)


@dataclass(frozen=True, slots=True, init=False)
class Sequence(_Steps):
    """Several normalizers, one after the other.

    Two of them have names of their own, `"language-friendly"`, and the same ``":keep-chinese"``: control characters are
    removed, characters composed (NFC) and lower-cased, but accents and Hangul syllables are kept.

    >>> Sequence([UnicodeForm("nfc"), BertNormalizer(lowercase=True, strip_accents=False)]).name
    'language-friendly'
    """

    normalizers: tuple[Normalizer, ...]

    def __init__(self, normalizers: Iterable[Normalizer]) -> None:
        object.__setattr__(self, "normalizers", checked_steps(normalizers, Normalizer))

    @property
    def name(self) -> str:
        """The names, joined by ``+``, or its own name; ``"none"`` if it is empty."""
        for name, preset in _PRESETS.items():
            if self == preset:
                return name
        return "+".join(normalizer.name for normalizer in self.normalizers) or "none"

    @property
    def _steps(self) -> tuple[Normalizer, ...]:
        return self.normalizers

    @property
    def kept(self) -> Normalizer:
        parts = [part.kept for part in self.normalizers if not isinstance(part, CorpusOnly)]
        if parts == list(self.normalizers):
            return self
        return parts[0] if len(parts) == 1 else Sequence(parts)


_NAMES = (
    "The normalizers are bert-cased, bert-uncased, language-friendly, nfc, nfd, nfkc, nfkd, lowercase,"
    " strip-accents, remove:CHARACTERS and none; several are joined by a plus sign. A step for the corpus"
    " only has corpus: before its name."
)


def resolve_normalizer(value: str | Normalizer | None) -> Normalizer:
    """Return the normalizer that `value` is or names; None and ``"none"`` leave a text unchanged.

    >>> resolve_normalizer("lowercase+remove:,.").normalize("Well, well.")
    'well well'
    """
    if value is None:
        return Unchanged()
    if isinstance(value, Normalizer):
        return value
    if not isinstance(value, str):
        raise StudioError("{value} is not a normalizer", _NAMES, value=repr(value)[:100])
    parts = [_normalizer_named(name) for name in value.split("+")]
    return parts[0] if len(parts) == 1 else Sequence(parts)


def _normalizer_named(name: str) -> Normalizer:
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith(CORPUS_PREFIX) and not name.startswith(CORPUS_PREFIX * 2):
        return CorpusOnly(_normalizer_named(name.removeprefix(CORPUS_PREFIX)))
    if name.startswith("remove:") and name != "remove:":
        return RemoveCharacters(name.removeprefix("remove:").replace("%2B", "+").replace("%25", "%"))
    try:
        return BertNormalizer.from_name(name)
    except ValueError:
        raise StudioError('There is no normalizer called "{name}"', _NAMES, name=name) from None


def to_spec(normalizer: Normalizer) -> dict[str, Any]:
    if type(normalizer) is Sequence:
        return {"type": "sequence", "normalizers": [to_spec(part) for part in normalizer.normalizers]}
    if type(normalizer) is CorpusOnly:
        return {"type": "corpus-only", "normalizer": to_spec(normalizer.normalizer)}
    if type(normalizer) is BertNormalizer:
        return {"type": "bert"} | asdict(normalizer)
    if type(normalizer) is RemoveCharacters:
        return {"type": "remove", "characters": normalizer.characters}
    for name, fixed in _BY_TYPE.items():
        if type(normalizer) is type(fixed) and normalizer == fixed:
            return {"type": name}
    what = 'The normalizer "{name}" is not built in, so it cannot be written to a file'
    advice = "Save the vocabulary alone, and specify the normalizer again when you load it."
    raise StudioError(what, advice, name=normalizer.name)


def from_spec(spec: Any) -> Normalizer:
    match spec:
        case {"type": str(name)} if len(spec) == 1 and name in _BY_TYPE:
            return _BY_TYPE[name]
        case {"type": "remove", "characters": str(characters)} if len(spec) == 2:
            return RemoveCharacters(characters)
        case {"type": "sequence", "normalizers": list(parts)} if len(spec) == 2:
            return Sequence(from_spec(part) for part in parts)
        case {"type": "corpus-only", "normalizer": step} if len(spec) == 2:
            return CorpusOnly(from_spec(step))
        case {"type": "bert"} if are_bert_flags(flags := {key: spec[key] for key in spec if key != "type"}):
            return BertNormalizer(**flags)
    raise StudioError("{spec} does not describe a normalizer", spec=repr(spec)[:200])


_PRESETS: Mapping[str, Sequence] = {
    name: Sequence([UnicodeForm("nfc"), BertNormalizer(True, is_isolating, strip_accents=False, lowercase=True)])
    for name, is_isolating in (("language-friendly", True), ("language-friendly:keep-chinese", False))
}
_FIXED: Mapping[str, Normalizer] = {
    **{form: UnicodeForm(form) for form in FORM_NAMES},
    "lowercase": Lowercase(),
    "strip-accents": StripAccents(),
}
_BY_TYPE: Mapping[str, Normalizer] = {**_FIXED, "unchanged": Unchanged()}
_NAMED: Mapping[str, Normalizer] = {**_PRESETS, **_FIXED, "none": Unchanged()}


def are_bert_flags(flags: Mapping[Any, object]) -> bool:
    if set(flags) != {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}:
        return False
    return all(isinstance(value, bool) or (value is None and key == "strip_accents") for key, value in flags.items())
