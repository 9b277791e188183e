"""The comparison with the `tokenizers` library, in small; the whole takes minutes."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("tokenizers")
from tests.benchmarks.parity import (
    SCALARS,
    Pair,
    bert_pairs,
    code_point_differences,
    other_pairs,
    random_differences,
    random_texts,
)
from tests.benchmarks.unicode_tables import forms, patterns
from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.normalizers import Lowercase
from wordpiece_studio.text.pipeline import Pipeline

PAIRS = bert_pairs() + other_pairs()
# Every code point where scripts have marks and cases, and one in 61 of all.
SOME = SCALARS[0xA0:0x250] + SCALARS[0x900:0x980] + SCALARS[0x1E00:0x2030] + SCALARS[::61]
MOST = SCALARS[:0x3400:2] + SCALARS[0x3400::17]
MORE = MOST[3::20]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: ascii(pair.name))
@pytest.mark.parametrize(
    "characters",
    [
        SOME[:: len(PAIRS) // 3],
        pytest.param(MORE, marks=pytest.mark.slow),
        pytest.param(MOST, marks=pytest.mark.exhaustive),
    ],
    ids=["some", "more", "most"],
)
def test_code_points(pair: Pair, characters: str) -> None:
    assert list(code_point_differences(pair, characters)) == []


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: ascii(pair.name))
@pytest.mark.parametrize(
    "count", [60, pytest.param(300, marks=pytest.mark.slow), pytest.param(3000, marks=pytest.mark.exhaustive)]
)
def test_random_texts(pair: Pair, count: int) -> None:
    assert list(random_differences(pair, random_texts(count, seed=PAIRS.index(pair)))) == []


def test_a_difference_is_found() -> None:
    pair = PAIRS[0]
    broken = Pair("broken", Pipeline(Lowercase(), pair.ours.pre_tokenizer), pair.normalizer, pair.pre_tokenizer)
    found = list(code_point_differences(broken, "aé\u200b"))
    assert {line.partition(": ours")[0] for line in found} >= {r"broken: '\xe9'", r"broken: 'e\u200ba \u200b e'"}
    assert not any("'ea" in line.partition(": ours")[0] for line in found)
    assert list(random_differences(broken, ["a", "\xe9"])) == [
        "broken: '\\xe9': ours [('\\xe9', 0, 1)], theirs [('e', 0, 1)]"
    ]


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_tables_are_the_librarys() -> None:
    for name, tables in (("forms", forms()), ("patterns", patterns())):
        assert tables == json.loads(resource_path(f"unicode/{name}.json").read_text(encoding="ascii"))
