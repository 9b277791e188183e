"""Checking a corpus, and repairing its text, beside the window: in a thread and in a child process alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.linter.finding import TextFix, sample_of_text
from wordpiece_studio.corpus.linter.linter import findings, findings_in, repaired
from wordpiece_studio.session.task import Task
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import AlignedText, Normalizer, Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

TEXT = "El niÃ±o y el año, el ano.\n안녕하세요\n春天的小鱼\n" * 5
PIPELINE = Pipeline(resolve_normalizer("bert-uncased"), resolve_pre_tokenizer("bert"))


@pytest.fixture
def begin(qapp: object) -> Iterator[Callable[..., Task]]:
    tasks: list[Task] = []

    def begin(work: Callable[..., object], *, in_child: bool, request: tuple[object, ...]) -> Task:
        tasks.append(Task(work, "The corpus cannot be checked", in_child=in_child))
        tasks[-1].run(*request)
        return tasks[-1]

    yield begin
    for task in tasks:
        task.close()


@pytest.mark.parametrize("in_child", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_findings_are_the_same_everywhere(qtbot: QtBot, begin: Callable[..., Task], in_child: bool) -> None:
    counts = count_texts([TEXT], PIPELINE.normalizer, PIPELINE.pre_tokenizer)
    task = begin(findings_in, in_child=in_child, request=(TEXT, (), counts, PIPELINE))
    qtbot.waitUntil(lambda: task.answer is not None, timeout=20_000)
    assert task.answer == tuple(findings(sample_of_text(TEXT), counts, PIPELINE))
    assert len(task.answer) == 4


@pytest.mark.parametrize("in_child", [False, True])
def test_a_text_is_repaired(qtbot: QtBot, begin: Callable[..., Task], in_child: bool) -> None:
    task = begin(repaired, in_child=in_child, request=(TEXT, TextFix("decode-again")))
    qtbot.waitUntil(lambda: task.answer is not None, timeout=20_000)
    assert task.answer == TEXT.replace("Ã±", "ñ")


def test_a_custom_pipeline_is_checked_here(qtbot: QtBot, begin: Callable[..., Task]) -> None:
    class OwnNormalizer(Normalizer):
        """One that cannot be sent to a child."""

        name = "own"

        def align(self, text: str) -> AlignedText:
            return AlignedText.identity(text)

    pipeline = Pipeline(OwnNormalizer(), PIPELINE.pre_tokenizer)
    text = "el niÃ±o"
    task = begin(findings_in, in_child=True, request=(text, (), count_texts([text], OwnNormalizer()), pipeline))
    qtbot.waitUntil(lambda: task.answer is not None, timeout=20_000)
    assert [finding.kind for finding in task.answer] == ["mojibake"]


def test_files_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text(TEXT, encoding="utf-8")
    counts = count_texts([TEXT], PIPELINE.normalizer, PIPELINE.pre_tokenizer)
    found = findings_in("", (CorpusFile(str(path)),), counts, PIPELINE)
    kinds = {finding.kind: finding.fix for finding in found}
    assert set(kinds) == {"mojibake", "jamo", "lost-marks", "characters-alone"}
    assert kinds["mojibake"] is None  # the file itself holds it
    assert not found[0].is_sample
