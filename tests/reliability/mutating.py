"""Ways to spoil a file that all formats share: its bytes, its lines, its JSON values. Not here: what a format adds."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

PIECES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\t", b"\t\t", b'"',
    b'""', b",",
    b"-1", b"0", b"1e400", b"NaN", b"9" * 30, b"9" * 5000, b"18446744073709551616", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\\ud800", b"\\", b"{", b"[" * 3000, b'{"a":' * 1000, b"null", b"true", b" " * 500, b"x" * 20_000, b"\xe2\x80\xa8",
    b"\x1b[2J", b"=1+1", "안".encode(), "\u0301".encode() * 300, b"\xef\xbf\xbd",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.5, 2**31, 2**32, 2**63, 2**64, 10**30, -(2**63), 1e308, float("inf"), float("nan"),
    "", "x", "\0", "\n", "\ud800", "a" * 50_000, "##", "[UNK]", "nfc", "🤗", [], [[]], {}, {"type": "x"}, ["a"] * 3000,
)  # fmt: skip


def spoiled_bytes(random: random.Random, data: bytes) -> bytes:
    """Return the file with a few bytes changed, a stretch gone, twice, or overwritten, or its end cut off."""
    if not data:
        return random.choice(PIECES)
    changed = bytearray(data)
    start = random.randrange(len(changed))
    size = random.choice((1, 2, 8, 100, 4096))
    match random.randrange(7):
        case 0:
            for _ in range(random.randint(1, 8)):
                changed[random.randrange(len(changed))] = random.randrange(256)
        case 1:
            del changed[start:]
        case 2:
            del changed[start : start + size]
        case 3:
            changed[start:start] = changed[start : start + size] * random.choice((1, 1, 50))
        case 4:
            changed[start : start + size] = random.randbytes(size)
        case 5:
            changed[start:start] = random.choice(PIECES)
        case _:
            changed[start] ^= 1 << random.randrange(8)
    return bytes(changed)


def spoiled_lines(random: random.Random, data: bytes, separators: bytes = b"\t,") -> bytes:
    """Return the file with a line twice, gone, moved, joined with the next, or with another cell in it."""
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            lines[at:at] = [lines[other]] * random.choice((1, 2, 500))
        case 1:
            del lines[at]
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] += random.choice((b"", b"\r", b"\t", b",", b" ", b'"')) + lines[other]
        case 4:
            separator = bytes([random.choice(separators)])
            cells = lines[at].split(separator)
            cells[random.randrange(len(cells))] = random.choice(PIECES)
            lines[at] = separator.join(cells)
        case _:
            return random.choice((b"\r\n", b"\r", b"\n\n", b"\x0b", b"")).join(lines)
    return b"\n".join(lines)


def spoiled_json(random: random.Random, data: bytes) -> bytes:
    """Return a JSON file in which a value, a name or the order is another, with what only other writers write."""
    value = json.loads(data)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        value = _changed(random, value)
    text = json.dumps(value, ensure_ascii=random.random() < 0.5, indent=random.choice((None, 2)))
    if random.random() < 0.1:  # the same name twice
        text = text.replace("{", '{"format": 7, "format": 1, ' if random.random() < 0.5 else '{"": 0, ', 1)
    return text.encode("utf-8", "surrogatepass")


def _changed(random: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.85:
        name = random.choice(list(value))
        match random.randrange(8):
            case 0:
                return {key: each for key, each in value.items() if key != name}
            case 1:
                return {(random.choice(("", "type", "x" * 1000, "\ud800")) if key == name else key): each
                        for key, each in value.items()}  # fmt: skip
            case 2:
                return value | {random.choice(("type", "format", "more", "")): random.choice(VALUES)}
            case _:
                return value | {name: _changed(random, value[name])}
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        match random.randrange(6):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + [value[at]] * random.choice((2, 1000)) + value[at:]
            case 2:
                return value[::-1]
            case _:
                return [*value[:at], _changed(random, value[at]), *value[at + 1 :]]
    return random.choice(VALUES)


def packed(random: random.Random, data: bytes) -> bytes:
    """Return the file compressed by gzip, or a spoiled archive of it, or one that becomes very much."""
    match random.randrange(4):
        case 0:
            return spoiled_bytes(random, gzip.compress(data, 1))
        case 1:
            return gzip.compress(data, 1) + random.choice((b"", b"\0" * 100, b"more", gzip.compress(data, 1)))
        case 2:
            return gzip.compress(data + random.choice(PIECES) * 60, 1)
        case _:
            return gzip.compress(data, 1)
