"""Structs of msgspec that several threads may decode."""

from __future__ import annotations

from typing import TypeVar

import msgspec

_Kind = TypeVar("_Kind", bound=type[msgspec.Struct])


def decodable(kind: _Kind) -> _Kind:
    """Prepare a struct class, as a decorator, before a second thread can use it.

    msgspec (0.22) prepares a class when it is first decoded; two threads doing so at the same time crash the process.
    """
    msgspec.json.Decoder(kind)
    return kind
