"""How a ``tokenizer.json`` says that text becomes words, as steps that are run here.

Only what is done here exactly as the `tokenizers` library does it is taken; anything else is refused by name.
"""

from __future__ import annotations

import base64
import binascii
import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.character_table import CharacterTable
from wordpiece_studio.peers.cutting import BuiltIn, ByteLevel, Metaspace, PunctuationSplit, Split
from wordpiece_studio.peers.expressions import Expression
from wordpiece_studio.peers.normalizing import ByteCharacters, Prepend, Replace, Strip
from wordpiece_studio.peers.pieces import BEHAVIORS
from wordpiece_studio.peers.sentencepiece import Nmt, Precompiled
from wordpiece_studio.storage.huggingface.pipeline_values import MOST_REMOVED
from wordpiece_studio.text.bert_normalizer import BertNormalizer
from wordpiece_studio.text.normalizers import Lowercase, RemoveCharacters, Sequence, StripAccents, Unchanged
from wordpiece_studio.text.pre_tokenizers import (
    BertPreTokenizer,
    PreTokenizerSequence,
    Punctuation,
    Whitespace,
    WhitespaceSplit,
)
from wordpiece_studio.text.unicode_form import FORM_NAMES, UnicodeForm

if TYPE_CHECKING:
    from collections.abc import Sized

    from wordpiece_studio.peers.cutting import Cutter
    from wordpiece_studio.storage.huggingface.reading_json import JsonPart
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

_ADVICE = "Use the file in the program that it is from; what it does cannot be repeated here exactly."
_MOST_STEPS, _LONGEST_TEXT = 100, 10_000  # of the steps, those that remove a character each count as one
_BYTES_A_CHARACTER, _MOST_GROWTH = 4, 1000
_SIMPLE_NORMALIZERS: dict[str, Normalizer] = {
    "Lowercase": Lowercase(),
    "Nmt": Nmt(),
    "StripAccents": StripAccents(),
    "ByteLevel": ByteCharacters(),
    **{form.upper(): UnicodeForm(form) for form in FORM_NAMES},
}
_SIMPLE_CUTTERS: dict[str, PreTokenizer] = {
    "BertPreTokenizer": BertPreTokenizer(),
    "Whitespace": Whitespace(),
    "WhitespaceSplit": WhitespaceSplit(),
}
_PUNCTUATION = Punctuation()
_LINE_SPLIT = Split("\n", "Removed")


@dataclass(frozen=True, slots=True)
class Step:
    """One component: its members, and where it stands."""

    part: JsonPart
    value: dict[str, Any]
    place: str

    @property
    def kind(self) -> str:
        """Its name."""
        return cast("str", self.value["type"])

    def refused(self, reason: str, key: str = "", /, **values: object) -> StudioError:
        """Return why it is not taken."""
        return self.part.refused(f"{self.kind}: {reason}", self.place + key, _ADVICE, **values)

    def take(self, key: str, type_: type, *default: Any) -> Any:
        """Return a member of a type; the default if it is not there and there is one."""
        value = self.value.get(key, *default)
        if key not in self.value and not default:
            raise self.refused('the key "{key}" is missing', key=key)
        if default and value is default[0]:
            return value
        if type(value) is not type_ or (isinstance(value, str) and not _is_text(value)):
            raise self.refused("this is not the {type} that stands here otherwise", f".{key}", type=_NAMES[type_])
        return value

    def one_of(self, key: str, choices: tuple[str, ...], *default: str) -> Any:
        """Return a member that is one of some words."""
        value = self.take(key, str, *default)
        if value not in choices:
            raise self.refused("this is none of {choices}", f".{key}", choices=", ".join(choices))
        return value

    def only(self, *keys: str) -> None:
        """Check that it has no other members."""
        unknown = self.value.keys() - {"type", *keys}
        if unknown:
            raise self.refused("nothing is known of the key {key}", key=repr(min(unknown)[:50]))

    def pattern(self) -> str | Expression:
        """Return the member ``pattern``."""
        match self.value.get("pattern"):
            case {"String": str(text)} if text and _is_text(text) and len(self.value["pattern"]) == 1:
                return text
            case {"Regex": str(text)} if text and _is_text(text) and len(self.value["pattern"]) == 1:
                try:
                    return Expression(text)
                except StudioError as error:
                    raise self.refused("{reason}", ".pattern", reason=error.what) from None
        raise self.refused("this is no pattern", ".pattern")


_NAMES = {bool: "true or false", str: "text", list: "list", int: "whole number"}


def read_normalizer(part: JsonPart | None) -> Normalizer:
    """Return the normalizer of a file; its ``normalizer``, or None if it has none.

    Raises
    ------
    StudioError
        If it cannot be repeated here exactly, naming the component.
    """
    steps = [_normalizer(step) for step in steps_of(part, "normalizers", 4 << 20)]
    _check_growth(part, [_growth(step) for step in steps])
    together: list[Normalizer] = []
    for is_removing, group in groupby(steps, lambda step: isinstance(step, RemoveCharacters)):
        if is_removing:
            characters = "".join(step.characters for step in group if isinstance(step, RemoveCharacters))
            together.append(RemoveCharacters(characters))
        else:
            together += group
    _check_number(part, together)
    if not together:
        return Unchanged()
    return together[0] if len(together) == 1 else Sequence(together)


def read_cutters(part: JsonPart | None) -> list[Cutter]:
    """Return the pre-tokenizers of a file; its ``pre_tokenizer``, or None if it has none.

    Raises
    ------
    StudioError
        If one of them cannot be repeated here exactly, naming it.
    """
    cutters = [_cutter(step) for step in steps_of(part, "pretokenizers")]
    _check_number(part, cutters)
    _check_growth(part, [_BYTES_A_CHARACTER for cutter in cutters if isinstance(cutter, ByteLevel)])
    return cutters


def built_in_pre_tokenizer(cutters: list[Cutter], normalizer: Normalizer) -> PreTokenizer | None:
    """Return the pre-tokenizer of ours that does what the cutters do, behind a normalizer; None if there is none.

    Ours read a text line by line, so line ends must part words there as well.
    """
    parts_lines = cutters[:1] == [_LINE_SPLIT]
    own = [cutter.pre_tokenizer for cutter in cutters[parts_lines:] if isinstance(cutter, BuiltIn)]
    if not own or len(own) < len(cutters) - parts_lines:
        return None
    pre_tokenizer = own[0] if len(own) == 1 else PreTokenizerSequence(own)
    line_end = normalizer.normalize("\n")
    if parts_lines:
        return pre_tokenizer if line_end == "\n" else None
    return pre_tokenizer if line_end and pre_tokenizer.split(f"a{line_end}b") == ["a", "b"] else None


def read_trimming(part: JsonPart | None) -> bool | None:
    """Return whether offsets leave blanks out, as `ImportedTokenizer` is told; from the ``post_processor``.

    Raises
    ------
    StudioError
        If the post-processor is not known. What it puts around a text is of no matter here.
    """
    found = []
    for step in steps_of(part, "processors"):
        if step.kind not in ("BertProcessing", "RobertaProcessing", "TemplateProcessing", "ByteLevel"):
            raise step.refused("there is no such post-processor")
        if step.kind in ("RobertaProcessing", "ByteLevel") and step.take("trim_offsets", bool, True):
            found.append(step.take("add_prefix_space", bool, True))
    if len(found) > 1 and part is not None:
        raise part.refused("offsets are trimmed twice", "", _ADVICE)
    return found[0] if found else None


def _growth(step: Normalizer) -> int:
    """Return how many characters at most a step makes of one."""
    if isinstance(step, Precompiled):
        return step.growth
    if isinstance(step, Replace):
        replaced = len(step.pattern) if isinstance(step.pattern, str) else 1
        return -(-len(step.content) // replaced) or 1
    return _BYTES_A_CHARACTER if isinstance(step, ByteCharacters) else 1


def _check_growth(part: JsonPart | None, growths: list[int]) -> None:
    """Check that no text becomes a thousand times as long."""
    if part is not None and math.prod(growths) > _MOST_GROWTH:
        raise part.refused("its steps together make too much of each character", "", _ADVICE)


def steps_of(part: JsonPart | None, list_key: str, most_bytes: int = 1 << 20) -> list[Step]:
    """Return the components of a value in order, those of sequences one by one."""
    value = None if part is None else part.value(most_bytes)
    if part is None or value is None:
        return []
    steps: list[Step] = []
    waiting: list[tuple[Any, str]] = [(value, "")]
    while waiting:
        value, place = waiting.pop()
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise part.refused("this is no component: it has no type", place)
        step = Step(part, value, place)
        if step.kind == "Sequence":
            step.only(list_key)
            items = step.take(list_key, list)
            waiting += reversed([(item, f"{place}.{list_key}[{number}]") for number, item in enumerate(items)])
        else:
            steps.append(step)
        if len(steps) + len(waiting) > _MOST_STEPS + MOST_REMOVED:
            raise _too_many(part)
    return steps


def _check_number(part: JsonPart | None, steps: Sized) -> None:
    """Check that there are not too many steps, those that remove a character each put together."""
    if part is not None and len(steps) > _MOST_STEPS:
        raise _too_many(part)


def _too_many(part: JsonPart) -> StudioError:
    return part.refused("there are more than {n} components", "", _ADVICE, n=_MOST_STEPS)


def _normalizer(step: Step) -> Normalizer:
    match step.kind:
        case "BertNormalizer":
            flags = ("clean_text", "handle_chinese_chars", "lowercase")
            step.only(*flags, "strip_accents")
            accents = step.value.get("strip_accents")
            strip = None if accents is None else step.take("strip_accents", bool)
            return BertNormalizer(strip_accents=strip, **{flag: step.take(flag, bool) for flag in flags})
        case "Replace":
            step.only("pattern", "content")
            pattern, content = step.pattern(), step.take("content", str)
            if not content and isinstance(pattern, str) and len(pattern) == 1:
                return RemoveCharacters(pattern)
            return Replace(pattern, content)
        case "Prepend":
            step.only("prepend")
            return Prepend(step.take("prepend", str))
        case "Strip":
            step.only("strip_left", "strip_right")
            return Strip(step.take("strip_left", bool), step.take("strip_right", bool))
        case "Precompiled":
            step.only("precompiled_charsmap")
            return Precompiled(_character_table(step))
        case simple if simple in _SIMPLE_NORMALIZERS:
            step.only()
            return _SIMPLE_NORMALIZERS[simple]
    raise step.refused("this normalizer cannot be repeated here")


def _character_table(step: Step) -> CharacterTable:
    value = step.value.get("precompiled_charsmap")
    if not isinstance(value, str):
        raise step.refused("this is not the text that stands here otherwise", ".precompiled_charsmap")
    try:
        return CharacterTable(base64.b64decode(value.encode("ascii"), validate=True))
    except (UnicodeEncodeError, binascii.Error):
        raise step.refused("this is no base64", ".precompiled_charsmap") from None
    except StudioError as error:
        raise step.refused("{reason}", ".precompiled_charsmap", reason=error.what) from None


def _cutter(step: Step) -> Cutter:
    match step.kind:
        case simple if simple in _SIMPLE_CUTTERS:
            step.only()
            return BuiltIn(_SIMPLE_CUTTERS[simple])
        case "Punctuation":
            step.only("behavior")
            behavior = step.one_of("behavior", BEHAVIORS, "Isolated")
            return BuiltIn(_PUNCTUATION) if behavior == "Isolated" else PunctuationSplit(behavior)
        case "Digits":
            step.only("individual_digits")
            is_single = step.take("individual_digits", bool)
            return Split(Expression(r"\p{N}"), "Isolated" if is_single else "Contiguous")
        case "CharDelimiterSplit":
            step.only("delimiter")
            return Split(character(step, "delimiter"), "Removed")
        case "Split":
            step.only("pattern", "behavior", "invert")
            return Split(step.pattern(), step.one_of("behavior", BEHAVIORS), step.take("invert", bool))
        case "ByteLevel":
            step.only("add_prefix_space", "trim_offsets", "use_regex")
            step.take("trim_offsets", bool)
            return ByteLevel(step.take("add_prefix_space", bool), step.take("use_regex", bool, True))
        case "Metaspace":
            return metaspace(step)
    raise step.refused("this pre-tokenizer cannot be repeated here")


def metaspace(step: Step) -> Metaspace:
    """Return what a component of that name does."""
    step.only("replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep")
    scheme = step.one_of("prepend_scheme", ("always", "first", "never"), "always")
    if step.value.get("add_prefix_space") is False:
        if "prepend_scheme" in step.value and scheme != "never":
            raise step.refused("add_prefix_space and prepend_scheme contradict each other")
        scheme = "never"
    does_split = step.value.get("split") is None or step.take("split", bool)
    return Metaspace(character(step, "replacement"), scheme, does_split)


def character(step: Step, key: str) -> str:
    """Return a member that is one character."""
    found: str = step.take(key, str)
    if len(found) != 1:
        raise step.refused("this is not one character", f".{key}")
    return found


def _is_text(text: str) -> bool:
    """Return whether a text has a sensible length and no half characters."""
    return len(text) <= _LONGEST_TEXT and text.encode("utf-8", "replace").decode("utf-8") == text
