from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wordpiece_studio as wps

if TYPE_CHECKING:
    from collections.abc import Callable

HUG = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
# Modules whose examples anyone may run.
WITH_EXAMPLES = [
    "wordpiece_studio",
    "wordpiece_studio.errors",
    "wordpiece_studio.corpus.compression",
    "wordpiece_studio.corpus.files",
    "wordpiece_studio.corpus.counts",
    "wordpiece_studio.corpus.decoding",
    "wordpiece_studio.corpus.rows",
    "wordpiece_studio.corpus.linter.text_checks",
    "wordpiece_studio.corpus.linter.linter",
    "wordpiece_studio.corpus.listing",
    "wordpiece_studio.evaluation.differences",
    "wordpiece_studio.evaluation.coding",
    "wordpiece_studio.evaluation.cross_validation",
    "wordpiece_studio.evaluation.evaluating",
    "wordpiece_studio.tokenizer.shortest_path",
    "wordpiece_studio.evaluation.held_out",
    "wordpiece_studio.system.memory",
    "wordpiece_studio.evaluation.sizes",
    "wordpiece_studio.evaluation.usage",
    "wordpiece_studio.libraries.sweep",
    "wordpiece_studio.text.pipeline",
    "wordpiece_studio.text.normalizers",
    "wordpiece_studio.text.character_tables",
    "wordpiece_studio.text.pre_tokenizers",
    "wordpiece_studio.system.printable",
    "wordpiece_studio.tokenizer.vocabulary",
    "wordpiece_studio.tokenizer.bpe_tokenizer",
    "wordpiece_studio.tokenizer.encoding",
    "wordpiece_studio.tokenizer.shaping",
    "wordpiece_studio.tokenizer.tokenizer",
    "wordpiece_studio.tokenizer.vocabulary",
    "wordpiece_studio.training.config",
    "wordpiece_studio.training.forecast",
    "wordpiece_studio.training.engine",
    "wordpiece_studio.training.history",
    "wordpiece_studio.training.trainer",
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_in_the_docstrings_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Before each docstring it looks whether any of the hundreds of sources was changed.
    monkeypatch.setattr("linecache.checkcache", lambda *_: None)
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert (failed, tried > 0) == (0, True)


def test_every_public_name_is_there_and_listed() -> None:
    for name in wps.__all__:
        assert getattr(wps, name) is not None
    assert dir(wps) == sorted(wps.__all__)
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = wps.trian


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(wps.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (node.module, alias.name) for node in block.body for alias in node.names if isinstance(node, ast.ImportFrom)
    } - {("typing", "Any")}
    lazy = {(f"wordpiece_studio.{module}", name) for name, module in wps._MODULES.items()}
    assert seen == lazy
    assert {name for _, name in lazy} | {"__version__"} == set(wps.__all__)


def test_importing_costs_nothing_and_needs_no_qt() -> None:
    code = (
        "import sys, wordpiece_studio as wps\n"
        "assert not {'numpy', 'llvmlite', 'PySide6', 'regex', 'argparse'} & set(sys.modules)\n"
        "run = wps.train(wps.count_texts(['hug hugs']), wps.TrainingConfig(max_merges=2))\n"
        "run.tokenizer().encode('hug')\n"
        "assert not {'PySide6', 'llvmlite', 'rich'} & set(sys.modules), sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


TOKENIZER = wps.Tokenizer(wps.Vocabulary(["[UNK]", "a"]))
BPE = wps.BpeTokenizer({"a": 0}, [], "none", "bert")


@pytest.mark.parametrize(
    ("call", "given", "advice"),
    [
        (wps.Digits, "yes", "individual_digits of Digits: 'yes'. Use True or False"),
        (lambda given: wps.Split("a", invert=given), 1, "invert of Split: 1. Use True or False"),
        (wps.ByteLevel, None, "Use True or False"),
        (lambda given: wps.BertNormalizer(strip_accents=given), "no", "Use True, False or None"),
        (wps.RemoveCharacters, 3, "Use a string"),
        (wps.UnicodeForm, "nf", "Choose one of nfc, nfd, nfkc, nfkd"),
        (wps.Sequence, "nfc", "'nfc' is not a Normalizer. Pass a list"),
        (wps.PreTokenizerSequence, [wps.Digits(), 3], "3 is not a PreTokenizer. Pass a list"),
        (wps.Vocabulary, "abc", "One text was given where several are expected"),
        (wps.Vocabulary, [1], "Text 1 is not a string: 1"),
        (lambda given: wps.Vocabulary(["a"], given), "[UNK]", "One text was given where several are expected"),
        (lambda given: wps.Vocabulary(["a"], added_tokens=given), "abc", "Pass a list of strings or AddedTokens"),
        (lambda given: wps.Vocabulary(["a"], (), given), 3, "Invalid continuing_subword_prefix: 3. Use a string"),
        (
            lambda given: wps.Vocabulary(["a"], end_of_word_suffix=given),
            3,
            "Invalid end_of_word_suffix: 3. Use a string",
        ),
        (wps.Vocabulary(["a"]).__getitem__, "a", "'a' is not an ID. Use a whole number"),
        (wps.Tokenizer, ["a"], r"['a'] is not a vocabulary. Pass one"),
        (
            lambda given: wps.Tokenizer(TOKENIZER.vocabulary, given),
            3,
            "3 is not a normalizer. The normalizers are",
        ),
        (lambda given: wps.Tokenizer(TOKENIZER.vocabulary, max_word_length=given), "9", "Invalid max_word_length: '9'"),
        (
            lambda given: wps.Tokenizer(TOKENIZER.vocabulary, model_max_length=given),
            1.5,
            "Invalid model_max_length: 1.5",
        ),
        (TOKENIZER.decode, "abc", "IDs are expected, not 'abc'. Pass a list of whole numbers"),
        (BPE.decode, 3, "IDs are expected, not 3. Pass a list of whole numbers"),
        (TOKENIZER.ids, b"a", r"b'a' is not a string. Pass a str; bytes must be decoded first"),
        (TOKENIZER.explain, 3, "3 is not a string"),
        (
            lambda given: TOKENIZER.encode("a", add_special_tokens=given),
            "no",
            "Invalid add_special_tokens: 'no'. Use True",
        ),
        (lambda given: wps.encode_texts(given, ["a"]), "a", "is not a tokenizer. Pass what load_tokenizer returns"),
        (wps.load_tokenizer, 3, "3 is not a path. Pass a string or a pathlib.Path"),
        (TOKENIZER.save, 3, "3 is not a path. Pass a string or a pathlib.Path"),
    ],
)
def test_wrong_types_are_told_what_to_give(call: Callable[[Any], object], given: object, advice: str) -> None:
    with pytest.raises(wps.StudioError) as error:
        call(given)
    assert advice in str(error.value)


def test_the_published_example() -> None:
    counts = wps.WordCounts.from_pairs(HUG)
    trainer = wps.Trainer(counts, wps.TrainingConfig(objective="score", special_tokens=()))
    assert trainer.run(4) == 4
    assert [merge.token for merge in trainer.history] == ["##gs", "hu", "hugs", "hug"]
    run = wps.train(counts, wps.TrainingConfig(objective="score", special_tokens=(), max_merges=4))
    assert run.vocabulary.tokens == trainer.vocabulary.tokens


def test_counts_run_and_tokenizer_carry_how_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Été, été")
    counts = wps.count_words([tmp_path / "a.txt"], normalizer="bert-uncased", pre_tokenizer="whitespace-split")
    run = wps.train(counts, wps.TrainingConfig(max_merges=10))
    tokenizer = run.tokenizer()
    assert tokenizer.normalizer == run.counts.normalizer == wps.BertNormalizer(lowercase=True)
    assert tokenizer.pre_tokenizer == wps.WhitespaceSplit()
    wps.save_directory(tmp_path / "out", run.vocabulary, tokenizer.normalizer, tokenizer.pre_tokenizer)
    assert wps.load_tokenizer(tmp_path / "out").encode("ÉTÉ").tokens == tokenizer.encode("ÉTÉ").tokens


def test_every_object_is_printed_on_one_short_line(tmp_path: Path) -> None:
    texts = [" ".join(f"word{number}" for number in range(3000))] * 2
    counts = wps.count_texts(texts)
    run = wps.train(counts, wps.TrainingConfig(vocab_size=100))
    trainer, tokenizer = wps.Trainer(counts), run.tokenizer()
    encoded, corpus = wps.encode_texts(tokenizer, texts), wps.divided_corpus(texts=texts * 6)
    tokenizer.save(tmp_path)
    bpe = wps.BpeTokenizer({"a": 0}, [], "none", "whitespace")
    for shown in (
        counts, counts.statistics, run, run.history, run.history[0], run.vocabulary, trainer, trainer.top(1)[0], bpe,
        tokenizer, tokenizer.normalizer, tokenizer.encode(texts[0]), tokenizer.explain("w" * 100), encoded,
        encoded.statistics, corpus, corpus.held_out, wps.HeldOutFigures(run, 2, {"score": 1.0}),
        wps.load_tokenizer(tmp_path), wps.evaluate([run, bpe], texts=texts), wps.compare(run, bpe, texts=texts),
        wps.compare(run, run, texts=texts).differences, wps.compare(run, run).overlap,
    ):  # fmt: skip
        text = repr(shown)
        assert len(text) < 400, text
        assert "\n" not in text
        assert " at 0x" not in text


def test_whole_numbers_are_those_of_python_and_numpy(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("hug hug pug\n", encoding="utf-8")
    history = wps.train({"hug": 10, "pug": 5}).history
    vocabulary = history.vocabulary(1)
    calls: list[Any] = [
        history.vocabulary,
        history.birth_step,
        history.merge_tree,
        history.positions,
        lambda number: history.segmentation("hug", number),
        lambda number: history.words_with_token(number, 1),
        lambda number: wps.Trainer({"hug": 10, "pug": 5}, history=history, step=number, engine="plain").current_step,
        vocabulary.first,
        lambda number: wps.Vocabulary(["a", "b"], size=number),
        lambda number: wps.Vocabulary(["a", "b"], pieces=number),
        wps.WordCounts.from_pairs({"a": 1, "b": 2}).at_least,
        lambda number: wps.count_texts(["a b"], max_word_length=number),
        lambda number: wps.count_words(path, max_word_length=number),
        lambda number: wps.count_words(path, min_count=number),
        lambda number: wps.count_words(path, processes=number),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call(1.5)
        assert repr(call(np.int64(1))).replace("np.int64(1)", "1") == repr(call(1))
