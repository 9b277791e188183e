"""Options shared by several commands, and their effects: the texts read, the tokenizer, where results are written.

The state of the files is recorded before their words are counted, and they are hashed in the background. Results are
put in place together at the very end, and never over foreign files.
"""

from __future__ import annotations

import shlex
import sys
import threading
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from wordpiece_studio.cli.messages import STDIN, detected_encodings, loss_warnings, no_words
from wordpiece_studio.cli.parameters import CliCommand, argument, flag, option
from wordpiece_studio.corpus.counting.counting import count_stream, count_words
from wordpiece_studio.corpus.decoding import ErrorHandling
from wordpiece_studio.corpus.files import CorpusFile, FileKind, TextStream, checked_kind, kind_of_name, unreadable
from wordpiece_studio.corpus.listing import Listing, listing, opened_stream
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import STREAM, CorpusRecord, noted_files, record_of_files, recorded_files
from wordpiece_studio.storage.manifest import Manifest, check_replaceable, read_manifest, side_manifest
from wordpiece_studio.storage.small_files import small_file_bytes, utf8_text
from wordpiece_studio.system.atomic_write import written_together
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.normalizers import RemoveCharacters, resolve_normalizer
from wordpiece_studio.text.normalizers import Sequence as NormalizerSequence
from wordpiece_studio.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from io import BufferedIOBase

    from wordpiece_studio.cli.messages import Report
    from wordpiece_studio.corpus.counts import CountingProgress, WordCounts
    from wordpiece_studio.storage.corpus_record import RecordedFile
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer
    from wordpiece_studio.text.pipeline import Normalizer


_NORMALIZERS = (
    "bert-cased, bert-uncased, language-friendly, nfc, nfd, nfkc, nfkd, lowercase, strip-accents, remove:CHARACTERS,"
    " none; joined by +; corpus:NAME changes the corpus only."
)
_PRE_TOKENIZERS = (
    "bert, whitespace, whitespace-split, punctuation, unicode-punctuation, digits, digits-single, byte-level,"
    " byte-level:no-prefix, byte-level:no-regex, byte-level:bytes-only, split:BEHAVIOR:REGEX, pattern:REGEX; joined by"
    " +."
)
TEXT = "Reading the text"
TEXT_FILES = "Files, folders and patterns: text, JSONL, CSV, TSV or Parquet, also compressed"
FILES = f"{TEXT_FILES}; or - for stdin, or a pipe."
JSON = flag("Print JSON, for programs.", names=("--json",))
VOCAB = option("A folder that train wrote, or a vocab.txt or tokenizer.json.", default=".", metavar="DIR|FILE")
WORD_COUNTS = flag("The files are tables of words and counts.", TEXT)
PROCESSES = option("Count in this many processes at once.", TEXT, shown_default="as many as pay off")
FORCE = flag("Replace existing files even if WordPiece Studio did not write them or they have changed since.")
_LARGEST_LIST_BYTES = 16 << 20


def _names_in(text: str) -> list[str]:
    return [name.strip() for name in text.partition(";")[0].split(",") if ":" not in name]


class FileOptions:
    kind: str | None = option(
        f"{', '.join(get_args(FileKind))}; if the file extension does not say.", TEXT, values=FileKind, metavar="KIND"
    )
    word_counts: bool = WORD_COUNTS
    column: str | None = option("The column or field with the text, or the number of the column.", TEXT, metavar="NAME")
    encoding: str | None = option("The files' encoding, if not UTF-8; or detect.", TEXT, metavar="NAME|detect")
    errors: str = option(
        "How to treat invalid lines: strict (stop), replace or skip-line.", TEXT, default="strict", values=ErrorHandling
    )

    def listed(self, files: list[str]) -> Listing | None:
        return None if is_stream(files) else listing(files, kind=self._kind(), **self._rest)

    def listed_text(self, file: str, name: str) -> Listing:
        """Return a file that is read more than once, for the option called `name`."""
        listed = self.listed([file])
        if listed is None:
            raise StudioError(f"{name} needs a text that can be read twice", "Write it to a file.")
        return listed

    @contextmanager
    def opened(self, files: list[str]) -> Iterator[TextStream]:
        with self._stream(files) as (stream, name, reading):
            yield opened_stream(stream, name, **reading)

    def counted_stream(self, files: list[str], normalizer: Normalizer, **counting: Any) -> WordCounts:
        with self._stream(files) as (stream, name, reading):
            return count_stream(stream, name, normalizer, **reading, **counting)

    @contextmanager
    def _stream(self, files: list[str]) -> Iterator[tuple[BufferedIOBase, str, dict[str, Any]]]:
        (name,) = files
        with _opened_bytes(name) as stream:
            kind = self._kind() or kind_of_name(name) or "text"
            yield stream, STDIN if name == "-" else display_name(name), {"kind": kind, **self._rest}

    @property
    def _rest(self) -> dict[str, Any]:
        return {"column": self.column, "encoding": self.encoding, "errors": self.errors}

    def _kind(self) -> FileKind | None:
        name = self.kind
        if self.word_counts:
            if name not in (None, "word-counts"):
                raise StudioError("--word-counts and --kind {kind} cannot be combined", "Omit one of them.", kind=name)
            name = "word-counts"
        return None if name is None else checked_kind(name)


class PipelineOptions:
    normalizer: str = option(_NORMALIZERS, TEXT, default="bert-cased", values=_names_in(_NORMALIZERS))
    pre_tokenizer: str = option(_PRE_TOKENIZERS, TEXT, default="bert", values=_names_in(_PRE_TOKENIZERS))
    remove: str = option("Characters to remove after normalizing.", TEXT, default="", metavar="CHARACTERS")

    def whole_normalizer(self) -> Normalizer:
        return _with_removal(resolve_normalizer(self.normalizer), self.remove)


class LoadingOptions:
    """How text becomes words, if not as a vocabulary's files say."""

    normalizer: str | None = option("Use this instead of the one the vocabulary was trained with.", TEXT)
    pre_tokenizer: str | None = option("Use this instead of the one the vocabulary was trained with.", TEXT)
    remove: str = PipelineOptions.remove

    def tokenizer(self, vocab: str) -> AnyTokenizer:
        """Return the tokenizer that `vocab` names, which may be one that can only tokenize."""
        tokenizer = loaded_tokenizer(vocab, self.normalizer, self.pre_tokenizer)
        if isinstance(tokenizer, Tokenizer):
            return self._with_removal(tokenizer)
        if self.remove:
            raise StudioError("--remove cannot be used with a {kind} model", "Omit --remove.", kind=tokenizer.kind)
        return tokenizer

    def wordpiece_tokenizer(self, vocab: str) -> Tokenizer:
        from wordpiece_studio.storage.tokenizer_loading import load_wordpiece_tokenizer

        _check_default(vocab)
        return self._with_removal(load_wordpiece_tokenizer(vocab, self.normalizer, self.pre_tokenizer))

    def _with_removal(self, tokenizer: Tokenizer) -> Tokenizer:
        return tokenizer.changed(normalizer=_with_removal(tokenizer.normalizer, self.remove))


def _with_removal(normalizer: Normalizer, characters: str) -> Normalizer:
    return NormalizerSequence([normalizer, RemoveCharacters(characters)]) if characters else normalizer


def loaded_tokenizer(vocab: str, *steps: str | None) -> AnyTokenizer:
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer  # large: it reads many formats

    _check_default(vocab)
    return load_tokenizer(vocab, *steps)


def _check_default(vocab: str) -> None:
    from wordpiece_studio.storage.tokenizer_loading import KNOWN_FILES

    if vocab == "." and not any(Path(name).exists() for name in KNOWN_FILES):
        what = "This folder has no vocab.txt and no tokenizer.json"
        raise StudioError(what, "Specify a vocabulary with --vocab.")


class CountingOptions:
    user_tokens: str | None = option("A file of tokens that are never split, one per line.", TEXT, metavar="FILE")
    max_word_length: int = option("Leave out words of more characters.", TEXT, default=1000)
    min_count: int = option("Leave out words that occur fewer times.", TEXT, default=1, least=1)
    processes: int | None = PROCESSES
    cluster: str | None = option(
        "Count on a Dask cluster, whose scheduler is at ADDRESS: tcp://host:8786.", TEXT, metavar="ADDRESS"
    )

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tokens_in(self.user_tokens)


class CorpusCommand(CliCommand, CountingOptions, FileOptions, PipelineOptions):
    files: list[str] = argument(FILES, "FILES")

    def counted(self, sources: Listing | None, normalizer: Normalizer, report: Report) -> WordCounts:
        given: dict[str, Any] = {
            "pre_tokenizer": self.pre_tokenizer,
            "max_word_length": self.max_word_length,
            "user_tokens": self.tokens,
        }
        if sources is None:
            (name,) = self.files
            if self.cluster is not None:
                what = f"{'Stdin' if name == '-' else '{path}'} cannot be counted on a cluster"
                raise StudioError(what, "Write it to a file that its workers can read.", path=display_name(name))
            counts = self.counted_stream(self.files, normalizer, **given).at_least(self.min_count)
        else:
            given |= {name: getattr(self, name) for name in ("processes", "cluster", "min_count")}
            counts = count_words(sources, normalizer, **given, progress=partial(report_counting, report))
            if all(file.kind == "word-counts" for file in sources.files):
                tokens = _tokens_behind(sources.files)
                counts.statistics = replace(counts.statistics, user_tokens=tokens)
        if not counts and counts.statistics.rare_words:
            raise StudioError("No word occurs {n:,} times or more", "Leave out fewer words.", n=self.min_count)
        if not counts:
            raise no_words(self.files, counts)
        return counts

    def reading_warnings(self, counts: WordCounts, sources: Listing | None) -> list[str]:
        tables = _table_warnings(counts, () if sources is None else sources.files, self.tokens)
        return [*tables, *loss_warnings(counts), *detected_encodings(counts.statistics, self.encoding)]


def check_results(paths: Iterable[str | os.PathLike[str]], *, force: bool) -> None:
    """Check beforehand that results may be written to `paths`, with their manifests beside them."""
    for path in paths:
        if Path(path).is_dir():
            raise StudioError("{path} is a folder", "Specify a file in it.", path=display_name(path))
        if not force:
            check_replaceable(side_manifest(path))  # first: without it, nothing is known about the file
            check_replaceable(path)


def results(*, force: bool) -> AbstractContextManager[object]:
    """Put the files written in the block in place at its end, which is the end of the command."""
    return written_together(are_results=True, check=None if force else check_replaceable)


def stdin() -> BufferedIOBase:
    if sys.stdin is None:  # closed by the parent process
        raise StudioError("There is nothing to read: stdin is closed", "Specify a file or a text instead.")
    return cast("BufferedIOBase", sys.stdin.buffer)


def is_stream(files: list[str]) -> bool:
    """Return whether the files are ``-`` alone, or one pipe, such as the shell makes of ``<(…)``."""
    if "-" in files and len(files) > 1:
        raise StudioError("Stdin cannot be combined with files", "Save the text to a file and specify that file.")
    return files == ["-"] or (len(files) == 1 and Path(files[0]).is_fifo())


def _opened_bytes(name: str) -> AbstractContextManager[BufferedIOBase]:
    if name == "-":
        return nullcontext(stdin())
    try:
        return open(name, "rb")
    except OSError as error:
        raise unreadable(name, error) from error


def tokens_in(path: str | None) -> tuple[str, ...]:
    """Return the user tokens in a file, one a line; empty lines do not count. None stands for none."""
    if path is None:
        return ()
    from wordpiece_studio.training.config import TrainingConfig  # counting needs nothing of training

    too_large = "{path} is {n} MB, too large for a list of tokens"
    data = small_file_bytes(path, _LARGEST_LIST_BYTES, too_large).removeprefix(b"\xef\xbb\xbf")
    lines = [line.removesuffix("\r") for line in utf8_text(data, path).split("\n")]
    tokens = tuple(filter(None, lines))
    if not tokens:
        raise StudioError("{path} contains no tokens", "Write one on each line.", path=display_name(path))
    try:
        TrainingConfig(special_tokens=(), user_tokens=tokens)
    except StudioError as error:
        token = error.values["token"]
        line = [number for number, each in enumerate(lines, start=1) if each == token][:2][-1]  # or where it is again
        what, values = f"{{path}}, line {{line}}: {error.what_template}", {"path": display_name(path), "line": line}
        raise StudioError(what, error.advice_template, **values, **error.values) from None
    return tokens


def report_counting(report: Report, progress: CountingProgress, what: str = "Counting") -> None:
    report(what, progress.bytes_done, progress.bytes_total)


def _tables_in(files: Iterable[CorpusFile]) -> Iterator[tuple[CorpusFile, Manifest | None, tuple[str, ...]]]:
    for file in files:
        if file.kind == "word-counts":
            path, manifest = side_manifest(file.path), None
            with suppress(StudioError):
                manifest = read_manifest(path) if path.is_file() else None
            corpus = None if manifest is None else manifest.corpus
            yield file, manifest, (corpus and corpus.user_tokens) or ()


def _tokens_behind(files: Iterable[CorpusFile]) -> tuple[str, ...]:
    first, *others = (tokens for *_, tokens in _tables_in(files))
    return tuple(token for token in first if all(token in other for other in others))


def _table_warnings(counts: WordCounts, files: Iterable[CorpusFile], user_tokens: Sequence[str]) -> Iterator[str]:
    """Yield a sentence about every table that was counted with other steps, or with other user tokens."""
    here = (normalizers.to_spec(counts.normalizer), pre_tokenizers.to_spec(counts.pre_tokenizer), set(user_tokens))
    for file, manifest, tokens in _tables_in(files):
        if manifest is not None and here != (manifest.normalizer, manifest.pre_tokenizer, set(tokens)):
            name = shlex.quote(normalizers.from_spec(manifest.normalizer).name)
            pre_tokenizer = shlex.quote(pre_tokenizers.from_spec(manifest.pre_tokenizer).name)
            named = ", ".join(tokens[:5]) + (", …" if len(tokens) > 5 else "")
            yield (
                f"{display_name(file.path)} was counted with --normalizer {name} --pre-tokenizer {pre_tokenizer} "
                f"{f'--user-tokens with {named}' if tokens else 'and no --user-tokens'}. Without the same here, a "
                "tokenizer makes other words of a text than these."
            )


class CorpusNotes:
    """The state of the corpus files before they are counted; there are none for standard input."""

    def __init__(self, sources: Listing | None, counting: CountingOptions) -> None:
        self._noted = None if sources is None else noted_files(sources.files)
        self._limits: dict[str, Any] = {name: getattr(counting, name) for name in ("max_word_length", "min_count")}
        self._files: tuple[RecordedFile, ...] = ()
        # A daemon: the program can exit without waiting for it.
        self._hashing = threading.Thread(target=self._hash, name="corpus hash", daemon=True)

    def hash_beside(self) -> None:
        if self._hashing.ident is None:
            self._hashing.start()

    def record(self) -> CorpusRecord:
        if self._noted is None:
            return CorpusRecord(sha256_missing=STREAM, **self._limits)
        self.hash_beside()
        self._hashing.join()
        return record_of_files(self._files, **self._limits)

    def _hash(self) -> None:
        self._files = recorded_files(self._noted or ())
