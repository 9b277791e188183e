"""``vocab.json`` and ``merges.txt``: byte pair encoding in the format that `tokenizers.models.BPE.from_file` reads.

The first is an object of tokens and ids on one line, in order of id; the second has ``#version: 0.2`` as its first line
and then one merge per line, two symbols separated by a space. Neither says how text becomes words; for that, a
``tokenizer.json`` is written beside them, with what `transformers` needs to load it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import (
    END_OF_TEXT,
    END_OF_WORD,
    MERGES_FILE,
    UNKNOWN_TOKENS,
    VOCAB_JSON_FILE,
    merges_beside,
)
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.storage.huggingface.tokenizer_json import tokenizer_json_bytes, why_not_expressible
from wordpiece_studio.storage.manifest import TOKENIZER_FILE, Manifest
from wordpiece_studio.storage.small_files import LARGEST_FILE_BYTES, read_json, small_file_bytes, utf8_text
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES, configuration_files
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.atomic_write import atomic_write_all
from wordpiece_studio.system.printable import file_error
from wordpiece_studio.text import normalizers
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import ByteLevel
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, TextReading

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory

_VERSION = "#version"
_FIRST_LINE = "#version: 0.2"


BPE_FILES = (VOCAB_JSON_FILE, MERGES_FILE)
NO_BPE_ADVICE = "Write it as a tokenizer.json or vocab.txt, or train with the objective count and an empty prefix."


def bpe_names(tokenizer: Tokenizer | None = None) -> tuple[str, ...]:
    """Return the names of the files for a tokenizer: without ``tokenizer.json`` if it cannot express this."""
    if tokenizer is not None and why_not_expressible(tokenizer, is_bpe=True) is not None:
        return BPE_FILES
    return (*BPE_FILES, *(name for name in TOKENIZER_FILES if name != VOCABULARY_FILE))


def write_bpe_files(
    folder: str | os.PathLike[str],
    history: MergeHistory,
    step: int | None = None,
    *,
    tokenizer: Tokenizer | None = None,
) -> None:
    """Write the first merges of a training as byte pair encoding: all files or none.

    Parameters
    ----------
    folder
        The target folder, created if it does not exist.
    history
        A training with the objective ``"count"``, an empty prefix, and either no end-of-word suffix or one that is
        attached to the last character.
    step
        The number of merges; None for all.
    tokenizer
        The vocabulary after these merges, how text becomes words, and the lengths that are written. None: text is read
        as the corpus was.

    Notes
    -----
    ``AutoTokenizer.from_pretrained`` of `transformers` then splits text as the training did. The files for it,
    ``tokenizer.json``, ``tokenizer_config.json`` and ``special_tokens_map.json``, are left out if they cannot express
    how text becomes words. In ``vocab.json`` special tokens and user tokens are like any other.

    Raises
    ------
    StudioError
        If this is another kind of training, with the reason; if a symbol cannot appear in ``merges.txt``; or if a file
        cannot be written. The folder is then unchanged.
    """
    target = Path(folder)
    files = bpe_files(history, step, tokenizer)
    atomic_write_all({target / name: data for name, data in files.items()}, folder=target)


def bpe_files(history: MergeHistory, step: int | None = None, tokenizer: Tokenizer | None = None) -> dict[str, bytes]:
    """Return the content of the files by name; see `write_bpe_files`."""
    reason = why_no_bpe(history.config)
    if reason is not None:
        raise reason
    vocabulary = history.vocabulary(len(history) if step is None else min(step, len(history)))
    left, right = (history.column(name)[:step].tolist() for name in ("left_id", "right_id"))
    # A pair may occur again after it was merged; then, too, it is merged with the priority of its first place.
    pairs = list(dict.fromkeys(zip(map(history.token, left), map(history.token, right), strict=True)))
    lines = [f"{first} {second}" for first, second in pairs]
    for line, pair in zip(lines, pairs, strict=True):
        check_bpe_symbols(pair)
        if line.startswith(_VERSION):
            raise _no_line(pair[0])
    try:
        files = {
            VOCAB_JSON_FILE: msgspec.json.encode({token: number for number, token in enumerate(vocabulary.tokens)}),
            MERGES_FILE: "".join(f"{line}\n" for line in (_FIRST_LINE, *lines)).encode("utf-8"),
        }
    except UnicodeEncodeError:
        what = "A token contains an unpaired surrogate, which UTF-8 cannot encode"
        raise StudioError(what, "Leave out the lines of the corpus with such characters.") from None
    if tokenizer is None:
        counts = history.input.counts
        tokenizer = Tokenizer(vocabulary, counts.normalizer, counts.pre_tokenizer)
    if why_not_expressible(tokenizer, is_bpe=True) is None:
        files[TOKENIZER_FILE] = tokenizer_json_bytes(tokenizer, pairs)
        files |= configuration_files(tokenizer)
    return files


def check_bpe_symbols(symbols: Iterable[str]) -> None:
    """Check before training that the initial symbols can appear in ``merges.txt``."""
    for symbol in symbols:
        if not symbol or " " in symbol or "\n" in symbol or symbol.endswith("\r"):
            raise _no_line(symbol)


def why_no_bpe(config: TrainingConfig) -> StudioError | None:
    """Return why a training cannot be written as byte pair encoding; None if its settings allow it."""
    reasons = {
        "its objective was not count, and byte pair encoding only stores the order of the merges": (
            config.objective != "count"
        ),
        "its symbols have a prefix inside words, which GPT-2's files do not support": config.continuing_subword_prefix,
        "the end of a word is a symbol of its own; in these files it is part of the last character": (
            config.end_of_word_suffix is not None and config.end_of_word != "attached"
        ),
    }
    reason = next((words for words, applies in reasons.items() if applies), None)
    what = "This run cannot be written as vocab.json and merges.txt: {reason}"
    return None if reason is None else StudioError(what, NO_BPE_ADVICE, reason=reason)


def read_bpe_files(
    path: str | os.PathLike[str],
    normalizer: str | Normalizer | None = None,
    pre_tokenizer: str | PreTokenizer | None = None,
    *,
    manifest: Manifest | None = None,
) -> BpeTokenizer | LibraryTokenizer:
    """Return the tokenizer of a ``vocab.json`` and the ``merges.txt`` beside it.

    The files do not say how text becomes words. Without a manifest or arguments, they count as GPT-2's if all 256 byte
    characters are in the vocabulary, and the `tokenizers` library runs them. Otherwise the arguments apply, by default
    BERT's pre-tokenizer without normalization. If tokens end in ``</w>``, that is the end-of-word suffix. The unknown
    token is ``[UNK]``, ``<unk>`` or ``<|endoftext|>``, if one of them is in the vocabulary.
    """
    part = read_json(path)
    vocab = part.ids()
    if not vocab:
        raise part.refused("it contains no tokens")
    merges = _read_merges(merges_beside(Path(path)), vocab)
    if manifest is not None:
        tokenizer = BpeTokenizer(
            vocab,
            merges,
            normalizer or manifest.steps[0],
            pre_tokenizer or manifest.steps[1],
            special_tokens=[token for token in manifest.special_tokens if token in vocab],
            user_tokens=[each.content for each in manifest.added_tokens if each.content in vocab and not each.special],
            unk_token=manifest.unk_token if manifest.unk_token in vocab else None,
            end_of_word_suffix=manifest.end_of_word_suffix or "",
            roles=manifest.roles,
        )
        tokenizer.model_max_length = manifest.model_max_length
        return tokenizer
    if normalizer is None and pre_tokenizer is None and vocab.keys() >= {*ByteLevel.alphabet()}:
        added = (AddedToken(END_OF_TEXT, special=True),) if END_OF_TEXT in vocab else ()
        pipeline = Pipeline(normalizers.Unchanged(), ByteLevel(add_prefix_space=False))
        return LibraryTokenizer(path, reading=TextReading(pipeline, added))
    unknown = next((token for token in UNKNOWN_TOKENS if token in vocab), None)
    suffix = END_OF_WORD if any(token.endswith(END_OF_WORD) for token in vocab) else ""
    steps = normalizer or "none", pre_tokenizer or "bert"
    return BpeTokenizer(vocab, merges, *steps, unk_token=unknown, end_of_word_suffix=suffix)


def _read_merges(path: str | os.PathLike[str], vocab: dict[str, int]) -> Sequence[tuple[str, str]]:
    data = small_file_bytes(path, LARGEST_FILE_BYTES, "{path} is {n} MB, too large for a list of merges")
    merges: list[tuple[str, str]] = []
    for number, line in enumerate(utf8_text(data, path).removesuffix("\n").split("\n") if data else (), start=1):
        line = line.removesuffix("\r")
        if line.startswith(_VERSION):
            continue
        left, space, right = line.partition(" ")
        advice = "Use two files that belong together."
        if not space or " " in right:
            what = "{path}, line {line}: expected two symbols separated by a space"
            raise file_error(path, what, advice, line=number)
        if missing := [token for token in (left, right, left + right) if token not in vocab]:
            what = "{path}, line {line}: {token} is not in the vocabulary"
            raise file_error(path, what, advice, line=number, token=repr(missing[0][:50]))
        merges.append((left, right))
    return merges


def _no_line(symbol: str) -> StudioError:
    what = "The symbol {token} cannot appear in merges.txt, which has one merge per line with a space in the middle"
    return StudioError(what, "Choose a pre-tokenizer that splits words at such characters.", token=repr(symbol))
