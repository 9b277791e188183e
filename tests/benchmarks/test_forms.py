"""Random calls in every form, in small."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers

from tests.benchmarks.forms import made, with_tokenizers, with_transformers
from wordpiece_studio.tokenizer import tokenizer as tokenizer_module

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.filterwarnings("ignore:`max_length` is ignored")
@pytest.mark.parametrize("few", [-1, 1 << 60], ids=["library", "plain"])
@pytest.mark.parametrize("compare", [with_tokenizers, with_transformers])
def test_calls_equal_those_of_the_libraries(
    few: int, compare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "error")  # else it tells that there is no PyTorch
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(tokenizer_module, "_FEW_CHARACTERS", few)
    ours = made("bert-uncased", "bert", True)
    ours.save(tmp_path)
    theirs: Any = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    if compare is with_transformers:
        theirs = pytest.importorskip("transformers").AutoTokenizer.from_pretrained(tmp_path)
    chance = random.Random(few)
    assert [difference for _ in range(150) if (difference := compare(ours, theirs, chance))] == []
