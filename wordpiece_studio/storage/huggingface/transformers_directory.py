"""What `transformers` reads beside ``tokenizer.json``: which class it is, and which tokens have which part.

Version 5's ``BertTokenizer`` does not go by ``tokenizer.json``: it builds BERT's steps anew from the flags in
``tokenizer_config.json``. So that class is named only where its steps are the tokenizer's own; else it is
``PreTrainedTokenizerFast``, with which versions 4 and 5 do what ``tokenizer.json`` says. The flags are always written.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from wordpiece_studio.storage.huggingface.pipeline_values import normalizer_value
from wordpiece_studio.storage.huggingface.tokenizer_json import pretty_json
from wordpiece_studio.text.bert_normalizer import BertNormalizer
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
from wordpiece_studio.tokenizer.vocabulary import UNKNOWN_TOKEN

if TYPE_CHECKING:
    from wordpiece_studio.text.pipeline import Normalizer
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

CONFIG_FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"

_BERT_LONGEST_WORD = 100  # characters; what version 5 builds in
_PARTS = {"cls_token": "[CLS]", "mask_token": "[MASK]", "pad_token": "[PAD]", "sep_token": "[SEP]"}
_FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]


def configuration_files(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the contents of ``tokenizer_config.json`` and ``special_tokens_map.json``, by name.

    How many tokens a model takes is the model's matter, so no ``model_max_length`` is named.

    Raises
    ------
    StudioError
        If a special token holds half a character.
    """
    parts = _parts(tokenizer.vocabulary)
    return {CONFIG_FILE: _sorted_json(_config(tokenizer, parts)), SPECIAL_TOKENS_FILE: _sorted_json(_described(parts))}


def is_berts(tokenizer: Tokenizer) -> bool:
    """Return whether the tokenizer is what `transformers` calls ``BertTokenizer``, but for the flags that it has."""
    normalizer, vocabulary = tokenizer.normalizer, tokenizer.vocabulary
    return (
        type(normalizer) is BertNormalizer
        and normalizer.clean_text
        and type(tokenizer.pre_tokenizer) is BertPreTokenizer
        and tokenizer.max_word_length == _BERT_LONGEST_WORD
        and vocabulary.continuing_subword_prefix == "##"
        and vocabulary.unk_token == UNKNOWN_TOKEN
        # The class would add those that are missing.
        and set(vocabulary.special_tokens) == set(BERT_SPECIAL_TOKENS)
    )


def _config(tokenizer: Tokenizer, parts: dict[str, str]) -> dict[str, Any]:
    flags = _berts_flags(tokenizer.normalizer)
    if is_berts(tokenizer):
        return {**parts, **flags, "tokenizer_class": "BertTokenizer"}
    others = [token for token in tokenizer.vocabulary.special_tokens if token not in parts.values()]
    further = {"additional_special_tokens": others} if others else {}
    return {**parts, **further, **flags, "model_input_names": _INPUTS, "tokenizer_class": "PreTrainedTokenizerFast"}


def _berts_flags(normalizer: Normalizer) -> dict[str, bool | None]:
    """Return BERT's flags: the normalizer's own, or those that come nearest to what it does.

    ``BertTokenizerFast`` is often named whatever class the file says. Version 5 then goes by these flags alone, and
    where there are none lower-cases and takes syllables apart.
    """
    value = normalizer_value(normalizer) or {}
    if value.get("type") == "BertNormalizer":
        return {flag: value[name] for flag, name in _FLAGS.items()}
    return {
        "do_lower_case": normalizer.normalize("A") == "a",
        "strip_accents": "\u0301" not in unicodedata.normalize("NFD", normalizer.normalize("\xe9")),
        "tokenize_chinese_chars": " 中" in normalizer.normalize("a中"),
    }


def _parts(vocabulary: Vocabulary) -> dict[str, str]:
    """Return which special token plays which part; the reader would add one that is not in the vocabulary."""
    named = {**_PARTS, "unk_token": vocabulary.unk_token}
    return {part: token for part, token in named.items() if token in vocabulary.special_tokens}


def _described(parts: dict[str, str]) -> dict[str, Any]:
    """Return the parts as version 4 writes them."""
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    return {part: {"content": token, **flags} for part, token in parts.items()}


def _sorted_json(value: dict[str, Any]) -> bytes:
    """Return a JSON object as `transformers` writes it."""
    return pretty_json({name: value[name] for name in sorted(value)}) + b"\n"
