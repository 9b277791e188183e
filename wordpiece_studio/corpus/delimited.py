"""Text from one column of csv and tsv files. Not here: what a row is (`delimited_rows`)."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.corpus.delimited_rows import DelimitedRows
from wordpiece_studio.corpus.rows import RowCollector, RowSource, chosen_column, no_column
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece
    from wordpiece_studio.corpus.delimited_rows import Row
    from wordpiece_studio.corpus.files import TextFile
    from wordpiece_studio.corpus.streams import TextStream

_PIECE_CHARACTERS = 1 << 20
_FIRST_ROWS = 20


class DelimitedTexts(RowSource):
    """The texts in one column of a csv or tsv file or stream.

    The first row names the columns, unless the column is given by a number that is not one of these names: then it is
    the column of that number, from 1, and the first row is one like the others.
    """

    def __init__(
        self, text: TextFile | TextStream, column: str | None, errors: ErrorHandling, kind: Literal["csv", "tsv"]
    ) -> None:
        super().__init__(text, column, errors)
        is_tsv = kind == "tsv"
        self._rows = DelimitedRows(text, "\t" if is_tsv else None, errors, takes_quotes_as_they_stand=is_tsv)

    def pieces(self) -> Iterator[TextPiece]:
        """Yield the texts of the rows, each with a line end behind it, in pieces of bounded size."""
        rows = iter(self._rows)
        first = list(islice(rows, _FIRST_ROWS))
        index, has_header = self._found_column(first) if first else (0, False)
        coming = chain(first[has_header:], rows)
        line, end = (first[0].line, first[0].end_byte) if first else (1, 0)
        while batch := list(_some(coming, index)):
            collector = self._collector()
            for row in batch:
                collector.add(row.cells[index], row.line, row.byte)
            end = batch[-1].end_byte
            yield collector.piece(batch[0].line, batch[0].byte, end)
        collector = self._collector()
        if collector.skipped or collector.replaced:
            yield collector.piece(line, end, end)

    def _collector(self) -> RowCollector:
        collector = RowCollector(self.name, self._rows.encoding, self._errors)
        collector.replaced, collector.skipped = self._rows.losses()
        return collector

    def _found_column(self, first: Sequence[Row]) -> tuple[int, bool]:
        """Return the index of the column, from 0, and whether the first row is the header."""
        header = first[0].cells
        column = self._column
        if column is None:
            column = chosen_column(columns_with_text(first), self.name, "column", header)
        if header.count(column) > 1:
            raise StudioError(
                '{path} has more than one column "{column}"',
                "Give them different names in its first line.",
                path=self.name,
                column=printable(column),
            )
        if column in header:
            return header.index(column), True
        numbers = [str(number) for number in range(1, len(header) + 1)]
        if column in numbers:
            return numbers.index(column), False
        raise no_column(column, header, self.name)


def columns_with_text(rows: Sequence[Row]) -> list[str]:
    """Return the names of the columns, which the first row holds, that are not all numbers in the others."""
    header, others = rows[0].cells, rows[1:]
    return [
        name
        for index, name in enumerate(header)
        if not others or any(any(map(str.isalpha, row.cells[index])) for row in others)
    ]


def _some(rows: Iterator[Row], index: int) -> Iterator[Row]:
    """Yield some of the rows, with so much text in a column that it makes a piece."""
    characters = 0
    for row in rows:
        yield row
        characters += len(row.cells[index]) + 1
        if characters >= _PIECE_CHARACTERS:
            return
