"""The built-in normalizers, by name and as plain data to write beside a vocabulary.

BERT's is exactly what Hugging Face's `BertNormalizer` computes, with alignment to the original text. Those that compose
or decompose characters are in `unicode_form`. Not here: splitting the text into words (`pre_tokenizers`).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import BertTables, CharacterMap, bert_tables, form_tables, rough_pattern
from wordpiece_studio.text.pipeline import AlignedText, CharacterNormalizer, Normalizer, checked_steps
from wordpiece_studio.text.unicode_form import (
    FORM_NAMES,
    UnicodeForm,
    decomposed,
    positions_of,
    put_in_order,
    text_in_order,
)

if TYPE_CHECKING:
    import collections.abc
    from collections.abc import Iterable, Mapping


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
        """Return whether adjacent marks may change places, and the character keeps one that shows it."""
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
        if maps.decompose is None or not maps.combining.search(text):
            characters, positions = _each_replaced(text, range(len(text)), maps.whole)
            return AlignedText(characters, positions, [position + 1 for position in positions])
        # The characters of every stage, and the original position that each came from.
        characters, positions = _each_replaced(text, range(len(text)), maps.clean)
        if maps.combining.search(characters) or characters.translate(maps.decompose) != characters:
            items = list(put_in_order(decomposed(characters, maps.decompose)))
            positions = [positions[position] for position in positions_of(items)]
            characters = "".join(character for character, _ in items)
        if maps.finish is not None:
            characters, positions = _each_replaced(characters, positions, maps.finish)
        return AlignedText(characters, positions, [position + 1 for position in positions])

    @classmethod
    def from_name(cls, name: str) -> BertNormalizer:
        """Return the normalizer called `name`.

        Raises
        ------
        ValueError
            If there is no such normalizer.
        """
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
    """The tables for one setting of the four switches, filled in as characters are met."""

    def __init__(self, clean_text: bool, handle_chinese: bool, strip: bool, lowercase: bool) -> None:
        tables = bert_tables()
        self.clean = CharacterMap(lambda code_point: _cleaned(tables, code_point, clean_text, handle_chinese))
        self.decompose = CharacterMap(tables.decompose) if strip else None
        self.finish: CharacterMap | None = None
        if strip or lowercase:
            self.finish = CharacterMap(lambda code_point: _finished(tables, code_point, strip, lowercase))
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


def _each_replaced(
    text: str, positions: collections.abc.Sequence[int], table: CharacterMap
) -> tuple[str, collections.abc.Sequence[int]]:
    """Return a text with each character replaced by `table`, and the position that each result came from."""
    if text.translate(table) == text:
        return text, positions
    pieces = [table[ord(character)] or "" for character in text]
    return "".join(pieces), [
        position for piece, position in zip(pieces, positions, strict=True) for _ in range(len(piece))
    ]


def _cleaned(tables: BertTables, code_point: int, clean_text: bool, handle_chinese: bool) -> str:
    if clean_text and code_point in tables.removed:
        return ""
    if clean_text and code_point in tables.to_space:
        return " "
    character = chr(code_point)
    return f" {character} " if handle_chinese and code_point in tables.chinese else character


def _finished(tables: BertTables, code_point: int, strip: bool, lowercase: bool) -> str:
    if strip and code_point in tables.marks:
        return ""
    character = chr(code_point)
    return tables.lower_case.get(code_point, character) if lowercase else character


@cache
def _maps(clean_text: bool, handle_chinese: bool, strip: bool, lowercase: bool) -> _Maps:
    return _Maps(clean_text, handle_chinese, strip, lowercase)


class _ByCharacter(CharacterNormalizer):
    """A normalizer with one table of what becomes of each character, whatever is beside it."""

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
        characters, positions = _each_replaced(text, range(len(text)), self._table())
        return AlignedText(characters, positions, [position + 1 for position in positions])


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

    def _table(self) -> CharacterMap:
        return _without(self.characters)


@cache
def _without(characters: str) -> CharacterMap:
    return CharacterMap(lambda code_point: "" if chr(code_point) in characters else chr(code_point))


class _Steps(Normalizer):
    """A normalizer that consists of others, one after the other."""

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
        raise StudioError(
            'There is no normalizer called "{name}"',
            _NAMES,
            name=name,
        ) from None


def to_spec(normalizer: Normalizer) -> dict[str, Any]:
    """Return a built-in normalizer as plain data that JSON can hold."""
    match normalizer:
        case Sequence(normalizers=parts) if type(normalizer) is Sequence:
            return {"type": "sequence", "normalizers": [to_spec(part) for part in parts]}
        case CorpusOnly(normalizer=step) if type(normalizer) is CorpusOnly:
            return {"type": "corpus-only", "normalizer": to_spec(step)}
        case UnicodeForm(form=form) if type(normalizer) is UnicodeForm:
            return {"type": form}
        case BertNormalizer() | Lowercase() | RemoveCharacters() | StripAccents() | Unchanged() if (
            type(normalizer) in _TYPE_NAMES
        ):
            return {"type": _TYPE_NAMES[type(normalizer)]} | asdict(normalizer)
    raise StudioError(
        'The normalizer "{name}" is not built in, so it cannot be written to a file',
        "Save the vocabulary alone, and specify the normalizer again when you load it.",
        name=normalizer.name,
    )


def from_spec(spec: Any) -> Normalizer:
    """Return the normalizer that `to_spec` described."""
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


_TYPE_NAMES: Mapping[type[Normalizer], str] = {
    BertNormalizer: "bert",
    Lowercase: "lowercase",
    RemoveCharacters: "remove",
    StripAccents: "strip-accents",
    Unchanged: "unchanged",
}
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
