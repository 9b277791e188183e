"""The settings of a training, and the values that they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer, ByteLevel
from wordpiece_studio.training.config import TrainingConfig


def test_the_defaults() -> None:
    config = TrainingConfig()
    assert (config.objective, config.tie, config.alphabet) == ("likelihood", "first", "seen")
    assert config.special_tokens == BERT_SPECIAL_TOKENS == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    assert (config.vocab_size, config.min_frequency, config.continuing_subword_prefix) == (None, 0, "##")


@pytest.mark.parametrize(
    "setting",
    [
        {"objective": "magic"},
        {"tie": "last"},
        {"vocab_size": 0},
        {"vocab_size": 10**12},
        {"vocab_size": 70.5},
        {"min_frequency": -1},
        {"min_frequency": True},
        {"min_value": float("nan")},
        {"max_token_length": 0},
        {"alphabet_limit": 0},
        {"special_tokens": "[UNK]"},
        {"special_tokens": ["[UNK]", "[UNK]"]},
        {"special_tokens": [""]},
        {"special_tokens": ["[UNK] "]},
        {"special_tokens": ["a\nb"]},
        {"initial_alphabet": ["ab"]},
        {"special_tokens": ["a\tb"]},
        {"special_tokens": ["\ud800"]},
        {"user_tokens": "<url>"},
        {"user_tokens": ["<url>", "[UNK]"]},
        {"user_tokens": ["<url>", "<url>"]},
        {"user_tokens": ["a\nb"]},
        {"pad_token": 7},
        {"continuing_subword_prefix": "\x1b"},
        {"end_of_word_suffix": ""},
        {"max_seconds": -1},
    ],
)
def test_refuses_and_names_the_setting(setting: dict[str, Any]) -> None:
    with pytest.raises(StudioError) as error:
        TrainingConfig(**setting)
    name = next(iter(setting))
    assert name in str(error.value) or f"{name.removesuffix('s').replace('_', ' ')} " in str(error.value)


def test_a_token_named_for_a_role_takes_the_place_of_berts_or_follows() -> None:
    config = TrainingConfig(unk_token="<unk>", bos_token="<s>", mask_token="", user_tokens=["<url>"])
    assert config.special_tokens == ("[PAD]", "<unk>", "[CLS]", "[SEP]", "[MASK]", "<s>")
    assert config.reserved_tokens == (*config.special_tokens, "<url>")
    vocabulary = config.vocabulary([*config.reserved_tokens, "a"])
    assert (vocabulary.unk_token, vocabulary.bos_token, vocabulary.mask_token) == ("<unk>", "<s>", None)
    assert (vocabulary.cls_token, vocabulary.user_tokens) == ("[CLS]", ("<url>",))


def test_round_trip_through_json_values() -> None:
    config = TrainingConfig(objective="count", vocab_size=9, special_tokens=["[UNK]"], initial_alphabet=["x", "##y"])
    assert TrainingConfig.from_dict(config.to_dict()) == config
    config = TrainingConfig(pad_token="<p>", sep_token="", user_tokens=("<url>",))
    assert TrainingConfig.from_dict(config.to_dict()) == config


def test_a_training_recorded_before_all_bytes_were_in_the_alphabet() -> None:
    values = TrainingConfig().to_dict()
    assert TrainingConfig.from_dict(values, ByteLevel()).byte_alphabet == "all"
    del values["byte_alphabet"]
    assert TrainingConfig.from_dict(values, ByteLevel()).byte_alphabet == "seen"
    assert TrainingConfig.from_dict(values, BertPreTokenizer()) == TrainingConfig.from_dict(values) == TrainingConfig()


def test_unknown_setting_in_a_file() -> None:
    with pytest.raises(StudioError, match="speed"):
        TrainingConfig.from_dict({"speed": 9})


def test_numbers_of_numpy_are_numbers() -> None:
    assert TrainingConfig(vocab_size=np.int64(50)).to_dict()["vocab_size"] == 50  # type: ignore[arg-type]
    assert type(TrainingConfig(max_seconds=np.int64(5)).max_seconds) is float  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [
    "max_seconds", "min_value", "vocab_size", "max_merges", "min_frequency", "max_token_length", "alphabet_limit",
])  # fmt: skip
@pytest.mark.parametrize(
    "value", [float("inf"), float("-inf"), 10**5000, -(10**5000)], ids=["inf", "-inf", "huge", "-huge"]
)
def test_numbers_beyond_int64_are_refused_with_a_message(name: str, value: float) -> None:
    with pytest.raises(StudioError, match=f"The setting {name} must be") as caught:
        TrainingConfig(**{name: value})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("tokens", [5, "##a", ["##a", 1]])
def test_only_a_list_of_tokens_can_be_replayed(tokens: Any) -> None:
    with pytest.raises(StudioError, match="tokens must be a list of texts"):
        TrainingConfig().replaying(tokens)
