"""Normalizers and pre-tokenizers as the JSON values of a ``tokenizer.json``, and back; only where both do the same.

Everything here is compared with the `tokenizers` library by ``python -m tests.benchmarks.agreement``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.bert_normalizer import BertNormalizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

VOCABULARY_ALONE_ADVICE = (
    "Save vocab.txt alone: any program reads its tokens, and the Studio finds in the file beside it how text becomes "
    "words."
)
"""What can be done about every pipeline that is refused here."""

LINE_SPLIT = {"type": "Split", "pattern": {"String": "\n"}, "behavior": "Removed", "invert": False}
"""Put before a pre-tokenizer that does not part words at line ends: the Studio reads line by line, the library a text
as a whole."""

MOST_REMOVED = 10_000
"""So many characters at most are removed from a text: each is a step of its own, for every text anew."""

_NORMALIZERS = {
    "nfc": "NFC",
    "nfd": "NFD",
    "nfkc": "NFKC",
    "nfkd": "NFKD",
    "lowercase": "Lowercase",
    "strip-accents": "StripAccents",
}
_MOST_STEPS = 100
_PRE_TOKENIZERS: Mapping[str, dict[str, Any]] = {
    "bert": {"type": "BertPreTokenizer"},
    "whitespace": {"type": "Whitespace"},
    "whitespace-split": {"type": "WhitespaceSplit"},
    "punctuation": {"type": "Punctuation", "behavior": "Isolated"},
}
_REFUSED = {
    "pattern": "where a regular expression matches depends on the program that searches",
    "unicode-punctuation": "other programs cannot drop characters inside a word, and know another version of Unicode",
}


def normalizer_value(normalizer: Normalizer) -> dict[str, Any] | None:
    """Return a normalizer as the value of ``normalizer``; None for one that changes nothing.

    Raises
    ------
    StudioError
        If it is not built in, because nothing is known about it then.
    """
    try:
        spec = normalizers.to_spec(normalizer)
    except StudioError:
        raise StudioError(
            'A tokenizer.json cannot hold the normalizer "{name}": it is not built in',
            "Save vocab.txt alone, and give the normalizer again when you load it.",
            name=normalizer.name,
        ) from None
    values = list(_normalizer_values(spec))
    if len(values) < 2:
        return values[0] if values else None
    return {"type": "Sequence", "normalizers": values}


def pre_tokenizer_value(pre_tokenizer: PreTokenizer, normalizer: Normalizer) -> dict[str, Any]:
    """Return a pre-tokenizer as the value of ``pre_tokenizer``.

    Parameters
    ----------
    pre_tokenizer
        It.
    normalizer
        What goes before it; together they may part words at line ends, or not.

    Raises
    ------
    StudioError
        If it is not built in, does something else there, or words would go on across the ends of lines.
    """
    values = _pre_tokenizer_values(pre_tokenizer)
    # All normalizers make of a line end the same in every text.
    line_end = normalizer.normalize("\n")
    if not line_end or pre_tokenizer.split(f"a{line_end}b") != ["a", "b"]:
        if line_end != "\n":
            raise StudioError(
                'A tokenizer.json cannot hold the pre-tokenizer "{name}" behind the normalizer "{normalizer}", which '
                "takes away the line ends: words would go on from one line to the next",
                VOCABULARY_ALONE_ADVICE,
                name=pre_tokenizer.name,
                normalizer=normalizer.name,
            )
        values.insert(0, LINE_SPLIT)
    return values[0] if len(values) == 1 else {"type": "Sequence", "pretokenizers": values}


def read_normalizer(value: Any) -> Normalizer | None:
    """Return the normalizer of ours that does what a value of ``normalizer`` says; None if there is none.

    >>> read_normalizer({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}).name
    'nfd+strip-accents'
    """
    steps: list[Normalizer] = []
    for step in steps_of(value, "normalizers"):
        match step:
            case {"type": "Replace", "pattern": {"String": str(removed), **others}, "content": ""} if (
                len(step) == 3 and not others and len(removed) == 1 and not _is_half(removed)
            ):
                last = steps[-1] if steps else None
                if isinstance(last, normalizers.RemoveCharacters):
                    steps[-1] = normalizers.RemoveCharacters(last.characters + removed)
                else:
                    steps.append(normalizers.RemoveCharacters(removed))
            case {
                "type": "BertNormalizer",
                "clean_text": bool(clean),
                "handle_chinese_chars": bool(chinese),
                "strip_accents": None | bool() as accents,
                "lowercase": bool(lowercase),
            } if len(step) == 5:
                steps.append(BertNormalizer(clean, chinese, accents, lowercase))
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
    """Return the pre-tokenizer of ours that does what a value of ``pre_tokenizer`` says; None if there is none.

    Ours read a text line by line, so line ends must part words there as well, behind the normalizer.
    """
    values = steps_of(value, "pretokenizers")
    parts_lines = values[:1] == [LINE_SPLIT]
    own: list[PreTokenizer] = []
    for step in values[parts_lines:]:
        step = {"behavior": "Isolated", **step} if step == {"type": "Punctuation"} else step
        name = next((name for name, written in _PRE_TOKENIZERS.items() if written == step), None)
        if name is None:
            return None
        own.append(pre_tokenizers.resolve_pre_tokenizer(name))
    if not own:
        return None
    pre_tokenizer = own[0] if len(own) == 1 else pre_tokenizers.PreTokenizerSequence(own)
    line_end = normalizer.normalize("\n")
    if parts_lines:
        return pre_tokenizer if line_end == "\n" else None
    return pre_tokenizer if line_end and pre_tokenizer.split(f"a{line_end}b") == ["a", "b"] else None


def steps_of(value: Any, list_key: str) -> list[Any]:
    """Return the single steps of a value in order, those of sequences one by one; what is no step is one too."""
    steps: list[Any] = []
    waiting = [] if value is None else [value]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict) and step.keys() == {"type", list_key} and isinstance(step[list_key], list):
            waiting += reversed(step[list_key])
        else:
            steps.append(step)
    return steps


def _is_half(character: str) -> bool:
    return 0xD800 <= ord(character) < 0xE000


def _normalizer_values(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the single steps of a normalizer."""
    match spec["type"]:
        case "sequence":
            for part in spec["normalizers"]:
                yield from _normalizer_values(part)
        case "remove":
            # One after the other, as texts: a class of characters would be a regular expression, to be escaped.
            characters = dict.fromkeys(spec["characters"])
            if len(characters) > MOST_REMOVED:
                raise StudioError(
                    "A tokenizer.json cannot hold a normalizer that removes {n:,} characters: each is a step of its "
                    "own there",
                    VOCABULARY_ALONE_ADVICE,
                    n=len(characters),
                )
            for character in characters:
                yield {"type": "Replace", "pattern": {"String": character}, "content": ""}
        case "bert":
            yield {
                "type": "BertNormalizer",
                "clean_text": spec["clean_text"],
                "handle_chinese_chars": spec["handle_chinese_chars"],
                "strip_accents": spec["strip_accents"],
                "lowercase": spec["lowercase"],
            }
        case str(name) if name != "unchanged":
            yield {"type": _NORMALIZERS[name]}


def _pre_tokenizer_values(pre_tokenizer: PreTokenizer) -> list[dict[str, Any]]:
    """Return the single steps of a pre-tokenizer."""
    try:
        spec = pre_tokenizers.to_spec(pre_tokenizer)
    except StudioError:
        raise StudioError(
            'A tokenizer.json cannot hold the pre-tokenizer "{name}": it is not built in',
            "Save vocab.txt alone, and give the pre-tokenizer again when you load it.",
            name=pre_tokenizer.name,
        ) from None
    values = []
    for part in spec["pre_tokenizers"] if spec["type"] == "sequence" else [spec]:
        if part["type"] in _REFUSED:
            raise StudioError(
                'A tokenizer.json cannot hold the pre-tokenizer "{name}": {reason}',
                VOCABULARY_ALONE_ADVICE,
                name=part.get("pattern") or part["type"],
                reason=_REFUSED[part["type"]],
            )
        values.append(_PRE_TOKENIZERS[part["type"]])
    return values
