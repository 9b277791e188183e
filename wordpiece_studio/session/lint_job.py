"""Looking for problems in a corpus, and repairing its text, in the background.

Small texts are checked in a thread; large ones and files in a child process, since pure Python work would stall the
window. The core defines what counts as a problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.corpus_child import (
    FINDINGS,
    READY,
    TEXT,
    lint_in_child,
    messages_of,
    read_findings,
    repair_in_child,
    written_lint_order,
)
from wordpiece_studio.system.child_process import ChildProcess

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from PySide6.QtCore import QObject

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.corpus.linter.finding import Finding, TextFix
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.text.pipeline import Pipeline

LARGEST_IN_THREAD = 40_000
"""In characters, and in distinct words; anything larger is checked in a child process."""


@dataclass(frozen=True, slots=True)
class LintOrder:
    """What to check: `files`, or, if there are none, `text`; and the words that `pipeline` makes of it."""

    text: str
    files: tuple[CorpusFile, ...]
    counts: WordCounts
    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class RepairOrder:
    """A text and how to repair it."""

    text: str
    fix: TextFix


@dataclass(frozen=True, slots=True)
class RepairedText:
    """A text, and the edit that repairs it: at `position`, `inserted` replaces `removed` characters."""

    before: str
    position: int
    removed: int
    inserted: str


class LintJob(BackgroundJob):
    """Checks the latest corpus it was given.

    Signals
    -------
    finished(tuple[Finding, ...]), failed(StudioError)
        How the latest `check` ended; neither after `stop`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lint, "The corpus cannot be checked", parent)

    def check(self, text: str, counts: WordCounts, pipeline: Pipeline, files: tuple[CorpusFile, ...] = ()) -> None:
        """Check a text, or files, with the `counts` of the words that `pipeline` makes of it."""
        self.begin(LintOrder("" if files else text, files, counts, pipeline))


class RepairJob(BackgroundJob):
    """Repairs a text.

    Signals
    -------
    finished(RepairedText), failed(StudioError)
        How the latest `repair` ended; neither after `stop`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(mend, "The text cannot be repaired", parent)

    def repair(self, text: str, fix: TextFix) -> None:
        """Repair `text`."""
        self.begin(RepairOrder(text, fix))


def lint(order: LintOrder, stop: threading.Event, _report: Report) -> tuple[Finding, ...] | None:
    """Return the findings; None if canceled."""
    from wordpiece_studio.corpus.linter.evidence import sample_of_files, sample_of_text
    from wordpiece_studio.corpus.linter.linter import findings

    if order.files or max(len(order.text), len(order.counts)) > LARGEST_IN_THREAD:
        try:
            written = written_lint_order(order.pipeline, order.files)
        except StudioError:  # a custom pipeline cannot be sent: check here, though it slows the window
            pass
        else:
            child = ChildProcess(lint_in_child, written, failure="The corpus cannot be checked")
            found = list(_conversation(child, order.text, order.counts, stop))
            return None if stop.is_set() or not found else read_findings(found[-1][1])
    sample = sample_of_files(order.files) if order.files else sample_of_text(order.text)
    return tuple(findings(sample, order.counts, order.pipeline))


def mend(order: RepairOrder, stop: threading.Event, _report: Report) -> RepairedText | None:
    """Return the edit that repairs the text; None if canceled."""
    from wordpiece_studio.corpus.linter.linter import difference, repaired

    if len(order.text) <= LARGEST_IN_THREAD:
        after = repaired(order.text, order.fix)
    else:
        child = ChildProcess(repair_in_child, order.fix.repair, failure="The text cannot be repaired")
        pieces = [content for kind, content in _conversation(child, order.text, None, stop) if kind == TEXT]
        after = "".join(piece.decode("utf-8", "surrogatepass") for piece in pieces)
    return None if stop.is_set() else RepairedText(order.text, *difference(order.text, after))


def _conversation(
    child: ChildProcess, text: str, counts: WordCounts | None, stop: threading.Event
) -> Iterator[tuple[bytes, bytes]]:
    """Send the child the text and the word counts when it is ready, yield its findings or text, and end it."""
    try:
        for kind, content in child.messages(stop):
            if kind == READY:
                for message in messages_of(text, counts):
                    if stop.is_set():
                        return
                    child.send(message)
            elif kind in (FINDINGS, TEXT):
                yield kind, bytes(content)
    finally:
        child.end()
