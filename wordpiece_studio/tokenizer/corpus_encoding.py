"""Whole corpora to ids: one flat array, and where each text ends in it; the same ids as text by text, only faster.

Each line of a file is a text; it ends at LF, and the line end itself never matters to BERT. Small inputs are encoded
without numba, the rest by compiled kernels. Ids too numerous for memory are written piece by piece, in NumPy's file
format. A corpus is read as one stream of UTF-8, in blocks of similar size, whatever its files and their faults are. Not
here: longest match (`tokenizer`), and how the kernels encode a block (`compiled_encoder`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, TypeGuard, get_args

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counting.segments import ReadingNotes
from wordpiece_studio.corpus.counts import CorpusStatistics
from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece, checked_texts
from wordpiece_studio.corpus.files import CorpusFile, TextStream
from wordpiece_studio.corpus.listing import Listing, listing, opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.tokenizer.encoding import EncodedBlock, Encoder, LibraryEncoder, checked_flag
from wordpiece_studio.tokenizer.shaping import EncodingStopped, Template, portions, watched
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from wordpiece_studio.corpus.listing import Source
    from wordpiece_studio.system.atomic_write import Content, WrittenTogether

    Path = str | os.PathLike[str]
    Corpus = Path | CorpusFile | Iterable[Path | CorpusFile] | Listing | BufferedIOBase | TextStream
    Ids = NDArray[np.int32 | np.uint16]


IdType = Literal["int32", "uint16"]

BLOCK_BYTES = 1 << 20
_MOST_HELD_BYTES = 16 << 20
_CHARACTERS_AT_ONCE = 1 << 16
_MOST_SMALL_IDS = 1 << 16


@dataclass(frozen=True, slots=True)
class EncodingStatistics:
    """The totals of an encoded corpus.

    Attributes
    ----------
    tokens, texts
        How many there are.
    unknown
        How many of the tokens are the unknown token.
    corpus
        What was read.
    """

    tokens: int
    texts: int
    unknown: int
    corpus: CorpusStatistics


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTexts:
    """The ids of many texts; ``encoded[i]`` are those of text i.

    Attributes
    ----------
    ids
        The ids of all texts, one after the other: shape ``(n_tokens,)``, int32 or uint16.
    offsets
        Where each text begins in `ids`, and where the last one ends: shape ``(n_texts + 1,)``, int64.
    statistics
        What was read, and how much of it is unknown.
    """

    ids: Ids
    offsets: NDArray[np.int64]
    statistics: EncodingStatistics

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<EncodedTexts: {len(self):,} texts, {len(self.ids):,} {self.ids.dtype} IDs>"

    def __getitem__(self, text: int) -> Ids:
        index = range(len(self))[text]
        return self.ids[self.offsets[index] : self.offsets[index + 1]]


def encode_texts(
    tokenizer: Encoder,
    texts: Iterable[str],
    *,
    dtype: IdType = "int32",
    add_special_tokens: bool = False,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> EncodedTexts:
    """Return the ids of texts.

    Parameters
    ----------
    tokenizer
        Encodes them; each text gets the same ids as from ``tokenizer.encode(text)``.
    texts
        The texts, in anything that :func:`~wordpiece_studio.count_texts` takes; they may contain line ends.
    dtype
        The type of the ids; ``"uint16"``, for a vocabulary of at most 65,536 tokens, is half as large.
    add_special_tokens
        Whether each text is put between the special tokens that ``tokenizer.encode`` puts around it, such as ``[CLS]``
        and ``[SEP]``.
    progress
        Called now and then with the texts read so far and how many there are; not for an iterator.
    should_stop
        Called now and then; if it returns True, `EncodingStopped` is raised.

    Raises
    ------
    StudioError
        If the vocabulary does not fit `dtype` or lacks a special token; or if `texts` is itself a text or a table, or
        contains something that is not a text.
    """
    run = _Run(tokenizer, dtype, add_special_tokens)
    checked, is_local = checked_texts(texts), _is_local(tokenizer)
    total = len(texts) if isinstance(texts, Sized) else None
    portions = watched(checked, progress, should_stop, total, BLOCK_BYTES if is_local else _CHARACTERS_AT_ONCE)
    if is_local:
        # To a local tokenizer a line end within a text is no different from a blank.
        lines = ("".join(text.replace("\n", " ") + "\n" for text in portion) for portion in portions)
        return run.collected(_encoded_blocks(tokenizer, (block.encode("utf-8", "surrogatepass") for block in lines)))
    return run.collected(map(PlainEncoder(tokenizer).encode, portions))


def encode_files(
    tokenizer: Encoder,
    source: Corpus,
    *,
    column: str | None = None,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    dtype: IdType = "int32",
    add_special_tokens: bool = False,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> EncodedTexts:
    """Return the ids of files, each of whose lines is a text; they must fit into memory (see also `write_ids`).

    Parameters
    ----------
    tokenizer
        Encodes them.
    source
        The files, as for `listing`; or a stream of bytes such as ``sys.stdin.buffer``, or the result of
        `opened_stream` for one.
    column, encoding, errors
        As for :func:`~wordpiece_studio.count_words`. A line that ``errors="skip-line"`` leaves out is not a text.
    dtype, add_special_tokens
        As for `encode_texts`.
    progress
        Called now and then with the bytes read so far and the total bytes; not for a stream.
    should_stop
        Called now and then; if it returns True, `EncodingStopped` is raised.

    Raises
    ------
    StudioError
        If a file cannot be read or decoded, or the vocabulary does not fit the other arguments.
    """
    run = _Run(tokenizer, dtype, add_special_tokens, should_stop)
    blocks = CorpusBlocks(source, column, encoding, errors, _is_local(tokenizer), progress)
    return run.collected(_encoded_blocks(tokenizer, blocks), blocks)


def write_ids(
    tokenizer: Encoder,
    source: Corpus,
    output: Path,
    *,
    offsets_output: Path | None = None,
    column: str | None = None,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    dtype: IdType = "int32",
    add_special_tokens: bool = False,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    together: WrittenTogether | None = None,
) -> EncodingStatistics:
    """Write the ids of files to a file that ``numpy.load`` reads, however many there are.

    Takes and raises the same as `encode_files`, and

    Parameters
    ----------
    output
        The file for the ids; an existing file is replaced once everything is written.
    offsets_output
        The file for the offsets of the texts, if wanted.
    together
        Adds what is written with each of them, such as the tokenizer; all files or none.
    """
    run = _Run(tokenizer, dtype, add_special_tokens, should_stop)
    blocks = CorpusBlocks(source, column, encoding, errors, _is_local(tokenizer), progress)
    _check_outputs([path for path in (output, offsets_output) if path is not None], blocks.paths)
    with tempfile.SpooledTemporaryFile(max_size=_MOST_HELD_BYTES) as offsets:

        def ids_alone() -> Iterator[Ids]:
            for ids, ends in run.pieces(_encoded_blocks(tokenizer, blocks)):
                if offsets_output is not None:
                    offsets.write(ends.tobytes())
                yield ids

        writers: dict[Path, Callable[[BinaryIO], None]] = {output: lambda file: write_npy(file, ids_alone(), dtype)}
        if offsets_output is not None:
            writers[offsets_output] = lambda file: write_npy(file, _offsets_in(offsets), np.int64)
        contents: dict[str | os.PathLike[str], Content] = {}
        for path, write in writers.items():
            contents |= {path: write} if together is None else together(path, write)
        atomic_write_all(contents)
    return run.statistics(blocks)


class _Run:
    """An encoding in progress: what the arguments ask for besides the ids of each text, and the totals."""

    def __init__(
        self, tokenizer: Encoder, dtype: IdType, add_special_tokens: bool, should_stop: Callable[[], bool] | None = None
    ) -> None:
        if not isinstance(tokenizer, Encoder):
            raise StudioError(
                "{value} is not a tokenizer", "Pass what load_tokenizer returns.", value=repr(tokenizer)[:100]
            )
        unknown = None if tokenizer.unk_token is None else tokenizer.id_of(tokenizer.unk_token)
        self._unknown_id = NO_ID if unknown is None else unknown
        self._dtype = _checked_type(dtype, tokenizer)
        self._before, self._after = (
            _ids_around(tokenizer) if checked_flag("add_special_tokens", add_special_tokens) else ((), ())
        )
        self._is_inside_text = False
        self._should_stop = should_stop
        self._tokens = self._texts = self._unknown = 0

    def pieces(self, blocks: Iterable[EncodedBlock]) -> Iterator[tuple[Ids, NDArray[np.int64]]]:
        """Yield ids in the requested form, and the ends of the texts that end among them, counted from the start."""
        for block in blocks:
            if self._should_stop is not None and self._should_stop():
                raise EncodingStopped
            self._unknown += int(np.count_nonzero(block.ids == self._unknown_id))
            if self._before or self._after:
                block = self._with_ids_around(block)
            yield block.ids.astype(self._dtype, copy=False), block.ends + self._tokens
            self._tokens += len(block.ids)
            self._texts += len(block.ends)

    def collected(self, encoded: Iterable[EncodedBlock], source: CorpusBlocks | None = None) -> EncodedTexts:
        all_ids: list[Ids] = [np.empty(0, self._dtype)]
        all_ends = [np.zeros(1, np.int64)]
        for ids, ends in self.pieces(encoded):
            all_ids.append(ids)
            all_ends.append(ends)
        return EncodedTexts(np.concatenate(all_ids), np.concatenate(all_ends), self.statistics(source))

    def statistics(self, source: CorpusBlocks | None) -> EncodingStatistics:
        corpus = CorpusStatistics(lines=self._texts) if source is None else source.statistics
        return EncodingStatistics(self._tokens, self._texts, self._unknown, corpus)

    def _with_ids_around(self, block: EncodedBlock) -> EncodedBlock:
        was_inside, self._is_inside_text = self._is_inside_text, block.is_open
        between = self._after + self._before
        places = np.repeat(block.ends, len(between))
        added = np.tile(np.array(between, np.int32), len(block.ends))
        if not block.is_open and len(block.ends):  # the next text, if there is one, begins in the next block
            kept = len(places) - len(self._before)
            places, added = places[:kept], added[:kept]
        if not was_inside:
            places = np.insert(places, 0, [0] * len(self._before))
            added = np.insert(added, 0, self._before)
        ends = block.ends + len(between) * np.arange(len(block.ends)) + len(self._after)
        ends += 0 if was_inside else len(self._before)
        return EncodedBlock(np.insert(block.ids, places, added), ends, block.is_open)


def _checked_type(name: str, tokenizer: Encoder) -> np.dtype[Any]:
    if name not in get_args(IdType):
        raise StudioError('There is no type of IDs called "{name}"', "Choose int32 or uint16.", name=name)
    largest = max((tokenizer.id_of(token) or 0 for token in tokenizer.tokens), default=0) if name == "uint16" else 0
    if largest >= _MOST_SMALL_IDS:
        raise StudioError("The IDs of {size} tokens do not fit into uint16", "Use int32.", size=f"{largest + 1:,}")
    unk_token = tokenizer.unk_token
    if name == "uint16" and isinstance(tokenizer, Tokenizer) and unk_token not in tokenizer.vocabulary:
        what = "The unknown token {token} is not in the vocabulary, and the {id} in its place does not fit into uint16"
        raise StudioError(what, "Use int32.", token=unk_token, id=NO_ID)
    return np.dtype(name)


def _is_local(tokenizer: Encoder) -> TypeGuard[Tokenizer]:
    return isinstance(tokenizer, Tokenizer) and tokenizer.is_local


def _ids_around(tokenizer: Encoder) -> tuple[tuple[int, ...], tuple[int, ...]]:
    template = Template.of(tokenizer.post_processor())
    if template is None:
        what = "{tokenizer}: its post_processor is not supported"
        raise StudioError(what, "Encode without adding special tokens.", tokenizer=str(tokenizer))
    parts = template.single
    (place,) = (place for place, (name, _) in enumerate(parts) if name == 0)
    return tuple(number for _, number in parts[:place]), tuple(number for _, number in parts[place + 1 :])


def _offsets_in(file: IO[bytes]) -> Iterator[NDArray[np.int64]]:
    yield np.zeros(1, np.int64)
    file.seek(0)
    while data := file.read(_MOST_HELD_BYTES):
        yield np.frombuffer(data, np.int64)


def _check_outputs(outputs: Sequence[Path], read: Sequence[str]) -> None:
    places = [os.path.realpath(path) for path in outputs]
    for path, place in zip(outputs, places, strict=True):
        if place in map(os.path.realpath, read):
            raise StudioError("{path} is one of the files to encode", "Write to another file.", path=display_name(path))
        folder = os.path.dirname(place)
        check_folder(folder)
        if not os.path.isdir(folder):
            raise StudioError("There is no folder {path}", "Create it, or choose another.", path=display_name(folder))
    if len(set(places)) < len(places):
        raise StudioError("The IDs and their offsets cannot both be written to {path}", path=display_name(outputs[0]))


class PlainEncoder:
    def __init__(self, tokenizer: Encoder) -> None:
        self._tokenizer = tokenizer

    def encode_lines(self, block: bytes) -> EncodedBlock:
        lines = block.decode("utf-8", "surrogatepass").split("\n")
        is_open = lines[-1] != ""
        encoded = self.encode(lines if is_open else lines[:-1])
        return EncodedBlock(encoded.ids, encoded.ends[:-1] if is_open else encoded.ends, is_open)

    def encode(self, texts: Sequence[str]) -> EncodedBlock:
        tokenizer = self._tokenizer
        is_library = isinstance(tokenizer, LibraryEncoder)  # which is asked for many texts at once
        found = [each.ids for each in tokenizer.encode(texts)] if is_library else [*map(tokenizer.ids, texts)]
        ends = np.cumsum([len(ids) for ids in found], dtype=np.int64)
        return EncodedBlock(np.fromiter(chain.from_iterable(found), np.int32), ends, False)


# About as much text is encoded in the time it takes to load the kernels; and to compile them.
_FEW_BYTES, _FEW_BYTES_UNCOMPILED = 1 << 17, 16 << 20


def _encoded_blocks(tokenizer: Encoder, blocks: Iterable[bytes]) -> Iterator[EncodedBlock]:
    """Yield the ids of blocks of UTF-8, each of whose lines, without its LF, is a text."""
    encode, is_plain, seen = PlainEncoder(tokenizer).encode_lines, True, 0
    for block in blocks:
        seen += len(block)
        if is_plain and _is_local(tokenizer) and _is_much(seen):
            from wordpiece_studio.tokenizer.compiled_encoder import CompiledEncoder

            encode, is_plain = CompiledEncoder(tokenizer).encode_lines, False
        yield encode(block)


def _is_much(size: int) -> bool:
    return size > _FEW_BYTES and (size > _FEW_BYTES_UNCOMPILED or kernels_are_cached("text"))


def write_npy(file: BinaryIO, pieces: Iterable[NDArray[np.generic]], dtype: DTypeLike) -> None:
    """Write the one-dimensional array that `pieces`, converted to a type, make up to a seekable empty file."""
    kind, length = np.dtype(dtype), 0
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, header | {"shape": (length,)})
    for piece in pieces:
        length += len(piece)
        file.write(piece.astype(kind, copy=False).tobytes())
    file.seek(0)
    np.lib.format.write_array_header_1_0(file, header | {"shape": (length,)})  # of the same size, whatever the length


class CorpusBlocks:
    """The text of some files, or of a stream, to be read once. Every line ends in LF, a file's last one too.

    `splits_at_blanks`: a block may end at a blank instead, if there is no line end for a long stretch. `progress` is
    called now and then with the bytes read so far and the total bytes, unless that is unknown.
    """

    def __init__(
        self,
        source: Corpus,
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
        if isinstance(source, TextStream):
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
        read = [notes.statistics(text.name) for notes, text in zip(self._notes, self._texts, strict=False)]
        changed_files = tuple(self._changed_files)
        statistics = CorpusStatistics.summed(read, changed_files=changed_files, marked_files=self._marked_files)
        return statistics if self._listing is None else self._listing.noted(statistics)

    def __iter__(self) -> Iterator[bytes]:
        """Return the text in blocks of at least BLOCK_BYTES, except perhaps the last; none is empty."""
        return map(b"".join, portions(self._whole_lines(), BLOCK_BYTES))

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
