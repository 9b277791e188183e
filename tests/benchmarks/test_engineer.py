"""The engineer's script in small: everything but the training, over a hundred lines of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.benchmarks import engineer
from tests.benchmarks.agreement_texts import mixed_lines

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("library", ["tokenizers", "transformers"])
@pytest.mark.parametrize("has_added_tokens", [False, True])
def test_every_form_is_as_in_the_other_libraries(
    library: str, has_added_tokens: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    lines = mixed_lines(100)
    run = wps.train(wps.count_texts(lines[::2], "bert-uncased"), wps.TrainingConfig(max_merges=200, min_frequency=2))
    tokenizer = run.tokenizer()
    if has_added_tokens:
        tokenizer, lines = engineer.with_added_tokens(tokenizer, lines)
    tokenizer.save(tmp_path)
    results = list(engineer.differences(tokenizer, tmp_path, lines, [library], processes=1))
    assert [form for form, *_ in results] == list(engineer.FORMS)
    for form, compared, different, shown in results:
        assert (form, different, shown) == (form, 0, [])
        assert compared >= len(lines) - 1
