"""``tokenizer.json`` of whatever program: a `Tokenizer` where it is a plain WordPiece vocabulary, else one to compare.

The file is read here and nowhere else; the `tokenizers` library never sees what others wrote. What the file says of
truncating and padding changes no token and is only checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.imported_tokenizer import ImportedTokenizer
from wordpiece_studio.peers.models import WordPieceModel
from wordpiece_studio.storage.huggingface.reading_decoder import read_decoders
from wordpiece_studio.storage.huggingface.reading_json import JsonPart, read_json
from wordpiece_studio.storage.huggingface.reading_model import read_added_tokens, read_model
from wordpiece_studio.storage.huggingface.reading_pipeline import (
    built_in_pre_tokenizer,
    read_cutters,
    read_normalizer,
    read_trimming,
)
from wordpiece_studio.text import normalizers
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    import os
    from typing import Any

    from wordpiece_studio.peers.added_tokens import AddedToken
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

_KEYS = {
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
}
_LONGEST_SEQUENCE = 1 << 31


def read_tokenizer_json(path: str | os.PathLike[str]) -> Tokenizer | ImportedTokenizer:
    """Return the tokenizer of a ``tokenizer.json``.

    Raises
    ------
    StudioError
        If the file cannot be read, is damaged or hostile, or asks for something that cannot be repeated here exactly;
        the message names the place in it.
    """
    file = read_json(path)
    members = file.members()
    _check_frame(file, members)
    # What is small is read first: a file that is refused is refused at once.
    normalizer = read_normalizer(members.get("normalizer"))
    cutters = read_cutters(members.get("pre_tokenizer"))
    trims_offsets = read_trimming(members.get("post_processor"))
    decoders = read_decoders(members.get("decoder"))
    model = read_model(members["model"])
    added = read_added_tokens(members.get("added_tokens"), model.vocab)
    if isinstance(model, WordPieceModel) and trims_offsets is None:
        pre_tokenizer = built_in_pre_tokenizer(cutters, normalizer)
        vocabulary = _vocabulary(model, added)
        if pre_tokenizer is not None and vocabulary is not None and _is_built_in(normalizer):
            return _tokenizer(vocabulary, normalizer, pre_tokenizer, model.max_word_length)
    return ImportedTokenizer(model, normalizer, cutters, added, trims_offsets=trims_offsets, decoders=decoders)


def _tokenizer(
    vocabulary: Vocabulary, normalizer: Normalizer, pre_tokenizer: PreTokenizer, max_word_length: int
) -> Tokenizer:
    return Tokenizer(vocabulary, normalizer, pre_tokenizer, max_word_length=max_word_length)


def _vocabulary(model: WordPieceModel, added: list[AddedToken]) -> Vocabulary | None:
    """Return the tokens as the Studio's vocabulary; None if it has no way to say what the file says."""
    for token in added:
        if token.is_normalized or token.is_single_word or token.takes_left or token.takes_right or not token.is_special:
            return None
    ids = {**model.vocab, **{token.content: token.id for token in added}}
    tokens = sorted(ids, key=ids.__getitem__)
    if ids[tokens[-1]] != len(tokens) - 1:
        return None  # there are holes between the ids
    special = [token.content for token in sorted(added, key=lambda token: token.id)]
    return Vocabulary(tokens, special, model.prefix, unk_token=model.unk_token)


def _is_built_in(normalizer: Normalizer) -> bool:
    try:
        normalizers.to_spec(normalizer)
    except StudioError:
        return False
    return True


def _check_frame(file: JsonPart, members: dict[str, JsonPart]) -> None:
    unknown = members.keys() - _KEYS
    if unknown:
        raise file.refused("nothing is known of the key {key}", key=repr(min(unknown)[:50]))
    if "model" not in members:
        raise file.refused("there is no model in it", "", "Choose a tokenizer.json.")
    version = members["version"].value() if "version" in members else None
    if version != "1.0":
        raise file.refused(
            'the version is {version}, not "1.0"',
            ".version",
            "Save it with a current version.",
            version=repr(version)[:50],
        )
    for key in ("truncation", "padding"):
        part = members.get(key)
        value = None if part is None else part.value()
        if part is not None and value is not None:
            if not isinstance(value, dict):
                raise part.refused("this is no component")
            _check_lengths(part, value)


def _check_lengths(part: JsonPart, value: dict[str, Any]) -> None:
    """Check the numbers in what says how texts are cut or filled up; nothing of it is done here."""
    strategy = value.get("strategy")
    fixed = strategy.get("Fixed") if isinstance(strategy, dict) else None
    numbers = {key: value.get(key) for key in ("max_length", "stride", "pad_to_multiple_of", "pad_id", "pad_type_id")}
    for key, number in {**numbers, "strategy.Fixed": fixed}.items():
        if number is None:
            continue
        if type(number) is not int or not 0 <= number <= _LONGEST_SEQUENCE:
            raise part.refused("{n} is no sensible number", f".{key}", n=repr(number)[:50])
