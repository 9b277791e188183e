"""Normalizers and pre-tokenizers as values of a ``tokenizer.json``, and back, only where there is an exact equivalent.

What the library `tokenizers` cannot do exactly is refused, with the reason. ``python -m tests.benchmarks.agreement``
compares them with that library.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import takewhile
from typing import TYPE_CHECKING, Any, get_args

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.patterns import Behavior, Split, literal_pattern, untranslatable_part
from wordpiece_studio.text.pipeline import CharacterPreTokenizer, Normalizer, PreTokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# Advice for every pipeline that is refused here.
VOCABULARY_ALONE_ADVICE = (
    "Save vocab.txt alone: any program can read its tokens, and WordPiece Studio finds in the file next to it how text "
    "becomes words."
)

# Inserted before a pre-tokenizer that does not split at line ends: the Studio reads text line by line, the library as a
# whole.
LINE_SPLIT = {"type": "Split", "pattern": {"String": "\n"}, "behavior": "Removed", "invert": False}

MOST_REMOVED = 10_000  # the most characters that a normalizer may remove: each is a separate step for every text

_NORMALIZERS: dict[str, str] = {form: form.upper() for form in normalizers.FORM_NAMES}
_NORMALIZERS |= {"lowercase": "Lowercase", "strip-accents": "StripAccents"}
_MOST_STEPS = 100
# As a decoder it ignores the options.
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
_PRE_TOKENIZERS: Mapping[str, dict[str, Any]] = {
    "bert": {"type": "BertPreTokenizer"},
    "whitespace": {"type": "Whitespace"},
    "whitespace-split": {"type": "WhitespaceSplit"},
    "punctuation": {"type": "Punctuation", "behavior": "Isolated"},
    "digits": {"type": "Digits", "individual_digits": False},
    "digits-single": {"type": "Digits", "individual_digits": True},
    **{
        step.name: _BYTE_LEVEL | asdict(step)
        for step in map(pre_tokenizers.ByteLevel, (True, True, False, False), (True, False, True, False))
    },
}
_BEHAVIORS: Mapping[Behavior, str] = {name: name.title().replace("_", "") for name in get_args(Behavior)}
_TOO_MANY = (
    "A tokenizer.json cannot express a normalizer that removes {n:,} characters: each would be a step of its own"
)
_REFUSED = {
    "pattern": 'A tokenizer.json cannot express the pre-tokenizer "{name}": where a regular expression matches depends '
    "on the program that searches; what all understand alike can be passed to split:removed,invert:",
    "unicode-punctuation": 'A tokenizer.json cannot express the pre-tokenizer "{name}": other programs cannot drop '
    "characters inside a word, and use another version of Unicode",
}


def normalizer_value(normalizer: Normalizer) -> dict[str, Any] | None:
    """Return a normalizer as the value of ``normalizer``; None for one that changes nothing."""
    try:
        spec = normalizers.to_spec(normalizer)
    except StudioError:
        what = 'A tokenizer.json cannot express the normalizer "{name}": it is not built in'
        advice = "Save vocab.txt alone, and specify the normalizer again when you load it."
        raise StudioError(what, advice, name=normalizer.name) from None
    values = list(_normalizer_values(spec))
    if len(values) < 2:
        return values[0] if values else None
    return {"type": "Sequence", "normalizers": values}


def byte_level_decoder(prefix: str, suffix: str | None) -> dict[str, Any]:
    """Return the decoder of tokens that are bytes, the marks at their ends removed."""
    marks = [rf"\A{literal_pattern(prefix)}"] if prefix else []
    marks += [rf"{literal_pattern(suffix)}\z"] if suffix else []
    without = [{"type": "Replace", "pattern": {"Regex": mark}, "content": ""} for mark in marks]
    return {"type": "Sequence", "decoders": [*without, _BYTE_LEVEL]} if without else _BYTE_LEVEL


def pre_tokenizer_value(pre_tokenizer: PreTokenizer, normalizer: Normalizer) -> dict[str, Any]:
    """Return a pre-tokenizer as the value of ``pre_tokenizer``; a normalizer may remove line ends before it."""
    values = _pre_tokenizer_values(pre_tokenizer)
    line_end = normalizer.normalize("\n")
    if not _separates_lines(pre_tokenizer, line_end):
        if line_end != "\n":
            what = (
                'A tokenizer.json cannot express the pre-tokenizer "{name}" after the normalizer "{normalizer}", which '
                "removes line ends (bert-cased:keep-controls, for one, keeps them): words would continue from one line "
                "to the next"
            )
            raise StudioError(what, VOCABULARY_ALONE_ADVICE, name=pre_tokenizer.name, normalizer=normalizer.name)
        values.insert(0, LINE_SPLIT)
    return values[0] if len(values) == 1 else {"type": "Sequence", "pretokenizers": values}


def read_normalizer(value: Any) -> Normalizer | None:
    """Return our normalizer equivalent to a value of ``normalizer``; None if there is none.

    >>> read_normalizer({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}).name
    'nfd+strip-accents'
    """
    steps: list[Normalizer] = []
    for step in steps_of(value, "normalizers"):
        match step:
            case {"type": "Replace", "pattern": {"String": str(removed), **others}, "content": ""} if (
                len(step) == 3 and not others and len(removed) == 1 and not 0xD800 <= ord(removed) < 0xE000
            ):
                last = steps[-1] if steps else None
                if isinstance(last, normalizers.RemoveCharacters):
                    steps[-1] = normalizers.RemoveCharacters(last.characters + removed)
                else:
                    steps.append(normalizers.RemoveCharacters(removed))
            case {"type": "BertNormalizer", **flags} if normalizers.are_bert_flags(flags):
                steps.append(normalizers.from_spec({"type": "bert", **flags}))
            case {"type": str(kind)} if len(step) == 1 and kind in _NORMALIZERS.values():
                name = next(name for name, written in _NORMALIZERS.items() if written == kind)
                steps.append(normalizers.resolve_normalizer(name))
            case _:
                return None
    if len(steps) > _MOST_STEPS:
        return None
    if not steps:
        return normalizers.Unchanged()
    return steps[0] if len(steps) == 1 else normalizers.Sequence(steps)


def read_pre_tokenizer(value: Any, normalizer: Normalizer) -> PreTokenizer | None:
    """Return our pre-tokenizer equivalent to a value of ``pre_tokenizer``; None if there is none.

    Ours read text line by line, so line ends must split words there as well, after the normalizer.
    """
    pre_tokenizer = read_line_pre_tokenizer(value)
    if pre_tokenizer is None:
        return None
    line_end = normalizer.normalize("\n")
    splits_lines = steps_of(value, "pretokenizers")[:1] == [LINE_SPLIT]
    is_alike = line_end == "\n" if splits_lines else _separates_lines(pre_tokenizer, line_end)
    return pre_tokenizer if is_alike else None


def read_line_pre_tokenizer(value: Any) -> PreTokenizer | None:
    """Return our pre-tokenizer that does with a single line what a value of ``pre_tokenizer`` does; None if none."""
    values = steps_of(value, "pretokenizers")
    own: list[PreTokenizer] = []
    for step in values[values[:1] == [LINE_SPLIT] :]:
        part = _read_split(step) if isinstance(step, dict) and step.get("type") == "Split" else _read_named(step)
        if part is None:
            return None
        own.append(part)
    if len(own) < 2:
        return own[0] if own else None
    return pre_tokenizers.PreTokenizerSequence(own)


def _read_named(step: Any) -> PreTokenizer | None:
    match step:
        case {"type": "Punctuation"} if len(step) == 1:
            step = {**step, "behavior": "Isolated"}
        case {"type": "ByteLevel", "trim_offsets": bool()}:
            step = {"use_regex": True, **step, "trim_offsets": True}  # it matters only after the model
    name = next((name for name, written in _PRE_TOKENIZERS.items() if written == step), None)
    return None if name is None else pre_tokenizers.resolve_pre_tokenizer(name)


def _read_split(step: dict[str, Any]) -> PreTokenizer | None:
    behaviors = {written: behavior for behavior, written in _BEHAVIORS.items()}
    match step:
        case {"pattern": {"String": str(text)}, "behavior": str(behavior), "invert": bool(invert)}:
            pattern = literal_pattern(text)
        case {"pattern": {"Regex": str(pattern)}, "behavior": str(behavior), "invert": bool(invert)}:
            pass
        case _:
            return None
    if len(step) > 4 or len(step["pattern"]) > 1 or behavior not in behaviors:
        return None
    try:
        split = Split(pattern, behaviors[behavior], invert)
    except StudioError:
        return None
    return split if untranslatable_part(pattern) is None else None


def _separates_lines(pre_tokenizer: PreTokenizer, line_end: str) -> bool:
    """Return whether words end at line ends anyway, which the normalizer leaves as `line_end`, in every text."""
    parts = getattr(pre_tokenizer, "pre_tokenizers", (pre_tokenizer,))
    # What regards the context may treat the next line end differently.
    regardless = list(takewhile(lambda part: isinstance(part, CharacterPreTokenizer), parts))
    words = pre_tokenizers.PreTokenizerSequence(regardless).split(f"a{line_end}b") if regardless and line_end else []
    return words == ["a", "b"]


def steps_of(value: Any, list_key: str) -> list[Any]:
    """Return the single steps of a value in order, with sequences flattened; anything else counts as one step."""
    steps: list[Any] = []
    waiting = [] if value is None else [value]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict) and step.keys() == {"type", list_key} and isinstance(step[list_key], list):
            waiting += reversed(step[list_key])
        else:
            steps.append(step)
    return steps


def _normalizer_values(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    match spec["type"]:
        case "sequence":
            for part in spec["normalizers"]:
                yield from _normalizer_values(part)
        case "remove":
            # One step per character, as texts: a character class would be a regular expression and need escaping.
            characters = dict.fromkeys(spec["characters"])
            if len(characters) > MOST_REMOVED:
                raise StudioError(_TOO_MANY, VOCABULARY_ALONE_ADVICE, n=len(characters))
            for character in characters:
                yield {"type": "Replace", "pattern": {"String": character}, "content": ""}
        case "bert":
            yield {**spec, "type": "BertNormalizer"}
        case str(name) if name != "unchanged":
            yield {"type": _NORMALIZERS[name]}


def _pre_tokenizer_values(pre_tokenizer: PreTokenizer) -> list[dict[str, Any]]:
    try:
        spec = pre_tokenizers.to_spec(pre_tokenizer)
    except StudioError:
        what = 'A tokenizer.json cannot express the pre-tokenizer "{name}": it is not built in'
        advice = "Save vocab.txt alone, and specify the pre-tokenizer again when you load it."
        raise StudioError(what, advice, name=pre_tokenizer.name) from None
    values = []
    for part in spec["pre_tokenizers"] if spec["type"] == "sequence" else [spec]:
        if part["type"] == "split":
            values.append(_split_value(part))
            continue
        if part["type"] in _REFUSED:
            name = part.get("pattern") or part["type"]
            raise StudioError(_REFUSED[part["type"]], VOCABULARY_ALONE_ADVICE, name=name)
        values.append(_PRE_TOKENIZERS[part["type"]])
    return values


def _split_value(spec: Mapping[str, Any]) -> dict[str, Any]:
    untranslatable = untranslatable_part(spec["pattern"])
    if untranslatable is not None:
        what = 'A tokenizer.json cannot express the pattern "{pattern}": other programs may read "{part}" differently'
        raise StudioError(
            what, VOCABULARY_ALONE_ADVICE, pattern=printable(spec["pattern"][:200]), part=printable(untranslatable[:50])
        )
    behavior, invert = _BEHAVIORS[spec["behavior"]], spec["invert"]
    return {"type": "Split", "pattern": {"Regex": spec["pattern"]}, "behavior": behavior, "invert": invert}
