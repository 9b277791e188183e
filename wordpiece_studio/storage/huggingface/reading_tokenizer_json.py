"""Reading any ``tokenizer.json``: as a `Tokenizer` if it is plain WordPiece, otherwise as one to compare with.

A WordPiece model is read here, strictly: every id, reference and number is checked. All other models, and WordPiece
with features that the Studio lacks, are read and run by the `tokenizers` library (`peers`). Truncation and padding do
not change any tokens and are only checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.peers.imported_tokenizer import ImportedTokenizer
from wordpiece_studio.storage.huggingface.reading_json import JsonPart, read_json
from wordpiece_studio.storage.huggingface.tokenizer_json import read_normalizer, read_pre_tokenizer, steps_of
from wordpiece_studio.system.printable import decodable
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any

    from wordpiece_studio.text.pipeline import Normalizer

_KEYS = {
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
}
_LONGEST_SEQUENCE = _LONGEST_WORD = 1 << 31
_LONGEST_PREFIX = 100
_LARGEST_NORMALIZER_BYTES = 4 << 20
_MOST_ADDED = 100_000
_PLAIN_PROCESSORS = ("BertProcessing", "TemplateProcessing")  # others move the offsets of tokens


@decodable
class _ModelFields(msgspec.Struct, forbid_unknown_fields=True):
    unk_token: str
    continuing_subword_prefix: str
    max_input_chars_per_word: int
    vocab: msgspec.Raw
    type: str | None = None


@decodable
class _AddedToken(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    @property
    def is_plain(self) -> bool:
        """Whether it behaves like a special token of the Studio."""
        return self.special and not (self.single_word or self.lstrip or self.rstrip or self.normalized)


def read_tokenizer_json(path: str | os.PathLike[str]) -> Tokenizer | ImportedTokenizer:
    """Return the tokenizer of a ``tokenizer.json``.

    Raises
    ------
    StudioError
        If the file cannot be read, is damaged or hostile; the message names the place in it, or quotes the library.
    """
    file = read_json(path)
    members = file.members()
    _check_frame(file, members)
    model = members["model"].members()
    # Old files do not name the model type.
    kind = model["type"].typed(str) if "type" in model else "WordPiece" * ("max_input_chars_per_word" in model)
    own = _own_tokenizer(members, model) if kind == "WordPiece" else None
    return ImportedTokenizer(path) if own is None else own


def stated_normalizer(path: str | os.PathLike[str]) -> Normalizer | None:
    """Return the normalizer that a ``tokenizer.json`` specifies, if it is one of ours.

    Raises
    ------
    StudioError
        If the file cannot be read or is damaged.
    """
    return read_normalizer(_value(read_json(path).members().get("normalizer")))


def _own_tokenizer(members: Mapping[str, JsonPart], model: Mapping[str, JsonPart]) -> Tokenizer | None:
    """Return a WordPiece tokenizer as the Studio's own; None if the Studio has no equivalent."""
    # Small parts are read first, so that refusals come quickly.
    normalizer = read_normalizer(_value(members.get("normalizer")))
    pre_tokenizer = read_pre_tokenizer(_value(members.get("pre_tokenizer")), normalizer) if normalizer else None
    processors = steps_of(_value(members.get("post_processor")), "processors")
    _check_component(members.get("decoder"))
    fields = members["model"].typed(_ModelFields)
    vocab = _checked_vocab(members["model"], fields, model["vocab"])
    added = _added_tokens(members.get("added_tokens"), vocab)
    ids = {**vocab, **{token.content: token.id for token in added}}
    tokens = sorted(ids, key=ids.__getitem__)
    has_holes = ids[tokens[-1]] != len(tokens) - 1
    is_plain = all(isinstance(step, dict) and step.get("type") in _PLAIN_PROCESSORS for step in processors)
    if normalizer is None or pre_tokenizer is None or not is_plain or has_holes:
        return None
    if not all(token.is_plain for token in added):
        return None
    special = [token.content for token in sorted(added, key=lambda token: token.id)]
    vocabulary = Vocabulary(tokens, special, fields.continuing_subword_prefix, unk_token=fields.unk_token)
    return Tokenizer(vocabulary, normalizer, pre_tokenizer, max_word_length=fields.max_input_chars_per_word)


def _checked_vocab(part: JsonPart, fields: _ModelFields, vocabulary: JsonPart) -> dict[str, int]:
    """Return the ids of a model's tokens.

    Raises
    ------
    StudioError
        If they, or anything else in the model, are invalid.
    """
    vocab, prefix, longest = vocabulary.ids(), fields.continuing_subword_prefix, fields.max_input_chars_per_word
    if fields.unk_token not in vocab:
        raise part.refused(
            "{token} is not in the vocabulary",
            ".unk_token",
            "Add it to the vocabulary, or name the token for unknown words.",
            token=repr(fields.unk_token[:50]),
        )
    if len(prefix) > _LONGEST_PREFIX:
        place = ".continuing_subword_prefix"
        raise part.refused("{n:,} characters are far too many", place, n=len(prefix))
    if not 0 <= longest <= _LONGEST_WORD:
        raise part.refused("{n} characters", ".max_input_chars_per_word", n=str(longest)[:30])
    return vocab


def _added_tokens(part: JsonPart | None, vocab: Mapping[str, int]) -> list[_AddedToken]:
    """Return the added tokens of a file; `part`: its ``added_tokens``, or None if it has none.

    Raises
    ------
    StudioError
        If one is not a valid added token, appears twice, or has an id that belongs to another token or that the
        `tokenizers` library would not give it.
    """
    found = [] if part is None or part.data.strip() == b"null" else part.typed(list[_AddedToken])
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
            raise part.refused("{token} has the id {id}", place, token=shown, id=str(token.id)[:30])
        expected = vocab.get(token.content)
        if expected is None:
            expected, next_id = next_id, next_id + 1
        if token.id != expected or tokens_by_id.setdefault(token.id, token.content) != token.content:
            raise part.refused(
                "{token} has the id {id}, where the `tokenizers` library would give it {expected}, silently",
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
    """Return the value of a part, which must be an object or null."""
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
        raise file.refused(
            'the version is {version}, not "1.0"',
            ".version",
            "Save it with a current version.",
            version=repr(version)[:50],
        )
    for key in ("truncation", "padding"):
        value = _check_component(members.get(key))
        if value is not None:
            _check_lengths(members[key], value)


def _check_lengths(part: JsonPart, value: dict[str, Any]) -> None:
    """Check the numbers of truncation and padding, neither of which is done here."""
    strategy = value.get("strategy")
    fixed = strategy.get("Fixed") if isinstance(strategy, dict) else None
    numbers = {key: value.get(key) for key in ("max_length", "stride", "pad_to_multiple_of", "pad_id", "pad_type_id")}
    for key, number in {**numbers, "strategy.Fixed": fixed}.items():
        if number is None:
            continue
        if type(number) is not int or not 0 <= number <= _LONGEST_SEQUENCE:
            raise part.refused("{n} is not a valid number", f".{key}", n=repr(number)[:50])
