from __future__ import annotations

import io

import pytest

from wordpiece_studio.core.corpus.streams import decoded_lines
from wordpiece_studio.errors import StudioError


def test_lines_come_without_their_ends() -> None:
    stream = io.BytesIO("\ufeffa\r\n\nb\x85\u2028c\rd\n".encode() + "\ufeffe".encode())
    assert list(decoded_lines(stream, "x")) == ["a", "", "b\x85\u2028c\rd", "\ufeffe"]


def test_bad_bytes_are_named() -> None:
    with pytest.raises(StudioError, match="stdin, line 2: the byte FF at byte 3 is not UTF-8"):
        list(decoded_lines(io.BytesIO(b"a\nb\xff\n"), "stdin"))
