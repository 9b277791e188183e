from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.storage.manifest import read_manifest
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio


def test_the_window_exports(studio: Studio, tmp_path: Path) -> None:
    studio.window.model.seek(25)
    studio.window.actions_.save_vocabulary.trigger()
    dialog = studio.window.export_controller.vocabulary.dialog
    studio.wait(lambda: dialog.inspection is not None)
    dialog.place_edit.setText(str(tmp_path / "out"))
    dialog.accept()
    studio.wait(lambda: str(tmp_path / "out") in studio.window.notices.export.text)
    text = "This is the Hugging Face course!"
    assert load_tokenizer(tmp_path / "out").encode(text) == studio.window.model.tokenizer_at(25).encode(text)
    assert studio.window.session.runs.unsaved_merges == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_an_exported_history_has_its_manifest(studio: Studio, tmp_path: Path, kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet")  # loading it may take long, and no one is to wait for that below
    controller = studio.window.export_controller.history
    controller.write(str(tmp_path / f"merges.{kind}"))
    studio.wait(lambda: (tmp_path / f"merges.{kind}.card.json").exists())
    studio.wait(lambda: "Exported" in studio.window.notices.training.text)
    manifest = read_manifest(tmp_path / f"merges.{kind}.card.json")
    assert (manifest.kind, manifest.merges, manifest.parts) == ("merges", 25, "all")
