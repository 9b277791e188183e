"""Checking a corpus, and repairing its text, in the background: in a thread and in a child process alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.linter.evidence import sample_of_text
from wordpiece_studio.corpus.linter.finding import TextFix
from wordpiece_studio.corpus.linter.linter import findings
from wordpiece_studio.session import lint_job
from wordpiece_studio.session.lint_job import LintJob, RepairJob
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import AlignedText, Normalizer, Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.background_job import BackgroundJob

TEXT = "El niÃ±o y el año, el ano.\n안녕하세요\n春天的小鱼\n" * 5
PIPELINE = Pipeline(resolve_normalizer("bert-uncased"), resolve_pre_tokenizer("bert"))


class OwnNormalizer(Normalizer):
    """One that no order can describe."""

    name = "own"

    def align(self, text: str) -> AlignedText:
        return AlignedText.identity(text)


@pytest.fixture
def jobs(qapp: object) -> Iterator[tuple[LintJob, RepairJob]]:
    both = LintJob(), RepairJob()
    yield both
    for job in both:
        job.close()


def result_of(qtbot: QtBot, job: BackgroundJob, *order: object) -> object:
    begin = job.check if isinstance(job, LintJob) else job.repair  # type: ignore[attr-defined]
    with qtbot.waitSignal(job.finished, timeout=20_000) as caught:
        begin(*order)
    assert caught.args is not None
    return caught.args[0]


@pytest.mark.slow
@pytest.mark.parametrize("largest", [lint_job.LARGEST_IN_THREAD, -1])
def test_the_findings_are_the_same_everywhere(
    qtbot: QtBot, jobs: tuple[LintJob, RepairJob], largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint_job, "LARGEST_IN_THREAD", largest)
    counts = count_texts([TEXT], PIPELINE.normalizer, PIPELINE.pre_tokenizer)
    found = result_of(qtbot, jobs[0], TEXT, counts, PIPELINE)
    assert found == tuple(findings(sample_of_text(TEXT), counts, PIPELINE))
    assert len(found) == 4  # type: ignore[arg-type]


@pytest.mark.parametrize("largest", [lint_job.LARGEST_IN_THREAD, -1])
def test_a_text_is_repaired(
    qtbot: QtBot, jobs: tuple[LintJob, RepairJob], largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint_job, "LARGEST_IN_THREAD", largest)
    mended = result_of(qtbot, jobs[1], TEXT, TextFix("decode-again"))
    assert isinstance(mended, lint_job.RepairedText)
    end = mended.position + mended.removed
    assert mended.before[: mended.position] + mended.inserted + mended.before[end:] == TEXT.replace("Ã±", "ñ")


def test_a_custom_pipeline_is_checked_here(
    qtbot: QtBot, jobs: tuple[LintJob, RepairJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint_job, "LARGEST_IN_THREAD", -1)
    pipeline = Pipeline(OwnNormalizer(), PIPELINE.pre_tokenizer)
    text = "el niÃ±o"
    found = result_of(qtbot, jobs[0], text, count_texts([text], OwnNormalizer()), pipeline)
    assert [finding.kind for finding in found] == ["mojibake"]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_files_are_checked_in_a_child(qtbot: QtBot, jobs: tuple[LintJob, RepairJob], tmp_path: Path) -> None:
    pytest.importorskip("wordpiece_studio.corpus.inspection")
    path = tmp_path / "one.txt"
    path.write_text(TEXT, encoding="utf-8")
    counts = count_texts([TEXT], PIPELINE.normalizer, PIPELINE.pre_tokenizer)
    found = result_of(qtbot, jobs[0], "", counts, PIPELINE, (CorpusFile(str(path)),))
    kinds = {finding.kind: finding.fix for finding in found}  # type: ignore[attr-defined]
    assert set(kinds) == {"mojibake", "jamo", "lost-marks", "characters-alone"}
    assert kinds["mojibake"] is None  # the file itself holds it
    assert not found[0].is_sample  # type: ignore[index]


def test_nothing_is_heard_of_a_check_that_was_canceled(qtbot: QtBot, jobs: tuple[LintJob, RepairJob]) -> None:
    text = TEXT * 2000
    counts = count_texts([text], PIPELINE.normalizer, PIPELINE.pre_tokenizer)
    with qtbot.assertNotEmitted(jobs[0].finished, wait=300):
        jobs[0].check(text, counts, PIPELINE)
        qtbot.wait(50)
        jobs[0].stop()
    assert not jobs[0].is_running
