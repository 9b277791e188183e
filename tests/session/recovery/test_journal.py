from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.recovery_store import About, Change, JournalWriter, TextEdit, read_journal

if TYPE_CHECKING:
    from pathlib import Path

CHANGES = [
    Change(about=About(name="first")),
    Change(about=About(name="한"), text=TextEdit(5, 2, 1, "\ud800x" * 100)),
    Change(about=About(), view={"moment": 3}, live_text=""),
]


def write(path: Path) -> Path:
    journal = JournalWriter(path, CHANGES[0])
    for change in CHANGES[1:]:
        journal.append(change)
    journal.close()
    assert journal.size == path.stat().st_size
    return path


def whole_changes(path: Path) -> list[Change]:
    """Return the changes before the damage, which is reported unless whole lines are missing at the end."""
    changes: list[Change] = []
    told = ""
    try:
        changes.extend(read_journal(path))
    except StudioError as error:
        told = error.what
    size = sum(len(change.line()) for change in changes)
    assert (f"damaged from byte {size:,} on" in told) == (size != path.stat().st_size)
    return changes


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert list(read_journal(write(tmp_path / "journal-1"))) == CHANGES


def test_cut_anywhere_it_gives_the_whole_changes_before(tmp_path: Path) -> None:
    whole = write(tmp_path / "journal-1").read_bytes()
    cut = tmp_path / "journal-2"
    counts = []
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        changes = whole_changes(cut)
        assert changes == CHANGES[: len(changes)]
        counts.append(len(changes))
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2}


def test_a_changed_byte_ends_it(tmp_path: Path) -> None:
    path = write(tmp_path / "journal-1")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        changes = whole_changes(path)
        assert len(changes) < 3
        assert changes == CHANGES[: len(changes)]


def test_what_is_no_journal_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "journal-1"
    path.write_bytes(b"something else")
    with pytest.raises(StudioError, match=r"journal-1 is damaged from byte 0"):
        list(read_journal(path))
    with pytest.raises(StudioError, match=r"journal-2 cannot be read: No such file"):
        list(read_journal(tmp_path / "journal-2"))


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_it_is_for_no_one_elses_eyes(tmp_path: Path) -> None:
    assert write(tmp_path / "journal-1").stat().st_mode & 0o777 == 0o600


TEXTS = st.text(st.characters(codec=None), max_size=20)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_change_of_a_text_is_made_again(before: str, removed: str, inserted: str, after: str) -> None:
    old, new = before + removed + after, before + inserted + after
    change = TextEdit.between(old, new)
    assert change.made_in(old) == new
    assert len(change.inserted) <= len(inserted)


def test_a_change_of_another_text_is_refused() -> None:
    change = TextEdit.between("012ab56789", "012c56789")
    assert change.made_in("0123456789") == "012c56789"
    for other in ("012345678", "0", ""):
        with pytest.raises(StudioError, match="belongs to a different text"):
            change.made_in(other)
