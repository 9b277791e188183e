"""Lines of a stream that can be read only once, such as standard input. Not here: files (`files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


def decoded_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream, as they come, without their line ends; `name` is for messages.

    Raises
    ------
    StudioError
        If bytes are not UTF-8; the message names the line and the byte.
    """
    byte = 0
    for number, raw in enumerate(stream, start=1):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise StudioError(
                "{name}, line {line}: the byte {value} at byte {byte} is not UTF-8",
                name=name,
                line=number,
                value=f"{raw[error.start]:02X}",
                byte=byte + error.start,
            ) from None
        byte += len(raw)
        if number == 1:
            line = line.removeprefix("\ufeff")
        yield line.removesuffix("\n").removesuffix("\r")
