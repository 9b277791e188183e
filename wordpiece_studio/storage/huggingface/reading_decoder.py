"""The ``decoder`` of a ``tokenizer.json``: how tokens become a text again.

What cannot be repeated here keeps no file from being read, for it changes no token: it is told when text is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.decoding import (
    BpeDecoder,
    ByteFallbackDecoder,
    ByteLevelDecoder,
    FuseDecoder,
    MetaspaceDecoder,
    NoDecoder,
    ReplaceDecoder,
    StripDecoder,
    WordPieceDecoder,
)
from wordpiece_studio.peers.normalizing import Replace
from wordpiece_studio.storage.huggingface.reading_pipeline import character, metaspace, steps_of

if TYPE_CHECKING:
    from wordpiece_studio.peers.decoding import Decoder
    from wordpiece_studio.storage.huggingface.reading_json import JsonPart
    from wordpiece_studio.storage.huggingface.reading_pipeline import Step

_MOST_STEPS = 100
_MOST_GROWTH = 1000  # characters of one


def read_decoders(part: JsonPart | None) -> list[Decoder] | None:
    """Return the decoders of a file; its ``decoder``, or None if it has none.

    Raises
    ------
    StudioError
        If it is no component.
    """
    if part is None:
        return None
    value = part.value()
    if value is None:
        return None
    if not isinstance(value, dict):
        raise part.refused("this is no component")
    try:
        steps = steps_of(part, "decoders")
        if len(steps) > _MOST_STEPS:
            raise part.refused("there are more than {n} components", "", n=_MOST_STEPS)
        decoders = [_decoder(step) for step in steps]
        growth = 1
        for decoder in decoders:
            growth *= _growth(decoder)
        if growth > _MOST_GROWTH:
            raise part.refused("its steps together make too much of each character")
    except StudioError as error:
        return [NoDecoder(error)]
    return decoders


def _growth(decoder: Decoder) -> int:
    return max(len(decoder.replace.content), 1) if isinstance(decoder, ReplaceDecoder) else 1


def _decoder(step: Step) -> Decoder:
    match step.kind:
        case "WordPiece":
            step.only("prefix", "cleanup")
            return WordPieceDecoder(step.take("prefix", str), step.take("cleanup", bool))
        case "BPEDecoder":
            step.only("suffix")
            return BpeDecoder(step.take("suffix", str))
        case "ByteLevel":
            step.only("add_prefix_space", "trim_offsets", "use_regex")
            return ByteLevelDecoder()
        case "Metaspace":
            found = metaspace(step)
            return MetaspaceDecoder(found.mark, found.scheme != "never")
        case "ByteFallback":
            step.only()
            return ByteFallbackDecoder()
        case "Fuse":
            step.only()
            return FuseDecoder()
        case "Strip":
            step.only("content", "start", "stop")
            return StripDecoder(character(step, "content"), _count(step, "start"), _count(step, "stop"))
        case "Replace":
            step.only("pattern", "content")
            return ReplaceDecoder(Replace(step.pattern(), step.take("content", str)))
    raise step.refused("this decoder cannot be repeated here")


def _count(step: Step, key: str) -> int:
    count: int = step.take(key, int)
    if count < 0:
        raise step.refused("this is no number of characters", f".{key}")
    return count
