"""The checks of a tokenizer: each passes a healthy one, and names what is wrong with another."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

import wordpiece_studio as wps
from tests.libraries.library_models import TRAINING, sentencepiece_model
from wordpiece_studio.corpus.counts import CountingStopped

if TYPE_CHECKING:
    from pathlib import Path

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
DIGITS = [mark + digit for digit in "0123456789" for mark in ("", "##")]
LETTERS = [mark + letter for letter in "ghpsu" for mark in ("", "##")]
HEALTHY = [*SPECIAL, *DIGITS, *LETTERS]
TEXT = ["hugs pug 12", "hug PUGS 345"] * 60


def made(tokens: list[str] = HEALTHY, normalizer: str = "bert-uncased", pre: str = "bert") -> wps.Tokenizer:
    return wps.Tokenizer(wps.Vocabulary(tokens, [token for token in SPECIAL if token in tokens]), normalizer, pre)


def found(tokenizer: Any, name: str, *texts: str) -> wps.TokenizerCheck:
    report = wps.check(tokenizer, texts=texts)
    (check,) = [each for each in report.checks if each.name == name]
    assert check.reason
    assert bool(check.advice) == (check.status in ("warning", "fail")) or check.status == "skipped"
    return check


def test_a_healthy_vocabulary_passes_all() -> None:
    report = wps.check(made(), texts=TEXT)
    assert [(each.name, each.status) for each in report.checks] == [
        ("IDs", "pass"), ("special tokens", "pass"), ("round trip", "pass"), ("unknown tokens", "pass"),
        ("unicode forms", "pass"), ("digits", "pass"), ("reachable tokens", "pass"), ("rare tokens", "skipped"),
    ]  # fmt: skip
    assert not report.failed
    assert report.to_dict()["checks"][0]["reason"] == "35 tokens have the IDs from 0 to 34, without gaps"


def test_without_a_text_three_are_skipped() -> None:
    skipped = [each.name for each in wps.check(made()).checks if each.status == "skipped"]
    assert skipped == ["round trip", "unknown tokens", "rare tokens"]


def test_a_folder_and_a_file_of_text(tmp_path: Path) -> None:
    long = wps.TokenizerCheck("IDs", "pass", "none", examples=["a" * 100, "b" * 101])
    assert long.examples == ("a" * 100, "b" * 100 + "…")
    made().save(tmp_path / "saved")
    (tmp_path / "text.txt").write_text("\n".join(TEXT), encoding="utf-8")
    by_path = wps.check(tmp_path / "saved", tmp_path / "text.txt")
    assert by_path == wps.check(made(), texts=TEXT)
    words = wps.check(made(), wps.count_texts(TEXT, normalizer="bert-uncased"))
    assert [each.status for each in words.checks] == [each.status for each in by_path.checks]
    other = wps.check(made(), wps.count_texts(["hug's"] * 200, pre_tokenizer="whitespace-split"))
    assert other.checks[3].examples == ("'",)  # read by the tokenizer's own steps


def test_special_tokens() -> None:
    without = [token for token in HEALTHY if token != "[UNK]"]
    assert found(made(without), "special tokens").examples == ("[UNK]",)
    assert found(made(without), "special tokens").status == "fail"
    few = found(made(HEALTHY[1:2] + HEALTHY[5:]), "special tokens")
    assert (few.status, few.values["roles"]) == ("warning", "pad_token, cls_token, sep_token, mask_token")


def test_what_the_normalizer_changes_by_design_is_no_loss() -> None:
    check = found(made(), "round trip", "Húgs  PUG!".replace("!", ""), "hug")
    assert (check.status, check.values["changed"], check.values["same"]) == ("pass", 1, 1)
    check = found(made(), "round trip", "hug", "hug xyz", "hug [UNK]")
    assert (check.status, check.examples) == ("warning", ("hug xyz",))


def test_what_is_dropped_is_a_loss(tmp_path: Path) -> None:
    """A byte pair encoding without an unknown token leaves out the characters that it does not know."""
    lossy = wps.BpeTokenizer({"h": 0, "u": 1, "g": 2}, [], "none", "bert")
    check = found(lossy, "round trip", "hug", "hugs")
    assert (check.status, check.examples) == ("fail", ("hugs",))
    gone = Tokenizer(models.BPE({"h": 0}, []))
    gone.normalizer, gone.pre_tokenizer = normalizers.Replace("q", "h"), pre_tokenizers.Metaspace()
    gone.save(str(tmp_path / "tokenizer.json"))
    check = found(tmp_path / "tokenizer.json", "round trip", "xyz")
    assert (check.status, check.examples) == ("fail", ("xyz",))  # a whole line, too


def test_unknown_tokens_by_script() -> None:
    texts = ["hug " * 9_000, "хагс " * 110]
    check = found(made(), "unknown tokens", *texts)
    assert (check.status, check.values["shares"]) == ("warning", {"Latin": 0.0, "Cyrillic": 1.0})
    assert check.examples == ("хагс",)
    assert found(made(), "unknown tokens", "hug " * 9_000, "хагс " * 9).status == "pass"
    assert found(made(), "unknown tokens", "hug хагс").status == "fail"


def test_unicode_forms() -> None:
    accents = [*HEALTHY, "é", "e", "##\u0301"]
    check = found(made(accents, "none"), "unicode forms", "é hug")
    assert (check.status, check.examples) == ("warning", ("é",))
    assert found(made(accents, "none"), "unicode forms").status == "warning"
    assert found(made(accents, "nfc"), "unicode forms", "é hug").status == "pass"


def test_digits() -> None:
    assert found(made([*SPECIAL, *LETTERS]), "digits").values["lost"] == 10_000
    uneven = found(made([*HEALTHY, "20", "2024"]), "digits")
    assert (uneven.status, uneven.values["fewest"], uneven.values["most"]) == ("warning", 1, 4)
    assert found(made([*HEALTHY, "20"], pre="bert+digits-single"), "digits").status == "pass"


def test_reachable_tokens() -> None:
    check = found(made([*HEALTHY, "[unused1]", "Hug", "##,"]), "reachable tokens")
    assert (check.status, check.examples, check.values["free"]) == ("warning", ("Hug", "##,"), 1)
    assert check.values["by_obstacle"] == {"normalizer": 1, "pre-tokenizer": 1}
    cased = [*HEALTHY, "Hug", "Pug", "G", "H", "U", "P", "S"]
    assert found(made(cased), "reachable tokens").status == "fail"
    assert found(made(cased, "bert-cased"), "reachable tokens").status == "pass"


def test_rare_tokens() -> None:
    tokens = [*SPECIAL, "hug", "pug", "##s"]
    assert found(made(tokens), "rare tokens", *["hug pugs"] * 99).status == "skipped"
    assert found(made(tokens), "rare tokens", *["hug pugs"] * 100).status == "pass"
    check = found(made([*tokens, "[unused0]"]), "rare tokens", *["hug pug"] * 200)
    assert (check.status, check.examples) == ("warning", ("##s",))


def test_other_libraries_get_the_checks_that_apply(tmp_path: Path) -> None:
    (tmp_path / "sentencepiece.model").write_bytes(sentencepiece_model())
    report = wps.check(tmp_path, texts=TRAINING)
    assert [report.checks[place].status for place in (0, 1, 6)] == ["pass", "pass", "skipped"]
    counts = wps.count_texts(TEXT)
    run = wps.train(counts, wps.TrainingConfig(objective="count", vocab_size=40))
    assert {each.name: each.status for each in wps.check(run, counts).checks}["reachable tokens"] != "fail"


def test_ids_with_gaps(tmp_path: Path) -> None:
    made().save(tmp_path)
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "gaps.json").write_text(text.replace('"##u": 34', '"##u": 36'), encoding="utf-8")
    check = found(tmp_path / "gaps.json", "IDs")
    assert (check.status, check.examples) == ("warning", ("34", "35"))


def test_what_a_file_of_tokenizers_may_lack(tmp_path: Path) -> None:
    """An unknown token that is not listed is still produced; an empty token, by no text; no decoder joins nothing."""
    bare = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2, "": 3}, unk_token="[UNK]"))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    bare.save(str(tmp_path / "bare.json"))
    assert found(tmp_path / "bare.json", "reachable tokens").examples == ("",)
    check = found(tmp_path / "bare.json", "round trip")
    assert (check.status, bare.decode([1, 2], skip_special_tokens=False)) == ("fail", "a ##b")
    assert "no decoder" in check.reason
    bare.decoder = decoders.WordPiece()
    bare.save(str(tmp_path / "bare.json"))
    assert found(tmp_path / "bare.json", "round trip", "ab").status == "pass"


def test_the_largest_id_takes_no_memory(tmp_path: Path) -> None:
    made().save(tmp_path)
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")  # the library would try all IDs as it saves
    tracemalloc.start()
    for largest in (9_000_000, 4_000_000_000):
        (tmp_path / "large.json").write_text(text.replace('"##u": 34', f'"##u": {largest}'), encoding="utf-8")
        if largest < 1 << 24:
            assert found(tmp_path / "large.json", "IDs").examples[:2] == ("34", "35")
        else:
            with pytest.raises(wps.StudioError, match="The tokenizer has the ID 4,000,000,000"):
                wps.check(tmp_path / "large.json")
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_one_text_and_stopping() -> None:
    with pytest.raises(wps.StudioError, match="checked on one text"):
        wps.check(made(), {"a": wps.count_texts(["hug"]), "b": wps.count_texts(["hug"])})
    with pytest.raises(CountingStopped):
        wps.check(made(), texts=TEXT, should_stop=lambda: True)
