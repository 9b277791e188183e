"""Mutations of the manifest of a vocabulary, ``wordpiece-studio.json``."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.mutating import spoiled_bytes, spoiled_json, spoiled_lines
from tests.reliability.saves import trained
from wordpiece_studio.storage.manifest import MANIFEST_FILE, read_manifest
from wordpiece_studio.storage.tokenizer_directory import save_directory
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.storage.vocab_txt import vocabulary_bytes

if TYPE_CHECKING:
    import random

_SIZE = 60


@cache
def seeds() -> dict[str, bytes]:
    """Return the manifest of a trained vocabulary."""
    run = trained(0, _SIZE)
    with tempfile.TemporaryDirectory() as name:
        save_directory(
            Path(name), run.vocabulary, run.counts.normalizer, run.counts.pre_tokenizer, config=run.config,
            counts=run.counts,
        )  # fmt: skip
        return {MANIFEST_FILE: (Path(name) / MANIFEST_FILE).read_bytes()}


def mutate(random: random.Random, seed: bytes) -> bytes:
    """Return a manifest of which something is not right."""
    return random.choice((spoiled_bytes, spoiled_lines, spoiled_json, spoiled_json, spoiled_json))(random, seed)


def read(path: Path) -> None:
    """Read the manifest alone, and then the vocabulary beside it with the settings that it says."""
    read_manifest(path)
    vocabulary = path.with_name("vocab.txt")
    if not vocabulary.exists():
        vocabulary.write_bytes(vocabulary_bytes(trained(0, _SIZE).vocabulary.tokens))
    load_tokenizer(path.parent).encode("Hug the pugs, 안녕!")
