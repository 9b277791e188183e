"""Text read in a wrong encoding: found and repaired where it is sure, and nothing said of what is meant as it is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.linter.text_checks import _LOST, damaged_stretches, decoded_again

COURSES = sorted((Path(__file__).resolve().parents[4] / "shared" / "corpora").glob("*.txt"))

TEXTS = [
    "El niño está aquí, ¿qué?", "don’t “quote” – dash…", "été à la plage « ici »", "Łódź, żółć i gęś", "😀 ok 🤗",
    "Привет, мир. В доме", "안녕하세요 세계", "你好，世界", "हिन्दी भाषा", "ελληνικά γλώσσα", "Tiếng Việt ở đây",
    "ภาษาไทย", "naïve café", "10 € © 2024",
]  # fmt: skip
MEANT = [
    "« CAFÉ »", "«CAFÉ»", "„MENÜ“ und Spaß“", "préféré”»", "NÃO”", "“MANHÔ", "a «Ã»", "„Ä“ ist", "à «\xa0la\xa0»",
    "ESPAÑA…", "é…”", "Île-de-France", "SÃO PAULO", "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ", "Ð Ñ þ ð", "20 °C ± 5 µm", "Сі Рі", "“Â”",
    "L’ÂGE", "está»…", "ú»…", "Å”", "ÄÖÜ", "a\x85b", "ŠKODA’", "1.5 Å±0.2 und 120 Å²", "MAÇÃ®", "¡Él!", "Þór’s það",
]  # fmt: skip


def misread(text: str, encoding: str) -> str:
    """Return what a program takes the UTF-8 of a text for; bytes that mean nothing stay as in Latin-1."""
    return "".join(bytes([byte]).decode(encoding, "ignore") or chr(byte) for byte in text.encode())


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_what_was_misread_is_repaired(text: str, encoding: str) -> None:
    damaged = misread(text, encoding)
    assert damaged != text
    assert decoded_again(damaged) == text
    assert decoded_again(text) == text


@pytest.mark.parametrize("text", MEANT)
def test_intended_text_is_left_alone(text: str) -> None:
    assert damaged_stretches(text) == []


def test_repeated_damage_is_repaired() -> None:
    assert decoded_again(misread(misread("niño", "cp1252"), "cp1252")) == "niño"


def test_only_the_damaged_stretches_change() -> None:
    text = "Ünder « É » niÃ±o, “Ä”\nÉ»"
    (stretch,) = damaged_stretches(text)
    assert text[stretch.start : stretch.end] == "Ã±"
    assert decoded_again(text) == text.replace("Ã±", "ñ")


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        ("Привет мир", "utf-8", "cp1251"),
        ("안녕하세요 세계의 모든 사람들 좋은 아침", "cp949", "latin-1"),
        ("Привет мир, как дела сегодня вечером", "cp1251", "latin-1"),
        ("It’s “fine” – really…", "cp1252", "latin-1"),
    ],
)
def test_other_encodings(text: str, written: str, read: str) -> None:
    assert decoded_again(text.encode(written).decode(read)) == text


def test_lost_characters_are_counted() -> None:
    assert len(_LOST.findall("a\ufffdb ï¿½ 锟斤拷锟斤拷")) == 3
    assert len(_LOST.findall("nothing")) == 0


@given(st.text(max_size=80))
def test_stretches_do_not_overlap_and_nothing_else_is_changed(text: str) -> None:
    repaired = decoded_again(text)
    stretches = damaged_stretches(text)
    assert all(first.end <= second.start for first, second in pairwise(stretches))
    assert (repaired == text) == (not stretches)


@pytest.mark.skipif(not COURSES, reason="the corpora are not beside the project")
@pytest.mark.parametrize("path", COURSES, ids=lambda path: path.stem)
def test_no_false_alarm_in_real_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert damaged_stretches(text) == []
    assert len(_LOST.findall(text)) == 0


@pytest.mark.skipif(not COURSES, reason="the corpora are not beside the project")
@pytest.mark.parametrize("path", COURSES, ids=lambda path: path.stem)
def test_real_text_is_repaired(path: Path) -> None:
    """Most lines that were misread as a whole come back; none becomes anything but what it was or stays damaged."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.isascii()]
    chosen = lines[:: len(lines) // 100 + 1]
    if not chosen:
        pytest.skip("all ASCII")
    back = sum(decoded_again(misread(line, "latin-1")) == line for line in chosen)
    assert back >= 0.85 * len(chosen)
