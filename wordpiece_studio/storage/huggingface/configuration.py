"""The files beside a ``tokenizer.json`` or a ``vocab.txt`` that `transformers` reads, and what they change.

Of ``tokenizer_config.json`` it is the parts that say how BERT's tokenizer reads text, and which added tokens and roles
it has; of two older files, what completes it. Not here: the ``tokenizer.json`` itself (`tokenizer_json`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.huggingface.tokenizer_json import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    SPECIAL_TOKENS_FILE,
    kept_post_processor,
    post_processor,
)
from wordpiece_studio.storage.small_files import read_json
from wordpiece_studio.system.printable import decodable, display_name
from wordpiece_studio.text.normalizers import BertNormalizer
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, Normalizer
from wordpiece_studio.tokenizer.shaping import Side  # noqa: TC001  # msgspec reads the annotations
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import ROLES, AddedToken, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.tokenizer.encoding import Encoder


_BERTS = ("BertTokenizer", "BertTokenizerFast")


@decodable
class _Described(msgspec.Struct):
    """An added token as `tokenizer_config.json` describes it; the flags that are not given are those of the library."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool | None = None
    special: bool = False

    def token(self, *, is_special: bool) -> AddedToken:
        """Return the token; with `is_special`, it is special whatever is said here."""
        special = self.special or is_special
        normalized = not special if self.normalized is None else self.normalized
        return AddedToken(self.content, self.single_word, self.lstrip, self.rstrip, normalized, special)


_Token = str | _Described


@decodable
class _Fields(msgspec.Struct):
    """The fields that matter here; all others are ignored."""

    tokenizer_class: str | None = None
    do_lower_case: bool | None = None
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool | None = None
    unk_token: _Token | None = None
    sep_token: _Token | None = None
    pad_token: _Token | None = None
    cls_token: _Token | None = None
    mask_token: _Token | None = None
    bos_token: _Token | None = None
    eos_token: _Token | None = None
    additional_special_tokens: list[_Token] | None = None
    extra_special_tokens: list[_Token] | dict[str, _Token] | None = None
    added_tokens_decoder: dict[int, _Described] | None = None
    model_max_length: int | float | None = None
    padding_side: Side | None = None
    truncation_side: Side | None = None


class Configuration:
    """The content of a ``tokenizer_config.json``, and of the older files beside it that complete it.

    `special` is the content of ``special_tokens_map.json``, which prevails, `added` the added tokens by id. `is_stated`
    says whether the configuration itself exists, which says how text is read, if only by its defaults.
    """

    def __init__(
        self, fields: _Fields | None, name: str, special: _Fields | None, added: Mapping[int, _Described]
    ) -> None:
        self.is_stated = fields is not None
        self._fields = fields = fields or _Fields()
        self._name = name
        self._named: dict[str, AddedToken] = {}
        for role, (usual, *_) in ROLES.items():
            is_berts = fields.tokenizer_class in _BERTS and usual in BERT_SPECIAL_TOKENS
            for token in (usual if is_berts else None, getattr(fields, role), getattr(special, role, None)):
                if token:
                    self._named[role] = _special(token)
        self._others: list[AddedToken] = []
        for part in (fields, special) if special is not None else (fields,):
            extra = part.extra_special_tokens or ()
            others = extra.values() if isinstance(extra, dict) else extra
            self._others += map(_special, (*(part.additional_special_tokens or ()), *others))
        special_texts = {token.content for token in (*self._named.values(), *self._others)}
        numbered = sorted(added.items())
        self._added = {token.content: number for number, token in numbered}
        self._described = [token.token(is_special=token.content in special_texts) for _, token in numbered]
        length = fields.model_max_length
        self.model_max_length = MODEL_MAX_LENGTH if length is None else int(length)
        self.unk_token = self._named["unk_token"].content if "unk_token" in self._named else None

    def configured(self, tokenizer: Tokenizer, usual: Iterable[str] | None = None) -> Tokenizer:
        """Return a tokenizer with the added tokens, the roles and the template that `transformers` gives it.

        `usual`: special tokens of a tokenizer whose files describe none; None for that of a ``tokenizer.json``.
        """
        vocabulary = tokenizer.vocabulary
        named = dict(self._named)
        padding = tokenizer.kept_parts.get("padding") or {}
        if isinstance(token := padding.get("pad_token"), str) and token:
            named.setdefault("pad_token", _special(token))
        added = {token.content: token for token in vocabulary.added_tokens}
        added |= {token.content: token for token in self._described}
        for token in (*named.values(), *self._others, *map(_special, usual or ())):
            added.setdefault(token.content, token)
        tokens = vocabulary.tokens + [content for content in added if content not in vocabulary]
        for number, content in enumerate(tokens):
            if self._added.get(content, number) != number:
                what = "{path}: the added token {token} has the ID {id}, but is at position {place}"
                advice = "Save it again with the program that wrote it."
                raise StudioError(
                    what, advice, path=self._name, token=repr(content[:50]), id=self._added[content], place=number
                )
        none = "" if self._named else None  # where no role is stated at all, the tokens' names say them
        roles: dict[str, Any] = {role: named[role].content if role in named else none for role in ROLES}
        configured = Vocabulary(
            tokens,
            (),
            vocabulary.continuing_subword_prefix,
            added_tokens=added.values(),
            pieces=len(vocabulary.pieces) if len(tokens) > len(vocabulary.pieces) else None,
            **{**roles, "unk_token": vocabulary.unk_token},
        )
        parts = dict(tokenizer.kept_parts)
        stated = parts.pop("post_processor", post_processor(vocabulary))
        # BERT's class has BERT's template, whatever the file says.
        if usual is None and self._fields.tokenizer_class not in _BERTS:
            parts |= kept_post_processor(stated, configured)
        made = tokenizer.changed(vocabulary=configured, model_max_length=self.model_max_length, kept_parts=parts)
        self._set_sides(made)
        return made

    def configure(self, tokenizer: LibraryTokenizer) -> None:
        tokenizer.roles = {role: token.content for role, token in self._named.items()} or tokenizer.roles
        tokenizer.model_max_length = self.model_max_length
        self._set_sides(tokenizer)

    def _set_sides(self, encoder: Encoder) -> None:
        encoder.padding_side = self._fields.padding_side or encoder.padding_side
        encoder.truncation_side = self._fields.truncation_side or encoder.truncation_side

    def bert_normalizer(self) -> BertNormalizer:
        fields = self._fields
        return BertNormalizer(
            clean_text=True,
            handle_chinese_chars=fields.tokenize_chinese_chars is not False,
            strip_accents=fields.strip_accents,
            lowercase=fields.do_lower_case is not False,
        )

    def check(self, normalizer: Normalizer | None, other: str) -> None:
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
            is_default = stated is None
            meant = True if is_default else stated
            if meant == actual or (is_default and not (key == "do_lower_case" and is_bert)):
                continue
            what = "{path} contradicts {other}: {key} is {stated} here, and {actual} there"
            if is_default:
                what = "{path} contradicts {other}: {key} is {stated} here by default, and {actual} there"
            advice = "Correct one of them; which one applies depends on the program and its version."
            raise StudioError(
                what, advice, path=self._name, other=other, key=key, stated=json.dumps(meant), actual=json.dumps(actual)
            )


def _special(token: _Token) -> AddedToken:
    return AddedToken(token, special=True) if isinstance(token, str) else token.token(is_special=True)


def read_configuration(folder: Path) -> Configuration | None:
    """Return the content of a folder's ``tokenizer_config.json`` and of the older files; None if there are none.

    Like `transformers`, this reads the older ones, ``special_tokens_map.json`` and ``added_tokens.json``, only if the
    first one does not list the added tokens.
    """
    names = (CONFIG_FILE, SPECIAL_TOKENS_FILE, ADDED_TOKENS_FILE)
    name = next((name for name in names if (folder / name).exists()), None)
    if name is None:
        return None
    fields, special, added = _small_object(folder / CONFIG_FILE), None, {}
    if fields is not None and fields.added_tokens_decoder is not None:
        added = fields.added_tokens_decoder
    else:
        special = _small_object(folder / SPECIAL_TOKENS_FILE)
        if (folder / ADDED_TOKENS_FILE).exists():
            ids = read_json(folder / ADDED_TOKENS_FILE).ids()
            added = {number: _Described(token) for token, number in ids.items()}
    return Configuration(fields, display_name(folder / name), special, added)


def _small_object(path: Path) -> _Fields | None:
    if not path.exists():
        return None
    part = read_json(path)
    if len(part.data) > 16 << 20:
        raise part.refused("it is too large")
    part.members()
    return part.typed(_Fields)
