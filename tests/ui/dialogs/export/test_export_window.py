from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from wordpiece_studio.storage.manifest import read_manifest
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio


def test_the_window_exports(studio: Studio, tmp_path: Path) -> None:
    studio.window.model.seek(25)
    studio.window.bar.export_button.setFocus()
    studio.window.actions_.save_vocabulary.trigger()
    dialog = studio.window.export_controller.vocabulary.dialog
    studio.wait(lambda: dialog.inspection is not None)
    dialog.place_edit.setText(str(tmp_path / "out"))
    dialog.accept()
    assert not studio.window.bar.export_button.isEnabled()
    studio.wait(lambda: f"to {tmp_path / 'out'}" in studio.window.notices.export.text)
    assert studio.window.focusWidget() is studio.window.bar.export_button
    text = "This is the Hugging Face course!"
    assert load_tokenizer(tmp_path / "out").encode(text) == studio.window.model.tokenizer_at(25).encode(text)
    assert studio.window.session.runs.unsaved_merges == 0


def test_what_is_exported_is_of_the_corpus_of_the_run(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("hugs hug pug hugs", encoding="utf-8")
    (tmp_path / "other.txt").write_text("other", encoding="utf-8")
    studio.open(tmp_path / "en.txt")
    studio.window.actions_.train.trigger()
    studio.wait_finished()
    studio.open(tmp_path / "other.txt")
    digest = hashlib.sha256((tmp_path / "en.txt").read_bytes()).digest()
    of_file, of_text = hashlib.sha256(digest).hexdigest(), hashlib.sha256(b"hugs hug pug hugs").hexdigest()
    for name, hashed in (("en.txt", of_file), ("en.txt (the file has changed or is missing)", of_text)):
        studio.window.actions_.save_vocabulary.trigger()
        dialog = studio.window.export_controller.vocabulary.dialog
        studio.wait(lambda dialog=dialog: dialog.inspection is not None)
        rows, json = dialog.inspection.manifests["folder"]
        assert dict(rows)["Corpus"].split(" · ")[0] == name
        assert (dict(rows)["Corpus hash"], hashed in json) == (f"{hashed[:16]}…", True)
        dialog.reject()
        (tmp_path / "en.txt").write_text("another text", encoding="utf-8")


class Translator(QTranslator):
    def translate(self, context: str, text: str, _disambiguation: str = "", _n: int = -1) -> str:
        return {("corpus_record", "the file was changed after it was counted"): "geändert"}.get((context, text), text)

    def isEmpty(self) -> bool:
        return False


def test_it_is_said_in_the_language_of_the_window_why_there_is_no_hash(studio: Studio, tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("hugs hug pug hugs", encoding="utf-8")
    studio.open(*paths)
    studio.window.actions_.train.trigger()
    studio.wait_finished()
    paths[1].write_text("another text", encoding="utf-8")
    translator = Translator()
    QCoreApplication.installTranslator(translator)
    studio.window.actions_.save_vocabulary.trigger()
    dialog = studio.window.export_controller.vocabulary.dialog
    studio.wait(lambda: dialog.inspection is not None)
    QCoreApplication.removeTranslator(translator)
    assert dict(dialog.inspection.manifests["folder"][0])["Corpus hash"] == "Not available: b.txt: geändert"


def test_an_exported_history_has_its_manifest(studio: Studio, tmp_path: Path) -> None:
    for kind in ("csv", "jsonl", "parquet"):
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet")  # loading it may take long, and no one is to wait for that below
        controller = studio.window.export_controller.history
        controller.write(str(tmp_path / f"merges.{kind}"))
        card = tmp_path / f"merges.{kind}.card.json"
        studio.wait(card.exists)
        studio.wait(lambda: "Exported" in studio.window.notices.export.text)
        manifest = read_manifest(card)
        assert (manifest.kind, manifest.merges, manifest.parts) == ("merges", 25, "all")
