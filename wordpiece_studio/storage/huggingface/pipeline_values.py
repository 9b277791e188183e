"""Normalizers and pre-tokenizers as the JSON values of a ``tokenizer.json``; only where they do exactly the same there.

Everything here is compared with the `tokenizers` library by ``python -m tests.benchmarks.agreement``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text import normalizers, pre_tokenizers

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
