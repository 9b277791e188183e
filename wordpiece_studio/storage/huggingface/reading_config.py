"""The parts of ``tokenizer_config.json`` that say how BERT's tokenizer reads text, and which special tokens it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.huggingface.reading_json import read_json
from wordpiece_studio.system.printable import decodable, display_name
from wordpiece_studio.text.normalizers import BertNormalizer

if TYPE_CHECKING:
    import os

    from wordpiece_studio.text.pipeline import Normalizer

_BERTS = ("BertTokenizer", "BertTokenizerFast")
_SPECIAL_KEYS = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@decodable
class _Described(msgspec.Struct):
    content: str


@decodable
class _Fields(msgspec.Struct):
    """The fields that matter here; all others are ignored."""

    tokenizer_class: str | None = None
    do_lower_case: bool | None = None
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool | None = None
    unk_token: str | _Described | None = None
    sep_token: str | _Described | None = None
    pad_token: str | _Described | None = None
    cls_token: str | _Described | None = None
    mask_token: str | _Described | None = None


class Configuration:
    """The content of a ``tokenizer_config.json``.

    Attributes
    ----------
    unk_token
        The unknown token, if given.
    special_tokens
        All special tokens given.
    """

    def __init__(self, fields: _Fields, name: str) -> None:
        self._fields = fields
        self._name = name
        named = {key: getattr(fields, key) for key in _SPECIAL_KEYS}
        texts = {key: token.content if isinstance(token, _Described) else token for key, token in named.items()}
        self.unk_token: str | None = texts["unk_token"]
        self.special_tokens = [token for token in texts.values() if token]

    def bert_normalizer(self) -> BertNormalizer:
        """Return BERT's normalizer as described here, with the defaults of `transformers`."""
        fields = self._fields
        return BertNormalizer(
            clean_text=True,
            handle_chinese_chars=fields.tokenize_chinese_chars is not False,
            strip_accents=fields.strip_accents,
            lowercase=fields.do_lower_case is not False,
        )

    def check(self, normalizer: Normalizer | None, other: str) -> None:
        """Check that it is consistent with the normalizer of a ``tokenizer.json`` beside it, named `other`.

        Raises
        ------
        StudioError
            If it is not: which of the two applies then depends on the program and its version.
        """
        fields = self._fields
        if not isinstance(normalizer, BertNormalizer):
            return
        is_bert = fields.tokenizer_class in _BERTS
        pairs: tuple[tuple[str, Any, Any], ...] = (
            ("do_lower_case", fields.do_lower_case, normalizer.lowercase),
            ("tokenize_chinese_chars", fields.tokenize_chinese_chars, normalizer.handle_chinese_chars),
            ("strip_accents", fields.strip_accents, normalizer.strip_accents),
        )
        for key, stated, actual in pairs:
            if stated is None and not (key == "do_lower_case" and is_bert):
                continue
            meant = True if stated is None else stated
            if meant != actual and (stated is not None or is_bert):
                raise StudioError(
                    "{path} contradicts {other}: {key} is {stated} here, and {actual} there",
                    "Correct one of them; which one applies depends on the program and its version.",
                    path=self._name,
                    other=other,
                    key=key,
                    stated=_word(meant) + ("" if stated is not None else " by default"),
                    actual=_word(actual),
                )


def read_configuration(path: str | os.PathLike[str]) -> Configuration:
    """Return the content of a ``tokenizer_config.json``.

    Raises
    ------
    StudioError
        If it cannot be read, is damaged, or a value is of the wrong type.
    """
    part = read_json(path)
    if len(part.data) > 16 << 20:
        raise part.refused("it is too large")
    part.members()
    return Configuration(part.typed(_Fields), display_name(path))


def _word(value: bool | None) -> str:
    return {True: "true", False: "false", None: "null"}[value]
