"""Strict reading of foreign JSON: only what is requested is decoded, and no key may appear twice.

Memory stays in proportion to what is requested; values nested too deeply are refused. Of ``tokenizer_config.json`` it
is the parts that say how BERT's tokenizer reads text, and which special tokens it has.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.small_files import small_file_bytes
from wordpiece_studio.system.printable import decodable, display_name, printable
from wordpiece_studio.text.normalizers import BertNormalizer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
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


class JsonPart:
    """A value in a JSON file.

    Attributes
    ----------
    data
        The value as it is in the file.
    file
        The file's name in messages.
    place
        Where the value is, such as ``model.vocab``; empty for the whole file.
    """

    __slots__ = ("data", "file", "place")

    def __init__(self, data: bytes, file: str, place: str = "") -> None:
        self.data = data
        self.file = file
        self.place = place

    def refused(self, reason: str, place: str = "", advice: str = "", /, **values: object) -> StudioError:
        """Return the error that says why the value, or the part at `place` in it, is refused.

        Parameters
        ----------
        reason
            One clause, a template for `values`.
        """
        where = printable(self.place + place).lstrip(".")[:300]
        what = "{path}, {place}: " + reason if where else "{path}: " + reason
        return StudioError(what, advice or _ADVICE, path=self.file, place=where, **values)

    def members(self) -> dict[str, JsonPart]:
        """Return the values of an object by key.

        Raises
        ------
        StudioError
            If it is not an object, or a key appears twice.
        """
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
        """Return the value as an instance of a type.

        Raises
        ------
        StudioError
            If it is not of that type; the message names the place in it.
        """
        return self._decoded(msgspec.json.Decoder(type_))

    def value(self, most_bytes: int = LARGEST_VALUE_BYTES) -> Any:
        """Return a small value of any type.

        Raises
        ------
        StudioError
            If it is not small, is nested too deeply, or a key appears twice.
        """
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
        """Return an object whose values are ids: integers from 0, all different.

        Raises
        ------
        StudioError
            If it is something else; the message names a key that appears twice, or two keys with the same id.
        """
        found = self.typed(dict[str, int])
        if self.data.replace(rb"\\", b"").replace(rb"\"", b"").count(b'"') // 2 != len(found):
            raise self.refused("the key {key} appears twice", key=repr(_first_duplicate(_keys(self.data))[:50]))
        numbers = list(found.values())
        if numbers and not (0 <= min(numbers) and max(numbers) <= most):
            token = next(token for token, number in found.items() if not 0 <= number <= most)
            raise self.refused("{token} has the id {id}", token=repr(token[:50]), id=str(found[token])[:30])
        if len(set(numbers)) < len(numbers):
            twice = _first_duplicate(numbers)
            tokens = [repr(token[:50]) for token, number in found.items() if number == twice][:2]
            raise self.refused("{tokens} have the same id, {id}", tokens=" and ".join(tokens), id=twice)
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
        return StudioError(
            "{path}, line {line}, column {column}: this is not valid JSON: {reason}",
            "Get the file again; it may be truncated, or not a tokenizer at all.",
            path=self.file,
            line=self.data.count(b"\n", 0, byte) + 1,
            column=byte - self.data.rfind(b"\n", 0, byte),
            reason="the file ends too early" if "truncated" in reason else reason,
        )


def read_json(path: str | os.PathLike[str]) -> JsonPart:
    """Return a whole JSON file.

    Raises
    ------
    StudioError
        If it cannot be read or is too large.
    """
    data = small_file_bytes(path, LARGEST_FILE_BYTES, "a tokenizer")
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


_BERTS = ("BertTokenizer", "BertTokenizerFast")
_SPECIAL_KEYS = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@decodable
class _Described(msgspec.Struct):
    content: str


@decodable
class _Fields(msgspec.Struct):
    """The fields that matter here; all others are ignored."""

    tokenizer_class: str | None = None
    do_lower_case: bool | None = None
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool | None = None
    unk_token: str | _Described | None = None
    sep_token: str | _Described | None = None
    pad_token: str | _Described | None = None
    cls_token: str | _Described | None = None
    mask_token: str | _Described | None = None


class Configuration:
    """The content of a ``tokenizer_config.json``.

    Attributes
    ----------
    unk_token
        The unknown token, if given.
    special_tokens
        All special tokens given.
    """

    def __init__(self, fields: _Fields, name: str) -> None:
        self._fields = fields
        self._name = name
        named = {key: getattr(fields, key) for key in _SPECIAL_KEYS}
        texts = {key: token.content if isinstance(token, _Described) else token for key, token in named.items()}
        self.unk_token: str | None = texts["unk_token"]
        self.special_tokens = [token for token in texts.values() if token]

    def bert_normalizer(self) -> BertNormalizer:
        """Return BERT's normalizer as described here, with the defaults of `transformers`."""
        fields = self._fields
        return BertNormalizer(
            clean_text=True,
            handle_chinese_chars=fields.tokenize_chinese_chars is not False,
            strip_accents=fields.strip_accents,
            lowercase=fields.do_lower_case is not False,
        )

    def check(self, normalizer: Normalizer | None, other: str) -> None:
        """Check that it is consistent with the normalizer of a ``tokenizer.json`` beside it, named `other`.

        Raises
        ------
        StudioError
            If it is not: which of the two applies then depends on the program and its version.
        """
        fields = self._fields
        if not isinstance(normalizer, BertNormalizer):
            return
        is_bert = fields.tokenizer_class in _BERTS
        pairs: tuple[tuple[str, Any, Any], ...] = (
            ("do_lower_case", fields.do_lower_case, normalizer.lowercase),
            ("tokenize_chinese_chars", fields.tokenize_chinese_chars, normalizer.handle_chinese_chars),
            ("strip_accents", fields.strip_accents, normalizer.strip_accents),
        )
        for key, stated, actual in pairs:
            if stated is None and not (key == "do_lower_case" and is_bert):
                continue
            meant = True if stated is None else stated
            if meant != actual and (stated is not None or is_bert):
                raise StudioError(
                    "{path} contradicts {other}: {key} is {stated} here, and {actual} there",
                    "Correct one of them; which one applies depends on the program and its version.",
                    path=self._name,
                    other=other,
                    key=key,
                    stated=_word(meant) + ("" if stated is not None else " by default"),
                    actual=_word(actual),
                )


def read_configuration(path: str | os.PathLike[str]) -> Configuration:
    """Return the content of a ``tokenizer_config.json``.

    Raises
    ------
    StudioError
        If it cannot be read, is damaged, or a value is of the wrong type.
    """
    part = read_json(path)
    if len(part.data) > 16 << 20:
        raise part.refused("it is too large")
    part.members()
    return Configuration(part.typed(_Fields), display_name(path))


def _word(value: bool | None) -> str:
    return {True: "true", False: "false", None: "null"}[value]
