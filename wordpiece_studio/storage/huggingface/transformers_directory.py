"""What `transformers` reads besides ``tokenizer.json``: the tokenizer's class, and the roles of special tokens.

Version 5's ``BertTokenizer`` does not follow ``tokenizer.json``: it rebuilds BERT's steps from the flags in
``tokenizer_config.json``. So that class is named only if its steps equal the tokenizer's own; otherwise it is
``PreTrainedTokenizerFast``, with which versions 4 and 5 follow ``tokenizer.json``. The flags are always written.
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

_BERT_LONGEST_WORD = 100  # characters; built into version 5
_ROLES = {"cls_token": "[CLS]", "mask_token": "[MASK]", "pad_token": "[PAD]", "sep_token": "[SEP]"}
_FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]


def configuration_files(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the contents of ``tokenizer_config.json`` and ``special_tokens_map.json``, by name.

    ``model_max_length`` is left out, since it depends on the model.

    Raises
    ------
    StudioError
        If a special token contains half a character.
    """
    roles = _roles(tokenizer.vocabulary)
    return {CONFIG_FILE: _sorted_json(_config(tokenizer, roles)), SPECIAL_TOKENS_FILE: _sorted_json(_described(roles))}


def is_berts(tokenizer: Tokenizer) -> bool:
    """Return whether the tokenizer is what `transformers` calls ``BertTokenizer``, apart from its flags."""
    normalizer, vocabulary = tokenizer.normalizer, tokenizer.vocabulary
    return (
        type(normalizer) is BertNormalizer
        and normalizer.clean_text
        and type(tokenizer.pre_tokenizer) is BertPreTokenizer
        and tokenizer.max_word_length == _BERT_LONGEST_WORD
        and vocabulary.continuing_subword_prefix == "##"
        and vocabulary.unk_token == UNKNOWN_TOKEN
        # The class would add any that are missing.
        and set(vocabulary.special_tokens) == set(BERT_SPECIAL_TOKENS)
    )


def _config(tokenizer: Tokenizer, roles: dict[str, str]) -> dict[str, Any]:
    flags = _berts_flags(tokenizer.normalizer)
    if is_berts(tokenizer):
        return {**roles, **flags, "tokenizer_class": "BertTokenizer"}
    others = [token for token in tokenizer.vocabulary.special_tokens if token not in roles.values()]
    further = {"additional_special_tokens": others} if others else {}
    return {**roles, **further, **flags, "model_input_names": _INPUTS, "tokenizer_class": "PreTrainedTokenizerFast"}


def _berts_flags(normalizer: Normalizer) -> dict[str, bool | None]:
    """Return BERT's flags: the normalizer's own, or the closest equivalents.

    Users often call ``BertTokenizerFast`` whatever class the file names. Version 5 then uses these flags alone, and
    without them lower-cases and decomposes syllables.
    """
    value = normalizer_value(normalizer) or {}
    if value.get("type") == "BertNormalizer":
        return {flag: value[name] for flag, name in _FLAGS.items()}
    return {
        "do_lower_case": normalizer.normalize("A") == "a",
        "strip_accents": "\u0301" not in unicodedata.normalize("NFD", normalizer.normalize("\xe9")),
        "tokenize_chinese_chars": " 中" in normalizer.normalize("a中"),
    }


def _roles(vocabulary: Vocabulary) -> dict[str, str]:
    """Return the special tokens by role; the reader would add one that is not in the vocabulary."""
    named = {**_ROLES, "unk_token": vocabulary.unk_token}
    return {role: token for role, token in named.items() if token in vocabulary.special_tokens}


def _described(roles: dict[str, str]) -> dict[str, Any]:
    """Return the roles as version 4 writes them."""
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    return {role: {"content": token, **flags} for role, token in roles.items()}


def _sorted_json(value: dict[str, Any]) -> bytes:
    """Return a JSON object as `transformers` writes it."""
    return pretty_json({name: value[name] for name in sorted(value)}) + b"\n"
