from __future__ import annotations

import dataclasses
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import one_example_in
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import bert_tables, form_tables
from wordpiece_studio.text.normalizers import (
    FORM_NAMES,
    BertNormalizer,
    CorpusOnly,
    Lowercase,
    RemoveCharacters,
    Sequence,
    StripAccents,
    Unchanged,
    UnicodeForm,
    from_spec,
    resolve_normalizer,
    to_spec,
)
from wordpiece_studio.text.pipeline import AlignedText, Normalizer

BUILT_IN = [
    Unchanged(),
    Lowercase(),
    RemoveCharacters(",.+%"),
    BertNormalizer(),
    BertNormalizer(lowercase=True),
    BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True),
    BertNormalizer(lowercase=True, strip_accents=False),
    Sequence([Lowercase(), RemoveCharacters(".+%25"), BertNormalizer()]),
    StripAccents(),
    *map(UnicodeForm, FORM_NAMES),
    resolve_normalizer("language-friendly"),
    resolve_normalizer("language-friendly:keep-chinese"),
    Sequence([UnicodeForm("nfkd"), StripAccents(), Lowercase()]),
    Sequence([resolve_normalizer("language-friendly"), RemoveCharacters("!")]),
    CorpusOnly(resolve_normalizer("language-friendly")),
    Sequence([CorpusOnly(Lowercase()), CorpusOnly(RemoveCharacters(",+")), BertNormalizer()]),
]
# Marks that change places or are composed, Hangul whole and in jamo, letters with more than one part, controls, blanks.
HARD = "aeΣİéÅ\u212b\u0344\u0301\u0323\u0345\u094d\u0915\u093c\u0958\u09c7\u09be한"
HARD += "\u1112\u1161\u11abﬁ\ufdfa\u1fbd中\0\xad .\n"
TEXTS = st.text(st.sampled_from(HARD) | st.characters(exclude_categories=["Cs"]), max_size=30)


class Shouting(Normalizer):
    name = "shouting"

    def align(self, text: str) -> AlignedText:
        return AlignedText(text.upper() if len(text.upper()) == len(text) else text, *[range(len(text))] * 2)


def test_what_prepares_the_corpus_only_is_not_kept() -> None:
    lowercase, removal = CorpusOnly(Lowercase()), CorpusOnly(RemoveCharacters("."))
    assert (lowercase.kept, Lowercase().kept) == (Unchanged(), Lowercase())
    assert Sequence([lowercase, removal]).kept == Sequence([])
    assert Sequence([lowercase, BertNormalizer(), Lowercase()]).kept == Sequence([BertNormalizer(), Lowercase()])
    assert (
        Sequence([Sequence([lowercase, removal, StripAccents()]), Lowercase()]).kept.name == "strip-accents+lowercase"
    )
    assert CorpusOnly("lowercase") == lowercase
    assert CorpusOnly(Sequence([Lowercase(), RemoveCharacters("+")])).name == "corpus:lowercase+corpus:remove:%2B"
    with pytest.raises(StudioError, match="no normalizer called"):
        resolve_normalizer("corpus:corpus:lowercase")


@pytest.mark.parametrize("normalizer", BUILT_IN)
def test_names_and_specs_lead_back(normalizer: Normalizer) -> None:
    assert resolve_normalizer(normalizer.name) == normalizer
    assert from_spec(json.loads(json.dumps(to_spec(normalizer)))) == normalizer
    assert resolve_normalizer(normalizer) is normalizer


@pytest.mark.parametrize("normalizer", BUILT_IN)
def test_no_character_grows_more_than_declared(normalizer: Normalizer) -> None:
    changing = {*bert_tables().decompositions, *bert_tables().lower_case, *form_tables().compatible, ord("각")}
    for character in map(chr, sorted(changing)):
        assert len(normalizer.normalize(character)) <= normalizer.growth, ascii(character)


def test_bert_names() -> None:
    assert [resolve_normalizer(name).name for name in ("bert-cased", "bert-uncased")] == ["bert-cased", "bert-uncased"]
    assert resolve_normalizer("bert-cased") == BertNormalizer()
    assert resolve_normalizer("bert-uncased:keep-accents").normalize("ÉÑ") == "éñ"
    assert resolve_normalizer(None) == Unchanged()


@pytest.mark.parametrize(
    "name", ["", "bert", "BERT-cased", "bert-cased:", "bert-cased:x", "remove:", "lowercase+", "NFC"]
)
def test_unknown_names_are_reported_with_the_known_ones(name: str) -> None:
    if name == "bert-cased:":
        assert resolve_normalizer(name) == BertNormalizer()
        return
    with pytest.raises(StudioError, match="bert-uncased, language-friendly, nfc"):
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
        {"type": "nfc", "form": "nfc"},
        {"type": "none"},
        {"type": "corpus-only", "normalizer": {}},
        {"type": "bert", "lowercase": True},
        to_spec(BertNormalizer()) | {"lowercase": 1},
        to_spec(BertNormalizer()) | {"lowercase": None},
        to_spec(BertNormalizer()) | {"more": True},
    ],
)
def test_invalid_specs_are_rejected(spec: object) -> None:
    with pytest.raises(StudioError, match="does not describe a normalizer"):
        from_spec(spec)


def test_a_custom_normalizer_works_but_is_not_written() -> None:
    assert resolve_normalizer(Shouting()).normalize("abc") == "ABC"
    with pytest.raises(StudioError, match="shouting"):
        to_spec(Shouting())


@pytest.mark.parametrize("normalizer", BUILT_IN)
def test_a_subclass_of_a_built_in_one_is_not_written(normalizer: Normalizer) -> None:
    derived = type("Derived", (type(normalizer),), {"__slots__": ()})
    copy = object.__new__(derived)
    for field in dataclasses.fields(normalizer):  # type: ignore[arg-type]
        object.__setattr__(copy, field.name, getattr(normalizer, field.name))
    with pytest.raises(StudioError, match="not built in"):
        to_spec(copy)


@pytest.mark.parametrize("normalizer", BUILT_IN)
@one_example_in(3)
@given(text=st.text(max_size=30) | TEXTS)
def test_aligned_text_is_the_normalized_text(normalizer: Normalizer, text: str) -> None:
    aligned = normalizer.align(text)
    assert aligned.text == normalizer.normalize(text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    assert all(0 <= start < end <= len(text) for start, end in zip(aligned.starts, aligned.ends, strict=True))


@pytest.mark.parametrize("normalizer", [n for n in BUILT_IN if n.is_local])
@one_example_in(3)
@given(parts=st.lists(st.text(max_size=8) | TEXTS, max_size=4), separator=st.sampled_from([" ", "\n"]))
def test_local_means_that_stretches_stand_alone(normalizer: Normalizer, parts: list[str], separator: str) -> None:
    whole = normalizer.normalize(separator.join(parts))
    alone = [normalizer.normalize(part) for part in parts]
    assert whole in (separator.join(alone), " ".join(alone))


def test_removing_blanks_is_not_local() -> None:
    assert not RemoveCharacters(" ").is_local
    assert not RemoveCharacters("\n").is_local
    assert not Sequence([Lowercase(), RemoveCharacters("a ")]).is_local
    assert not Shouting().is_local


def test_a_removed_character_belongs_to_no_stretch() -> None:
    aligned = resolve_normalizer("lowercase+remove:,.").align("A,b.İ")
    assert (aligned.text, list(aligned.starts), list(aligned.ends)) == ("abi̇", [0, 2, 4, 4], [1, 3, 5, 5])


def test_the_published_offsets() -> None:
    uncased = BertNormalizer(lowercase=True)
    assert uncased.align("h\u0301e\u0301") == AlignedText("he", [0, 2], [1, 3])
    assert uncased.align("한") == AlignedText("\u1112\u1161\u11ab", [0, 0, 0], [1, 1, 1])
    assert uncased.align("a\0b") == AlignedText("ab", [0, 2], [1, 3])
    assert BertNormalizer().align("a中") == AlignedText("a 中 ", [0, 1, 1, 1], [1, 2, 2, 2])


def test_which_pipelines_work_by_character_with_exceptions() -> None:
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
    assert list(regarding.values()) == ["", "", "\ua9c0\U0001d15e", "", "\ua9c0\U0001d15e"]


def test_which_characters_depend_on_their_neighbours_in_a_form() -> None:
    # A composed letter; a mark; one that takes up two; a virama, and what another character becomes that ends above it;
    # two that follow others: a vowel of a syllable, and of Hangul.
    characters = "é\u0301\u0344\u094d\ufb1d\u09be\u1161"
    regarding = {form: "".join(filter(UnicodeForm(form).regards_neighbours, characters)) for form in FORM_NAMES}
    assert regarding["nfc"] == regarding["nfkc"] == "\u0301\u0344\ufb1d\u09be\u1161"
    assert regarding["nfd"] == regarding["nfkd"] == "\u0301\u0344\u094d"
    friendly = resolve_normalizer("language-friendly")
    assert "".join(filter(friendly.regards_neighbours, characters)) == regarding["nfc"]


def test_lower_case_regards_no_neighbours() -> None:
    assert Lowercase().normalize("ΣΟΦΟΣ İ") == "σοφοσ i\u0307"


def test_language_friendly_keeps_what_makes_a_language() -> None:
    isolating, keeping = map(resolve_normalizer, ["language-friendly", "language-friendly:keep-chinese"])
    text = "El NIN\u0303O\u200b, \u1112\u1161\u11ab국, 中文"
    assert isolating.normalize(text) == "el niño, 한국,  中  文 "
    assert keeping.normalize(text) == "el niño, 한국, 中文"
    assert keeping == Sequence([UnicodeForm("nfc"), BertNormalizer(True, False, strip_accents=False, lowercase=True)])
    assert resolve_normalizer("nfc+bert-uncased:keep-accents").name == isolating.name == "language-friendly"


def test_accents_are_stripped_where_they_stand_apart() -> None:
    assert StripAccents().normalize("é e\u0301 \u20dd का") == "é e  क"
    assert resolve_normalizer("nfd+strip-accents").normalize("Él vio") == "El vio"


def test_a_composed_character_has_the_place_of_its_first_part() -> None:
    assert UnicodeForm("nfc").align("xe\u0301y") == AlignedText("xéy", [0, 1, 3], [1, 2, 4])
    assert UnicodeForm("nfkd").align("ﬁé") == AlignedText("fie\u0301", [0, 0, 1, 1], [1, 1, 2, 2])


@pytest.mark.parametrize("form", FORM_NAMES)
def test_long_runs_take_no_longer_than_their_length(form: str) -> None:
    normalizer, text = UnicodeForm(form), "a" + "\u0301\u0323" * 20_000
    started = time.process_time()
    assert len(normalizer.normalize(text)) >= len(text) - 2
    assert len(normalizer.align(text).text) >= len(text) - 2
    assert time.process_time() - started < 10
