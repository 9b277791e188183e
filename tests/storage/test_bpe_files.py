from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.bpe_files import read_bpe_files, write_bpe_files
from wordpiece_studio.storage.exports import Export, Exported
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer
from wordpiece_studio.tokenizer.vocabulary import ROLES
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import TrainingRun, train

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def trained(suffix: str | None, seed: int = 0, **settings: Any) -> TrainingRun:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdé", k=rng.randrange(1, 9))) for _ in range(60)]
    options: dict[str, Any] = {"objective": "count", "continuing_subword_prefix": "", "max_merges": 60}
    options |= {"special_tokens": ("<unk>",), "end_of_word_suffix": suffix, "end_of_word": "attached"}
    return train(count_texts([" ".join(words)], "none", "whitespace-split"), TrainingConfig(**options | settings))


def test_what_is_written(tmp_path: Path) -> None:
    counts = count_texts(["hug hug pug"], "none", "whitespace-split")
    config = TrainingConfig(objective="count", continuing_subword_prefix="", special_tokens=(), max_merges=2)
    write_bpe_files(tmp_path / "out", train(counts, config).history)
    assert (tmp_path / "out" / "vocab.json").read_bytes() == b'{"g":0,"h":1,"p":2,"u":3,"ug":4,"hug":5}'
    assert (tmp_path / "out" / "merges.txt").read_bytes() == b"#version: 0.2\nu g\nh ug\n"
    assert load_tokenizer(tmp_path / "out").encode("pug hug").tokens == ["p", "ug", "hug"]


@pytest.mark.parametrize("suffix", [None, "</w>"])
@pytest.mark.parametrize("seed", range(5))
def test_words_are_split_as_in_the_training_and_in_tokenizers(tmp_path: Path, suffix: str | None, seed: int) -> None:
    run = trained(suffix, seed)
    step = len(run.history) // 2
    write_bpe_files(tmp_path, run.history, step)
    files = str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    options = {} if suffix is None else {"end_of_word_suffix": suffix}
    theirs = models.BPE.from_file(*files, unk_token="<unk>", **options)
    ours = read_bpe_files(tmp_path / "vocab.json", "none", "whitespace-split")
    assert len(ours) == len(run.history.vocabulary(step))
    for word, _ in run.counts.items():
        expected = [(token.id, token.value) for token in theirs.tokenize(word)]
        found = ours.encode(word)
        assert list(zip(found.ids, found.tokens, strict=True)) == expected
        assert found.tokens == run.history.segmentation(word, step)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "score"}, "its objective was not count"),
        ({"continuing_subword_prefix": "##"}, "its symbols have a prefix"),
        ({"end_of_word_suffix": "</w>", "end_of_word": "symbol"}, "the end of a word is a symbol of its own"),
    ],
)
def test_other_trainings_are_refused(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(StudioError, match=message):
        write_bpe_files(tmp_path / "out", trained(None, **settings).history)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", [None, "</w>"])
def test_user_tokens_and_roles_are_told_by_the_manifest(tmp_path: Path, suffix: str | None) -> None:
    config = TrainingConfig(
        objective="count",
        continuing_subword_prefix="",
        end_of_word_suffix=suffix,
        end_of_word="attached",
        special_tokens=("<unk>", "<p>"),
        pad_token="<p>",
        user_tokens=("<url>",),
        max_merges=4,
    )
    counts = count_texts(["hug <url> hug pug"], "none", "whitespace-split", user_tokens=["<url>"])
    history = train(counts, config).history
    Export("bpe", tmp_path).write(Exported(counts, config, history, len(history)))
    ours = load_tokenizer(tmp_path)
    assert isinstance(ours, BpeTokenizer)
    files = str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
    theirs = Tokenizer(models.BPE.from_file(*files, unk_token="<unk>", end_of_word_suffix=suffix or ""))
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    theirs.add_special_tokens(["<unk>", "<p>"])
    theirs.add_tokens(["<url>"])
    for text in ("hug<url>pug <p>", "<url> <urlhug", "xhug"):
        expected = theirs.encode(text)
        found = ours.encode(text)
        assert (found.tokens, found.ids, found.offsets) == (expected.tokens, expected.ids, expected.offsets)
    assert "<url>" in ours.decode(ours.ids("hug <p> <url>"))
    assert ours.encode("hug", padding="max_length", max_length=3).tokens[-1] == "<p>"


@pytest.mark.parametrize(
    ("pre_tokenizer", "suffix", "special"),
    [
        ("byte-level", None, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[X]")),
        ("byte-level:no-prefix", "</w>", ("<unk>", "<s>")),
        ("bert", "</w>", ("<unk>", "<s>", "</s>", "<pad>", "<mask>")),
        ("whitespace-split", None, ("<unk>",)),
    ],
)
def test_a_tokenizer_json_is_beside_them(
    tmp_path: Path, pre_tokenizer: str, suffix: str | None, special: tuple[str, ...]
) -> None:
    texts = ["hug hug <url> pug, Höhe 日本", "mug x"]
    options: dict[str, Any] = {"objective": "count", "continuing_subword_prefix": "", "max_merges": 9}
    options |= {"end_of_word_suffix": suffix, "end_of_word": "attached", "user_tokens": ("<url>",)}
    config = TrainingConfig(**options, special_tokens=special)
    normalizer = "none" if "byte" in pre_tokenizer else "bert-uncased"
    counts = count_texts(texts[:1], normalizer, pre_tokenizer, user_tokens=["<url>"])
    history = train(counts, config).history
    Export("bpe", tmp_path).write(Exported(counts, config, history, len(history), model_max_length=99))
    data = (tmp_path / "tokenizer.json").read_bytes()
    theirs, ours = Tokenizer.from_str(data.decode()), load_tokenizer(tmp_path)
    assert theirs.to_str(pretty=True).encode() == data
    assert isinstance(ours, BpeTokenizer)
    assert ours.model_max_length == 99
    for text in texts:
        expected, found = theirs.encode(text, add_special_tokens=False), ours.encode(text)
        assert (found.tokens, found.ids, found.offsets) == (expected.tokens, expected.ids, expected.offsets)
        assert ours.decode(found.ids) == theirs.decode(found.ids)
        assert ours.ids(text) == found.ids
        if "byte" in pre_tokenizer:
            assert not {*special} & {*found.tokens}
    configuration = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
    assert {name: token for name, token in configuration.items() if name in ROLES} == dict(ours.roles)
    assert configuration["tokenizer_class"] == "PreTrainedTokenizerFast"
    (tmp_path / "tokenizer.json").write_bytes(data + b"\n")
    with pytest.raises(StudioError, match=r"tokenizer\.json is not the file that was written together"):
        load_tokenizer(tmp_path)


def test_symbols_with_blanks_are_refused(tmp_path: Path) -> None:
    counts = count_texts(["a b a b"], "none", "punctuation")
    config = TrainingConfig(objective="count", continuing_subword_prefix="", special_tokens=())
    with pytest.raises(StudioError, match=r"' .*cannot appear in merges\.txt"):
        write_bpe_files(tmp_path / "out", train(counts, config).history)


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (b"#version: 0.2\na b\nab\n", "line 3: expected two symbols"),
        (b"a b c\n", "line 1: expected two symbols"),
        (b"a z\n", "line 1: 'z' is not in the vocabulary"),
        (b"b a\n", "line 1: 'ba' is not in the vocabulary"),
        (b"a b\n\xff\n", "line 2: the byte FF at offset 4 is not valid UTF-8"),
    ],
)
def test_damaged_merges(tmp_path: Path, merges: bytes, message: str) -> None:
    (tmp_path / "vocab.json").write_bytes(b'{"a":0,"b":1,"ab":2}')
    (tmp_path / "merges.txt").write_bytes(merges)
    with pytest.raises(StudioError, match=r"merges\.txt, " + message):
        load_tokenizer(tmp_path)
