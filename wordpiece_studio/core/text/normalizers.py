"""The normalizers that are built in, by name and as plain data to write beside a vocabulary.

Not here: cutting the text into words (`pre_tokenizers`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from wordpiece_studio.core.text.alignment import AlignedText
from wordpiece_studio.core.text.bert_normalizer import BertNormalizer
from wordpiece_studio.core.text.normalizer import Normalizer
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "BertNormalizer",
    "Lowercase",
    "Normalizer",
    "RemoveCharacters",
    "Sequence",
    "Unchanged",
    "from_spec",
    "resolve_normalizer",
    "to_spec",
]


@dataclass(frozen=True, slots=True)
class Unchanged(Normalizer):
    """Leaves a text as it is."""

    @property
    def name(self) -> str:
        """``"none"``."""
        return "none"

    @property
    def is_local(self) -> bool:
        """Always."""
        return True

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True

    def normalize(self, text: str) -> str:
        """Return `text`."""
        return text

    def align(self, text: str) -> AlignedText:
        """Return `text`, aligned with itself."""
        return AlignedText.identity(text)


@dataclass(frozen=True, slots=True)
class Lowercase(Normalizer):
    """Python's `str.lower`, as the notebooks use it."""

    @property
    def name(self) -> str:
        """``"lowercase"``."""
        return "lowercase"

    @property
    def is_local(self) -> bool:
        """Always: the one rule that looks around, the final sigma's, stops at blanks and line ends."""
        return True

    @property
    def is_by_character(self) -> bool:
        """But for the capital sigma, which looks around."""
        return True

    def regards_neighbours(self, character: str) -> bool:
        """Return whether it is the capital sigma, which becomes another letter at the end of a word."""
        return character == "Σ"

    def normalize(self, text: str) -> str:
        """Return `text` in lower case."""
        return text.lower()

    def align(self, text: str) -> AlignedText:
        """Return `text` in lower case, aligned with `text`."""
        # A character may become two, but how many does not depend on its neighbours.
        starts = [index for index, character in enumerate(text) for _ in character.lower()]
        return AlignedText(text.lower(), starts, [start + 1 for start in starts])


@dataclass(frozen=True, slots=True)
class RemoveCharacters(Normalizer):
    """Removes every occurrence of some characters; their neighbours touch.

    >>> RemoveCharacters(",.").normalize("Well, well.")
    'Well well'
    """

    characters: str

    @property
    def name(self) -> str:
        """``"remove:"`` and the characters; ``%`` and ``+`` are written ``%25`` and ``%2B``."""
        return "remove:" + self.characters.replace("%", "%25").replace("+", "%2B")

    @property
    def is_local(self) -> bool:
        """Unless blanks or line ends are among the characters."""
        return not set(self.characters) & {" ", "\n"}

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True

    def normalize(self, text: str) -> str:
        """Return `text` without the characters."""
        return text.translate(dict.fromkeys(map(ord, self.characters)))

    def align(self, text: str) -> AlignedText:
        """Return `text` without the characters, aligned with `text`."""
        starts = [index for index, character in enumerate(text) if character not in self.characters]
        kept = "".join(text[start] for start in starts)
        return AlignedText(kept, starts, [start + 1 for start in starts])


@dataclass(frozen=True, slots=True, init=False)
class Sequence(Normalizer):
    """Several normalizers, one after the other."""

    normalizers: tuple[Normalizer, ...]

    def __init__(self, normalizers: Iterable[Normalizer]) -> None:
        object.__setattr__(self, "normalizers", tuple(normalizers))

    @property
    def name(self) -> str:
        """The names, joined by ``+``; ``"none"`` if there are none."""
        return "+".join(normalizer.name for normalizer in self.normalizers) or "none"

    @property
    def is_local(self) -> bool:
        """Whether all of them are."""
        return all(normalizer.is_local for normalizer in self.normalizers)

    @property
    def is_by_character(self) -> bool:
        """Whether all of them are."""
        return all(normalizer.is_by_character for normalizer in self.normalizers)

    def regards_neighbours(self, character: str) -> bool:
        """Return whether what any of them makes of the character may depend on what stands around it."""
        text = character
        for normalizer in self.normalizers:
            if any(map(normalizer.regards_neighbours, text)):
                return True
            text = normalizer.normalize(text)
        return False

    def normalize(self, text: str) -> str:
        """Return what the last one makes of what the others made of `text`."""
        for normalizer in self.normalizers:
            text = normalizer.normalize(text)
        return text

    def align(self, text: str) -> AlignedText:
        """Return the same, aligned with `text`."""
        aligned = AlignedText.identity(text)
        for normalizer in self.normalizers:
            aligned = aligned.then(normalizer.align(aligned.text))
        return aligned


def resolve_normalizer(value: str | Normalizer | None) -> Normalizer:
    """Return the normalizer that `value` is or names; None and ``"none"`` leave a text unchanged.

    Raises
    ------
    StudioError
        If there is no normalizer of that name; the message lists the names.

    >>> resolve_normalizer("lowercase+remove:,.").normalize("Well, well.")
    'well well'
    """
    if value is None:
        return Unchanged()
    if isinstance(value, Normalizer):
        return value
    parts = [_normalizer_named(name) for name in value.split("+")]
    return parts[0] if len(parts) == 1 else Sequence(parts)


def _normalizer_named(name: str) -> Normalizer:
    if name == "none":
        return Unchanged()
    if name == "lowercase":
        return Lowercase()
    if name.startswith("remove:") and name != "remove:":
        return RemoveCharacters(name.removeprefix("remove:").replace("%2B", "+").replace("%25", "%"))
    try:
        return BertNormalizer.from_name(name)
    except ValueError:
        raise StudioError(
            'There is no normalizer called "{name}"',
            "The normalizers are bert-cased, bert-uncased, lowercase, remove:CHARACTERS and none;"
            " several are joined by a plus sign.",
            name=name,
        ) from None


def to_spec(normalizer: Normalizer) -> dict[str, Any]:
    """Return a built-in normalizer as plain data that JSON can hold.

    Raises
    ------
    StudioError
        If it is not one of the built-in normalizers.
    """
    match normalizer:
        case Sequence(normalizers=parts):
            return {"type": "sequence", "normalizers": [to_spec(part) for part in parts]}
        case BertNormalizer() | Lowercase() | RemoveCharacters() | Unchanged():
            return {"type": _TYPE_NAMES[type(normalizer)]} | asdict(normalizer)
    raise StudioError(
        'The normalizer "{name}" is not built in, so it cannot be written to a file',
        "Save the vocabulary alone, and give the normalizer again when you load it.",
        name=normalizer.name,
    )


def from_spec(spec: Any) -> Normalizer:
    """Return the normalizer that `to_spec` described.

    Raises
    ------
    StudioError
        If `spec` is not such a description.
    """
    match spec:
        case {"type": "unchanged"} if len(spec) == 1:
            return Unchanged()
        case {"type": "lowercase"} if len(spec) == 1:
            return Lowercase()
        case {"type": "remove", "characters": str(characters)} if len(spec) == 2:
            return RemoveCharacters(characters)
        case {"type": "sequence", "normalizers": list(parts)} if len(spec) == 2:
            return Sequence(from_spec(part) for part in parts)
        case {"type": "bert"} if _are_bert_flags(flags := {key: spec[key] for key in spec if key != "type"}):
            return BertNormalizer(**flags)
    raise StudioError("{spec} does not describe a normalizer", spec=repr(spec)[:200])


_TYPE_NAMES: Mapping[type[Normalizer], str] = {
    BertNormalizer: "bert",
    Lowercase: "lowercase",
    RemoveCharacters: "remove",
    Unchanged: "unchanged",
}


def _are_bert_flags(flags: Mapping[str, object]) -> bool:
    if set(flags) != {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}:
        return False
    return all(isinstance(value, bool) or (value is None and key == "strip_accents") for key, value in flags.items())
