"""A corpus as one stream of UTF-8 in blocks of similar size, whatever its files and their faults look like.

Not here: how bytes become text (`files`, `decoding`), and what happens to it.
"""

from __future__ import annotations

from io import BufferedIOBase
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.counting.segments import ReadingNotes
from wordpiece_studio.corpus.counts import CorpusStatistics
from wordpiece_studio.corpus.files import TextStream
from wordpiece_studio.corpus.listing import Listing, listing, opened
from wordpiece_studio.corpus.rows import RowSource

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece
    from wordpiece_studio.corpus.listing import Source

    Path = str | os.PathLike[str]

BLOCK_BYTES = 1 << 20


class CorpusBlocks:
    """The text of some files, or of a stream, to be read once. Every line ends in LF, a file's last one too.

    Parameters
    ----------
    source
        The files, as for `listing`; or a stream of bytes, or the result of `opened_stream` for one.
    column, encoding, errors
        As for :func:`~wordpiece_studio.count_words`.
    splits_at_blanks
        Whether a block may end at a blank instead, if there is no line end for a long stretch.
    progress
        Called now and then with the bytes read so far and the total bytes, unless that is unknown.

    Raises
    ------
    StudioError
        If there is no such file, encoding or error handling, or no file at all.
    """

    def __init__(
        self,
        source: Path | CorpusFile | Iterable[Path | CorpusFile] | Listing | BufferedIOBase | TextStream | RowSource,
        *,
        column: str | None = None,
        encoding: str | None = None,
        errors: ErrorHandling = "strict",
        splits_at_blanks: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._given_encoding = encoding
        self._progress = progress
        self.paths: list[str] = []
        self._listing: Listing | None = None
        self._texts: list[Source]
        if isinstance(source, BufferedIOBase):
            name = str(getattr(source, "name", "stream")).strip("<>")
            source = TextStream(source, name, encoding=encoding, errors=errors, splits_at_blanks=splits_at_blanks)
        if isinstance(source, TextStream | RowSource):
            self._texts = [source]
        else:
            self._listing = listing(source, column=column, encoding=encoding, errors=errors)
            files = self._listing.files
            self._texts = [opened(file, splits_at_blanks=splits_at_blanks) for file in files]
            self.paths = [file.path for file in files]
        self._size = sum(text.size for text in self._texts)
        self._bytes_on_disk = 0  # of the files that are finished
        self._notes: list[ReadingNotes] = []  # of each file, up to the current one
        self._changed_files: list[str] = []
        self._marked_files: dict[str, str] = {}

    @property
    def statistics(self) -> CorpusStatistics:
        """What was read so far."""
        read = [notes.statistics(text.name) for notes, text in zip(self._notes, self._texts, strict=False)]
        changed_files = tuple(self._changed_files)
        statistics = CorpusStatistics.summed(read, changed_files=changed_files, marked_files=self._marked_files)
        return statistics if self._listing is None else self._listing.noted(statistics)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the text in blocks of at least BLOCK_BYTES, except perhaps the last; none is empty.

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
            notes, is_inside_line = ReadingNotes(), False
            self._notes.append(notes)
            for piece in source.pieces():
                notes.add(piece)
                self._note(piece, source)
                if piece.text:
                    is_inside_line = not piece.text.endswith("\n")
                    yield piece.utf8
            notes.end_text()
            if is_inside_line:
                yield b"\n"
            self._bytes_on_disk += source.size
            if source.has_changed():
                self._changed_files.append(source.name)

    def _note(self, piece: TextPiece, source: Source) -> None:
        if self._given_encoding is None and piece.encoding != "utf-8":
            self._marked_files[piece.source] = piece.encoding
        if self._progress is not None and self.paths:
            # A file may grow while it is read; the progress never passes the end.
            self._progress(min(self._bytes_on_disk + source.bytes_read, self._size), self._size)
