"""Options shared by several commands, and their effects: the texts read, the tokenizer, where results are written.

The state of the files is recorded before their words are counted, and they are hashed in the background. Results are
put in place together at the very end, and never over foreign files.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args

from wordpiece_studio.cli.messages import STDIN, no_words, progress, warn
from wordpiece_studio.cli.parameters import Option
from wordpiece_studio.corpus.counting.counting import count_stream, count_words
from wordpiece_studio.corpus.decoding import ErrorHandling
from wordpiece_studio.corpus.files import FileKind, checked_kind, kind_of_name, unreadable
from wordpiece_studio.corpus.listing import listing, opened_stream
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import (
    STREAM,
    CorpusRecord,
    HashingBeside,
    noted_files,
    record_of_files,
    recorded_files,
)
from wordpiece_studio.storage.manifest import check_replaceable, read_manifest, side_manifest
from wordpiece_studio.storage.small_files import small_file_bytes, utf8_text
from wordpiece_studio.system.atomic_write import written_together
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.normalizers import RemoveCharacters
from wordpiece_studio.text.normalizers import Sequence as NormalizerSequence
from wordpiece_studio.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from io import BufferedIOBase

    from wordpiece_studio.cli.messages import Report
    from wordpiece_studio.corpus.counts import CountingProgress, WordCounts
    from wordpiece_studio.corpus.files import CorpusFile, TextStream
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer
    from wordpiece_studio.text.pipeline import Normalizer
    from wordpiece_studio.training.config import TrainingConfig


_Text = TypeVar("_Text")
_NORMALIZERS = (
    "bert-cased, bert-uncased, language-friendly, nfc, nfd, nfkc, nfkd, lowercase, strip-accents, remove:CHARACTERS,"
    " none; joined by +; corpus:NAME changes the corpus only."
)
_PRE_TOKENIZERS = (
    "bert, whitespace, whitespace-split, punctuation, unicode-punctuation, digits, digits-single, byte-level,"
    " byte-level:no-prefix, byte-level:no-regex, byte-level:bytes-only, split:BEHAVIOR:REGEX, pattern:REGEX; joined by"
    " +."
)
TEXT, CHOICE, STOP, ALPHABET = "Reading the text", "Choosing the merges", "Stopping", "Alphabet and tokens"
ROLES, JUDGING = "Roles of special tokens", "Evaluating the vocabulary"


def option(text: str, panel: str, values: Any = (), **more: Any) -> Any:
    """Return an option listed under the heading `panel`; the shell completes its `values`, names or a `Literal`."""
    names = get_args(values) or values
    if names:
        more = {"metavar": "NAME", "autocompletion": lambda: [*names]} | more
    return Option(help=text, rich_help_panel=panel, **more)


def flag(name: str, text: str, panel: str = "") -> Option:
    """Return an option without a value."""
    return Option(name, help=text, **({"rich_help_panel": panel} if panel else {}))


def _names_in(text: str) -> list[str]:
    return [name.strip() for name in text.partition(";")[0].split(",") if ":" not in name]


VocabOption = Annotated[
    str, Option(help="A folder that train wrote, or a vocab.txt or tokenizer.json.", metavar="DIR|FILE")
]
JsonOption = Annotated[bool, flag("--json", "Print JSON, for programs.")]
GivenOption = Annotated[str | None, option("Use this instead of the one the vocabulary was trained with.", TEXT)]
RemoveOption = Annotated[str, option("Characters to remove after normalizing.", TEXT, metavar="CHARACTERS")]
TEXT_FILES = "Files, folders and patterns: text, JSONL, CSV, TSV or Parquet, also compressed"
FILES = f"{TEXT_FILES}; or - for stdin, or a pipe."
KindOption = Annotated[
    str | None,
    option(f"{', '.join(get_args(FileKind))}; if the file extension does not say.", TEXT, FileKind, metavar="KIND"),
]
WordCountsOption = Annotated[bool, flag("--word-counts", "The files are tables of words and counts.", TEXT)]
ColumnOption = Annotated[
    str | None,
    option("The column or field with the text, or the number of the column.", TEXT, metavar="NAME"),
]
EncodingOption = Annotated[
    str | None, option("The files' encoding, if not UTF-8; or detect.", TEXT, metavar="NAME|detect")
]
ErrorsOption = Annotated[
    str, option("How to treat invalid lines: strict (stop), replace or skip-line.", TEXT, ErrorHandling)
]
ProcessesOption = Annotated[
    int | None, option("Count in this many processes at once.", TEXT, metavar="N", show_default="as many as pay off")
]
ClusterOption = Annotated[
    str | None,
    option("Count on a Dask cluster, whose scheduler is at ADDRESS: tcp://host:8786.", TEXT, metavar="ADDRESS"),
]
HistoryOption = Annotated[
    str | None, Option(help="Also write all merges, to a .csv, .jsonl or .parquet file.", metavar="FILE")
]
MinCountOption = Annotated[int, option("Leave out words that occur fewer times.", TEXT, metavar="N", min=1)]
NormalizerOption = Annotated[str, option(_NORMALIZERS, TEXT, _names_in(_NORMALIZERS))]
PreTokenizerOption = Annotated[str, option(_PRE_TOKENIZERS, TEXT, _names_in(_PRE_TOKENIZERS))]
LongestWordOption = Annotated[int, option("Leave out words of more characters.", TEXT)]
UserTokensOption = Annotated[
    str | None, option("A file of tokens that are never split, one per line.", TEXT, metavar="FILE")
]


def with_removal(normalizer: Normalizer, characters: str) -> Normalizer:
    """Return a normalizer that also removes `characters`."""
    return NormalizerSequence([normalizer, RemoveCharacters(characters)]) if characters else normalizer


def loaded_tokenizer(vocab: str, normalizer: str | None, pre_tokenizer: str | None, remove: str) -> Tokenizer:
    """Return the tokenizer that the options name."""
    from wordpiece_studio.storage.tokenizer_loading import load_wordpiece_tokenizer  # large: it reads many formats

    _check_default(vocab)
    return _with_removal(load_wordpiece_tokenizer(vocab, normalizer, pre_tokenizer), remove)


def any_loaded_tokenizer(vocab: str, normalizer: str | None, pre_tokenizer: str | None, remove: str) -> AnyTokenizer:
    """Return the tokenizer that the options name, including one that can only tokenize."""
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

    _check_default(vocab)
    tokenizer = load_tokenizer(vocab, normalizer, pre_tokenizer)
    if isinstance(tokenizer, Tokenizer):
        return _with_removal(tokenizer, remove)
    if remove:
        raise StudioError("--remove cannot be used with a {kind} model", "Omit --remove.", kind=tokenizer.kind)
    return tokenizer


def _check_default(vocab: str) -> None:
    from wordpiece_studio.storage.tokenizer_loading import KNOWN_FILES

    if vocab == "." and not any(Path(name).exists() for name in KNOWN_FILES):
        what = "This folder has no vocab.txt and no tokenizer.json"
        raise StudioError(what, "Specify a vocabulary with --vocab.")


def _with_removal(tokenizer: Tokenizer, remove: str) -> Tokenizer:
    return tokenizer.with_steps(with_removal(tokenizer.normalizer, remove), tokenizer.pre_tokenizer)


ForceOption = Annotated[
    bool,
    flag("--force", "Replace existing files even if WordPiece Studio did not write them or they have changed since."),
]


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
    """Return standard input."""
    if sys.stdin is None:  # closed by the parent process
        raise StudioError("There is nothing to read: stdin is closed", "Specify a file or a text instead.")
    return cast("BufferedIOBase", sys.stdin.buffer)


def is_stream(files: list[str]) -> bool:
    """Return whether the files are ``-`` alone, or one pipe, such as the shell makes of ``<(…)``."""
    if "-" in files and len(files) > 1:
        raise StudioError("Stdin cannot be combined with files", "Save the text to a file and specify that file.")
    return files == ["-"] or (len(files) == 1 and Path(files[0]).is_fifo())


def _opened_bytes(name: str) -> AbstractContextManager[BufferedIOBase]:
    """Open a pipe for the duration of a block; ``-`` is standard input."""
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


_LARGEST_LIST_BYTES = 16 << 20
_READING = ("column", "encoding", "errors")


def listed_sources(options: Mapping[str, Any]) -> Listing | None:
    """Return the files that the options name; None for standard input or a pipe."""
    if is_stream(options["files"]):
        return None
    return listing(options["files"], kind=_kind(options), **{name: options[name] for name in _READING})


def held_out_source(options: Mapping[str, Any]) -> Listing:
    """Return the file to judge by, which is text even where the corpus is words with their counts."""
    file, kind = options["held_out_file"], None if options["kind"] == "word-counts" else options["kind"]
    column = None if (kind or kind_of_name(file) or "text") == "text" else options["column"]
    sources = listed_sources({**options, "files": [file], "kind": kind, "column": column, "word_counts": False})
    if sources is None:
        raise StudioError("--held-out-file needs a text that can be read twice", "Write it to a file.")
    return sources


def warn_of_known_text(options: Mapping[str, Any], corpus: CorpusRecord) -> None:
    """Print a warning if the file to judge by is one of the corpus."""
    if options["held_out_file"] is None:
        return
    digests = {file.sha256 for file in corpus.files} - {None}
    judged = recorded_files(noted_files(held_out_source(options).files)) if digests else ()
    for file in judged:
        if file.sha256 in digests:
            name = display_name(file.path)
            warn(f"{name} is in the corpus, and a vocabulary knows its corpus better than other text. Use --held-out.")


def read_held_out(
    read: Callable[..., _Text],
    sources: Listing,
    options: Mapping[str, Any],
    counts: WordCounts,
    config: TrainingConfig,
) -> _Text:
    """Return what `divided_corpus` or `held_out_text` makes of files, reading them as the corpus was read."""
    with progress(of_bytes=True) as report:
        return read(
            sources,
            counts.normalizer,
            counts.pre_tokenizer,
            special_tokens=config.special_tokens,
            user_tokens=config.user_tokens,
            max_word_length=options["max_word_length"],
            progress=partial(report_counting, report, what="Reading held-out text"),
        )


@contextmanager
def opened_stdin(options: Mapping[str, Any]) -> Iterator[TextStream]:
    """Open standard input or the named pipe for the duration of the block, with the reading options."""
    (name,) = options["files"]
    reading = {name: options[name] for name in _READING}
    with _opened_bytes(name) as stream:
        yield opened_stream(stream, _stream_name(name), _stream_kind(options), **reading)


def report_counting(report: Report, progress: CountingProgress, what: str = "Counting") -> None:
    """Show how far counting is."""
    report(what, progress.bytes_done, progress.bytes_total)


def counted_words(
    options: Mapping[str, Any], files: Listing | None, normalizer: Normalizer, report: Report
) -> WordCounts:
    """Return the words of files, or of standard input, counted according to the options."""
    counting = {name: options[name] for name in ("pre_tokenizer", "max_word_length", "user_tokens")}
    if files is None:
        (name,) = options["files"]
        if options["cluster"] is not None:
            what = "Stdin cannot be counted on a cluster" if name == "-" else "{path} cannot be counted on a cluster"
            raise StudioError(what, "Write it to a file that its workers can read.", path=display_name(name))
        counting |= {name: options[name] for name in _READING} | {"kind": _stream_kind(options)}
        with _opened_bytes(name) as stream:
            counts = count_stream(stream, _stream_name(name), normalizer, **counting)
        counts = counts.at_least(options["min_count"])
    else:
        counting |= {name: options[name] for name in ("processes", "cluster", "min_count")}
        counts = count_words(files, normalizer, **counting, progress=partial(report_counting, report))
        if all(file.kind == "word-counts" for file in files.files):
            counts.statistics = replace(counts.statistics, user_tokens=_tokens_behind(files.files))
    if not counts and counts.statistics.rare_words:
        raise StudioError("No word occurs {n:,} times or more", "Leave out fewer words.", n=options["min_count"])
    if not counts:
        raise no_words(options["files"], counts)
    return counts


def _tables_in(files: Iterable[CorpusFile]) -> Iterator[tuple[CorpusFile, Manifest | None, tuple[str, ...]]]:
    """Yield the tables of words and their counts, each with its manifest and its user tokens, as far as known."""
    for file in files:
        if file.kind == "word-counts":
            path, manifest = side_manifest(file.path), None
            with suppress(StudioError):
                manifest = read_manifest(path) if path.is_file() else None
            corpus = None if manifest is None else manifest.corpus
            yield file, manifest, (corpus and corpus.user_tokens) or ()


def _tokens_behind(files: Iterable[CorpusFile]) -> tuple[str, ...]:
    """Return the user tokens that were taken out of every text behind tables."""
    first, *others = (tokens for *_, tokens in _tables_in(files))
    return tuple(token for token in first if all(token in other for other in others))


def table_warnings(counts: WordCounts, files: Iterable[CorpusFile], user_tokens: Sequence[str]) -> Iterator[str]:
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


def _stream_kind(options: Mapping[str, Any]) -> FileKind:
    return _kind(options) or kind_of_name(options["files"][0]) or "text"


def _stream_name(name: str) -> str:
    return STDIN if name == "-" else display_name(name)


def _kind(options: Mapping[str, Any]) -> FileKind | None:
    name: str | None = options["kind"]
    if options.get("word_counts"):
        if name not in (None, "word-counts"):
            raise StudioError("--word-counts and --kind {kind} cannot be combined", "Omit one of them.", kind=name)
        name = "word-counts"
    return None if name is None else checked_kind(name)


class CorpusNotes:
    """The state of the corpus files before they are counted; there are none for standard input."""

    def __init__(self, files: Sequence[CorpusFile] | None, options: Mapping[str, Any]) -> None:
        self._noted = None if files is None else noted_files(files)
        self._limits = {name: options[name] for name in ("max_word_length", "min_count")}
        self._hashing: HashingBeside | None = None

    def hash_beside(self) -> None:
        """Start hashing the files in the background."""
        if self._noted is not None and self._hashing is None:
            self._hashing = HashingBeside(self._noted)

    def record(self) -> CorpusRecord:
        """Wait for the hashes and return the record for the manifest."""
        self.hash_beside()
        if self._hashing is None:
            return CorpusRecord(sha256_missing=STREAM, **self._limits)
        return record_of_files(self._hashing.files(), **self._limits)
