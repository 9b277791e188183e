"""A corpus as one stream of UTF-8 in blocks of about the same size, whatever its files and their faults look like.

Not here: how bytes become text (`files`, `streams`, `decoding`), and what becomes of it.
"""

from __future__ import annotations

from io import BufferedIOBase
from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.counts import CorpusStatistics
from wordpiece_studio.core.corpus.files import TextFile, listed_paths
from wordpiece_studio.core.corpus.streams import TextStream

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from wordpiece_studio.core.corpus.decoding import ErrorHandling, TextPiece

    Path = str | os.PathLike[str]

BLOCK_BYTES = 1 << 20


class CorpusBlocks:
    """The text of some files, or of a stream, to be read once. Every line ends in LF, a file's last one too.

    Parameters
    ----------
    source
        The files, in order; or a stream of bytes.
    encoding, errors
        As for :func:`~wordpiece_studio.count_words`.
    splits_at_blanks
        Whether a block may end at a blank too, when there is no line end for long.
    progress
        Called now and then with the bytes read so far and the bytes there are, unless that is unknown.

    Raises
    ------
    StudioError
        If there is no such file, encoding or error handling, or no file at all.
    """

    def __init__(
        self,
        source: Path | Iterable[Path] | BufferedIOBase,
        *,
        encoding: str | None = None,
        errors: ErrorHandling = "strict",
        splits_at_blanks: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._given_encoding = encoding
        self._progress = progress
        self._texts: list[TextFile | TextStream]
        if isinstance(source, BufferedIOBase):
            name = str(getattr(source, "name", "stream")).strip("<>")
            self._texts = [
                TextStream(source, name, encoding=encoding, errors=errors, splits_at_blanks=splits_at_blanks)
            ]
        else:
            self._texts = [
                TextFile(path, encoding=encoding, errors=errors, splits_at_blanks=splits_at_blanks)
                for path in listed_paths(source)
            ]
        self.paths = [text.path for text in self._texts if isinstance(text, TextFile)]
        self._size = sum(text.size for text in self._texts if isinstance(text, TextFile))
        self._lines = self._characters = self._bytes = self._replaced = self._skipped_lines = 0
        self._changed_files: list[str] = []
        self._marked_files: dict[str, str] = {}

    @property
    def statistics(self) -> CorpusStatistics:
        """What was read so far."""
        return CorpusStatistics(
            lines=self._lines,
            characters=self._characters,
            bytes=self._bytes,
            replaced=self._replaced,
            skipped_lines=self._skipped_lines,
            changed_files=tuple(self._changed_files),
            marked_files=self._marked_files,
        )

    def __iter__(self) -> Iterator[bytes]:
        """Yield the text in blocks of some size, none empty.

        Raises
        ------
        StudioError
            If a file cannot be read, or, with ``errors="strict"``, cannot be decoded; the message says where.
        """
        held: list[bytes] = []
        size = 0
        for data in self._whole_lines():
            held.append(data)
            size += len(data)
            if size >= BLOCK_BYTES:
                yield b"".join(held)
                held, size = [], 0
        if held:
            yield b"".join(held)

    def _whole_lines(self) -> Iterator[bytes]:
        for source in self._texts:
            bytes_before, is_inside_line = self._bytes, False
            for piece in source.pieces():
                self._note(piece, bytes_before)
                if piece.text:
                    is_inside_line = not piece.text.endswith("\n")
                    yield piece.utf8
            if is_inside_line:
                self._lines += 1
                yield b"\n"
            if isinstance(source, TextFile) and source.has_changed():
                self._changed_files.append(source.name)

    def _note(self, piece: TextPiece, bytes_before: int) -> None:
        self._lines += piece.text.count("\n")
        self._characters += len(piece.text)
        self._bytes = bytes_before + piece.end_byte
        self._replaced += piece.replaced
        self._skipped_lines += piece.skipped_lines
        if self._given_encoding is None and piece.encoding != "utf-8":
            self._marked_files[piece.source] = piece.encoding
        if self._progress is not None and self.paths:
            # A file may grow while it is read; the progress never passes the end.
            self._progress(min(self._bytes, self._size), self._size)
