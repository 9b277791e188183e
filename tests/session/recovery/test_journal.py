from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.recovery_store import (
    ABOUT,
    EDIT,
    VIEW,
    JournalWriter,
    edit_record,
    read_journal,
    text_after,
    written_record,
)

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = [(VIEW, b"{}"), (EDIT, b"x" * 300), (ABOUT, b"")]


def write(path: Path) -> Path:
    journal = JournalWriter(path)
    journal.append(RECORDS[:1])
    journal.append(RECORDS[1:])
    journal.close()
    assert journal.size == path.stat().st_size
    return path


def whole_records(path: Path) -> list[tuple[bytes, bytes]]:
    """Return the records before the damage, which is reported unless whole records are missing at the end."""
    records: list[tuple[bytes, bytes]] = []
    told = ""
    try:
        records.extend(read_journal(path))
    except StudioError as error:
        told = error.what
    size = 6 + sum(len(written_record(record)) for record in records)
    assert (f"damaged from byte {size:,} on" in told) == (size != path.stat().st_size)
    return records


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert list(read_journal(write(tmp_path / "journal-1"))) == RECORDS


def test_cut_anywhere_it_gives_the_whole_records_before(tmp_path: Path) -> None:
    whole = write(tmp_path / "journal-1").read_bytes()
    cut = tmp_path / "journal-2"
    counts = []
    for length in range(6, len(whole)):
        cut.write_bytes(whole[:length])
        records = whole_records(cut)
        assert records == RECORDS[: len(records)]
        counts.append(len(records))
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2}


def test_a_changed_byte_ends_it(tmp_path: Path) -> None:
    path = write(tmp_path / "journal-1")
    whole = path.read_bytes()
    for place in range(6, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        records = whole_records(path)
        assert len(records) < 3
        assert records == RECORDS[: len(records)]


def test_what_is_no_journal_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "journal-1"
    path.write_bytes(b"something else")
    with pytest.raises(StudioError, match=r"journal-1 is damaged at its beginning"):
        list(read_journal(path))
    with pytest.raises(StudioError, match=r"journal-2 cannot be read: No such file"):
        list(read_journal(tmp_path / "journal-2"))


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_it_is_for_no_one_elses_eyes(tmp_path: Path) -> None:
    assert write(tmp_path / "journal-1").stat().st_mode & 0o777 == 0o600


TEXTS = st.text(st.characters(codec=None), max_size=20)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_an_edit_is_made_again(before: str, removed: str, inserted: str, after: str) -> None:
    old, new = before + removed + after, before + inserted + after
    kind, content = edit_record(old, new)
    assert kind == EDIT
    assert text_after(old, content) == new
    assert len(content[24:].decode("utf-8", "surrogatepass")) <= len(inserted)


@given(st.binary(max_size=40), st.text(max_size=5))
def test_what_is_no_edit_of_a_text_is_refused(content: bytes, text: str) -> None:
    after = text_after(text, content)
    assert after is None or isinstance(after, str)


def test_an_edit_of_another_text_is_refused() -> None:
    _, content = edit_record("012ab56789", "012c56789")
    assert text_after("0123456789", content) == "012c56789"
    assert text_after("012345678", content) is None
    assert text_after("0", content) is None


def test_a_record_has_its_kind_first() -> None:
    assert written_record((VIEW, b"abc"))[:1] == VIEW
