"""Tables of words and their counts: tab-separated lines ``word<TAB>count``, csv, or parquet, by the file's suffix.

The words are read and written unchanged, in their order: a word that could not be read back is not written.
Not here: counting (`corpus.counting`).
"""

from __future__ import annotations

import csv
import io
import os
import re
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.count_tables import GUARDED_WORD, TableReader, guarded, is_obeyed
from wordpiece_studio.corpus.counts import (
    CorpusStatistics,
    FileStatistics,
    ProgressMeter,
    WordCounts,
    checked_totals,
    stop_check,
)
from wordpiece_studio.corpus.files import COMPRESSED_SUFFIXES, CorpusFile, FileOnDisk, kind_of_name
from wordpiece_studio.corpus.listing import listed_files
from wordpiece_studio.corpus.parquet import load_pyarrow
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.system.atomic_write import WrittenTogether
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

    Place = str | bytes | os.PathLike[str]

_ROWS_AT_ONCE = 10_000


def read_word_counts(
    paths: Place | CorpusFile | Iterable[Place | CorpusFile],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Return the words and counts in tables, in order of first appearance; the counts of repeated words add up.

    Parameters
    ----------
    paths
        The tables, as for `listed_files`; they may be compressed. A first line that names the columns is skipped; in a
        table of more than two columns these must be called ``word`` and ``count``.
    normalizer, pre_tokenizer
        Kept for the tokenizer to come; the words are taken unchanged.
    progress, should_stop
        As for :func:`~wordpiece_studio.count_words`.

    Raises
    ------
    CountingStopped
        If `should_stop` returned True.
    StudioError
        If a `CorpusFile` among them is a text, a table cannot be read, a word is empty, or a count is not a whole
        number from 1 to 2**63 - 1; the message names the file and the line or row.
    """
    total: dict[str, int] = {}
    files: list[FileStatistics] = []
    tables = _tables(paths)
    sizes = [FileOnDisk(file.path).size for file in tables]
    meter, check_stop = ProgressMeter(progress, sum(sizes), len(tables)), stop_check(should_stop)

    def look(bytes_read: int) -> None:
        check_stop()
        meter.note(sum(sizes[: len(files)]) + bytes_read, len(files), len(total))

    for file in tables:
        files.append(_read_table(file, total, look))
        look(0)
    steps = resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
    return WordCounts(*checked_totals(total), *steps, CorpusStatistics.summed(files, files=tuple(files)))


def _read_table(file: CorpusFile, total: dict[str, int], look: Callable[[int], None]) -> FileStatistics:
    """Add the counts of a table to `total`, and return what was read; call `look` now and then with the bytes read."""
    reader = TableReader(file)
    distinct, words = set(), 0
    for word, count in reader.entries():
        distinct.add(word)
        words += count
        total[word] = total.get(word, 0) + count
        if not reader.rows % _ROWS_AT_ONCE:
            look(reader.bytes_read)
    return FileStatistics(
        reader.name,
        reader.bytes_read,
        reader.rows,
        words,
        len(distinct),
        reader.encoding,
        replaced=reader.replaced,
        skipped_lines=reader.skipped,
    )


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
    """Check that a table can probably be written to `path`; nothing is written."""
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


def _tables(paths: Place | CorpusFile | Iterable[Place | CorpusFile]) -> list[CorpusFile]:
    files = listed_files(paths, kind="word-counts")
    texts = [file for file in files if file.kind != "word-counts"]
    if texts:
        raise StudioError(
            "{path} is not a table of words and their counts",
            "Count its words.",
            path=display_name(texts[0].path),
        )
    return files


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
        raise StudioError(
            "The first word, {word}, cannot be written at the start of {path}: its U+FEFF would look like a byte order "
            "mark",
            "Write a .csv or .parquet file.",
            word=repr(counts.words[0][:50]),
            path=name,
        )
    return (f"{word}\t{count}\n".encode() for word, count in counts.items())


def _csv_lines(counts: WordCounts) -> Iterator[bytes]:
    items: Iterable[tuple[str, int]] = counts.items()
    header = ("word", "count")
    if any(map(is_obeyed, counts.words)):
        header = (GUARDED_WORD, "count")
        items = ((guarded(word), count) for word, count in items)
    rows = chain([header], items)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        text = io.StringIO(newline="")
        csv.writer(text).writerows(some)
        yield text.getvalue().encode()


def _write_parquet(counts: WordCounts, file: BinaryIO) -> None:
    import pyarrow
    from pyarrow import parquet

    words = pyarrow.array(counts.words, pyarrow.large_string())
    parquet.write_table(pyarrow.table({"word": words, "count": counts.counts}), file)
