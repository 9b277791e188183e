"""Files that are read at once: of limited size and, if they are text, in UTF-8; and other programs' JSON, strictly.

Of JSON only what is requested is decoded, and no key may appear twice. Memory stays in proportion to what is requested;
values nested too deeply are refused. A corpus, in contrast, is read piece by piece (`corpus.files`).
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from wordpiece_studio.corpus.files import reading, regular_file_status
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name, file_error, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_T = TypeVar("_T")

TOO_LARGE_TOKENIZER = "{path} is {n} MB, too large for a tokenizer"


def checked_path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise StudioError("{value} is not a path", "Pass a string or a pathlib.Path.", value=repr(path)[:100])
    return Path(path)


def small_file_bytes(
    path: str | os.PathLike[str], most_bytes: int, too_large: str, advice: str = "Choose another file."
) -> bytes:
    """Return all bytes of a file; the error for a larger one has fields ``{path}`` and ``{n}``, its size in MB."""
    size = regular_file_status(path).st_size
    if size <= most_bytes:
        with reading(path) as file:
            data = file.read(size + 1)  # allocates as much memory as it is asked to read
            if len(data) > size:  # the system generates it on reading
                data += file.read(most_bytes + 1 - len(data))
        size = len(data)
    if size > most_bytes:
        raise file_error(path, too_large, advice, n=size >> 20)
    return data


def utf8_text(data: bytes, path: str | os.PathLike[str]) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise file_error(
            path,
            "{path}, line {line}: the byte {value} at offset {byte} is not valid UTF-8",
            "Save it as UTF-8.",
            line=data.count(b"\n", 0, error.start) + 1,
            value=f"{data[error.start]:02X}",
            byte=error.start,
        ) from None


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
    data: bytes
    file: str  # its name in messages
    place: str = ""  # of the value, such as ``model.vocab``; empty for the whole file

    def refused(self, reason: str, place: str = "", advice: str = "", /, **values: object) -> StudioError:
        """Return the error that says why the value, or the part at `place` in it, is refused."""
        where = printable(self.place + place).lstrip(".")[:300]
        what = "{path}, {place}: " + reason if where else "{path}: " + reason
        return StudioError(what, advice or _ADVICE, path=self.file, place=where, **values)

    def members(self) -> dict[str, JsonPart]:
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
        return self._decoded(msgspec.json.Decoder(type_))

    def value(self, most_bytes: int = LARGEST_VALUE_BYTES) -> Any:
        if len(self.data) > most_bytes:
            raise self.refused("{n:,} bytes are far too many", n=len(self.data))
        if _depth(self.data) > _DEEPEST:
            raise self.refused("it is nested too deeply")
        self._decoded(msgspec.json.Decoder(msgspec.Raw))
        try:
            return json.loads(self.data, object_pairs_hook=_without_duplicates)
        except (ValueError, RecursionError) as error:
            raise self.refused("{reason}", reason=printable(str(error)[:200])) from None

    def ids(self, most: int = (1 << 32) - 1) -> dict[str, int]:
        """Return an object whose values are ids: integers from 0, all different."""
        found = self.typed(dict[str, int])
        if self.data.replace(rb"\\", b"").replace(rb"\"", b"").count(b'"') // 2 != len(found):
            keys = json.loads(self.data, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
            raise self.refused("the key {key} appears twice", key=repr(_first_duplicate(keys)[:50]))
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
    data = small_file_bytes(path, LARGEST_FILE_BYTES, TOO_LARGE_TOKENIZER)
    return JsonPart(data.removeprefix(b"\xef\xbb\xbf"), display_name(path))


def _reason_and_place(message: str) -> tuple[str, str]:
    found = _PLACE.search(message)
    reason = (message if found is None else message[: found.start()]).replace("`", "")
    place = "" if found is None or found["key"] else found["place"].replace("[...]", "")
    return reason[:1].lower() + reason[1:], place


def _depth(data: bytes) -> int:
    """Return how deeply a value is nested; brackets in strings count too, which is tolerable for small values."""
    brackets = re.findall(rb"[\[\]{}]", data)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0)


def _first_duplicate(values: Iterable[_T]) -> _T:
    seen: set[_T] = set()
    return next(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"the key {_first_duplicate(key for key, _ in pairs)[:50]!r} appears twice")
    return value
