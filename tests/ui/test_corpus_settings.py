"""What the corpus pane lets the user choose: pre-tokenizer by name, longest word, kind of a file; and its room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QComboBox, QScrollArea

from wordpiece_studio.corpus.linter.finding import Finding, LengthFix
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_files import FileColumn
from wordpiece_studio.text.pre_tokenizers import to_spec
from wordpiece_studio.ui.widgets.fields import LineDialog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.panes.corpus.corpus_figures import CorpusFiguresView


def choose(box: QComboBox, value: str) -> None:
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def type_name(figures: CorpusFiguresView, name: str) -> None:
    choose(figures.pre_tokenizer_box, "")
    dialog = figures.window().findChild(LineDialog)
    dialog.field.setText(name)
    dialog.accept()


def wait_counted(studio: Studio) -> None:
    studio.wait_opened()
    studio.wait(lambda: studio.window.session.counting.counts is not None, 30_000)


# -- names


def test_a_pre_tokenizer_that_is_not_in_the_list_is_put_there(empty_studio: Studio) -> None:
    figures = empty_studio.window.corpus_pane.figures
    for name in ("punctuation", "split:isolated:a+byte-level", "pattern:[a-z]+|."):
        figures.set_names("bert-cased", name)
        assert figures.pre_tokenizer_box.currentData() == name
        assert figures.pre_tokenizer.name in name
        with pytest.raises(StudioError):
            figures.set_names("bert-cased", "no such")
        assert figures.pre_tokenizer_box.currentData() == name


def test_another_pre_tokenizer_is_typed(studio: Studio) -> None:
    figures = studio.window.corpus_pane.figures
    type_name(figures, "pattern:[a-z]")
    assert to_spec(studio.window.session.counting.pipeline.pre_tokenizer) == {"type": "pattern", "pattern": "[a-z]"}
    wait_counted(studio)
    assert all(len(word) == 1 for word in studio.window.session.counting.counts.words)


def test_a_pattern_that_is_invalid_is_reported_and_changes_nothing(studio: Studio) -> None:
    figures = studio.window.corpus_pane.figures
    before = studio.window.session.counting.pipeline
    type_name(figures, "pattern:[a-z")
    assert "not a valid regular expression" in studio.box().text()
    assert studio.window.session.counting.pipeline == before
    assert figures.pre_tokenizer_box.currentData() == "bert"


# -- how text becomes words


def test_text_processing_is_folded_with_a_summary(studio: Studio) -> None:
    figures = studio.window.corpus_pane.figures
    boxes = figures.normalizer_box, figures.pre_tokenizer_box, figures.longest_edit
    assert figures._folded.accessibleName() == "BERT, cased · BERT"
    assert not any(box.isVisible() for box in boxes)
    figures.fold.click()
    assert all(box.isVisible() for box in boxes)
    assert figures._folded.isHidden()
    choose(figures.normalizer_box, "nfc")
    figures.longest_edit.setValue(39)
    studio.wait(lambda: studio.window.session.counting.max_word_length == 39)
    figures.fold.click()
    assert figures._folded.accessibleName() == "Unicode form NFC · BERT · 39 characters"


# -- the longest word


def test_another_longest_word_counts_anew(studio: Studio) -> None:
    studio.set_text("a" * 40 + " hug\n")
    figures = studio.window.corpus_pane.figures
    assert figures.values["words"] == "2"
    figures.longest_edit.setValue(39)
    studio.wait(lambda: figures.values["words"] == "1")
    assert studio.window.session.counting.max_word_length == 39
    assert "1 word was left out because it is too long" in studio.window.corpus_pane.note_label.text()


def test_the_warning_of_long_words_leaves_them_out(studio: Studio) -> None:
    studio.set_text("a" * 60 + " hug\n")
    pane = studio.window.corpus_pane
    pane.lint_view.show_findings(
        [Finding("long-words", "warning", "Long", (), {}, (), LengthFix(50), "Leave them out")]
    )
    pane.lint_view.rows[0].fix_button.click()
    studio.wait(lambda: pane.figures.values["words"] == "1")
    assert pane.figures.longest_edit.value() == 50


@pytest.mark.slow
def test_the_longest_word_holds_for_files_too(studio: Studio, tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt"):
        (tmp_path / name).write_text("a" * 40 + " hug\n", encoding="utf-8")
    studio.open(tmp_path)
    wait_counted(studio)
    studio.window.session.counting.set_longest_word(39)
    studio.wait(lambda: studio.window.corpus_pane.figures.values["words"] == "2", 30_000)
    assert "line 1 of 1.txt" in studio.window.corpus_pane.note_label.text()


def test_what_was_left_out_is_not_reported_for_another_corpus(studio: Studio) -> None:
    studio.set_text("a" * 2000 + " hug\n")
    studio.wait(lambda: "too long" in studio.window.corpus_pane.note_label.text())
    studio.window.actions_.new_corpus.trigger()
    studio.window.session.document.clear()
    studio.wait(studio.window.corpus_pane.note_label.isHidden)


# -- the kind of a file


@pytest.mark.slow
def test_a_file_is_read_as_another_kind_and_back(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "1.tsv").write_text("hug\t5\npug\t3\n", encoding="utf-8")
    (tmp_path / "2.txt").write_text("bun\n", encoding="utf-8")
    studio.open(tmp_path)
    wait_counted(studio)
    window = studio.window
    assert dict(window.session.counting.counts.items()) == {"hug": 5, "pug": 3, "bun": 1}
    view = window.corpus_pane.files_view
    view.select([0])
    box = view.form.kind_box
    assert (box.currentText(), "two columns" in box.toolTip()) == ("Word counts (guess)", True)
    kind = window.session.document.files.index(0, FileColumn.KIND)
    assert kind.data() == "Word counts (guess)"
    studio.wait(lambda: "hug\t5" in view.preview.text)
    choose(box, "tsv")
    wait_counted(studio)
    assert dict(window.session.counting.counts.items()) == {"pug": 1, "bun": 1}
    assert (box.currentText(), "two columns" in box.toolTip()) == ("TSV", False)
    choose(box, "word-counts")
    wait_counted(studio)
    assert kind.data() == box.currentText() == "Word counts"
    window.session.document.undo_stack.undo()
    window.session.document.undo_stack.undo()
    assert kind.data() == "Word counts (guess)"


@pytest.mark.slow
def test_a_column_that_is_not_offered_is_typed(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text('{"text": "hug", "meta": {"text": "pug"}}\n', encoding="utf-8")
    studio.open(tmp_path)
    wait_counted(studio)
    edit = studio.window.corpus_pane.files_view.form.column_edit
    assert edit.text() == "text"
    edit.setText("meta.text")
    edit.editingFinished.emit()
    wait_counted(studio)
    assert studio.window.session.counting.counts.words == ["pug"]


def test_a_parquet_file_is_never_offered_as_text(studio: Studio) -> None:
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.session.corpus_files import FileRow

    form = studio.window.corpus_pane.files_view.form
    form.show_files([FileRow(CorpusFile("1.parquet", "parquet")), FileRow(CorpusFile("2.txt"))])
    assert [form.kind_box.itemData(index) for index in range(form.kind_box.count())] == ["word-counts"]
    assert form.kind_box.currentIndex() == -1


def test_an_empty_file_says_so_in_its_preview(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("", encoding="utf-8")
    (tmp_path / "2.txt").write_text("hug\n", encoding="utf-8")
    studio.open(tmp_path)
    preview = studio.window.corpus_pane.files_view.preview
    studio.wait(lambda: preview._text.placeholderText() == "The file is empty")
    studio.window.corpus_pane.files_view.select([1])
    studio.wait(lambda: preview.text == "hug\n")
    assert not preview._text.placeholderText()


# -- room


@pytest.mark.slow
def test_the_files_are_never_cut_nor_over_each_other(studio: Studio, tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.csv").write_text(f"id,text\n1,{'a' * 2000} hug pug\n", encoding="utf-8")
    studio.open(tmp_path)
    wait_counted(studio)
    pane = studio.window.corpus_pane
    view = pane.files_view
    for size in ((1440, 900), (1366, 768), (1024, 700)):
        studio.window.resize(*size)
        studio.window.docks.bring("corpus")  # a tab in a narrow window
        studio.wait(studio.rests)
        assert view.list.geometry().bottom() < view.form.geometry().top()
        area = pane.parentWidget().parentWidget()
        assert isinstance(area, QScrollArea)
        assert pane.width() <= area.maximumViewportSize().width()
        assert view.form.height() >= view.form.minimumSizeHint().height()
        if size == (1440, 900):
            header = view.list.horizontalHeader()
            end = header.sectionViewportPosition(FileColumn.DISTINCT) + header.sectionSize(FileColumn.DISTINCT)
            assert end <= view.list.viewport().width()
            assert view.list.viewport().height() >= 5 * view.list.verticalHeader().defaultSectionSize()


def test_nothing_in_the_pane_is_lower_than_its_text(studio: Studio) -> None:
    studio.set_text("a" * 2000 + " hug\n")
    pane = studio.window.corpus_pane
    title = "Every Chinese character is a word, and so on"
    findings = [Finding(kind, "warning", title, (), {}, (), LengthFix(50), "Keep them") for kind in ("split", "twins")]
    pane.lint_view.show_findings(findings)
    layout = pane.layout()
    for width in (1024, 1200, 1366):
        studio.window.resize(width, 700)
        studio.qtbot.wait(50)
        for widget in (layout.itemAt(place).widget() for place in range(layout.count())):
            if widget.isVisible() and widget.layout() is not None and widget.hasHeightForWidth():
                assert widget.height() >= widget.layout().minimumHeightForWidth(widget.width())
        assert pane.figures.summary_label.geometry().bottom() < pane.figures.fold.geometry().top()


@pytest.mark.slow
def test_the_room_that_is_seen_decides_and_not_the_height_of_what_is_scrolled(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("id,text\n1,hug pug\n", encoding="utf-8")
    studio.open(tmp_path)
    view = studio.window.corpus_pane.files_view
    studio.window.resize(1440, 1300)
    studio.qtbot.wait(50)
    assert view.shows_preview
    studio.window.resize(1440, 800)
    studio.qtbot.wait(50)
    assert not view.shows_preview


def test_training_waits_for_the_counting_that_runs_and_not_for_one_that_was_stopped(
    studio: Studio, tmp_path: Path
) -> None:
    (tmp_path / "1.txt").write_text("hug pug bun\n" * 1_000_000, encoding="utf-8")
    studio.open(tmp_path)
    window = studio.window
    studio.wait(lambda: window.session.counting.is_running)
    before = window.session.counting.task.request
    window.actions_.train.trigger()
    assert window.session.counting.task.request is before
    assert window.actions_.stop.isEnabled()
    window.corpus_pane.counting_bar.stop_button.click()
    assert not window.actions_.stop.isEnabled()
    assert window.actions_.train.isEnabled()
