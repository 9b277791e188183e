"""The file ``tokenizer.json`` of Hugging Face's `tokenizers`: written as that library would save it, and read strictly.

What the file cannot express exactly is refused, with the reason; how text becomes words is written and read by
`text.huggingface_steps`. A file with a WordPiece model is read as a `Tokenizer`: every id, reference and number is
checked. All other models, and WordPiece with features that the Studio lacks, are read and run by `tokenizers` itself
(`libraries`), to compare with. Of truncation and padding only the sides apply, as in `transformers`; all of it is
written again. A SentencePiece ``.model`` is written as one too, so that `transformers` loads it without that library.
Not here: the files beside it (`configuration`).
"""

from __future__ import annotations

import base64
import struct
from collections import defaultdict
from dataclasses import asdict
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer, can_be_found, reading_of
from wordpiece_studio.storage.small_files import JsonPart, read_json
from wordpiece_studio.system.printable import decodable
from wordpiece_studio.text.huggingface_steps import (
    VOCABULARY_ALONE_ADVICE,
    byte_level_decoder,
    normalizer_value,
    pre_tokenizer_value,
    read_normalizer,
    read_pre_tokenizer,
    steps_of,
)
from wordpiece_studio.text.pipeline import Normalizer, Pipeline
from wordpiece_studio.tokenizer.shaping import Template, around
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, Vocabulary

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence


CONFIG_FILE = "tokenizer_config.json"
_FRAME = {"version": "1.0", "truncation": None, "padding": None}
SPECIAL_TOKENS_FILE, ADDED_TOKENS_FILE = "special_tokens_map.json", "added_tokens.json"


def why_not_expressible(tokenizer: Tokenizer, *, is_bpe: bool = False) -> StudioError | None:
    """Return why a ``tokenizer.json`` cannot do exactly what a tokenizer does; None if it can.

    `is_bpe`: whether merges split words. Only special tokens are examined, so this costs nothing before a training,
    when there are no others yet.
    """
    try:
        pipeline_values(tokenizer)
        _check_vocabulary(tokenizer.vocabulary, is_bpe=is_bpe)
    except StudioError as error:
        return error
    return None


def tokenizer_json_bytes(tokenizer: Tokenizer, merges: Sequence[tuple[str, str]] | None = None) -> bytes:
    """Return the ``tokenizer.json`` of a tokenizer, with the same bytes that ``tokenizers.Tokenizer.save`` would write.

    With `merges`, it is that of byte pair encoding, whose words these split in their order.

    If the vocabulary has a class token and a separator, they are put around a text unless ``add_special_tokens=False``
    is passed, as in BERT's own files. A vocabulary without its unknown token is written as it is: where the Studio
    gives an unknown word no id, the library then fails.
    """
    normalizer, pre_tokenizer = pipeline_values(tokenizer)
    vocabulary = tokenizer.vocabulary
    _check_vocabulary(vocabulary, is_bpe=merges is not None)
    ids = {token: number for number, token in enumerate(vocabulary.pieces)}
    if merges is None:
        model = {
            "type": "WordPiece",
            "unk_token": vocabulary.unk_token,
            "continuing_subword_prefix": vocabulary.continuing_subword_prefix,
            "max_input_chars_per_word": max(0, tokenizer.max_word_length),
            "vocab": ids,
        }
    else:
        unknown = vocabulary.unk_token if vocabulary.unk_token in vocabulary else None
        model = _bpe(ids, merges, unknown, end_of_word_suffix=vocabulary.end_of_word_suffix)
    added = ({"id": vocabulary.id_of(token.content), **asdict(token)} for token in vocabulary.added_tokens)
    parts = {
        "added_tokens": sorted(added, key=itemgetter("id")),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor(vocabulary),
        "decoder": _decoder(vocabulary, is_byte_level=tokenizer.pre_tokenizer.is_byte_level),
        "model": model,
    }
    return pretty_json(_FRAME | parts | tokenizer.kept_parts)


def _bpe(
    vocab: dict[str, int], merges: Sequence[tuple[str, str]], unknown: str | None, **others: object
) -> dict[str, Any]:
    model = {"type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": None}
    usual = {"end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return model | usual | others | {"vocab": vocab, "merges": merges}


def pretty_json(value: Any) -> bytes:
    """Return a JSON value indented by two spaces, with unescaped UTF-8 and without a final line end."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError as error:
        what = "A token contains the unpaired surrogate {character}, which UTF-8 cannot encode"
        advice = "Leave out the lines of the corpus with such characters."
        raise StudioError(what, advice, character=ascii(error.object[error.start])) from None


def pipeline_values(tokenizer: Tokenizer) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    normalizer = tokenizer.normalizer
    return normalizer_value(normalizer), pre_tokenizer_value(tokenizer.pre_tokenizer, normalizer)


def _check_vocabulary(vocabulary: Vocabulary, *, is_bpe: bool) -> None:
    if vocabulary.end_of_word_suffix is not None and not is_bpe:
        what = 'A tokenizer.json cannot express the end-of-word suffix "{suffix}": its WordPiece would never match it'
        raise StudioError(what, VOCABULARY_ALONE_ADVICE, suffix=vocabulary.end_of_word_suffix)
    for token in vocabulary.added_tokens:
        if token.content not in vocabulary:
            what = "A tokenizer.json cannot express the special token {token}, which is not in the vocabulary"
            raise StudioError(what, VOCABULARY_ALONE_ADVICE, token=repr(token.content))


def _decoder(vocabulary: Vocabulary, *, is_byte_level: bool) -> dict[str, Any] | None:
    prefix, suffix = vocabulary.continuing_subword_prefix, vocabulary.end_of_word_suffix
    if not is_byte_level and suffix is not None:
        return {"type": "BPEDecoder", "suffix": suffix}
    if not is_byte_level:
        # With an empty prefix, its decoder would join all words into one.
        return {"type": "WordPiece", "prefix": prefix, "cleanup": True} if prefix else None
    return byte_level_decoder(prefix, suffix)


def kept_post_processor(stated: Any, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the post-processor of a file as a part to keep; nothing if `post_processor` would write the same."""
    return {"post_processor": stated} if stated is None or stated != post_processor(vocabulary) else {}


def post_processor(vocabulary: Vocabulary) -> dict[str, Any] | None:
    """Return what puts the class token and separators around a text; None if the vocabulary lacks one of them."""
    first, last = vocabulary.cls_token, vocabulary.sep_token
    if first is None or last is None:
        return None
    return around((first, vocabulary.id_of(first)), (last, vocabulary.id_of(last)))


# SentencePiece.

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3  # types of pieces
_BPE = 2  # a type of model
_METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}


class ModelPiece(NamedTuple):
    text: str
    score: float
    type: int

    @property
    def is_special(self) -> bool:
        return self.type in (_UNKNOWN, _CONTROL)


class SentencePieceModel:
    """What a ``.model`` that SentencePiece trained consists of; `content` is that of the file.

    It is a message of Protocol Buffers, of which only the fields that are needed are read.
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
        if self._is_bpe:
            ids = {piece.text: number for number, piece in enumerate(self.pieces)}
            model = _bpe(ids, list(self._merges(ids)), self.pieces[self._unknown].text, fuse_unk=True)
        else:
            vocab = [(piece.text, piece.score) for piece in self.pieces]
            model = {"type": "Unigram", "unk_id": self._unknown, "vocab": vocab, "byte_fallback": False}
        parts = {
            "added_tokens": [
                {"id": number, "content": piece.text, **plain, "special": True}
                for number, piece in enumerate(self.pieces)
                if piece.is_special
            ],
            "normalizer": {"type": "Sequence", "normalizers": steps},
            "pre_tokenizer": _METASPACE,
            "post_processor": None,
            "decoder": _METASPACE,
            "model": model,
        }
        return pretty_json(_FRAME | parts)

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


# Reading.

_KEYS = {
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
}
_Length = Annotated[int, msgspec.Meta(ge=0, le=1 << 31)]
_LARGEST_NORMALIZER_BYTES = 4 << 20
_MOST_ADDED = 100_000
_PLAIN_PROCESSORS = (None, "BertProcessing", "TemplateProcessing")  # others move the offsets of tokens


@decodable
class _ModelFields(msgspec.Struct, forbid_unknown_fields=True):
    unk_token: str
    continuing_subword_prefix: Annotated[str, msgspec.Meta(max_length=100)]
    max_input_chars_per_word: _Length
    vocab: msgspec.Raw
    type: str | None = None


@decodable
class _Lengths(msgspec.Struct):
    """The numbers of truncation and padding, neither of which is done here."""

    max_length: _Length | None = None
    stride: _Length | None = None
    pad_to_multiple_of: _Length | None = None
    pad_id: _Length | None = None
    pad_type_id: _Length | None = None
    strategy: str | dict[str, _Length] | None = None


@decodable
class _AddedToken(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    def token(self) -> AddedToken:
        return AddedToken(*msgspec.structs.astuple(self)[1:])


def read_tokenizer_json(path: str | os.PathLike[str]) -> Tokenizer | LibraryTokenizer:
    file = read_json(path)
    members = file.members()
    _check_frame(file, members)
    model = members["model"].members()
    # Old files do not name the model type.
    kind = model["type"].typed(str) if "type" in model else "WordPiece" * ("max_input_chars_per_word" in model)
    tokenizer: Tokenizer | LibraryTokenizer | None = _own_tokenizer(members, model) if kind == "WordPiece" else None
    if tokenizer is None:
        tokenizer = LibraryTokenizer(path)
        tokenizer.reading = reading_of(*_parts(members))
    for name, attribute in (("padding", "padding_side"), ("truncation", "truncation_side")):
        if (_value(members.get(name)) or {}).get("direction") == "Left":
            setattr(tokenizer, attribute, "left")
    return tokenizer


def _parts(members: Mapping[str, JsonPart]) -> tuple[Any, Any, list[AddedToken]]:
    """Return the values that say how words are found, and the added tokens; None for what only the library can read."""
    try:
        listed = _listed_tokens(members.get("added_tokens"))
        steps = [_value(members.get(name)) for name in ("normalizer", "pre_tokenizer")]
    except StudioError:  # the library may well read it
        return None, None, []
    return steps[0], steps[1], [token.token() for token in listed if token.content]  # the library omits empty ones


def _listed_tokens(part: JsonPart | None) -> list[_AddedToken]:
    return [] if part is None or part.data.strip() == b"null" else part.typed(list[_AddedToken])


def stated_normalizer(path: str | os.PathLike[str]) -> Normalizer | None:
    return read_normalizer(_value(read_json(path).members().get("normalizer")))


def _own_tokenizer(members: Mapping[str, JsonPart], model: Mapping[str, JsonPart]) -> Tokenizer | None:
    """Return a WordPiece tokenizer as the Studio's own; None if the Studio has no equivalent."""
    # Small parts are read first, so that refusals come quickly.
    normalizer = read_normalizer(_value(members.get("normalizer")))
    pre_tokenizer = read_pre_tokenizer(_value(members.get("pre_tokenizer")), normalizer) if normalizer else None
    template = _template_in(members.get("post_processor"))
    decoder = _check_component(members.get("decoder"))
    fields = members["model"].typed(_ModelFields)
    vocab = model["vocab"].ids()
    if fields.unk_token not in vocab:
        raise members["model"].refused(
            "{token} is not in the vocabulary",
            ".unk_token",
            "Add it to the vocabulary, or name the token for unknown words.",
            token=repr(fields.unk_token[:50]),
        )
    added = _added_tokens(members.get("added_tokens"), vocab)
    ids = {**vocab, **{token.content: token.id for token in added}}
    tokens = sorted(ids, key=ids.__getitem__)
    has_holes = ids[tokens[-1]] != len(tokens) - 1 or max(vocab.values()) != len(vocab) - 1
    if normalizer is None or pre_tokenizer is None or template is None or has_holes:
        return None
    if any(not 0 <= number < len(tokens) or tokens[number] != token for token, number in template.special_tokens):
        return None
    added_tokens = [token.token() for token in sorted(added, key=lambda token: token.id)]
    if not can_be_found(added_tokens, Pipeline(normalizer, pre_tokenizer)):
        return None
    special = {token.content for token in added_tokens if token.special}
    roles = _roles_in(members.get("post_processor"), special)
    match _value(members.get("padding")):
        case {"pad_token": str(token)} if token in special:
            roles["pad_token"] = token
    vocabulary = Vocabulary(
        tokens,
        (),
        fields.continuing_subword_prefix,
        unk_token=fields.unk_token,
        added_tokens=added_tokens,
        pieces=len(vocab) if len(tokens) > len(vocab) else None,
        **roles,
    )
    kept = {name: value for name in ("truncation", "padding") if (value := _value(members.get(name))) is not None}
    made = Tokenizer(
        vocabulary,
        normalizer,
        pre_tokenizer,
        max_word_length=fields.max_input_chars_per_word,
        kept_parts=kept | kept_post_processor(_value(members.get("post_processor")), vocabulary),
    )
    made.has_decoder = decoder is not None or not fields.continuing_subword_prefix
    return made


def _template_in(part: JsonPart | None) -> Template | None:
    value = _check_component(part)
    steps = [value] if value is None else steps_of(value, "processors")
    if len(steps) != 1 or (steps[0] and steps[0].get("type")) not in _PLAIN_PROCESSORS:
        return None
    return Template.of(steps[0])


def _roles_in(part: JsonPart | None, special: set[str]) -> dict[str, Any]:
    match _value(part):
        case {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": str(first)}},
                {"Sequence": {"id": "A"}},
                {"SpecialToken": {"id": str(last)}},
            ],
        } | {"type": "BertProcessing", "cls": [str(first), _], "sep": [str(last), _]} if special.issuperset(
            [first, last]
        ):
            return {"cls_token": first, "sep_token": last}
    return {}


def _added_tokens(part: JsonPart | None, vocab: Mapping[str, int]) -> list[_AddedToken]:
    found = _listed_tokens(part)
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
            raise part.refused("{token} appears twice", place, token=shown)
        contents.add(token.content)
        if not 0 <= token.id < 1 << 32:
            raise part.refused("{token} has the ID {id}", place, token=shown, id=str(token.id)[:30])
        expected = vocab.get(token.content)
        if expected is None:
            expected, next_id = next_id, next_id + 1
        if token.id != expected or tokens_by_id.setdefault(token.id, token.content) != token.content:
            raise part.refused(
                "{token} has the ID {id}, where the `tokenizers` library would silently assign {expected}",
                place,
                "Save the file again with the program that wrote it.",
                token=shown,
                id=token.id,
                expected=expected,
            )
    return found


def _value(part: JsonPart | None) -> Any:
    return None if part is None else part.value(_LARGEST_NORMALIZER_BYTES)


def _check_component(part: JsonPart | None) -> Any:
    value = _value(part)
    if part is not None and value is not None and not isinstance(value, dict):
        raise part.refused("this is not a component")
    return value


def _check_frame(file: JsonPart, members: dict[str, JsonPart]) -> None:
    unknown = members.keys() - _KEYS
    if unknown:
        raise file.refused("the key {key} is unknown", key=repr(min(unknown)[:50]))
    if "model" not in members:
        raise file.refused("it has no model", "", "Choose a tokenizer.json.")
    version = members["version"].value() if "version" in members else None
    if version != "1.0":
        what, place = 'the version is {version}, not "1.0"', ".version"
        if version is None:
            what, place = 'there is no version, which should be "1.0"', ""
        raise file.refused(what, place, "Save it with a current version.", version=repr(version)[:50])
    for key in ("truncation", "padding"):
        if _value(members.get(key)) is not None:
            members[key].typed(_Lengths)
