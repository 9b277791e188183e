"""Tables of words and their counts, read and written: tab-separated lines, csv or parquet, by the file's suffix.

The words are read and written unchanged, in their order: a word that could not be read back is not written. A text that
is typed or pasted is a table too if its first line is ``word<TAB>count``: a word and a whole number a line. That line
says so in the text itself; a file with it is a table like any other. Other lines are left out and counted.

A spreadsheet would execute a cell that begins like a formula. `guarded` puts an apostrophe before such a text, and
before one that begins with an apostrophe, so that `unguarded` restores every text exactly. Where a semicolon or a tab
separates the cells, as in the Excel of many countries, the quotes around a text have no effect, because its line does
not begin with them: so each part of a text between such separators is guarded like a text. Not here: which files are
tables (`listing`), and counting (`corpus.counting`).
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import re
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wordpiece_studio.corpus.counts import (
    LARGEST_COUNT,
    CorpusStatistics,
    CountingStopped,
    FileStatistics,
    ProgressMeter,
    WordCounts,
    checked_totals,
    stop_check,
)
from wordpiece_studio.corpus.files import COMPRESSED_SUFFIXES, FileOnDisk, TextOnDisk, kind_of_name, open_binary
from wordpiece_studio.corpus.parquet import ParquetTexts, load_pyarrow, opened_parquet, reason_of
from wordpiece_studio.corpus.rows import DelimitedRows
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.system.atomic_write import WrittenTogether
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

    Entry = tuple[str, int]  # a word and its count

_OBEYED = "=+@\\t\\r\\n\\0＝＋－＠'\\-"
_SEPARATORS = ";\\t\\r\\n"
# Blanks and quotes before a formula do not stop every program from executing it.
_PIECE = re.compile(rf"(?:(?<=[{_SEPARATORS}])|\A)(?=(?:[^\S{_SEPARATORS}]|\")*[{_OBEYED}])")
_GUARD = re.compile(rf"(?:(?<=[{_SEPARATORS}])|\A)'")


def guarded(text: str) -> str:
    """Return a text as it is written to a cell.

    >>> guarded("=1+1"), guarded("'tis"), guarded("hug"), guarded("a;=1")
    ("'=1+1", "''tis", 'hug', "a;'=1")
    """
    return _PIECE.sub("'", text)


def unguarded(cell: str) -> str:
    """Return the text that `guarded` wrote to a cell.

    >>> unguarded(guarded("=1+1"))
    '=1+1'
    """
    return _GUARD.sub("", cell)


GUARDED_WORD = "guarded_word"  # a column of words of which some are preceded by an apostrophe, see `guarded`
_WORD_NAMES = (
    *("word", GUARDED_WORD, "token", "text", "words", "tokens", "wort", "wörter", "mot", "mots", "palabra", "palabras"),
    *("слово", "слова", "từ", "शब्द", "คำ", "စကားလုံး", "단어", "単語", "词", "词语", "詞", "詞語"),
)
# What columns are called, in lower case; any other two names may be those of a list of people and their ages.
_COUNT_NAMES = (
    *("count", "counts", "frequency", "freq", "anzahl", "häufigkeit", "nombre", "fréquence", "frecuencia", "cantidad"),
    *("число", "количество", "частота", "số lần", "tần suất", "आवृत्ति", "संख्या", "จำนวน", "ความถี่", "အကြိမ်ရေ"),
    *("빈도", "횟수", "개수", "回数", "頻度", "出現回数", "频率", "频次", "次数", "頻率", "頻次", "次數"),
)
_COUNT = re.compile(r"0*[1-9][0-9]{0,18}", re.ASCII)
_ADVICE = "Every line of a table of words must have a word and its count, a whole number of at least 1."


class TableReader:
    def __init__(self, file: CorpusFile) -> None:
        self._file = file
        kind = kind_of_name(file.path)
        self._kind = kind if kind in ("csv", "parquet") else "tsv"
        self._on_disk: FileOnDisk = FileOnDisk(file.path)
        self.name = self._on_disk.name
        self.encoding = file.encoding or "utf-8"
        self.rows = self.replaced = self.skipped = self.width = 0

    @property
    def bytes_read(self) -> int:
        return self._on_disk.bytes_read

    def entries(self) -> Iterator[Entry]:
        if self._kind == "parquet":
            yield from self._parquet_entries()
            return
        text = TextOnDisk(self._file.path, encoding=self._file.encoding, errors=self._file.errors, decompresses=True)
        self._on_disk = text
        rows = self._csv_rows(text) if self._kind == "csv" else self._tab_rows(text)
        first = next(rows, None)
        if first is None:
            return
        cells, line = first
        self.width = len(cells)
        places = _columns(cells)
        if places is None and len(cells) != 2:
            what = "{path}, line {line}: the number of cells is {n}, and no header names word and count"
            raise self._error(what, line, n=len(cells))
        if places is None:
            places, rows = (0, 1), chain([first], rows)
        is_guarded = cells[places[0]].strip("\r ").lower() == GUARDED_WORD
        for row, line in rows:
            if is_guarded and len(row) == self.width:
                row[places[0]] = unguarded(row[places[0]])
            if self._is_taken(self._fault_in(row, line, places)):
                yield row[places[0]], int(row[places[1]])

    def _is_taken(self, fault: StudioError | None) -> bool:
        if fault is None:
            self.rows += 1
        elif self._file.errors != "skip-line":
            raise fault
        else:
            self.skipped += 1
        return fault is None

    def _error(self, what: str, place: int, **values: object) -> StudioError:
        return StudioError(what, _ADVICE, path=self.name, line=place, **values)

    def _fault_in(self, cells: Sequence[str], line: int, places: tuple[int, int]) -> StudioError | None:
        if len(cells) != self.width:
            what = "{path}, line {line}: the number of cells is {n}, not {expected}"
            return self._error(what, line, n=len(cells), expected=self.width)
        count = cells[places[1]].strip(" ")
        if not _COUNT.fullmatch(count) or int(count) > LARGEST_COUNT:
            return self._error("{path}, line {line}: the count is {count}", line, count=repr(count[:50]))
        return None if cells[places[0]] else self._error("{path}, line {line}: there is an empty word", line)

    def _fault_in_row(self, word: object, count: object, row: int) -> StudioError | None:
        if word == "":
            return self._error("{path}, row {line}: there is an empty word", row)
        if not isinstance(word, str):
            return self._error("{path}, row {line}: there is no word", row)
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= LARGEST_COUNT:
            return self._error("{path}, row {line}: the count is {count}", row, count=str(count)[:50])
        return None

    def _tab_rows(self, text: TextOnDisk) -> Iterator[tuple[list[str], int]]:
        for piece in text.pieces():
            self.encoding = piece.encoding
            self.replaced += piece.replaced
            self.skipped += piece.skipped_lines
            for line, row in enumerate(piece.text.removesuffix("\n").split("\n"), start=piece.line):
                if cells := row.removesuffix("\r"):
                    yield cells.split("\t"), line

    def _csv_rows(self, text: TextOnDisk) -> Iterator[tuple[list[str], int]]:
        rows = DelimitedRows(self.name, text.pieces(), None, self._file.errors)
        for row in rows:
            self.encoding = rows.encoding
            yield row.cells, row.line
        self.replaced, skipped = rows.losses()
        self.skipped += skipped

    def _parquet_entries(self) -> Iterator[Entry]:
        arrow = load_pyarrow(self.name)
        with opened_parquet(self._file.path) as file:
            names = file.schema_arrow.names
            self.width = len(names)
            places = _columns(names)
            if places is None:
                raise StudioError("{path} has no columns called word and count", _ADVICE, path=self.name)
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
                            if self._is_taken(self._fault_in_row(word, count, row)):
                                yield word, count
            except (arrow.ArrowException, OSError, MemoryError, ValueError, IndexError, KeyError) as error:
                raise StudioError(
                    "{path} cannot be read: {reason}", _ADVICE, path=self.name, reason=reason_of(error)
                ) from error
        self._on_disk.bytes_read = self._on_disk.size


def looks_like_word_counts(file: CorpusFile) -> bool:
    """Return whether all the content of a file of rows is that of a table of words and their counts.

    It has two columns, a whole number of at least 1 in every row of the second, and a word in the first: something
    with blanks inside is more likely a sentence with its rating. A header must name the columns accordingly; in
    parquet there always is one. A table is read completely, other files no further than their beginning. A text is one
    only if its first line says so.
    """
    if file.kind == "text":
        with suppress(OSError):
            if os.path.isfile(file.path):  # nothing is taken from a pipe here, or fetched
                with open_binary(file.path) as content:
                    return is_typed_counts(content.read(len(HEADER) + 4).decode("utf-8-sig", "replace"))
        return False
    reading = "replace" if file.errors == "skip-line" else file.errors  # every row counts
    has_letters = False
    try:
        reader = TableReader(dataclasses.replace(file, kind="word-counts", errors=reading))
        for word, _ in reader.entries():
            if reader.width != 2 or word.split() != [word]:
                return False
            has_letters = has_letters or any(map(str.isalpha, word))
    except StudioError:
        return False
    return has_letters


def _columns(header: Sequence[str]) -> tuple[int, int] | None:
    names = [name.strip("\r ").lower() for name in header]
    words = [names.index(name) for name in _WORD_NAMES if name in names]
    counts = [names.index(name) for name in _COUNT_NAMES if name in names]
    return (words[0], counts[0]) if words and counts else None


# -- whole tables

_ROWS_AT_ONCE = 10_000


def read_tables(
    files: Sequence[CorpusFile],
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    for file in files:
        if file.kind != "word-counts":
            name = display_name(file.path)
            raise StudioError("{path} is not a table of words and their counts", "Count its words.", path=name)
    total: dict[str, int] = {}
    found: list[FileStatistics] = []
    sizes = [FileOnDisk(file.path).size for file in files]
    meter, check_stop = ProgressMeter(progress, sum(sizes), len(files)), stop_check(should_stop)

    def look(bytes_read: int) -> None:
        check_stop()
        meter.note(sum(sizes[: len(found)]) + bytes_read, len(found), len(total))

    for file in files:
        reader = TableReader(file)
        distinct, words = set(), 0
        for word, count in reader.entries():
            distinct.add(word)
            words += count
            total[word] = total.get(word, 0) + count
            if not reader.rows % _ROWS_AT_ONCE:
                look(reader.bytes_read)
        read = reader.bytes_read, reader.rows, words, len(distinct), reader.encoding, reader.replaced, reader.skipped
        found.append(FileStatistics(reader.name, *read))
        look(0)
    statistics = CorpusStatistics.summed(found, files=tuple(found))
    return WordCounts(*checked_totals(total), normalizer, pre_tokenizer, statistics)


def write_word_counts(
    path: str | os.PathLike[str], counts: WordCounts, *, together: WrittenTogether | None = None
) -> None:
    r"""Write words and their counts, in their order: csv or parquet if the suffix says so, else lines with a tab.

    Parquet and csv begin with the names of the columns, ``word`` and ``count``; csv is quoted as in RFC 4180. In a
    csv with words that a spreadsheet would take for formulas, such as ``=A1``, the first column is called
    ``guarded_word``, and these words are preceded by an apostrophe, see `count_tables`; `read_word_counts` removes it.

    Parameters
    ----------
    together
        What is written with the table, such as how the words were counted; all files or none.

    Raises
    ------
    StudioError
        If a word could not be read back unchanged: one with a tab or a line break can only be written to csv and
        parquet, a lone surrogate nowhere. Or if the file cannot be written; an existing file is then unchanged.
    """
    check_table_place(path)
    name = display_name(path)
    kind = kind_of_name(name)
    _check_words(counts.words, "" if kind == "parquet" else "\0" if kind == "csv" else "\0\t\n", name)
    if kind == "parquet":
        write: Callable[[BinaryIO], None] = partial(_write_parquet, counts)
    else:
        lines = _csv_lines(counts) if kind == "csv" else _tab_lines(counts, name)
        write = methodcaller("writelines", lines)
    atomic_write_all({path: write} if together is None else together(path, write))


def check_table_place(path: str | os.PathLike[str]) -> None:
    """Raise if a table can probably not be written to `path`; nothing is written."""
    name, folder = display_name(path), Path(path).parent
    if name.lower().endswith(COMPRESSED_SUFFIXES):
        raise StudioError("{path} would have to be compressed", "Write it and then compress it.", path=name)
    if not os.path.exists(folder):  # also False for an invalid name
        raise StudioError("The folder {path} does not exist", "Create it first.", path=display_name(folder))
    check_folder(folder)
    if os.path.isdir(path):
        raise StudioError("{path} is a folder", "Specify a file in it.", path=name)
    if os.path.exists(path) and not os.path.isfile(path):
        raise StudioError("{path} is not a regular file", "Choose another name to save under.", path=name)
    if kind_of_name(name) == "parquet":
        load_pyarrow(name)


def _check_words(words: Sequence[str], forbidden: str, name: str) -> None:
    text = "".join(words)
    with suppress(UnicodeEncodeError):
        text.encode()  # faster than looking for surrogates
        if not any(character in text for character in forbidden):
            return
    faulty = [word for word in words if re.search(f"[\ud800-\udfff{forbidden}]", word)]
    raise StudioError(
        "{n} of the words cannot be written to {path}: {list}",
        "Write a .csv or .parquet file, or choose a normalizer that removes such characters.",
        n=len(faulty),
        path=name,
        list=", ".join(repr(word[:50]) for word in faulty[:5]) + (", …" if len(faulty) > 5 else ""),
    )


def _tab_lines(counts: WordCounts, name: str) -> Iterator[bytes]:
    if counts.words and counts.words[0].startswith("\ufeff"):
        what = (
            "The first word, {word}, cannot be written at the start of {path}: its U+FEFF would look like a byte order "
            "mark"
        )
        raise StudioError(what, "Write a .csv or .parquet file.", word=repr(counts.words[0][:50]), path=name)
    return (f"{word}\t{count}\n".encode() for word, count in counts.items())


def _csv_lines(counts: WordCounts) -> Iterator[bytes]:
    are_guarded = any(not word.isalnum() and _PIECE.search(word) for word in counts.words)
    items = ((guarded(word) if are_guarded else word, count) for word, count in counts.items())
    rows = chain([(GUARDED_WORD if are_guarded else "word", "count")], items)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield csv_text(some).encode()


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as they stand in a file, with CRLF; guarding texts is up to the caller."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _write_parquet(counts: WordCounts, file: BinaryIO) -> None:
    import pyarrow
    from pyarrow import parquet

    words = pyarrow.array(counts.words, pyarrow.large_string())
    parquet.write_table(pyarrow.table({"word": words, "count": counts.counts}), file)


# -- typed tables

HEADER = "word\tcount"
_TYPED_COUNT = re.compile(r"[0-9]{1,19}", re.ASCII)
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = " \t"
_LEAST_LINES = 2
_LINES_AT_ONCE = 10_000


def is_typed_counts(text: str) -> bool:
    return text.startswith(HEADER) and text[len(HEADER) : len(HEADER) + 1] in ("", "\n", "\r")


def entry_of(line: str) -> tuple[str, int] | None:
    r"""Return the word and the count of a line, separated by blanks or a tab; None if they are not there.

    >>> entry_of("hug 10"), entry_of("hug\t10"), entry_of("hug"), entry_of("hug 0")
    (('hug', 10), ('hug', 10), None, None)
    """
    parts = line.strip(_BLANKS).rsplit(maxsplit=1)
    if len(parts) < 2 or not _TYPED_COUNT.fullmatch(parts[1]) or "\t" in parts[0]:
        return None
    count = int(parts[1])
    return (parts[0], count) if 1 <= count <= LARGEST_COUNT else None


def as_typed_counts(text: str) -> str | None:
    r"""Return a text of words with their counts with the first line that says so; None if any line is something else.

    A word has no blank inside: a sentence may end in a number. A first line may name the two columns.

    >>> as_typed_counts("Wort Anzahl\nhug 10\npug 5\n")
    'word\tcount\nhug\t10\npug\t5\n'
    """
    lines = [line for line in _LINE_END.split(text) if line.strip()]
    cells = lines[0].strip(_BLANKS).split("\t" if "\t" in lines[0] else None) if lines else []
    if len(cells) == 2 and not any(map(str.isdigit, lines[0])):  # it names the columns
        del lines[0]
    # The first lines nearly always tell.
    if len(lines) < _LEAST_LINES or None in map(entry_of, lines[:_LEAST_LINES]) or is_typed_counts(text):
        return None
    known = [entry for entry in map(entry_of, lines) if entry is not None and len(entry[0].split()) == 1]
    if len(known) < len(lines) or not any(letter.isalpha() for word, _ in known for letter in word):
        return None
    return "\n".join([HEADER, *(f"{word}\t{count}" for word, count in known)]) + "\n"


def read_typed_counts(
    text: str, normalizer: Normalizer, pre_tokenizer: PreTokenizer, should_stop: Callable[[], bool] = lambda: False
) -> WordCounts:
    """Return the words of a text with `HEADER` and their counts, unchanged; those of repeated words add up."""
    total: dict[str, int] = {}
    skipped = 0
    for number, line in enumerate(_LINE_END.split(text)[1:]):
        if number % _LINES_AT_ONCE == 0 and should_stop():
            raise CountingStopped
        entry = entry_of(line)
        if entry is not None:
            total[entry[0]] = total.get(entry[0], 0) + entry[1]
        elif line.strip():
            skipped += 1
    statistics = CorpusStatistics(
        lines=text.count("\n") + (not text.endswith("\n")),
        bytes=len(text.encode("utf-8", "surrogatepass")),
        skipped_lines=skipped,
    )
    return WordCounts(*checked_totals(total), normalizer, pre_tokenizer, statistics)


def counts_as_text(counts: WordCounts) -> str:
    lines = [f"{word}\t{count}" for word, count in counts.items()]
    for line, entry in zip(lines, counts.items(), strict=True):
        if entry_of(line) != entry or len(_LINE_END.split(line)) > 1:
            what = "The word {word} cannot be written on a line with its count"
            raise StudioError(what, "Choose a pre-tokenizer that splits text at whitespace.", word=repr(entry[0][:50]))
    return "\n".join([HEADER, *lines, ""])


def with_count(text: str, word: str, count: int) -> str:
    r"""Return a text of words with their counts in which a word occurs `count` times; with 0 it is left out.

    >>> with_count("word\tcount\nhug\t10\npug\t5\n", "hug", 12)
    'word\tcount\nhug\t12\npug\t5\n'
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = _LINE_END.split(text)
    while not lines[-1].strip():
        del lines[-1]
    places = [place for place, line in enumerate(lines) if word in line and (entry_of(line) or ("",))[0] == word]
    if count and not places:
        lines.append("")
        places = [len(lines) - 1]
    if count:
        lines[places.pop(0)] = f"{word}\t{count}"
    for place in reversed(places):
        del lines[place]
    return line_end.join([*lines, ""])
