from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unchanged.records import compared, load, normalised, save

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unchanged.records import Value

CALL = {"exit code": "1", "stderr": "There are no words.\nLook again.", "writes a.txt": "x"}


def test_what_is_equal_is_counted_and_nothing_else_said() -> None:
    comparison = compared({"a": CALL, "b": "text"}, {"b": "text", "a": dict(CALL)})
    assert (comparison.recorded, comparison.equal, comparison.differences) == (2, 2, {})


@pytest.mark.parametrize(
    ("base", "new", "lines"),
    [
        ("F6", "F7", ["@@ -1 +1 @@", "-F6", "+F7"]),
        ("a\nb\nc\nd", "a\nb\nC\nd", ["@@ -2,3 +2,3 @@", " b", "-c", "+C", " d"]),
        ("a\n", "a", ["the lines are the same, their ends differ"]),
        ("a\x1b", "b", ["@@ -1 +1 @@", "-a\\x1b", "+b"]),
        ("x" * 300, "", ["@@ -1 +0,0 @@", f"-{'x' * 219}…"]),
        ({"keys": "F6", "tip": ""}, {"keys": "F7", "tip": ""}, ["keys:", "@@ -1 +1 @@", "-F6", "+F7"]),
        ({"a": "1", "b": "2"}, {"a": "1"}, ["b: only in the base", "- 2"]),
        ({"a": "1"}, {"a": "1", "b": ""}, ["b: only in the new one"]),
    ],
)
def test_a_difference_is_told(base: Value, new: Value, lines: list[str]) -> None:
    comparison = compared({"same": "", "it": base}, {"same": "", "it": new})
    assert (comparison.recorded, comparison.equal) == (2, 1)
    assert comparison.differences == {"it": lines}


def test_what_only_one_has_differs() -> None:
    comparison = compared({"old": "a"}, {"new": {"key": "b"}})
    assert comparison.equal == 0
    assert comparison.differences == {
        "old": ["only in the base", "- a"],
        "new": ["only in the new one", "+ key: b"],
    }


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    records: dict[str, Value] = {"é\x00": "\u2028\n", "b": {"c": "\ufeff"}}
    save(records, tmp_path / "part" / "a.json")
    assert load(tmp_path / "part" / "a.json") == records


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("25 merges in 0.03 s", "25 merges in <number> s"),
        ("written 2026-11-24T22:10:36+00:00.", "written <time>."),
        ('{"seconds": 0.25, "max_seconds": 3}', '{"seconds": <seconds>, "max_seconds": 3}'),
        ("1,200,000 words/s", "<number> words/s"),
        ("/home/me/out/vocab.txt", "@/vocab.txt"),
        ("70 tokens after 25 merges, 27 or more", "70 tokens after 25 merges, 27 or more"),
    ],
)
def test_only_what_varies_is_left_out(text: str, expected: str) -> None:
    assert normalised(text, {"/home/me": "~", "/home/me/out": "@"}) == expected


@pytest.mark.parametrize(("changed", "differs"), [(0, False), (4, False), (400, True)])
def test_pictures_may_differ_a_little(tmp_path: Path, changed: int, differs: bool) -> None:
    pytest.importorskip("PySide6.QtGui")
    from PySide6.QtGui import QImage

    from tests.unchanged import pictures

    for name in ("base", "new"):
        image = QImage(40, 30, QImage.Format.Format_RGB32)
        image.fill(0xFFFFFFFF)
        for at in range(changed if name == "new" else 0):
            image.setPixel(at % 40, at // 40, 0xFF000000)
        (tmp_path / name).mkdir()
        assert image.save(str(tmp_path / name / "scene.png"))
    comparison = pictures.compared([tmp_path / "base"], [tmp_path / "new"], tmp_path / "shown")
    assert bool(comparison.differences) is differs
    assert (tmp_path / "shown" / "scene.png").exists() is differs
