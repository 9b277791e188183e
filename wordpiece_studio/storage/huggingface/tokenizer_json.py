"""Writing ``tokenizer.json``, the file of Hugging Face's `tokenizers`, byte for byte as that library would save it.

What it cannot express exactly is refused, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.huggingface.pipeline_values import (
    VOCABULARY_ALONE_ADVICE,
    normalizer_value,
    pre_tokenizer_value,
)

if TYPE_CHECKING:
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

TOKENIZER_FILE = "tokenizer.json"
FIRST_TOKEN, LAST_TOKEN = "[CLS]", "[SEP]"
"""What other programs put before and after a text, if the vocabulary has both."""


def why_not_expressible(tokenizer: Tokenizer) -> StudioError | None:
    """Return why a ``tokenizer.json`` cannot do exactly what a tokenizer does; None if it can.

    Only special tokens are examined, so this costs nothing before a training, when there are no others yet.
    """
    try:
        _pipeline(tokenizer)
        _check_vocabulary(tokenizer.vocabulary)
    except StudioError as error:
        return error
    return None


def tokenizer_json_bytes(tokenizer: Tokenizer) -> bytes:
    """Return the ``tokenizer.json`` of a tokenizer, with the same bytes that ``tokenizers.Tokenizer.save`` would write.

    If ``[CLS]`` and ``[SEP]`` are among the special tokens, they are put around a text unless
    ``add_special_tokens=False`` is passed, as in BERT's own files. A vocabulary without its unknown token is written as
    it is: where the Studio gives an unknown word no id, the library then fails.

    Raises
    ------
    StudioError
        If it cannot be expressed exactly, see `why_not_expressible`; or a token contains half a character.
    """
    normalizer, pre_tokenizer = _pipeline(tokenizer)
    vocabulary = tokenizer.vocabulary
    _check_vocabulary(vocabulary)
    prefix = vocabulary.continuing_subword_prefix
    value = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added_tokens(vocabulary),
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": _post_processor(vocabulary),
        # With an empty prefix, its decoder would join all words into one.
        "decoder": {"type": "WordPiece", "prefix": prefix, "cleanup": True} if prefix else None,
        "model": {
            "type": "WordPiece",
            "unk_token": vocabulary.unk_token,
            "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": max(0, tokenizer.max_word_length),
            "vocab": {token: number for number, token in enumerate(vocabulary.tokens)},
        },
    }
    return pretty_json(value)


def pretty_json(value: Any) -> bytes:
    """Return a JSON value indented by two spaces, with unescaped UTF-8 and without a final line end.

    Raises
    ------
    StudioError
        If a string in it contains half a character.
    """
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError as error:
        raise StudioError(
            "A token contains half a character, {character}, which UTF-8 cannot encode",
            "Leave out the lines of the corpus with such characters.",
            character=ascii(error.object[error.start]),
        ) from None


def _pipeline(tokenizer: Tokenizer) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    normalizer = tokenizer.normalizer
    return normalizer_value(normalizer), pre_tokenizer_value(tokenizer.pre_tokenizer, normalizer)


def _check_vocabulary(vocabulary: Vocabulary) -> None:
    """Check everything that does not depend on how text becomes words.

    Raises
    ------
    StudioError
        If the vocabulary cannot be expressed in a ``tokenizer.json``.
    """
    if vocabulary.end_of_word_suffix is not None:
        raise StudioError(
            'A tokenizer.json cannot express the end-of-word suffix "{suffix}": its WordPiece would never match it',
            VOCABULARY_ALONE_ADVICE,
            suffix=vocabulary.end_of_word_suffix,
        )
    for token in vocabulary.special_tokens:
        if token not in vocabulary:
            raise StudioError(
                "A tokenizer.json cannot express the special token {token}, which is not in the vocabulary",
                VOCABULARY_ALONE_ADVICE,
                token=repr(token),
            )


def _added_tokens(vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Return the special tokens in order of id; they are matched in a text before normalization."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    numbers = {number for token in vocabulary.special_tokens if (number := vocabulary.id_of(token)) is not None}
    return [{"id": number, "content": vocabulary[number], **flags} for number in sorted(numbers)]


def _post_processor(vocabulary: Vocabulary) -> dict[str, Any] | None:
    if not {FIRST_TOKEN, LAST_TOKEN} <= set(vocabulary.special_tokens):
        return None

    def special(token: str, type_id: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": type_id}}

    def text(name: str, type_id: int) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": type_id}}

    single = [special(FIRST_TOKEN, 0), text("A", 0), special(LAST_TOKEN, 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, text("B", 1), special(LAST_TOKEN, 1)],
        "special_tokens": {
            token: {"id": token, "ids": [vocabulary.id_of(token)], "tokens": [token]}
            for token in (FIRST_TOKEN, LAST_TOKEN)
        },
    }
