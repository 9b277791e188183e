"""Settings: what is written is read again, and nothing in a file can do harm."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.settings import FILE_NAME, SettingsStore, StudioSettings, default_folder


def test_what_is_changed_is_there_again(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "deep" / "folder")
    assert store.values == StudioSettings()
    store.change(theme="dark", demo_scale=150)
    again = SettingsStore(tmp_path / "deep" / "folder")
    assert (again.values.theme, again.values.demo_scale, again.damage) == ("dark", 150, None)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"theme": "pink"}', b'{"demo_scale": "8"}', b"\xff\xfe", b"[" * 100_000,
     b'{"demo_scale": 1e400}', b'{"font_scale": -1}', b'{"recent_files": [1]}'],
)  # fmt: skip
def test_a_damaged_file_gives_the_defaults_and_is_kept(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    store = SettingsStore(tmp_path)
    assert store.values == StudioSettings()
    assert str(store.path) in str(store.damage)
    assert (tmp_path / (FILE_NAME + ".bad")).read_bytes() == content
    store.change(theme="light")
    assert SettingsStore(tmp_path).values.theme == "light"


def test_what_another_version_has_written_is_passed_over(tmp_path: Path) -> None:
    layouts = {"teach": {"version": 1, "closed": ["charts"], "shade": 3}}
    (tmp_path / FILE_NAME).write_text(json.dumps({"window_state": "AAAA", "theme": "dark", "layouts": layouts}))
    store = SettingsStore(tmp_path)
    assert store.damage is None
    assert (store.values.theme, store.values.layouts["teach"].closed) == ("dark", ("charts",))
    store.change(font_scale=120)
    assert "window_state" not in store.path.read_text()


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_of_a_foreign_kind_gets_through(tmp_path: Path, value: object) -> None:
    for field in StudioSettings.__struct_fields__:
        (tmp_path / FILE_NAME).write_text(json.dumps({field: value}))
        store = SettingsStore(tmp_path)
        if store.damage is None:
            assert (
                type(getattr(store.values, field)) is type(value)
                or field in ("recent_files", "window_size", "history_columns", "gestures", "finished_lessons")
                or type(value) is int
            )
        assert msgspec.convert(msgspec.to_builtins(store.values), StudioSettings) == store.values


def test_an_impossible_value_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path)
    for wrong in ({"theme": "pink"}, {"nothing": 1}, {"demo_scale": 0}):
        with pytest.raises((msgspec.ValidationError, TypeError)):
            store.change(**wrong)
    assert store.values == StudioSettings()
    assert not store.path.exists()


def test_a_folder_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    store = SettingsStore(tmp_path)
    assert "cannot be read" in str(store.damage)
    with pytest.raises(StudioError, match="cannot be saved"):
        store.change(theme="dark")
    store.change(theme="contrast")  # said once is enough
    assert store.values.theme == "contrast"


def test_recent_files_come_once_and_the_latest_first(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path)
    for name in ("a", "b", "a", *map(str, range(9))):
        store.remember_files([Path(name)])
    assert store.values.recent_files == tuple((name,) for name in "876543210a")


def test_the_folder_is_the_users_own() -> None:
    assert "wordpiece-studio" in str(default_folder())
