"""The course's real text, beside the project: what is said of it, and that each fix changes what is learned of it."""

from __future__ import annotations

from functools import cache

import pytest

from tests.benchmarks.lint import SHARED, concerned, learned, look, mended
from wordpiece_studio.corpus.linter.finding import PipelineFix

MERGES = 300

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the corpora are not beside the project")


@cache
def text_of(language: str) -> str:
    return (SHARED / f"course-{language}.txt").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "normalizer", "kind", "values", "fix"),
    [
        ("ko", "bert-uncased", "jamo", {"distinct": 6422, "occurrences": 22469}, "bert-uncased:keep-accents"),
        ("es", "bert-uncased", "lost-marks", {"distinct": 720, "occurrences": 4371}, "bert-uncased:keep-accents"),
        (
            "zh-CN", "bert-cased", "characters-alone", {"distinct": 1334, "occurrences": 154819, "longest": 45},
            "bert-cased:keep-chinese",
        ),
    ],
)  # fmt: skip
def test_what_is_said_and_what_the_fix_changes(
    language: str, normalizer: str, kind: str, values: dict[str, int], fix: str
) -> None:
    text = text_of(language)
    (finding,) = look(text, normalizer, "bert")
    assert (finding.kind, finding.severity, finding.is_sample) == (kind, "warning", False)
    assert finding.values.items() >= values.items()
    assert finding.fix == PipelineFix(fix, "bert")
    before = concerned(kind, learned(text, normalizer, "bert", MERGES))
    after = concerned(kind, learned(*mended(text, finding, normalizer, "bert"), MERGES))
    if kind == "jamo":
        assert len(before) > 100
        assert not after
    else:
        assert not before
        assert len(after) > 20
    assert kind not in [other.kind for other in look(*mended(text, finding, normalizer, "bert"))]


@pytest.mark.slow
def test_the_resulting_tokens() -> None:
    assert "습니다" in learned(text_of("ko"), "bert-uncased:keep-accents", "bert", MERGES)
    assert "ción" in learned(text_of("es"), "bert-uncased:keep-accents", "bert", MERGES)
    assert "我们" in learned(text_of("zh-CN"), "bert-cased:keep-chinese", "bert", MERGES)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "es", "hi", "ko", "vi"])
def test_nothing_is_wrong_with_berts_cased_reading(language: str) -> None:
    found = look(text_of(language), "bert-cased", "bert")
    # Two really have words in two normal forms.
    assert [finding.kind for finding in found] == (["twins"] if language in ("hi", "vi") else [])
    assert all(finding.severity == "note" for finding in found)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko"])
def test_text_in_english_letters_is_not_suspected(language: str) -> None:
    assert "lost-marks" not in [finding.kind for finding in look(text_of(language), "bert-uncased", "bert")]
