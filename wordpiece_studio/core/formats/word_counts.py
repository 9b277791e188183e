"""Tables of words and their counts: tab-separated lines ``word<TAB>count``, csv, or parquet, by the file's ending.

The words are taken as they are and written as they are, in their order: what could not be read back is not written.
Not here: counting (`core.corpus.counting`).
"""

from __future__ import annotations

import csv
import io
import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from wordpiece_studio.core.corpus.corpus_file import COMPRESSED_SUFFIXES, CorpusFile, kind_of_name
from wordpiece_studio.core.corpus.counts import CorpusStatistics, FileStatistics, WordCounts
from wordpiece_studio.core.corpus.delimited_rows import DelimitedRows
from wordpiece_studio.core.corpus.files import FileOnDisk, TextFile, display_name
from wordpiece_studio.core.corpus.listing import listed_files
from wordpiece_studio.core.corpus.parquet import ParquetTexts, load_pyarrow, opened_parquet, reason_of
from wordpiece_studio.core.formats.atomic_write import atomic_write_all
from wordpiece_studio.core.text.normalizers import resolve_normalizer
from wordpiece_studio.core.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer

    Place = str | bytes | os.PathLike[str]
    Entry = tuple[str, int]  # a word and its count

_WORD_NAMES, _COUNT_NAMES = ("word", "token", "text"), ("count", "counts", "frequency", "freq")
_COUNT = re.compile(r"0*[1-9][0-9]{0,18}", re.ASCII)
_LARGEST_COUNT = 2**63 - 1
_ADVICE = "A table of words has a word and its count in every line, a whole number of at least 1."
_WRITTEN_ROWS = 10_000


def read_word_counts(
    paths: Place | CorpusFile | Iterable[Place | CorpusFile],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
) -> WordCounts:
    """Return the words and counts that tables hold, in order of first appearance; a word that comes again adds up.

    Parameters
    ----------
    paths
        The tables, as `listed_files` takes them; they may be compressed. A first line that names the columns is
        passed over; in a table of more than two columns these must be called ``word`` and ``count``.
    normalizer, pre_tokenizer
        Kept for the tokenizer to come; the words are taken as they are.

    Raises
    ------
    StudioError
        If a `CorpusFile` among them is a text, a table cannot be read, a word is empty, or a count is no whole number
        from 1 to 2**63 - 1; the message names the file and the line or row.
    """
    total: dict[str, int] = {}
    files: list[FileStatistics] = []
    for file in _tables(paths):
        reader = TableReader(file)
        distinct, words = set(), 0
        for word, count in reader.entries():
            distinct.add(word)
            words += count
            total[word] = total.get(word, 0) + count
        files.append(
            FileStatistics(
                reader.name,
                reader.bytes_read,
                reader.rows,
                words,
                len(distinct),
                reader.encoding,
                replaced=reader.replaced,
                skipped_lines=reader.skipped,
            )
        )
    if sum(total.values()) > _LARGEST_COUNT:
        raise StudioError("The words together occur more than 2**63 - 1 times")
    statistics = CorpusStatistics(
        lines=sum(file.lines for file in files),
        bytes=sum(file.bytes for file in files),
        replaced=sum(file.replaced for file in files),
        skipped_lines=sum(file.skipped_lines for file in files),
        files=tuple(files),
    )
    return WordCounts(
        list(total),
        list(total.values()),
        resolve_normalizer(normalizer),
        resolve_pre_tokenizer(pre_tokenizer),
        statistics,
    )


def write_word_counts(path: str | os.PathLike[str], counts: WordCounts) -> None:
    r"""Write words and their counts, in their order: csv and parquet where the name ends so, else lines with a tab.

    Parquet and csv begin with the names of the columns, ``word`` and ``count``; csv is quoted as RFC 4180 says.

    Raises
    ------
    StudioError
        If a word could not be read back as it is: one with a tab or a line break goes into csv and parquet only, half a
        character nowhere. Or if the file cannot be written; what was there before is then unchanged.
    """
    name = display_name(path)
    if name.lower().endswith(COMPRESSED_SUFFIXES):
        raise StudioError("{path} would have to be compressed", "Write it, and compress it then.", path=name)
    kind = kind_of_name(name)
    _check_words(counts.words, "" if kind == "parquet" else "\0" if kind == "csv" else "\0\t\n", name)
    if kind == "parquet":
        table = _arrow_table(counts, name)
        atomic_write_all({path: lambda file: _write_parquet(file, table)})
    else:
        lines = _csv_lines(counts) if kind == "csv" else _tab_lines(counts, name)
        atomic_write_all({path: lambda file: file.writelines(lines)})


def _tables(paths: Place | CorpusFile | Iterable[Place | CorpusFile]) -> list[CorpusFile]:
    files = listed_files(paths, kind="word-counts")
    texts = [file for file in files if file.kind != "word-counts"]
    if texts:
        raise StudioError(
            "{path} is no table of words and their counts",
            "Count its words.",
            path=display_name(texts[0].path),
        )
    return files


class TableReader:
    """Reads one table of words and counts, once.

    Attributes
    ----------
    name
        What messages call it.
    encoding
        The file's encoding, once it was read.
    rows
        How many words there were so far.
    replaced, skipped
        How many places were replaced, and how many lines or rows left out, as the file's `errors` say.
    """

    def __init__(self, file: CorpusFile) -> None:
        self._file = file
        kind = kind_of_name(file.path)
        self._kind = kind if kind in ("csv", "parquet") else "tsv"
        self._on_disk: FileOnDisk = FileOnDisk(file.path)
        self.name = self._on_disk.name
        self.encoding = file.encoding or "utf-8"
        self.rows = self.replaced = self.skipped = 0

    @property
    def bytes_read(self) -> int:
        """How many bytes were read so far, as they are on the disk."""
        return self._on_disk.bytes_read

    def entries(self) -> Iterator[Entry]:
        """Yield words and counts.

        Raises
        ------
        StudioError
            If the table cannot be read, a word is empty, or a count is none, unless such lines are to be skipped.
        """
        if self._kind == "parquet":
            yield from self._parquet_entries()
            return
        text = TextFile(self._file.path, encoding=self._file.encoding, errors=self._file.errors, decompresses=True)
        self._on_disk = text
        rows = self._csv_rows(text) if self._kind == "csv" else self._tab_rows(text)
        first = list(islice(rows, 1))
        for cells, place in first:
            places = _columns(cells)
            if places is None:
                places = (0, 1)
                rows = chain(first, rows)
                if len(cells) != 2:
                    raise self.fault(place, f"the number of cells is {len(cells)}, and no header names word and count")
            for row, line in rows:
                found = self._fault_in(row, len(cells), places)
                if self._is_taken(found, line):
                    yield row[places[0]], int(row[places[1]])

    def _is_taken(self, found: str | None, place: int) -> bool:
        """Return whether there is no fault in a line or row; raise it, or count what is skipped, if there is one."""
        if found is None:
            self.rows += 1
        elif self._file.errors != "skip-line":
            raise self.fault(place, found)
        else:
            self.skipped += 1
        return found is None

    def fault(self, place: int, found: str) -> StudioError:
        """Return what to tell of a line that is no word with its count."""
        return StudioError(
            "{path}, {kind} {line}: {found}",
            _ADVICE,
            path=self.name,
            kind="row" if self._kind == "parquet" else "line",
            line=place,
            found=found,
        )

    @staticmethod
    def _fault_in(cells: Sequence[str], width: int, places: tuple[int, int]) -> str | None:
        """Return what is wrong with a line, None if nothing is."""
        if len(cells) != width:
            return f"the number of cells is {len(cells)}, not {width}"
        count = cells[places[1]].strip(" ")
        if not _COUNT.fullmatch(count) or int(count) > _LARGEST_COUNT:
            return f"the count is {count[:50]!r}"
        return None if cells[places[0]] else "there is an empty word"

    def _tab_rows(self, text: TextFile) -> Iterator[tuple[list[str], int]]:
        for piece in text.pieces():
            self.encoding = piece.encoding
            self.replaced += piece.replaced
            self.skipped += piece.skipped_lines
            for line, row in enumerate(piece.text.removesuffix("\n").split("\n"), start=piece.line):
                if cells := row.removesuffix("\r"):
                    yield cells.split("\t"), line

    def _csv_rows(self, text: TextFile) -> Iterator[tuple[list[str], int]]:
        rows = DelimitedRows(text, None, self._file.errors)
        for row in rows:
            self.encoding = rows.encoding
            yield row.cells, row.line
        self.replaced, skipped = rows.losses()
        self.skipped += skipped

    def _parquet_entries(self) -> Iterator[Entry]:
        arrow = load_pyarrow(self.name)
        with opened_parquet(self._file.path) as file:
            names = file.schema_arrow.names
            places = _columns(names)
            if places is None:
                raise StudioError(
                    "{path} has no columns called word and count", _ADVICE, path=self.name
                )  # fmt: skip
            word_name, count_name = (names[place] for place in places)
            texts = ParquetTexts(self._file.path, word_name, "strict")
            row = 0
            try:
                for group in range(file.metadata.num_row_groups):
                    rows = texts.batch_rows(file.metadata.row_group(group), word_name, group)
                    columns = [word_name, count_name]
                    for batch in file.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False):
                        words, counts = (batch.column(name).to_pylist() for name in columns)
                        for word, count in zip(words, counts, strict=True):
                            row += 1
                            if self._is_taken(_fault_in_row(word, count), row):
                                yield word, count
            except (arrow.ArrowException, OSError, MemoryError, ValueError, IndexError, KeyError) as error:
                raise StudioError(
                    "{path} cannot be read: {reason}", _ADVICE, path=self.name, reason=reason_of(error)
                ) from error
        self._on_disk.bytes_read = self._on_disk.size


def _fault_in_row(word: object, count: object) -> str | None:
    if not isinstance(word, str) or not word:
        return "there is an empty word" if word == "" else "there is no word"
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _LARGEST_COUNT:
        return f"the count is {str(count)[:50]}"
    return None


def _columns(header: Sequence[str]) -> tuple[int, int] | None:
    """Return at which indices the word and its count stand, if these are the names of columns."""
    names = [name.strip("\r ").lower() for name in header]
    words = [names.index(name) for name in _WORD_NAMES if name in names]
    counts = [names.index(name) for name in _COUNT_NAMES if name in names]
    return (words[0], counts[0]) if words and counts else None


def _check_words(words: Sequence[str], forbidden: str, name: str) -> None:
    text = "".join(words)
    try:
        text.encode()
        is_clean = not any(character in text for character in forbidden)
    except UnicodeEncodeError:
        is_clean = False
    if not is_clean:
        faulty = [word for word in words if _cannot_stand(word, forbidden)]
        raise StudioError(
            "{n} of the words cannot stand in {path}: {list}",
            "Write a .csv or .parquet file, or choose a normalizer that removes such characters.",
            n=len(faulty),
            path=name,
            list=", ".join(repr(word[:50]) for word in faulty[:5]) + (", …" if len(faulty) > 5 else ""),
        )


def _cannot_stand(word: str, forbidden: str) -> bool:
    return any(character in forbidden or "\ud800" <= character <= "\udfff" for character in word)


def _tab_lines(counts: WordCounts, name: str) -> Iterator[bytes]:
    if counts.words and counts.words[0].startswith("\ufeff"):
        raise StudioError(
            "The first word, {word}, cannot stand at the start of {path}: its U+FEFF would be taken for a byte order "
            "mark",
            "Write a .csv or .parquet file.",
            word=repr(counts.words[0][:50]),
            path=name,
        )
    return (f"{word}\t{count}\n".encode() for word, count in counts.items())


def _csv_lines(counts: WordCounts) -> Iterator[bytes]:
    rows = chain([("word", "count")], counts.items())
    while some := list(islice(rows, _WRITTEN_ROWS)):
        text = io.StringIO(newline="")
        csv.writer(text).writerows(some)
        yield text.getvalue().encode()


def _arrow_table(counts: WordCounts, name: str) -> Any:
    load_pyarrow(name)
    import pyarrow

    return pyarrow.table({"word": pyarrow.array(counts.words, pyarrow.large_string()), "count": counts.counts})


def _write_parquet(file: BinaryIO, table: Any) -> None:
    from pyarrow import parquet

    parquet.write_table(table, file)
