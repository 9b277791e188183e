"""The ``model`` of a ``tokenizer.json``, and its ``added_tokens``: every id, reference and number is checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.peers.added_tokens import AddedToken
from wordpiece_studio.peers.models import BpeModel, BpeOptions, UnigramModel, WordPieceModel
from wordpiece_studio.system.decodable import decodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wordpiece_studio.peers.models import Model
    from wordpiece_studio.storage.huggingface.reading_json import JsonPart

LONGEST_AFFIX = 100  # characters of a prefix or suffix
_LONGEST_WORD = 1 << 31
_LONGEST_PIECE = 1000  # each place of a text is looked at with all lengths up to that
_MOST_ADDED = 100_000
_LARGEST_POWER = 300
_POWERS = [float(f"1e{power}") for power in range(_LARGEST_POWER + 1)]
_ADVICE = "Use the file in the program that it is from; what it does cannot be repeated here exactly."


@decodable
class _WordPieceFields(msgspec.Struct, forbid_unknown_fields=True):
    unk_token: str
    continuing_subword_prefix: str
    max_input_chars_per_word: int
    vocab: msgspec.Raw
    type: str | None = None


@decodable
class _BpeFields(msgspec.Struct, forbid_unknown_fields=True):
    vocab: msgspec.Raw
    merges: msgspec.Raw
    type: str | None = None
    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool | None = None
    byte_fallback: bool | None = None
    ignore_merges: bool | None = None


@decodable
class _UnigramFields(msgspec.Struct, forbid_unknown_fields=True):
    vocab: msgspec.Raw
    unk_id: int | None = None
    byte_fallback: bool | None = None
    type: str | None = None


@decodable
class _AddedFields(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool


def read_model(part: JsonPart) -> Model:
    """Return the model of a file.

    Raises
    ------
    StudioError
        If it is of no known kind, does something by chance, or anything in it is not what it should be.
    """
    members = part.members()
    kind = members["type"].typed(str) if "type" in members else _kind_of(members)
    match kind:
        case "WordPiece":
            return _word_piece(part, members)
        case "BPE":
            return _bpe(part, members)
        case "Unigram":
            return _unigram(part, members)
    raise part.refused(
        "{kind} is no model that is known here",
        ".type",
        "Known are WordPiece, BPE and Unigram.",
        kind=repr(kind[:50]),
    )


def _kind_of(members: Mapping[str, JsonPart]) -> str:
    """Return the kind of a model that does not name it: old files do not."""
    for key, kind in (("max_input_chars_per_word", "WordPiece"), ("merges", "BPE"), ("unk_id", "Unigram")):
        if key in members:
            return kind
    return "an unnamed one"


def _word_piece(part: JsonPart, members: Mapping[str, JsonPart]) -> WordPieceModel:
    fields = part.typed(_WordPieceFields)
    vocab = members["vocab"].ids()
    _check_unknown(part, fields.unk_token, vocab)
    _check_affix(part, "continuing_subword_prefix", fields.continuing_subword_prefix)
    longest = fields.max_input_chars_per_word
    if not 0 <= longest <= _LONGEST_WORD:
        raise part.refused("{n} characters", ".max_input_chars_per_word", n=str(longest)[:30])
    return WordPieceModel(vocab, fields.unk_token, fields.continuing_subword_prefix, longest)


def _bpe(part: JsonPart, members: Mapping[str, JsonPart]) -> BpeModel:
    fields = part.typed(_BpeFields)
    if fields.dropout:
        raise part.refused(
            "with dropout every text is tokenized by chance, each time in another way", ".dropout", "Set it to null."
        )
    vocab = members["vocab"].ids()
    if fields.unk_token is not None:
        _check_unknown(part, fields.unk_token, vocab)
    options = BpeOptions(
        fields.unk_token,
        fields.continuing_subword_prefix or "",
        fields.end_of_word_suffix or "",
        bool(fields.fuse_unk),
        bool(fields.byte_fallback),
        bool(fields.ignore_merges),
    )
    _check_affix(part, "continuing_subword_prefix", options.continuing_subword_prefix)
    _check_affix(part, "end_of_word_suffix", options.end_of_word_suffix)
    if options.byte_fallback and (options.continuing_subword_prefix or options.end_of_word_suffix):
        raise part.refused("byte_fallback with a prefix or a suffix", ".byte_fallback", _ADVICE)
    merges = _merges(members["merges"])
    _check_merges(members["merges"], merges, vocab, options.continuing_subword_prefix)
    return BpeModel(vocab, merges, options)


def _merges(part: JsonPart) -> list[tuple[str, str]]:
    """Return the merges; old files have both symbols in one text, with a blank between."""
    head = part.data.lstrip()[1:].lstrip()[:1]
    if head != b'"':
        return part.typed(list[tuple[str, str]])
    lines = part.typed(list[str])
    merges = []
    for number, line in enumerate(lines):
        if line.startswith("#version"):
            continue
        left, blank, right = line.partition(" ")
        if not blank or " " in right:
            raise part.refused("{line} is not two symbols with a blank between", f"[{number}]", line=repr(line[:50]))
        merges.append((left, right))
    return merges


def _check_merges(part: JsonPart, merges: Iterable[tuple[str, str]], vocab: Mapping[str, int], prefix: str) -> None:
    """Check that the symbols of every merge, and what becomes of them, are in the vocabulary.

    Raises
    ------
    StudioError
        If not; the message names the merge.
    """
    for number, (left, right) in enumerate(merges):
        if prefix and not right.startswith(prefix):
            raise part.refused(
                "{token} does not begin with {prefix}", f"[{number}]", token=repr(right[:50]), prefix=repr(prefix)
            )
        for token in (left, right, left + right[len(prefix) :]):
            if token not in vocab:
                raise part.refused("{token} is not in the vocabulary", f"[{number}]", token=repr(token[:50]))


def _unigram(part: JsonPart, members: Mapping[str, JsonPart]) -> UnigramModel:
    fields = part.typed(_UnigramFields)
    vocab = members["vocab"]
    pieces = vocab.typed(list[tuple[str, float]])
    seen: dict[str, int] = {}
    for number, (piece, score) in enumerate(pieces):
        if not piece:
            raise vocab.refused("an empty piece", f"[{number}]")
        if piece in seen:
            raise vocab.refused(
                "{piece} stands there twice, first as number {first}",
                f"[{number}]",
                piece=repr(piece[:50]),
                first=seen[piece],
            )
        if not math.isfinite(score):
            raise vocab.refused("the score {score}", f"[{number}]", score=score)
        seen[piece] = number
    longest = max(seen, key=len, default="")
    if len(longest) > _LONGEST_PIECE:
        place = f"[{seen[longest]}]"
        raise vocab.refused("a piece of {n:,} characters, more than anything sensible needs", place, n=len(longest))
    if fields.unk_id is not None and not 0 <= fields.unk_id < len(pieces):
        raise part.refused("there is no piece with the id {id}", ".unk_id", id=str(fields.unk_id)[:30])
    pieces = [(piece, _as_read_there(score)) for piece, score in pieces]
    return UnigramModel(pieces, fields.unk_id, byte_fallback=bool(fields.byte_fallback))


def _as_read_there(score: float) -> float:
    """Return a number as the library reads it: its digits, rounded, divided by a power of ten, and rounded again.

    Where two segmentations have the same sum but for that, it decides.
    """
    mantissa, _, exponent = repr(score).partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) - len(fraction)
    digits = float(int(whole + fraction))
    if not -_LARGEST_POWER <= power <= 0:
        return score
    return math.copysign(digits / _POWERS[-power], score)


def read_added_tokens(part: JsonPart | None, vocab: Mapping[str, int]) -> list[AddedToken]:
    """Return the added tokens of a file; its ``added_tokens``, or None if it has none.

    Raises
    ------
    StudioError
        If one is no such token, stands there twice, or has an id that is another token's, or that its own program
        would not give it.
    """
    found = [] if part is None or part.data.strip() == b"null" else part.typed(list[_AddedFields])
    if part is None:
        return []
    if len(found) > _MOST_ADDED:
        raise part.refused("{n:,} are too many", n=len(found))
    tokens_by_id = {number: token for token, number in vocab.items()}
    contents: set[str] = set()
    next_id = len(vocab)
    for number, token in enumerate(found):
        place, shown = f"[{number}]", repr(token.content[:50])
        if not token.content:
            raise part.refused("an empty token", place)
        if token.content in contents:
            raise part.refused("{token} stands there twice", place, token=shown)
        contents.add(token.content)
        if not 0 <= token.id < 1 << 32:
            raise part.refused("{token} has the id {id}", place, token=shown, id=str(token.id)[:30])
        expected = vocab.get(token.content)
        if expected is None:
            expected, next_id = next_id, next_id + 1
        if token.id != expected or tokens_by_id.setdefault(token.id, token.content) != token.content:
            raise part.refused(
                "{token} has the id {id}, where the `tokenizers` library would give it {expected}, silently",
                place,
                "Save the file again with the program that it is from.",
                token=shown,
                id=token.id,
                expected=expected,
            )
    return [
        AddedToken(
            token.id, token.content, token.normalized, token.single_word, token.lstrip, token.rstrip, token.special
        )
        for token in found
    ]


def _check_unknown(part: JsonPart, unk_token: str, vocab: Mapping[str, int]) -> None:
    if unk_token not in vocab:
        raise part.refused(
            "{token} is not in the vocabulary",
            ".unk_token",
            "Add it to the vocabulary, or name the token that stands for unknown words.",
            token=repr(unk_token[:50]),
        )


def _check_affix(part: JsonPart, key: str, affix: str) -> None:
    if len(affix) > LONGEST_AFFIX:
        raise part.refused("{n:,} characters are more than anything sensible needs", f".{key}", n=len(affix))
