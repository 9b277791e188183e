"""What keeping unsaved work writes beside a large training: the training once, and then next to nothing."""

from __future__ import annotations

import io
import os
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from tests.session.conftest import random_counts
from tests.session.recovery.fakes import trained
from wordpiece_studio.session import recovery_keeper
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.storage.project import stored_run
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.session.recovery.conftest import Kept
    from wordpiece_studio.storage.project.contents import Project, Run

MOST_BYTES = 1_000_000
MERGES = 30


class Counted(io.FileIO):
    """A file of which every written byte is counted."""

    total = 0

    def write(self, data: Any, /) -> int:
        written = super().write(data)
        Counted.total += written
        return written


@pytest.fixture(autouse=True)
def _count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count what is written, and wait for nothing longer than a test can."""
    genuine = os.fdopen

    def fdopen(descriptor: int, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if mode not in ("wb", "w+b"):
            return genuine(descriptor, mode, *args, **kwargs)
        raw = Counted(descriptor, mode)
        return io.BufferedRandom(raw) if raw.readable() else io.BufferedWriter(raw)

    monkeypatch.setattr(os, "fdopen", fdopen)
    monkeypatch.setattr(stored_run, "_copies", weakref.WeakKeyDictionary())  # what another test has saved
    monkeypatch.setattr(recovery_keeper, "CHANGE_DELAY_MS", 20)
    monkeypatch.setattr(recovery_keeper, "EDIT_DELAY_MS", 10)
    monkeypatch.setattr(recovery_keeper, "FIRST_RUN_SECONDS", 0.0)
    monkeypatch.setattr(recovery_keeper, "RUN_SECONDS", (0.05, 0.05))


@pytest.fixture(scope="module")
def large() -> Run:
    """Return a training that takes more than a megabyte."""
    return trained(random_counts(5, words=150_000, letters="".join(map(chr, range(0x4E00, 0x5000)))), MERGES)


def bytes_of_a_letter(kept: Kept) -> int:
    """Type a letter, wait until all is kept, and return how many bytes that took."""
    before = Counted.total
    kept.document.edit(0, 0, "x")
    kept.wait()
    return Counted.total - before


def save(kept: Kept, path: Path) -> None:
    project = kept.state.capture()
    save_project(path, project)
    kept.state.path, kept.state.saved_content = path, content_of(project)
    kept.state.saved.emit()
    kept.wait()


def check(project: Project, kept: Kept) -> None:
    """Check that text and training are those of the window."""
    assert project.corpus.text == kept.document.text
    assert project.run is not None
    assert len(project.run.history) == MERGES
    assert project.run.history.token(50) == kept.state.run.history.token(50)  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_letter_after_the_training_was_kept(kept: Kept, large: Run) -> None:
    kept.show_course()
    before = Counted.total
    kept.state.change(run=large)
    kept.wait()
    assert Counted.total - before > MOST_BYTES
    assert 0 < bytes_of_a_letter(kept) < MOST_BYTES
    assert 0 < bytes_of_a_letter(kept) < MOST_BYTES
    check(kept.recovered(), kept)


def test_a_letter_after_it_was_saved(kept: Kept, large: Run, tmp_path: Path) -> None:
    kept.show_course()
    kept.state.change(run=large)
    kept.wait()
    save(kept, tmp_path / "saved.wpstudio")
    assert 0 < bytes_of_a_letter(kept) < MOST_BYTES
    (tmp_path / "saved.wpstudio").unlink()
    check(kept.recovered(), kept)


def test_a_letter_after_it_was_opened(kept: Kept, large: Run, tmp_path: Path) -> None:
    path = tmp_path / "saved.wpstudio"
    kept.state.run = large
    save(kept, path)
    kept.state.run = open_project(path).run
    kept.keeper.forget()
    assert 0 < bytes_of_a_letter(kept) < MOST_BYTES
    save_project(path, kept.state.capture())  # the window's file is another one now
    assert 0 < bytes_of_a_letter(kept) < MOST_BYTES
    check(kept.recovered(), kept)
