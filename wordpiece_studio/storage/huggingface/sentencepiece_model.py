"""SentencePiece's ``.model`` as a ``tokenizer.json``, so that `transformers` loads it without that library.

The file is a message of Protocol Buffers, of which only the fields that are needed are read.
"""

from __future__ import annotations

import base64
import struct
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.huggingface.tokenizer_json import pretty_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3  # types of pieces
_BPE = 2  # a type of model
_METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}


class ModelPiece(NamedTuple):
    """A piece of a model."""

    text: str
    score: float
    type: int

    @property
    def is_special(self) -> bool:
        """Whether it stands for no text."""
        return self.type in (_UNKNOWN, _CONTROL)


class SentencePieceModel:
    """What a ``.model`` that SentencePiece trained consists of.

    Parameters
    ----------
    content
        The content of the file.
    """

    def __init__(self, content: bytes) -> None:
        try:
            fields = _fields(content)
            self.pieces = [_piece(value) for value in fields[1]]
            self._is_bpe = _fields(fields[2][0])[3] == [_BPE]
            (self._characters,) = _fields(fields[3][0])[2] or [b""]
            (self._unknown,) = (number for number, piece in enumerate(self.pieces) if piece.type == _UNKNOWN)
        except (ValueError, IndexError, TypeError, struct.error) as error:
            raise StudioError(
                "The SentencePiece model cannot be read: {reason}", "Train again.", reason=repr(error)
            ) from None

    @property
    def special_tokens(self) -> list[str]:
        """The pieces that stand for no text, in order of id."""
        return [piece.text for piece in self.pieces if piece.is_special]

    def tokenizer_json(self) -> bytes:
        """Return the content of a ``tokenizer.json`` that splits text alike, where it spells out no special token.

        In a text, the library `tokenizers` finds special tokens, and SentencePiece does not.
        """
        steps = [
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ]
        if self._characters:
            charsmap = base64.b64encode(self._characters).decode()
            steps.insert(0, {"type": "Precompiled", "precompiled_charsmap": charsmap})
        plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        return pretty_json({
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": number, "content": piece.text, **plain, "special": True}
                for number, piece in enumerate(self.pieces)
                if piece.is_special
            ],
            "normalizer": {"type": "Sequence", "normalizers": steps},
            "pre_tokenizer": _METASPACE,
            "post_processor": None,
            "decoder": _METASPACE,
            "model": self._bpe() if self._is_bpe else self._unigram(),
        })  # fmt: skip

    def _unigram(self) -> dict[str, Any]:
        vocab = [(piece.text, piece.score) for piece in self.pieces]
        return {"type": "Unigram", "unk_id": self._unknown, "vocab": vocab, "byte_fallback": False}

    def _bpe(self) -> dict[str, Any]:
        ids = {piece.text: number for number, piece in enumerate(self.pieces)}
        return {
            "type": "BPE",
            "dropout": None,
            "unk_token": self.pieces[self._unknown].text,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": ids,
            "merges": list(self._merges(ids)),
        }

    def _merges(self, ids: dict[str, int]) -> Iterator[tuple[str, str]]:
        """Yield the pairs of pieces that make a piece, those of the best first: SentencePiece stores no merges."""
        normal = {piece.text for piece in self.pieces if piece.type == _NORMAL}
        for piece in sorted(self.pieces, key=lambda piece: -piece.score):
            if piece.type == _NORMAL:
                text = piece.text
                pairs = ((text[:place], text[place:]) for place in range(1, len(text)))
                yield from sorted((pair for pair in pairs if normal.issuperset(pair)), key=lambda pair: ids[pair[0]])


def _piece(data: bytes) -> ModelPiece:
    fields = _fields(data)
    (score,) = struct.unpack("<f", fields[2][0]) if fields[2] else (0.0,)
    return ModelPiece(fields[1][0].decode(), score, *(fields[3] or [_NORMAL]))


def _fields(data: bytes) -> defaultdict[int, list[Any]]:
    """Return the values of each field of a message by its number: bytes, or whole numbers."""
    found: defaultdict[int, list[Any]] = defaultdict(list)
    place = 0
    while place < len(data):
        key, place = _number(data, place)
        kind = key & 7
        value: int | bytes
        if kind == 0:
            value, place = _number(data, place)
        else:
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, place = _number(data, place)
            elif kind not in (1, 5):
                raise ValueError(f"a field of the kind {kind}")
            value, place = data[place : place + size], place + size
        found[key >> 3].append(value)
    return found


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return the number that is written at a place, seven bits a byte, and the place after it."""
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
        shift += 7
