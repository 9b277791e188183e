"""Reading the files of other programs' tokenizers, strictly: any JSON, and any ``tokenizer.json``.

Of foreign JSON only what is requested is decoded, and no key may appear twice. Memory stays in proportion to what is
requested; values nested too deeply are refused.

A ``tokenizer.json`` with a WordPiece model is read as a `Tokenizer`: every id, reference and number is checked. All
other models, and WordPiece with features that the Studio lacks, are read and run by `tokenizers` itself (`libraries`),
to compare with. Of truncation and padding only the sides apply, as in `transformers`; all of it is written again.
Not here: the files beside it (`configuration`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer, can_be_found, reading_of
from wordpiece_studio.storage.huggingface.tokenizer_json import kept_post_processor
from wordpiece_studio.storage.small_files import TOO_LARGE_TOKENIZER, small_file_bytes
from wordpiece_studio.system.printable import decodable, display_name, printable
from wordpiece_studio.text.huggingface_steps import (
    read_normalizer,
    read_pre_tokenizer,
    steps_of,
)
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.tokenizer.encoding import Template
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, Vocabulary

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NoReturn

    from wordpiece_studio.text.pipeline import Normalizer

_T = TypeVar("_T")

LARGEST_FILE_BYTES = 128 << 20
LARGEST_VALUE_BYTES = 1 << 20  # of anything but a vocabulary or a list of merges
_DEEPEST = 50
_KEY = re.compile(rb'[\s,{]*("(?:[^"\\]|\\.)*")\s*:\s*', re.DOTALL)
_PLACE = re.compile(r" - at `(?P<key>key in )?\$(?P<place>[^`]*)`$")
_BYTE = re.compile(r" \(byte (\d+)\)$")
_OBJECTS = msgspec.json.Decoder(dict[str, msgspec.Raw])

_ADVICE = "Save it again with the program that wrote it."


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A value in a JSON file, as it is there."""

    data: bytes
    file: str  # its name in messages
    place: str = ""  # of the value, such as ``model.vocab``; empty for the whole file

    def refused(self, reason: str, place: str = "", advice: str = "", /, **values: object) -> StudioError:
        """Return the error that says why the value, or the part at `place` in it, is refused."""
        where = printable(self.place + place).lstrip(".")[:300]
        what = "{path}, {place}: " + reason if where else "{path}: " + reason
        return StudioError(what, advice or _ADVICE, path=self.file, place=where, **values)

    def members(self) -> dict[str, JsonPart]:
        """Return the values of an object by key."""
        found = self._decoded(_OBJECTS)
        position, seen = 0, 0
        view = memoryview(self.data)
        values = list(found.items())
        # Of a duplicate key only the last value is found, so the values do not fill the object.
        while (match := _KEY.match(self.data, position)) is not None:
            key = msgspec.json.decode(match[1], type=str)
            value = memoryview(values[seen][1]) if seen < len(values) else None
            if value is None or values[seen][0] != key or view[match.end() : match.end() + len(value)] != value:
                raise self.refused("the key {key} appears twice", key=printable(repr(key[:50])))
            position, seen = match.end() + len(value), seen + 1
        return {key: JsonPart(bytes(value), self.file, f"{self.place}.{key[:50]}") for key, value in values}

    def typed(self, type_: type[_T]) -> _T:
        """Return the value as an instance of a type."""
        return self._decoded(msgspec.json.Decoder(type_))

    def value(self, most_bytes: int = LARGEST_VALUE_BYTES) -> Any:
        """Return a small value of any type."""
        if len(self.data) > most_bytes:
            raise self.refused("{n:,} bytes are far too many", n=len(self.data))
        if _depth(self.data) > _DEEPEST:
            raise self.refused("it is nested too deeply")
        self._decoded(msgspec.json.Decoder(msgspec.Raw))
        try:
            return json.loads(self.data, object_pairs_hook=_without_duplicates, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise self.refused("{reason}", reason=printable(str(error)[:200])) from None

    def ids(self, most: int = (1 << 32) - 1) -> dict[str, int]:
        """Return an object whose values are ids: integers from 0, all different."""
        found = self.typed(dict[str, int])
        if self.data.replace(rb"\\", b"").replace(rb"\"", b"").count(b'"') // 2 != len(found):
            raise self.refused("the key {key} appears twice", key=repr(_first_duplicate(_keys(self.data))[:50]))
        numbers = list(found.values())
        if numbers and not (0 <= min(numbers) and max(numbers) <= most):
            token = next(token for token, number in found.items() if not 0 <= number <= most)
            raise self.refused("{token} has the ID {id}", token=repr(token[:50]), id=str(found[token])[:30])
        if len(set(numbers)) < len(numbers):
            twice = _first_duplicate(numbers)
            first, second = [repr(token[:50]) for token, number in found.items() if number == twice][:2]
            raise self.refused("{first} and {second} have the same ID, {id}", first=first, second=second, id=twice)
        return found

    def _decoded(self, decoder: msgspec.json.Decoder[_T]) -> _T:
        try:
            return decoder.decode(self.data)
        except msgspec.ValidationError as error:
            reason, place = _reason_and_place(str(error))
            raise self.refused("{reason}", place, reason=reason) from None
        except msgspec.DecodeError as error:
            raise self._malformed(str(error)) from None
        except UnicodeDecodeError:
            raise self.refused("it is not UTF-8", "", "Save the file as UTF-8.") from None
        except (RecursionError, MemoryError):
            raise self.refused("it is nested too deeply") from None

    def _malformed(self, message: str) -> StudioError:
        found = _BYTE.search(message)
        byte = min(int(found[1]), len(self.data)) if found else len(self.data)
        reason = _BYTE.sub("", message).removeprefix("JSON is malformed: ")
        what = "{path}, line {line}, column {column}: this is not valid JSON: {reason}"
        if "truncated" in reason:
            what = "{path}, line {line}, column {column}: this is not valid JSON: the file ends too early"
        return StudioError(
            what,
            "Get a new copy; the file may be truncated, or not a tokenizer at all.",
            path=self.file,
            line=self.data.count(b"\n", 0, byte) + 1,
            column=byte - self.data.rfind(b"\n", 0, byte),
            reason=reason,
        )


def read_json(path: str | os.PathLike[str]) -> JsonPart:
    """Return a whole JSON file."""
    data = small_file_bytes(path, LARGEST_FILE_BYTES, TOO_LARGE_TOKENIZER)
    return JsonPart(data.removeprefix(b"\xef\xbb\xbf"), display_name(path))


def _reason_and_place(message: str) -> tuple[str, str]:
    """Return what msgspec says about a value of the wrong type, and its place."""
    found = _PLACE.search(message)
    reason = (message if found is None else message[: found.start()]).replace("`", "")
    place = "" if found is None or found["key"] else found["place"].replace("[...]", "")
    return reason[:1].lower() + reason[1:], place


def _depth(data: bytes) -> int:
    """Return how deeply a value is nested; brackets in strings count too, which is tolerable for small values."""
    deepest = depth = 0
    for bracket in re.findall(rb"[\[\]{}]", data):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _keys(data: bytes) -> list[str]:
    pairs: list[tuple[str, Any]] = json.loads(data, object_pairs_hook=lambda pairs: pairs)
    return [key for key, _ in pairs]


def _first_duplicate(values: Iterable[_T]) -> _T:
    """Return the first value that has occurred before; there must be one."""
    seen: set[_T] = set()
    return next(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"the key {_first_duplicate(key for key, _ in pairs)[:50]!r} appears twice")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")


_KEYS = {
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
}
_LONGEST_SEQUENCE = _LONGEST_WORD = 1 << 31
_LONGEST_PREFIX = 100
_LARGEST_NORMALIZER_BYTES = 4 << 20
_MOST_ADDED = 100_000
_PLAIN_PROCESSORS = (None, "BertProcessing", "TemplateProcessing")  # others move the offsets of tokens


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

    def token(self) -> AddedToken:
        """Return it without its id."""
        return AddedToken(*msgspec.structs.astuple(self)[1:])


def read_tokenizer_json(path: str | os.PathLike[str]) -> Tokenizer | LibraryTokenizer:
    """Return the tokenizer of a ``tokenizer.json``."""
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
    """Return the normalizer that a ``tokenizer.json`` specifies, if it is one of ours."""
    return read_normalizer(_value(read_json(path).members().get("normalizer")))


def _own_tokenizer(members: Mapping[str, JsonPart], model: Mapping[str, JsonPart]) -> Tokenizer | None:
    """Return a WordPiece tokenizer as the Studio's own; None if the Studio has no equivalent."""
    # Small parts are read first, so that refusals come quickly.
    normalizer = read_normalizer(_value(members.get("normalizer")))
    pre_tokenizer = read_pre_tokenizer(_value(members.get("pre_tokenizer")), normalizer) if normalizer else None
    template = _template_in(members.get("post_processor"))
    _check_component(members.get("decoder"))
    fields = members["model"].typed(_ModelFields)
    vocab = _checked_vocab(members["model"], fields, model["vocab"])
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
    return Tokenizer(
        vocabulary,
        normalizer,
        pre_tokenizer,
        max_word_length=fields.max_input_chars_per_word,
        kept_parts=kept | kept_post_processor(_value(members.get("post_processor")), vocabulary),
    )


def _template_in(part: JsonPart | None) -> Template | None:
    """Return what a post-processor puts around texts; None if it does more, or something else."""
    value = _check_component(part)
    steps = [value] if value is None else steps_of(value, "processors")
    if len(steps) != 1 or (steps[0] and steps[0].get("type")) not in _PLAIN_PROCESSORS:
        return None
    return Template.of(steps[0])


def _roles_in(part: JsonPart | None, special: set[str]) -> dict[str, Any]:
    """Return the class token and the separator of a template, if it has the form of BERT's and they are special."""
    match _value(part):
        case {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": str(first)}},
                {"Sequence": {"id": "A"}},
                {"SpecialToken": {"id": str(last)}},
            ],
        }:
            roles = {"cls_token": first, "sep_token": last}
        case {"type": "BertProcessing", "cls": [str(first), _], "sep": [str(last), _]}:
            roles = {"cls_token": first, "sep_token": last}
        case _:
            return {}
    return roles if special.issuperset(roles.values()) else {}


def _checked_vocab(part: JsonPart, fields: _ModelFields, vocabulary: JsonPart) -> dict[str, int]:
    """Return the ids of a model's tokens."""
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
    """Return the added tokens of a file; `part`: its ``added_tokens``, or None if it has none."""
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
        what, place = 'the version is {version}, not "1.0"', ".version"
        if version is None:
            what, place = 'there is no version, which should be "1.0"', ""
        raise file.refused(what, place, "Save it with a current version.", version=repr(version)[:50])
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
