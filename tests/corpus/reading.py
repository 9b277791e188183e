"""What the tests of readers share: a corpus file from bytes, its text, and the one line that an error says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.corpus.files import CorpusFile, kind_of_name
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.decoding import TextPiece


def corpus_file(path: Path, content: bytes | str | None = None, **options: Any) -> CorpusFile:
    """Return a file with that content, its kind after its name, to be read with some options."""
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return CorpusFile(str(path), **{"kind": kind_of_name(path.name) or "text", **options})


def pieces_of(file: CorpusFile) -> list[TextPiece]:
    return list(opened(file).pieces())


def text_of(file: CorpusFile) -> str:
    return "".join(piece.text for piece in pieces_of(file))


def losses_of(file: CorpusFile) -> tuple[str, int, int]:
    """Return the text, how many places were replaced, and how many lines left out."""
    pieces = pieces_of(file)
    return (
        "".join(piece.text for piece in pieces),
        sum(piece.replaced for piece in pieces),
        sum(piece.skipped_lines for piece in pieces),
    )


def refusal(file: CorpusFile) -> str:
    """Return what is said when a file is refused; it is one line and names the file."""
    with pytest.raises(StudioError) as caught:
        pieces_of(file)
    message = str(caught.value)
    assert file.path.rpartition("/")[2] in message or "\\" in message
    assert "\n" not in message
    return message
