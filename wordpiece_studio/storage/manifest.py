"""The reproducibility manifest: how text is read, and everything needed to reproduce the exported files.

In a folder, it is ``wordpiece-studio.json``; beside a single file, ``merges.csv.card.json``. A process that is killed
while it puts several files in place leaves a mixture of two saves, though each file is whole: different settings with
the same tokens, or new merges beside an old vocabulary. The manifest is put in place first and has the SHA-256 of every
other file, so that such a mixture is always detected. Elsewhere: the vocabulary itself (`vocab_txt`), the files of
other programs (`huggingface`), reproducing them (`verification`).
"""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import msgspec

from wordpiece_studio.corpus.count_tables import write_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import MODEL_FILE
from wordpiece_studio.storage.corpus_record import CorpusRecord, published_record, published_statistics
from wordpiece_studio.storage.small_files import TOO_LARGE_TOKENIZER, small_file_bytes
from wordpiece_studio.system.atomic_write import atomic_write_all
from wordpiece_studio.system.printable import REPLACE_ADVICE, decodable, file_error
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import (
    ROLES,
    AddedToken,  # msgspec reads the annotations
    Vocabulary,
)
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.system.atomic_write import Content
    from wordpiece_studio.tokenizer.encoding import Encoder
    from wordpiece_studio.training.config import TrainingConfig

MANIFEST_FILE = "wordpiece-studio.json"
TOKENIZER_FILE = "tokenizer.json"  # beside it; what reads and writes that takes long to load
SIDE_SUFFIX = ".card.json"
FORMAT = 3  # format 1 had neither the number of merges nor the origin of the words, format 2 no roles; all can be read
_LARGEST_BYTES = 12 << 20  # it names up to `MOST_FILES` files
_Rule = Annotated[list[str | int], msgspec.Meta(min_length=2, max_length=3)]  # a forbidden pair, or a chosen merge
_LARGEST_STEPS_BYTES = 1 << 20  # of a normalizer or pre-tokenizer, which may be any JSON here
_MOST_FIGURES = 1000  # files for which the manifest has the numbers of lines and words
_LARGEST_PAGE_BYTES = 100_000_000
_PAGE_MARK = b"<!-- WordPiece Studio, %s -->\n"
_LARGEST_FILE_BYTES = 1 << 30  # of a tokenizer; nothing larger is read in these formats
_ADVICE = "Save again; or specify the file to read, tokenizer.json or vocab.txt, instead of the folder."
_ADVICE_BPE = "Save again; or move {manifest} away to read the files without it."

_AFFIXES, _LENGTHS = ("continuing_subword_prefix", "end_of_word_suffix"), ("max_word_length", "model_max_length")

ManifestKind = Literal["tokenizer", "vocabulary", "bpe", "merges", "word-counts", "ids", "peer"]


class ManifestCorpus(CorpusRecord, frozen=True, forbid_unknown_fields=True, kw_only=True):
    distinct_words: int
    words: int
    word_counts_sha256: str
    user_tokens: tuple[str, ...] | None = None  # what was taken out of the text; None in manifests that do not say
    # For people to read; it is never interpreted, so it may be any JSON.
    statistics: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))


@decodable
class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known about exported files beyond their content."""

    format: int  # the version of this structure
    program: str  # which wrote it
    normalizer: dict[str, Any]  # the result of `normalizers.to_spec`, and of `pre_tokenizers.to_spec`
    pre_tokenizer: dict[str, Any]
    kind: ManifestKind = "tokenizer"
    files: tuple[str, ...] = ()  # their names; a tokenizer's folder needs none
    file_sha256: dict[str, str] = {}  # by name, in hexadecimal, of those written with it; empty if not recorded
    special_tokens: list[str] = []
    continuing_subword_prefix: str = "##"
    end_of_word_suffix: str | None = None
    unk_token: str = "[UNK]"
    roles: dict[str, str] | None = None  # None in formats that had none
    added_tokens: tuple[AddedToken, ...] = ()  # those that are not simply special tokens
    pieces: int | None = None  # how many of its tokens words are made of
    max_word_length: int = 100
    model_max_length: int = MODEL_MAX_LENGTH
    vocabulary_size: int = 0  # 0, and no digest, if words were exported without training
    vocabulary_sha256: str | None = None  # see `vocabulary_digest`
    # How it was made; not needed to tokenize. The settings are as `TrainingConfig.to_dict` gives them.
    training: dict[str, str | int | float | bool | list[str | _Rule] | None] | None = None
    merges: int | None = None  # how many were made
    parts: Literal["all", "some"] = "all"  # of the merges in a table: some if they were filtered or sorted
    corpus: ManifestCorpus | None = None
    versions: dict[str, str] = {}  # of everything involved, and the platform

    @property
    def steps(self) -> tuple[Normalizer, PreTokenizer]:
        return normalizers.from_spec(self.normalizer), pre_tokenizers.from_spec(self.pre_tokenizer)

    def tokenizer(
        self,
        tokens: list[str],
        normalizer: str | Normalizer | None = None,
        pre_tokenizer: str | PreTokenizer | None = None,
    ) -> Tokenizer:
        given: dict[str, Any] = {} if self.roles is None else {role: self.roles.get(role, "") for role in ROLES}
        given |= {name: getattr(self, name) for name in (*_AFFIXES, "unk_token", "added_tokens", "pieces")}
        vocabulary = Vocabulary(tokens, self.special_tokens, **given)
        lengths = {name: getattr(self, name) for name in _LENGTHS}
        return Tokenizer(vocabulary, normalizer or self.steps[0], pre_tokenizer or self.steps[1], **lengths)


@decodable
class _Head(msgspec.Struct, frozen=True):
    format: int
    program: str = "another program"
    normalizer: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    pre_tokenizer: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


def make_manifest(
    tokenizer: Tokenizer,
    *,
    config: TrainingConfig | None = None,
    counts: WordCounts | None = None,
    record: CorpusRecord | None = None,
    merges: int | None = None,
    kind: ManifestKind = "tokenizer",
    files: Sequence[str] = (),
    parts: Literal["all", "some"] = "all",
    folder: str | os.PathLike[str] | None = None,
) -> Manifest:
    """Return the manifest of a tokenizer, and of how its vocabulary was trained, as far as known.

    Files of the corpus near its `folder` are named relative to that, others by name alone, see `corpus_record`.
    """
    vocabulary, normalizer = tokenizer.vocabulary, tokenizer.normalizer
    if counts is not None and counts.normalizer.kept == normalizer:
        normalizer = counts.normalizer  # with the steps that only prepare the words, which a tokenizer does not keep
    return _manifest(
        normalizer,
        tokenizer.pre_tokenizer,
        kind=kind,
        files=tuple(files),
        special_tokens=list(vocabulary.special_tokens),
        **{name: getattr(vocabulary, name) for name in (*_AFFIXES, "unk_token", "roles")},
        added_tokens=tuple(token for token in vocabulary.added_tokens if not (token.special and token.is_plain)),
        pieces=None if len(vocabulary.pieces) == len(vocabulary) else len(vocabulary.pieces),
        **{name: getattr(tokenizer, name) for name in _LENGTHS},
        vocabulary_size=len(vocabulary),
        vocabulary_sha256=vocabulary_digest(vocabulary.tokens),
        training=None if config is None else config.to_dict(),
        merges=merges,
        parts=parts,
        corpus=None if counts is None else _corpus(counts, record or CorpusRecord(), folder),
    )


def _manifest(normalizer: Normalizer, pre_tokenizer: PreTokenizer, **fields: Any) -> Manifest:
    return Manifest(
        format=FORMAT,
        program=f"wordpiece-studio {__version__}",
        normalizer=normalizers.to_spec(normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(pre_tokenizer),
        versions=present_versions(),
        **fields,
    )


def make_counts_manifest(
    counts: WordCounts, corpus: CorpusRecord, files: Sequence[str], folder: str | os.PathLike[str] | None = None
) -> Manifest:
    corpus = _corpus(counts, corpus, folder)
    return _manifest(counts.normalizer, counts.pre_tokenizer, kind="word-counts", files=tuple(files), corpus=corpus)


def make_ids_manifest(tokenizer: Encoder, files: Sequence[str]) -> Manifest:
    if isinstance(tokenizer, Tokenizer):
        manifest = make_manifest(tokenizer, kind="ids", files=files)
        return msgspec.structs.replace(manifest, model_max_length=MODEL_MAX_LENGTH)
    pipeline = Pipeline(normalizers.Unchanged(), pre_tokenizers.WhitespaceSplit())  # a library reads text by itself
    if tokenizer.reading is not None:
        pipeline = tokenizer.reading.pipeline
    return _manifest(
        pipeline.normalizer,
        pipeline.pre_tokenizer,
        kind="ids",
        files=tuple(files),
        continuing_subword_prefix="",
        unk_token=tokenizer.unk_token or "",
        roles=dict(tokenizer.roles),
        vocabulary_size=len(tokenizer),
        vocabulary_sha256=vocabulary_digest(tokenizer.tokens),
    )


def make_library_manifest(run: LibraryRun, counts: WordCounts, corpus: CorpusRecord, path: Path) -> Manifest:
    """Return the manifest of a file that another library would save, at `path`; the rest is as in `make_manifest`."""
    library = run.trainer.partition("-")[0]
    manifest = make_counts_manifest(counts, corpus, (path.name,), path.parent)
    return msgspec.structs.replace(
        manifest,
        kind="peer",
        special_tokens=list(run.config.special_tokens),
        **{name: getattr(run.config, name) for name in _AFFIXES},
        vocabulary_size=len(run.tokens),
        vocabulary_sha256=vocabulary_digest(run.tokens),
        training={
            "trainer": run.trainer,
            **run.config.to_dict(),
            "character_coverage": run.character_coverage,
            "byte_fallback": run.byte_fallback,
            "trained_on": "lines" if run.learned.is_of_lines else "words",
        },
        versions={**manifest.versions, library: run.learned.version},
    )


def side_manifest(path: str | os.PathLike[str]) -> Path:
    """Return the path of the manifest of a single file.

    >>> side_manifest("out/merges.csv").name
    'merges.csv.card.json'
    """
    path = Path(path)
    return path.with_name(path.name + SIDE_SUFFIX)


@cache
def present_versions() -> dict[str, str]:
    from importlib.metadata import version  # takes 20 ms to load

    libraries = {name: version(name) for name in ("numpy", "numba", "regex")}
    own = {"wordpiece-studio": __version__, "python": platform.python_version()}
    return own | libraries | {"platform": platform.platform()}


def read_manifest(path: Path) -> Manifest:
    data = small_file_bytes(
        path, _LARGEST_BYTES, "{path} is {n} MB, too large for a manifest", "Train again to write a new one."
    )
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format > FORMAT:
            what = "{path} was written by {program}, in a format that this version does not know"
            raise file_error(path, what, "Install a newer version.", program=head.program)
        if max(len(bytes(head.normalizer)), len(bytes(head.pre_tokenizer))) > _LARGEST_STEPS_BYTES:
            raise msgspec.ValidationError("normalizer or pre-tokenizer is too large")
        manifest = msgspec.json.decode(data, type=Manifest)
        if manifest.format < 1:
            raise msgspec.ValidationError(f"there is no format {manifest.format}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = "{path} is damaged: {reason}"
        raise file_error(
            path, what, "Train again to write a new one, or specify a vocab.txt in another folder.", reason=str(error)
        ) from error
    return manifest


def manifest_bytes(manifest: Manifest) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    except UnicodeEncodeError as error:
        what = "The settings contain an unpaired surrogate (U+{code:04X}), which cannot be written"
        advice = "Remove it from the special tokens, the prefix, the suffix and the characters removed from the text."
        raise StudioError(what, advice, code=ord(error.object[error.start])) from None


def vocabulary_digest(tokens: Sequence[str]) -> str:
    """Return the SHA-256, in hexadecimal, of the tokens as lines of a ``vocab.txt``."""
    return hashlib.sha256("".join(f"{token}\n" for token in tokens).encode("utf-8")).hexdigest()


def _corpus(counts: WordCounts, record: CorpusRecord, folder: str | os.PathLike[str] | None) -> ManifestCorpus:
    record = published_record(record, folder)
    statistics = msgspec.to_builtins(published_statistics(counts.statistics, folder))
    if len(counts.statistics.files) > _MOST_FIGURES:
        statistics["files"] = []
    return ManifestCorpus(
        **msgspec.structs.asdict(record),
        distinct_words=len(counts),
        words=counts.total,
        word_counts_sha256=counts.digest(),
        user_tokens=statistics.pop("user_tokens"),
        statistics=msgspec.Raw(msgspec.json.encode(statistics)),
    )


def write_with_manifest(manifest: Manifest, place: Path, files: Mapping[str, bytes]) -> None:
    """Write files by name into the folder of their manifest at `place`, which is put in place first; all or none."""
    hashes = {name: _hash(data) for name, data in files.items()}
    manifest = msgspec.structs.replace(manifest, file_sha256=hashes)
    contents = {place.name: manifest_bytes(manifest), **files}
    atomic_write_all({place.with_name(name): data for name, data in contents.items()}, folder=place.parent)


def with_side_manifest(
    manifest: Manifest, path: str | os.PathLike[str], write: Callable[[BinaryIO], object]
) -> dict[str | os.PathLike[str], Content]:
    """Return a single file, whose content `write` writes, and its manifest, which has its hash."""
    hashes: dict[str, str] = {}

    def write_hashed(file: BinaryIO) -> None:
        write(file)
        file.seek(0)
        hashes[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    def write_manifest(file: BinaryIO) -> None:
        file.write(manifest_bytes(msgspec.structs.replace(manifest, file_sha256=hashes)))

    return {path: write_hashed, side_manifest(path): write_manifest}


def write_word_counts_with_manifest(place: Path, counts: WordCounts, record: CorpusRecord) -> None:
    manifest = make_counts_manifest(counts, record, (place.name,), place.parent)
    write_word_counts(place, counts, together=partial(with_side_manifest, manifest))


def marked_page(page: bytes) -> bytes:
    """Return a page of HTML with its hash at its end, by which `check_replaceable` knows that it is unchanged."""
    return page + _PAGE_MARK % _hash(page).encode()


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Check that a file, if it exists, was written by this program and is unchanged, according to its manifest."""
    place = Path(path)
    if not os.path.lexists(place):
        return
    try:
        if place.name == MANIFEST_FILE or place.name.endswith(SIDE_SUFFIX):
            read_manifest(place)
            return
        files = place, place.with_name(TOKENIZER_FILE), place.with_name(MODEL_FILE)
        manifests = (*map(side_manifest, files), place.with_name(MANIFEST_FILE))
        known = [read_manifest(path).file_sha256.get(place.name) for path in manifests if path.is_file()]
        with place.open("rb") as file:
            is_known = hashlib.file_digest(file, "sha256").hexdigest() in known
        if place.suffix == ".html" and not is_known:
            data = small_file_bytes(place, _LARGEST_PAGE_BYTES, TOO_LARGE_TOKENIZER)
            is_known = data == marked_page(data[: -len(_PAGE_MARK % bytes(64))])
    except (StudioError, OSError):
        is_known = False
    if not is_known:
        raise file_error(path, "{path} was not written by WordPiece Studio, or has changed since", REPLACE_ADVICE)


def check_together(manifest_path: Path, manifest: Manifest, names: Collection[str]) -> None:
    """Check that the files beside a manifest are the ones written with it; line ends converted to CR LF are ignored.

    Only files with these `names` are read, since a manifest may come from anywhere.
    """
    for name, digest in manifest.file_sha256.items():
        if name not in names:
            continue
        path = manifest_path.with_name(name)
        what = "{path} is missing; it was written together with {manifest}"
        if path.exists():
            data = small_file_bytes(path, _LARGEST_FILE_BYTES, TOO_LARGE_TOKENIZER, "Save again.")
            if digest in (_hash(data), _hash(data.replace(b"\r\n", b"\n"))):
                continue
            what = (
                "{path} is not the file that was written together with {manifest}: it has changed since, or saving was "
                "interrupted"
            )
        advice = _ADVICE_BPE if manifest.kind == "bpe" else _ADVICE
        raise file_error(path, what, advice, manifest=manifest_path.name)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
