from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.core.text.alignment import AlignedText
from wordpiece_studio.core.text.normalizers import (
    BertNormalizer,
    Lowercase,
    Normalizer,
    RemoveCharacters,
    Sequence,
    Unchanged,
    from_spec,
    resolve_normalizer,
    to_spec,
)
from wordpiece_studio.errors import StudioError

BUILT_IN = [
    Unchanged(),
    Lowercase(),
    RemoveCharacters(",.+%"),
    BertNormalizer(),
    BertNormalizer(lowercase=True),
    BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True),
    BertNormalizer(lowercase=True, strip_accents=False),
    Sequence([Lowercase(), RemoveCharacters(".+%25"), BertNormalizer()]),
]


class Shouting(Normalizer):
    name = "shouting"

    def align(self, text: str) -> AlignedText:
        return AlignedText(text.upper() if len(text.upper()) == len(text) else text, *[range(len(text))] * 2)


@pytest.mark.parametrize("normalizer", BUILT_IN)
def test_names_and_specs_lead_back(normalizer: Normalizer) -> None:
    assert resolve_normalizer(normalizer.name) == normalizer
    assert from_spec(json.loads(json.dumps(to_spec(normalizer)))) == normalizer
    assert resolve_normalizer(normalizer) is normalizer


def test_bert_names() -> None:
    assert [resolve_normalizer(name).name for name in ("bert-cased", "bert-uncased")] == ["bert-cased", "bert-uncased"]
    assert resolve_normalizer("bert-cased") == BertNormalizer()
    assert resolve_normalizer("bert-uncased:keep-accents").normalize("ÉÑ") == "éñ"
    assert resolve_normalizer(None) == Unchanged()


@pytest.mark.parametrize("name", ["", "bert", "BERT-cased", "bert-cased:", "bert-cased:x", "remove:", "lowercase+"])
def test_unknown_names_are_told_with_the_known_ones(name: str) -> None:
    if name == "bert-cased:":
        assert resolve_normalizer(name) == BertNormalizer()
        return
    with pytest.raises(StudioError, match="bert-uncased, lowercase"):
        resolve_normalizer(name)


@pytest.mark.parametrize(
    "spec",
    [
        None,
        [],
        {},
        {"type": "x"},
        {"type": "lowercase", "more": 1},
        {"type": "remove"},
        {"type": "remove", "characters": 1},
        {"type": "sequence", "normalizers": [{}]},
        {"type": "bert", "lowercase": True},
        to_spec(BertNormalizer()) | {"lowercase": 1},
        to_spec(BertNormalizer()) | {"lowercase": None},
        to_spec(BertNormalizer()) | {"more": True},
    ],
)
def test_what_describes_no_normalizer_is_refused(spec: object) -> None:
    with pytest.raises(StudioError, match="does not describe a normalizer"):
        from_spec(spec)


def test_a_normalizer_of_ones_own_works_but_is_not_written() -> None:
    assert resolve_normalizer(Shouting()).normalize("abc") == "ABC"
    with pytest.raises(StudioError, match="shouting"):
        to_spec(Shouting())


@pytest.mark.parametrize("normalizer", BUILT_IN)
@given(text=st.text(max_size=30))
def test_aligned_text_is_the_normalized_text(normalizer: Normalizer, text: str) -> None:
    aligned = normalizer.align(text)
    assert aligned.text == normalizer.normalize(text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    assert all(0 <= start < end <= len(text) for start, end in zip(aligned.starts, aligned.ends, strict=True))


@pytest.mark.parametrize("normalizer", [n for n in BUILT_IN if n.is_local])
@given(parts=st.lists(st.text(max_size=8), max_size=4), separator=st.sampled_from([" ", "\n"]))
def test_local_means_that_stretches_stand_alone(normalizer: Normalizer, parts: list[str], separator: str) -> None:
    whole = normalizer.normalize(separator.join(parts))
    alone = [normalizer.normalize(part) for part in parts]
    assert whole in (separator.join(alone), " ".join(alone))


def test_removing_blanks_is_not_local() -> None:
    assert not RemoveCharacters(" ").is_local
    assert not RemoveCharacters("\n").is_local
    assert not Sequence([Lowercase(), RemoveCharacters("a ")]).is_local
    assert not Shouting().is_local


def test_a_removed_character_belongs_to_nobody() -> None:
    aligned = resolve_normalizer("lowercase+remove:,.").align("A,b.İ")
    assert (aligned.text, list(aligned.starts), list(aligned.ends)) == ("abi̇", [0, 2, 4, 4], [1, 3, 5, 5])


def test_the_published_offsets() -> None:
    uncased = BertNormalizer(lowercase=True)
    assert uncased.align("h\u0301e\u0301") == AlignedText("he", [0, 2], [1, 3])
    assert uncased.align("한") == AlignedText("\u1112\u1161\u11ab", [0, 0, 0], [1, 1, 1])
    assert uncased.align("a\0b") == AlignedText("ab", [0, 2], [1, 3])
    assert BertNormalizer().align("a中") == AlignedText("a 中 ", [0, 1, 1, 1], [1, 2, 2, 2])


def test_who_goes_by_character_but_for_some() -> None:
    class Own(Normalizer):
        name = "own"

        def align(self, text: str) -> AlignedText:
            return AlignedText.identity(text)

    assert all(normalizer.is_by_character for normalizer in BUILT_IN)
    assert not Own().is_by_character
    assert Own().regards_neighbours("a")
    assert not Sequence([Unchanged(), Own()]).is_by_character
    # A virama that is no mark to be stripped may change places with others.
    regarding = {
        normalizer.name: "".join(filter(normalizer.regards_neighbours, "aéΣσ\u0301\ua9c0\U0001d15e"))
        for normalizer in (
            Lowercase(),
            BertNormalizer(),
            BertNormalizer(lowercase=True),
            Sequence([RemoveCharacters("a"), Lowercase()]),
            Sequence([Lowercase(), BertNormalizer(strip_accents=True)]),
        )
    }
    assert list(regarding.values()) == [
        "Σ",
        "",
        "\ua9c0\U0001d15e",
        "Σ",
        "Σ\ua9c0\U0001d15e",
    ]
