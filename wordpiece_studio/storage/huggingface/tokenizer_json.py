"""Writing ``tokenizer.json``, the file of Hugging Face's `tokenizers`, byte for byte as that library would save it.

What it cannot express exactly is refused, with the reason; how text becomes words is written by
`text.huggingface_steps`.
"""

from __future__ import annotations

from dataclasses import asdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.huggingface_steps import (
    VOCABULARY_ALONE_ADVICE,
    byte_level_decoder,
    normalizer_value,
    pre_tokenizer_value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE, ADDED_TOKENS_FILE = "special_tokens_map.json", "added_tokens.json"


def why_not_expressible(tokenizer: Tokenizer, *, is_bpe: bool = False) -> StudioError | None:
    """Return why a ``tokenizer.json`` cannot do exactly what a tokenizer does; None if it can.

    `is_bpe`: whether merges split words. Only special tokens are examined, so this costs nothing before a training,
    when there are no others yet.
    """
    try:
        _pipeline(tokenizer)
        _check_vocabulary(tokenizer.vocabulary, is_bpe=is_bpe)
    except StudioError as error:
        return error
    return None


def tokenizer_json_bytes(tokenizer: Tokenizer, merges: Sequence[tuple[str, str]] | None = None) -> bytes:
    """Return the ``tokenizer.json`` of a tokenizer, with the same bytes that ``tokenizers.Tokenizer.save`` would write.

    With `merges`, it is that of byte pair encoding, whose words these split in their order.

    If the vocabulary has a class token and a separator, they are put around a text unless ``add_special_tokens=False``
    is passed, as in BERT's own files. A vocabulary without its unknown token is written as it is: where the Studio
    gives an unknown word no id, the library then fails.
    """
    normalizer, pre_tokenizer = _pipeline(tokenizer)
    vocabulary = tokenizer.vocabulary
    _check_vocabulary(vocabulary, is_bpe=merges is not None)
    value = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(vocabulary),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": post_processor(vocabulary),
        "decoder": _decoder(vocabulary, is_byte_level=tokenizer.pre_tokenizer.is_byte_level),
        "model": _wordpiece(tokenizer) if merges is None else _bpe(vocabulary, merges),
    }
    return pretty_json(value | tokenizer.kept_parts)


def _wordpiece(tokenizer: Tokenizer) -> dict[str, Any]:
    vocabulary = tokenizer.vocabulary
    return {
        "type": "WordPiece",
        "unk_token": vocabulary.unk_token,
        "continuing_subword_prefix": vocabulary.continuing_subword_prefix,
        "max_input_chars_per_word": max(0, tokenizer.max_word_length),
        "vocab": {token: number for number, token in enumerate(vocabulary.pieces)},
    }


def _bpe(vocabulary: Vocabulary, merges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": vocabulary.unk_token if vocabulary.unk_token in vocabulary else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": vocabulary.end_of_word_suffix,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {token: number for number, token in enumerate(vocabulary.pieces)},
        "merges": merges,
    }


def pretty_json(value: Any) -> bytes:
    """Return a JSON value indented by two spaces, with unescaped UTF-8 and without a final line end."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError as error:
        raise StudioError(
            "A token contains the unpaired surrogate {character}, which UTF-8 cannot encode",
            "Leave out the lines of the corpus with such characters.",
            character=ascii(error.object[error.start]),
        ) from None


def _pipeline(tokenizer: Tokenizer) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    normalizer = tokenizer.normalizer
    return normalizer_value(normalizer), pre_tokenizer_value(tokenizer.pre_tokenizer, normalizer)


def _check_vocabulary(vocabulary: Vocabulary, *, is_bpe: bool) -> None:
    """Check everything that does not depend on how text becomes words."""
    if vocabulary.end_of_word_suffix is not None and not is_bpe:
        raise StudioError(
            'A tokenizer.json cannot express the end-of-word suffix "{suffix}": its WordPiece would never match it',
            VOCABULARY_ALONE_ADVICE,
            suffix=vocabulary.end_of_word_suffix,
        )
    for token in vocabulary.added_tokens:
        if token.content not in vocabulary:
            raise StudioError(
                "A tokenizer.json cannot express the special token {token}, which is not in the vocabulary",
                VOCABULARY_ALONE_ADVICE,
                token=repr(token.content),
            )


def _added_tokens(vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Return the special tokens and user tokens in order of id."""
    described = [{"id": vocabulary.id_of(token.content), **asdict(token)} for token in vocabulary.added_tokens]
    return sorted(described, key=itemgetter("id"))


def _decoder(vocabulary: Vocabulary, *, is_byte_level: bool) -> dict[str, Any] | None:
    prefix, suffix = vocabulary.continuing_subword_prefix, vocabulary.end_of_word_suffix
    if not is_byte_level and suffix is not None:
        return {"type": "BPEDecoder", "suffix": suffix}
    if not is_byte_level:
        # With an empty prefix, its decoder would join all words into one.
        return {"type": "WordPiece", "prefix": prefix, "cleanup": True} if prefix else None
    return byte_level_decoder(prefix, suffix)


def kept_post_processor(stated: Any, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return the post-processor of a file as a part to keep; nothing if `post_processor` would write the same."""
    return {"post_processor": stated} if stated is None or stated != post_processor(vocabulary) else {}


def post_processor(vocabulary: Vocabulary) -> dict[str, Any] | None:
    """Return what puts the class token and separators around a text; None if the vocabulary lacks one of them."""
    first, last = vocabulary.cls_token, vocabulary.sep_token
    if first is None or last is None:
        return None

    def special(token: str, type_id: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": type_id}}

    def text(name: str, type_id: int) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": type_id}}

    single = [special(first, 0), text("A", 0), special(last, 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, text("B", 1), special(last, 1)],
        "special_tokens": {
            token: {"id": token, "ids": [vocabulary.id_of(token)], "tokens": [token]} for token in sorted({first, last})
        },
    }
