"""Vocabularies that were extended or pruned, as folders, and models with the same tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer as LibraryTokenizer

import wordpiece_studio as wps
from wordpiece_studio.storage.adapted_vocabulary import held_out_of_training
from wordpiece_studio.storage.corpus_record import noted_files, record_of_files, recorded_files
from wordpiece_studio.storage.manifest import MANIFEST_FILE, make_manifest, write_with_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SPECIAL = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*SPECIAL, *"hugsp", *(f"##{letter}" for letter in "hugsp"), "hug", "##ug", "put"]
TOKENIZER = wps.Tokenizer(wps.Vocabulary(TOKENS, SPECIAL))
DOMAIN = ["hugs pugs hug –", "pugs hugs"] * 30
FILES = ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", MANIFEST_FILE]


@pytest.fixture
def extension() -> wps.Extension:
    return wps.extend(TOKENIZER, texts=DOMAIN, min_frequency=1, budget=2, include=["##gs"])


def model_of(path: Path, rows: int) -> dict[str, NDArray[np.float32]]:
    """Write a model as `transformers` does, with `rows` tokens; return its tensors."""
    path.mkdir()
    random = np.random.default_rng(0)
    tensors = {
        "bert.embeddings.word_embeddings.weight": random.random((rows, 4), dtype=np.float32),
        "bert.embeddings.position_embeddings.weight": random.random((8, 4), dtype=np.float32),
        "cls.predictions.bias": random.random(rows, dtype=np.float32),
    }
    save_file(tensors, path / "model.safetensors", {"format": "pt"})
    (path / "config.json").write_text(json.dumps({"vocab_size": rows, "pad_token_id": 0, "hidden_size": 4}))
    return tensors


def changed(script: Path, model: Path, out: Path) -> dict[str, NDArray[np.float32]]:
    subprocess.run([sys.executable, script, model, out], check=True, capture_output=True, text=True)
    return load_file(out / "model.safetensors")


def test_an_extended_folder_keeps_every_id(extension: wps.Extension, tmp_path: Path) -> None:
    wps.save_extension(tmp_path / "out", extension)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [*FILES, "new-tokens.json", "resize.py"]
    )
    loaded = wps.load_tokenizer(tmp_path / "out")
    assert loaded.tokens == [*TOKENS, *extension.tokens]
    library = LibraryTokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    for text in DOMAIN[:2]:
        assert library.encode(text, add_special_tokens=False).ids == loaded.encode(text).ids
    tokens = sum(len(library.encode(text, add_special_tokens=False).ids) for text in DOMAIN[54:])
    assert tokens == extension.held_out.tokens[-1]


def test_a_model_gets_the_mean_of_the_old_rows(extension: wps.Extension, tmp_path: Path) -> None:
    old = model_of(tmp_path / "model", len(TOKENS))
    wps.save_extension(tmp_path / "out", extension)
    new = changed(tmp_path / "out" / "resize.py", tmp_path / "model", tmp_path / "resized")
    rows, first = old["bert.embeddings.word_embeddings.weight"], TOKENS.index("##g")
    grown = new["bert.embeddings.word_embeddings.weight"]
    assert (grown[: len(TOKENS)] == rows).all()
    assert np.allclose(grown[len(TOKENS)], (rows[first] + rows[TOKENS.index("##s")]) / 2)
    assert new["cls.predictions.bias"].shape == (len(TOKENS) + len(extension.tokens),)
    assert (
        new["bert.embeddings.position_embeddings.weight"] == old["bert.embeddings.position_embeddings.weight"]
    ).all()
    config = json.loads((tmp_path / "resized" / "config.json").read_text())
    assert config["vocab_size"] == len(TOKENS) + len(extension.tokens)
    assert wps.load_tokenizer(tmp_path / "resized").tokens == [*TOKENS, *extension.tokens]


def test_a_character_that_nothing_spelled_begins_as_the_unknown_token(tmp_path: Path) -> None:
    found = wps.extend(TOKENIZER, texts=DOMAIN, budget=1, include=["–"])
    wps.save_extension(tmp_path / "out", found)
    plan = json.loads((tmp_path / "out" / "new-tokens.json").read_text())
    assert plan["pieces"] == {str(len(TOKENS)): [TOKENS.index("[UNK]")]}


def test_a_model_keeps_its_size_if_unused_tokens_are_taken(extension: wps.Extension, tmp_path: Path) -> None:
    old = model_of(tmp_path / "model", len(TOKENS) + 3)  # more rows than tokens, as some models have
    wps.save_extension(tmp_path / "out", extension, in_unused=True)
    new = changed(tmp_path / "out" / "resize.py", tmp_path / "model", tmp_path / "resized")
    rows, changes = old["cls.predictions.bias"], new["cls.predictions.bias"]
    assert np.flatnonzero(rows != changes).tolist() == [1, 2]
    assert len(rows) == len(changes)


def test_a_model_without_pruned_tokens_keeps_the_other_rows(tmp_path: Path) -> None:
    old = model_of(tmp_path / "model", len(TOKENS))
    found = wps.prune(TOKENIZER, texts=DOMAIN, protected=["##ug"])
    assert found.removed == ["put"]
    wps.save_pruning(tmp_path / "out", found)
    lines = (tmp_path / "out" / "id-map.tsv").read_text().splitlines()
    assert lines[:2] == ["old\tnew", "0\t0"]
    assert len(lines) == 1 + len(TOKENS) - 1
    new = changed(tmp_path / "out" / "prune.py", tmp_path / "model", tmp_path / "pruned")
    name = "bert.embeddings.word_embeddings.weight"
    assert (new[name] == old[name][found.kept]).all()
    assert wps.load_tokenizer(tmp_path / "pruned").encode("hugs").tokens == ["hug", "##s"]


def test_a_pruned_model_knows_its_special_tokens(tmp_path: Path) -> None:
    model_of(tmp_path / "model", len(TOKENS))
    config = {"vocab_size": len(TOKENS), "pad_token_id": 0, "eos_token_id": TOKENS.index("put"), "sep_token_id": 5}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    wps.save_pruning(tmp_path / "out", wps.prune(TOKENIZER, texts=DOMAIN))
    changed(tmp_path / "out" / "prune.py", tmp_path / "model", tmp_path / "pruned")
    told = json.loads((tmp_path / "pruned" / "config.json").read_text())
    assert (told["pad_token_id"], told["eos_token_id"], told["sep_token_id"]) == (0, None, 5)


def test_scripts_of_another_vocabulary_do_not_stay(extension: wps.Extension, tmp_path: Path) -> None:
    wps.save_extension(tmp_path / "out", extension)
    with pytest.raises(wps.StudioError, match=r"resize\.py that would not match"):
        wps.save_pruning(tmp_path / "out", wps.prune(TOKENIZER, texts=DOMAIN))


def test_a_model_of_another_vocabulary_is_refused(extension: wps.Extension, tmp_path: Path) -> None:
    model_of(tmp_path / "model", 5)
    wps.save_extension(tmp_path / "out", extension)
    command = [sys.executable, tmp_path / "out" / "resize.py", tmp_path / "model", tmp_path / "resized"]
    refused = subprocess.run(command, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert f"The model has 5 tokens, and the vocabulary that was extended {len(TOKENS)}." in refused.stderr
    assert not (tmp_path / "resized").exists()


def test_nothing_is_written_if_there_are_too_few_unused_tokens(extension: wps.Extension, tmp_path: Path) -> None:
    more = wps.extend(TOKENIZER, texts=DOMAIN, min_frequency=1, budget=3)
    with pytest.raises(wps.StudioError, match=r"There are 2 \[unused\] tokens"):
        wps.save_extension(tmp_path / "out", more, in_unused=True)
    assert not (tmp_path / "out").exists()


def test_a_tenth_of_the_training_text_is_general_text(tmp_path: Path) -> None:
    folder, corpus = tmp_path / "out", tmp_path / "texts.txt"
    corpus.write_text("hug pug hugs\n" * 100, encoding="utf-8")
    tokenizer = wps.train(wps.count_words(corpus)).tokenizer()
    tokenizer.save(folder)
    assert held_out_of_training(folder, tokenizer) is None  # it is not known
    references = noted_files([wps.CorpusFile(str(corpus))])
    record = record_of_files(recorded_files(references), max_word_length=100)
    manifest = make_manifest(tokenizer, counts=wps.count_words(corpus), record=record, folder=folder)
    write_with_manifest(manifest, folder / MANIFEST_FILE, {})
    found = held_out_of_training(folder, tokenizer)
    assert found is not None
    assert found.words == 30
    corpus.unlink()
    assert held_out_of_training(folder, tokenizer) is None
