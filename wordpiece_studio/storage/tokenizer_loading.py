"""Loading a tokenizer from a folder or from a single file, whether ours or other programs'.

The files of a folder must agree: if two of them contradict each other, neither is chosen. The single files are read by
`vocab_txt`, `bpe_files`, `manifest`, and the modules in `huggingface`.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import (
    MERGES_FILE,
    MODEL_FILE,
    MODEL_SUFFIX,
    VOCAB_JSON_FILE,
    merges_beside,
)
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.storage.bpe_files import read_bpe_files
from wordpiece_studio.storage.huggingface.configuration import read_configuration
from wordpiece_studio.storage.huggingface.tokenizer_json import (
    ADDED_TOKENS_FILE,
    pipeline_values,
    read_tokenizer_json,
    stated_normalizer,
)
from wordpiece_studio.storage.manifest import (
    MANIFEST_FILE,
    TOKENIZER_FILE,
    Manifest,
    check_together,
    read_manifest,
    side_manifest,
    vocabulary_digest,
)
from wordpiece_studio.storage.small_files import checked_path
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE, read_vocabulary
from wordpiece_studio.system.printable import display_name, file_error
from wordpiece_studio.text import normalizers
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import TextReading, Vocabulary

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer

    AnyTokenizer = Tokenizer | BpeTokenizer | LibraryTokenizer
    Steps = tuple[str | Normalizer | None, str | PreTokenizer | None]
    """The requested normalizer and pre-tokenizer, or None."""

# A folder with any of these is one that a tokenizer can be loaded from.
KNOWN_FILES = (TOKENIZER_FILE, VOCABULARY_FILE, VOCAB_JSON_FILE, MODEL_FILE)

_SPECIAL = re.compile(r"\[.+\]|<.+>", re.DOTALL)  # [unused1] too


def load_tokenizer(
    path: str | os.PathLike[str],
    normalizer: str | Normalizer | None = None,
    pre_tokenizer: str | PreTokenizer | None = None,
) -> AnyTokenizer:
    """Return the tokenizer of a folder, or of a file.

    Parameters
    ----------
    path
        A folder that the Studio or `transformers` wrote; or a ``tokenizer.json``, a ``wordpiece-studio.json``, a
        ``vocab.json`` with its ``merges.txt`` beside it, a SentencePiece ``.model``, or a file with one token per line.
        For a ``vocab.txt``, settings beside it are found too. Without settings, the tokens decide whether text is read
        like cased or uncased BERT, and `Tokenizer.is_normalizer_guessed` is set. (`transformers` does not guess: its
        BertTokenizer lower-cases by default.)
    normalizer, pre_tokenizer
        What to use instead of the settings; None means the settings. ``"none"`` is the normalizer that changes nothing.

    Returns
    -------
    Tokenizer, BpeTokenizer or LibraryTokenizer
        The second for byte pair encoding as the Studio trains it. The third for BPE and Unigram models of other
        libraries, and for WordPiece with features that ours lacks, such as gaps between ids: it only tokenizes, using
        the library that made it.

    Raises
    ------
    StudioError
        If a file is missing, damaged or requires what cannot be done exactly here, or two files contradict each other.
    """
    given = checked_path(path)
    tokenizer = _loaded(given, (normalizer, pre_tokenizer))
    if isinstance(tokenizer, LibraryTokenizer) and tokenizer.reading is None:
        tokenizer.words_of = _named_words(given, tokenizer) or tokenizer.words_of
    return tokenizer


def _loaded(given: Path, steps: Steps) -> AnyTokenizer:
    path = given
    if given.is_dir():
        path = _main_file(given)
    elif given.name == MANIFEST_FILE:
        vocabulary = given.with_name(VOCABULARY_FILE)
        path = vocabulary if vocabulary.exists() else _main_file(given.parent)
    is_whole = path != given  # then the files beside it belong to it, and must agree
    if path.name == VOCAB_JSON_FILE or path.name.endswith("-" + VOCAB_JSON_FILE):
        return _from_bpe_files(path, steps)
    if path.suffix not in (MODEL_SUFFIX, ".json"):
        return _from_vocabulary(path, steps, is_strict=is_whole)
    tokenizer = LibraryTokenizer(path) if path.suffix == MODEL_SUFFIX else read_tokenizer_json(path)
    return _with_steps(_with_files_beside(path, tokenizer) if is_whole else tokenizer, steps, display_name(path))


def _main_file(folder: Path) -> Path:
    found = [name for name in KNOWN_FILES if (folder / name).exists()]
    if not found:
        what = "There is no tokenizer in {path}: no tokenizer.json, vocab.txt, vocab.json or sentencepiece.model"
        raise file_error(folder, what, "Choose the folder that a tokenizer was saved in.")
    manifest, name = folder / MANIFEST_FILE, found[0]
    if VOCAB_JSON_FILE in found and manifest.is_file() and read_manifest(manifest).kind == "bpe":
        name = VOCAB_JSON_FILE
    elif MODEL_FILE in found and side_manifest(folder / MODEL_FILE).is_file():
        name = MODEL_FILE  # the tokenizer.json beside it is for others
    return folder / name


def _with_files_beside(path: Path, tokenizer: Tokenizer | LibraryTokenizer) -> Tokenizer | LibraryTokenizer:
    """Return the tokenizer of a file as those beside it configure it; they must not contradict it."""
    folder, manifest = path.parent, path.with_name(MANIFEST_FILE)
    is_json = path.name == TOKENIZER_FILE
    if is_json and (folder / VOCABULARY_FILE).exists():
        _check_same_vocabulary(folder, tokenizer)
    if (configuration := read_configuration(folder)) is not None:
        if is_json:
            normalizer = tokenizer.normalizer if isinstance(tokenizer, Tokenizer) else stated_normalizer(path)
            configuration.check(normalizer, display_name(path))
        if isinstance(tokenizer, Tokenizer):
            tokenizer = configuration.configured(tokenizer)
        else:
            configuration.configure(tokenizer)
    if is_json and manifest.exists():
        _check_manifest(manifest, read_manifest(manifest), tokenizer)
    return tokenizer


def manifest_of_tokenizer(path: Path) -> Manifest | None:
    places = [side_manifest(path), path.parent / MANIFEST_FILE]
    if path.is_dir():
        places = [path / MANIFEST_FILE, *(side_manifest(path / name) for name in KNOWN_FILES)]
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else read_manifest(found)


def files_read(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that `load_tokenizer` reads, and those that it would read if they existed."""
    given = Path(path)
    if given.suffix == MODEL_SUFFIX and not given.is_dir():
        return [given, side_manifest(given), given.parent / MANIFEST_FILE]
    folder = given if given.is_dir() else given.parent
    own = [] if given == folder else [given, side_manifest(given)]
    if own and given.name.endswith(VOCAB_JSON_FILE):
        own.append(merges_beside(given))
    names = *TOKENIZER_FILES, *KNOWN_FILES, MERGES_FILE, MANIFEST_FILE, ADDED_TOKENS_FILE
    return list(dict.fromkeys((*own, *(folder / name for name in names))))


def _named_words(path: Path, tokenizer: LibraryTokenizer) -> TextReading | None:
    """Return what found the words that a library was trained on, as the manifest of this tokenizer says; None if none.

    What a library that reads lines was given is not in words, whatever words its manifest counts.
    """
    manifest = None
    with contextlib.suppress(StudioError):  # what must be read with it has been
        manifest = manifest_of_tokenizer(path)
    if manifest is None or manifest.kind != "peer" or (manifest.training or {}).get("trained_on") == "lines":
        return None
    if manifest.vocabulary_sha256 != vocabulary_digest(tokenizer.tokens):
        return None
    normalizer, pre_tokenizer = manifest.steps
    return TextReading(Pipeline(normalizer.kept, pre_tokenizer))


def load_wordpiece_tokenizer(
    path: str | os.PathLike[str],
    normalizer: str | Normalizer | None = None,
    pre_tokenizer: str | PreTokenizer | None = None,
) -> Tokenizer:
    """Return the result of `load_tokenizer` if it is a WordPiece vocabulary such as the Studio makes."""
    tokenizer = load_tokenizer(path, normalizer, pre_tokenizer)
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    has_gaps = isinstance(tokenizer, LibraryTokenizer) and tokenizer.largest_id >= len(tokenizer)
    if has_gaps and tokenizer.kind == "WordPiece":
        raise file_error(
            path,
            "{path} cannot be inspected or written as vocab.txt: its IDs have gaps, and in vocab.txt the line number "
            "is the ID",
            "Tokenize with the tokenizer.json itself, which keeps the IDs.",
        )
    what = "{path} contains a {kind} model, which can be used for tokenizing and comparing, but not for inspection"
    raise file_error(path, what, "Use wordpiece-studio tokenize, or the library's load_tokenizer.", kind=tokenizer.kind)


def _from_vocabulary(path: Path, steps: Steps, *, is_strict: bool) -> Tokenizer:
    """Return the tokenizer of a ``vocab.txt``; with `is_strict`, the manifest beside it must belong to it."""
    tokens = read_vocabulary(path)
    own_manifest = side_manifest(path)  # of a file exported alone
    manifest_path = own_manifest if own_manifest.is_file() else path.parent / MANIFEST_FILE
    manifest = read_manifest(manifest_path) if manifest_path.is_file() else None
    if manifest is not None and manifest.vocabulary_sha256 != vocabulary_digest(tokens):
        # A manifest of this very file says how text was read; only the user may decide to read it differently.
        is_about_it = manifest_path == own_manifest or (path.name == VOCABULARY_FILE and manifest.kind == "tokenizer")
        if is_strict or (is_about_it and None in steps):
            raise _other_manifest(manifest_path, display_name(path.name))
        manifest = None
    if manifest is not None:
        if is_strict:
            check_together(manifest_path, manifest, TOKENIZER_FILES)
        return manifest.tokenizer(tokens, *steps)
    configuration = read_configuration(path.parent) if path.name == VOCABULARY_FILE else None
    unk_token = None if configuration is None else configuration.unk_token
    usual = [token for token in BERT_SPECIAL_TOKENS if token in tokens]
    vocabulary = Vocabulary(tokens, usual if configuration is None else (), unk_token=unk_token)
    normalizer = configuration.bert_normalizer() if configuration is not None and configuration.is_stated else None
    tokenizer = Tokenizer(
        vocabulary,
        steps[0] or normalizer or guessed_normalizer(tokens),
        steps[1] or "bert",
        is_normalizer_guessed=normalizer is None and steps[0] is None,
    )
    return tokenizer if configuration is None else configuration.configured(tokenizer, usual)


def guessed_normalizer(tokens: Sequence[str]) -> str:
    """Return the name of the normalizer that BERT's tokens were probably learned with.

    Uncased if they have lower-case letters and no capitals, apart from special tokens; keeping accents if they have
    any, or whole Hangul syllables, which would otherwise never match.

    >>> guessed_normalizer(["[UNK]", "hug", "##s"]), guessed_normalizer(["[UNK]", "Hug", "##s"])
    ('bert-uncased', 'bert-cased')
    """
    text = "\n".join(token for token in tokens if not _SPECIAL.fullmatch(token))
    if not any(map(str.islower, text)) or normalizers.Lowercase().normalize(text) != text:
        return "bert-cased"
    without_accents = normalizers.resolve_normalizer("nfd+strip-accents").normalize(text)
    return "bert-uncased" if without_accents == text else "bert-uncased:keep-accents"


def _from_bpe_files(path: Path, steps: Steps) -> BpeTokenizer | LibraryTokenizer:
    manifest_path = path.parent / MANIFEST_FILE
    beside = read_manifest(manifest_path) if path.name == VOCAB_JSON_FILE and manifest_path.is_file() else None
    manifest = beside if beside is not None and beside.kind == "bpe" else None
    tokenizer = read_bpe_files(path, *steps, manifest=manifest)
    if manifest is None or isinstance(tokenizer, LibraryTokenizer):
        return tokenizer
    vocab = tokenizer.vocab
    if manifest.vocabulary_sha256 != vocabulary_digest(sorted(vocab, key=vocab.__getitem__)):
        raise _other_manifest(manifest_path, VOCAB_JSON_FILE)
    check_together(manifest_path, manifest, (VOCAB_JSON_FILE, MERGES_FILE, *TOKENIZER_FILES))
    return tokenizer


def _with_steps(tokenizer: Tokenizer | LibraryTokenizer, steps: Steps, name: str) -> Tokenizer | LibraryTokenizer:
    normalizer, pre_tokenizer = steps
    if normalizer is None and pre_tokenizer is None:
        return tokenizer
    if isinstance(tokenizer, LibraryTokenizer):
        what = "{path} itself specifies how text becomes words, and its {kind} model depends on that"
        raise StudioError(what, "Omit the normalizer and the pre-tokenizer.", path=name, kind=tokenizer.kind)
    return tokenizer.changed(
        normalizer=normalizer or tokenizer.normalizer, pre_tokenizer=pre_tokenizer or tokenizer.pre_tokenizer
    )


def _check_same_vocabulary(folder: Path, tokenizer: Tokenizer | LibraryTokenizer) -> None:
    lines = read_vocabulary(folder / VOCABULARY_FILE)
    if isinstance(tokenizer, Tokenizer):
        vocabulary = tokenizer.vocabulary
        id_of, size = vocabulary.id_of, len(vocabulary) - len(vocabulary.added_tokens)
    else:
        id_of, size = tokenizer.id_of, len(tokenizer) - tokenizer.added_tokens
    shown = {"vocabulary": display_name(folder / VOCABULARY_FILE), "path": TOKENIZER_FILE}
    advice = "Put each in its own folder, or specify the file to read."
    for number, token in enumerate(lines):
        found = id_of(token)
        if found != number:
            what = (
                "{vocabulary}, line {line}, contradicts {path} next to it: {token} has the ID {id} in the first, "
                "{other} in the second"
            )
            if found is None:
                what = "{vocabulary}, line {line}, contradicts {path} next to it, which does not have {token}"
            here: dict[str, Any] = {"line": number + 1, "token": repr(token[:50]), "id": number, "other": found}
            raise StudioError(what, advice, **shown, **here)
    if len(lines) < size:
        what = "{vocabulary} contradicts {path} next to it, which has more tokens: {n:,}, not {lines:,}"
        raise StudioError(what, advice, **shown, n=size, lines=len(lines))


def _check_manifest(path: Path, manifest: Manifest, tokenizer: Tokenizer | LibraryTokenizer) -> None:
    """Check that a manifest belongs to the ``tokenizer.json`` beside it, and means the same way of reading text."""
    tokens = tokenizer.vocabulary.tokens if isinstance(tokenizer, Tokenizer) else []
    if manifest.vocabulary_sha256 != vocabulary_digest(tokens) or not isinstance(tokenizer, Tokenizer):
        raise _other_manifest(path, TOKENIZER_FILE)
    if pipeline_values(manifest.tokenizer(tokens)) != pipeline_values(tokenizer):
        what = "{path} and {other} next to it say differently how text becomes words"
        raise file_error(path, what, "Specify the one to read, or delete the wrong one.", other=TOKENIZER_FILE)
    check_together(path, manifest, TOKENIZER_FILES)


def _other_manifest(path: Path, other: str) -> StudioError:
    what = "{path} belongs to a different vocabulary than the {other} next to it"
    advice = "Train again, or specify {other} itself together with its normalizer and pre-tokenizer."
    return file_error(path, what, advice, other=other)
