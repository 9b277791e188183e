"""Projects that name files outside their folder: nothing there is touched before the user has seen it and agreed."""

from __future__ import annotations

import dataclasses
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QFileSystemWatcher
from PySide6.QtWidgets import QMessageBox

from tests.storage.project.making import COURSE, course_project, forged, run_of
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.session import recovery_store
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.project_state import unsaved_work
from wordpiece_studio.session.recovery_store import About, RecoveryStore
from wordpiece_studio.session.tokenizer_figures import LEAST_WORDS
from wordpiece_studio.storage.project import contents
from wordpiece_studio.storage.project.contents import ProjectCorpus
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects

_EVENTS = ("open", "socket.", "os.listdir", "os.scandir", "os.open", "glob.", "shutil.", "urllib.")
_ELSEWHERE = ("evil", "/dev/zero", "/dev/stdin", "\\\\", "NUL")
_FOLLOWED = ("link.txt", "pipe.txt", os.path.join("linked", "a.txt"))  # which are in the folder, and may be looked at


class Touches:
    """Notes what this process touches, and what it orders its children to."""

    def __init__(self) -> None:
        self.is_noting = False
        self.found: list[str] = []

    def note(self, event: str, *values: object) -> None:
        if not self.is_noting:
            return
        for value in values:
            name = os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)
            is_look = event == "os.lstat"
            if any(part in name for part in _ELSEWHERE) or (not is_look and name.endswith(_FOLLOWED)):
                self.found.append(f"{event} {name[:200]}")

    def audit(self, event: str, values: tuple[object, ...]) -> None:
        if self.is_noting and event.startswith("socket.") and event != "socket.__new__":
            self.found.append(f"{event} {values}")
        elif event.startswith(_EVENTS):
            self.note(event, *values[:1])


_touches = Touches()
_is_hooked = False


@pytest.fixture
def touches(monkeypatch: pytest.MonkeyPatch) -> Touches:
    global _is_hooked
    if not _is_hooked:
        sys.addaudithook(lambda event, values: _touches.audit(event, values))
        _is_hooked = True
    _touches.found = []

    def noting(owner: Any, name: str, event: str) -> None:
        own = getattr(owner, name)

        def noted(*values: Any, **others: Any) -> Any:
            _touches.note(event, *values, *others.values())
            return own(*values, **others)

        monkeypatch.setattr(owner, name, noted)

    for name in ("stat", "lstat", "access", "readlink", "statvfs", "utime"):
        if hasattr(os, name):
            noting(os, name, f"os.{name}")
    noting(QFileSystemWatcher, "addPaths", "Qt addPaths")
    sent = CorpusFile.__reduce__

    def noted_once_sent(file: CorpusFile) -> Any:
        found = sent(file)  # raises, unless it may be read
        _touches.note("child", file.path)
        return found

    monkeypatch.setattr(CorpusFile, "__reduce__", noted_once_sent)
    return _touches


@contextmanager
def noted(touches: Touches) -> Iterator[None]:
    touches.is_noting = True
    try:
        yield
    finally:
        touches.is_noting = False


def saved(
    path: Path,
    places: Sequence[tuple[str, str | None]],
    *,
    is_text: bool = False,
    has_run: bool = True,
    words: Sequence[tuple[str, int]] = COURSE,
) -> Path:
    """Save a project that names these absolute and relative paths, as somebody else's program could have."""
    references = tuple(CorpusReference(CorpusFile(str(path.parent / f"{n}.txt")), 5, 7) for n in range(len(places)))
    corpus = ProjectCorpus(name="theirs", text=None, files=references)
    if is_text:
        corpus = ProjectCorpus(name="theirs", text="hug pug\n", origin=references[0])
    run = dataclasses.replace(run_of(words), is_of_corpus=True) if has_run else None
    save_project(path, dataclasses.replace(course_project(run=run), corpus=corpus))

    def change(database: Any) -> None:
        rows = database.execute("SELECT id FROM source ORDER BY id").fetchall()
        for (row,), (absolute, relative) in zip(rows, places, strict=True):
            way = None if relative is None else relative.encode()
            values = (absolute, absolute.encode(), way, row)
            database.execute("UPDATE source SET path = ?, absolute = ?, relative = ? WHERE id = ?", values)

    path.write_bytes(forged(path.read_bytes(), change))
    return path


_HOSTILE: dict[str, tuple[str, str | None]] = {
    "ftp": ("ftp://evil.example/name.txt", None),
    "http": ("https://evil.example/name.txt", None),
    "file": ("file:///evil/a.txt", None),
    "share": ("//evil/share/x.txt", None),
    "windows": ("\\\\evil\\share\\x.txt", None),
    "mixed": ("/\\evil\\s\\a.txt", None),
    "device": ("/dev/zero", None),
    "name": ("\\\\.\\NUL", None),
    "out": ("/evil/a.txt", "../evil/a.txt"),
    "long": ("/evil/" + "x" * 5000, None),
    "link": ("/evil/link.txt", "link.txt"),
    "linked": ("/evil/a.txt", "linked/a.txt"),
    "pipe": ("/evil/pipe.txt", "pipe.txt"),
}


def hostile(folder: Path, name: str, **others: Any) -> Path:
    folder = folder / f"theirs {name}"
    folder.mkdir()
    if os.name == "posix":
        (folder.parent / "evil").mkdir(exist_ok=True)
        (folder / "link.txt").symlink_to("/dev/zero")
        (folder / "linked").symlink_to(folder.parent / "evil")
        os.mkfifo(folder / "pipe.txt")
    return saved(folder / "p.wpstudio", [_HOSTILE[name]], **others)


def is_quiet(projects: Projects) -> bool:
    session, pane = projects.window.session, projects.window.corpus_pane
    return not (session.watch.is_pending or session.counting.is_under_way or pane.lint_controller.is_under_way)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("is_text", [False, True])
def test_nothing_outside_the_folder_is_touched(projects: Projects, touches: Touches, is_text: bool) -> None:
    window = projects.window
    for number, name in enumerate(_HOSTILE):
        path = hostile(projects.folder, name, is_text=is_text, has_run=number % 2 == 0)
        with noted(touches):
            window.project_controller.open(path)
            projects.wait_opened()
            projects.studio.wait(lambda: is_quiet(projects))
            window.corpus_pane.files_view.list.selectRow(0)
            window.session.watch.check()
            window.actions_.save_project_as.trigger()
            projects.studio.wait(projects.has_dialog)
            projects.close_dialogs()
            window.actions_.save_corpus.trigger() if is_text else window.actions_.open_file.trigger()
            projects.studio.wait(projects.has_dialog)
            projects.close_dialogs()
            if number % 2 and not is_text:
                window.actions_.train.trigger()
                projects.studio.wait(lambda: "outside the project" in str(window.session.counting.error))
            else:
                assert window.session.counting.counts is not None
            projects.studio.qtbot.wait(20)
            is_url_of_text = is_text and name in ("ftp", "http", "file")
            assert bool(window.session.document.unagreed) is not is_url_of_text
            assert bool(window.notices.files.text) is not is_url_of_text
            assert touches.found == [], name
        projects.window.project_controller.save_project()
        projects.wait_saved()
        assert not contents._file().exists()  # saving it agrees to nothing
        written = open_project(path).corpus
        reference = written.origin if is_text else written.files[0]
        if name in ("ftp", "http", "file"):
            assert reference.file.path == _HOSTILE[name][0]  # with both slashes
        assert reference.file.unagreed


def test_recovered_work_touches_nothing_either(projects: Projects, touches: Touches) -> None:
    project = open_project(hostile(projects.folder, "share"))
    store = RecoveryStore(projects.folder / "recovery")
    store.write(project, About(name="theirs", time=1000.0), 0)
    folder = store.folder
    store.close(keeps=True)
    assert folder is not None
    with noted(touches):
        (found,) = recovery_store.find_recoverable(projects.folder / "recovery")
        projects.window.project.restore(recovery_store.recover(found).project)
        projects.studio.wait(lambda: not projects.window.project.reading.is_running)
        projects.studio.wait(lambda: is_quiet(projects))
        assert touches.found == []
    assert projects.window.session.document.unagreed
    recovery_store.remove(found)


@pytest.mark.slow
def test_one_click_reads_the_files_and_is_remembered(projects: Projects, touches: Touches) -> None:
    window, far = projects.window, projects.folder / "evil" / "a.txt"
    far.parent.mkdir()
    far.write_text("hug pug hugs")
    (projects.folder / "own").mkdir()
    path = saved(projects.folder / "own" / "p.wpstudio", [(str(far), "../evil/b.txt")], has_run=False)
    with noted(touches):
        projects.open(path)
        projects.studio.wait(lambda: window.session.counting.error is not None)
        assert touches.found == []
    assert str(far) in window.notices.files.text
    files = window.session.document.files
    assert files.rows[0].shown_state is FileState.OUTSIDE
    window.notices.files.button.click()
    projects.studio.wait(lambda: window.session.counting.counts is not None)
    assert window.session.counting.counts.total == 3
    assert not window.session.document.unagreed
    assert files.rows[0].shown_state is not FileState.OUTSIDE
    assert not unsaved_work(window.session, window.project).is_any
    window.actions_.new_corpus.trigger()
    projects.open(path)
    assert window.session.document.is_files
    assert not window.session.document.unagreed
    projects.studio.wait(lambda: window.session.counting.counts is not None)


@pytest.mark.slow
def test_an_own_project_with_a_corpus_elsewhere_is_opened_as_before(projects: Projects) -> None:
    window, far = projects.window, projects.folder / "far"
    far.mkdir()
    (far / "a.txt").write_text("hug pug hugs")
    projects.studio.open(far)
    projects.studio.wait(lambda: window.session.counting.counts is not None)
    projects.train()
    (projects.folder / "own").mkdir()
    path = projects.folder / "own" / "p.wpstudio"
    window.project_controller._save_to(path, None)
    projects.wait_saved()
    window.actions_.new_corpus.trigger()
    projects.open(path)
    assert not window.session.document.unagreed
    assert window.notices.files.text == ""
    (far / "a.txt").unlink()
    projects.open(path)
    projects.studio.wait(lambda: "is missing" in window.notices.files.text)


def test_many_names_are_shown_before_they_are_agreed_to(projects: Projects) -> None:
    window = projects.window
    far = projects.folder / "evil"
    far.mkdir()
    for number in range(5):
        (far / f"{number}.txt").write_text("hug")
    (projects.folder / "own").mkdir()
    places = [(str(far / f"{number}.txt"), None) for number in range(5)]
    projects.open(saved(projects.folder / "own" / "p.wpstudio", places))
    assert "5 files" in window.notices.files.text
    for answer in (QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Yes):
        assert len(window.session.document.unagreed) == 5
        window.notices.files.button.click()
        assert projects.studio.box().detailedText().splitlines() == [place for place, _ in places]
        projects.studio.answer(answer)
    assert not window.session.document.unagreed
    assert len(contents._known()) == 1


def test_agreeing_is_about_the_files_that_were_shown(projects: Projects) -> None:
    window = projects.window
    (projects.folder / "own").mkdir()
    for name in ("p", "q"):
        places = [(str(projects.folder / "evil" / f"{name}{number}.txt"), None) for number in range(5)]
        projects.open(saved(projects.folder / "own" / f"{name}.wpstudio", places))
        if name == "p":
            window.notices.files.button.click()
            assert projects.studio.has_box()
    projects.studio.answer(QMessageBox.StandardButton.Yes)
    assert [file.path for file in window.session.document.unagreed] == [place for place, _ in places]
    assert not contents._file().exists()


def test_nothing_is_held_out_of_files_that_are_not_agreed_to(projects: Projects, touches: Touches) -> None:
    window, far = projects.window, projects.folder / "evil" / "a.txt"
    far.parent.mkdir()
    far.write_text("hug pug hugs")
    (projects.folder / "own").mkdir()
    words = [(word, 100 * LEAST_WORDS) for word, _ in COURSE]
    path = saved(projects.folder / "own" / "p.wpstudio", [(str(far), None)], words=words)
    with noted(touches):
        projects.open(path)
        projects.studio.wait(lambda: is_quiet(projects))
        window.session.figures.set_wanted(True)
        projects.studio.wait(lambda: not window.session.figures.is_running)
        assert not window.session.figures.can_hold_out
        assert touches.found == []
    window.notices.files.button.click()
    assert window.session.figures.can_hold_out
    assert window.session.figures.where.place == "held-out"
