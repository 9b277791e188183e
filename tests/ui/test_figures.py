"""The figures of all runs in the window: by menu and palette, on each kind of text, to sort and copy."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

import wordpiece_studio as wps
from tests.cli.calls import run as run_command
from tests.ui.test_libraries import HUG, trained
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.evaluating import evaluate
from wordpiece_studio.evaluation.figures import TokenizerFigures
from wordpiece_studio.session.table_model import RecordTableModel, each_row
from wordpiece_studio.session.tokenizer_figures import FiguresRow, Measured
from wordpiece_studio.ui.panes.comparison.comparison_pane import (
    Tab,
    figures_columns,
    figures_lines,
    figures_tip,
    summary_text,
)
from wordpiece_studio.ui.widgets.table import TableView

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.modeltest import ModelTester

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.panes.comparison.comparison_pane import SummaryTable


def figures(name: str, tokens: int, unknown: int) -> TokenizerFigures:
    return TokenizerFigures(
        name=name, kind="WordPiece", vocabulary_size=1000, words=100, own_words=100, whole_words=50, characters=400,
        bytes=1200, tokens=tokens, unknown=unknown, used=30, renyi_efficiency=0.5, code_length=2000.0,
    )  # fmt: skip


def test_the_best_is_bold_except_of_those_that_lose_text(qtmodeltester: ModelTester) -> None:
    model = RecordTableModel(figures_columns(), tip=each_row(figures_tip))
    qtmodeltester.check(model)
    paths = [Measured(path=f"/{name}") for name in "abcd"]
    rows = [FiguresRow(paths[0], figures("a", 200, 0)), FiguresRow(paths[1], figures("b", 100, 50))]
    rows += [FiguresRow(paths[2], error=StudioError("It is <b>broken</b>")), FiguresRow(paths[3], figures("d", 150, 0))]
    model.set_records(figures_lines(rows, "abcd"))

    def column(number: int) -> list[tuple[str, bool]]:
        cells = [model.index(row, number) for row in range(4)]
        is_bold = model.columns[number].bold
        return [(cell.data(), is_bold(model.records, cell.row())) for cell in cells]

    broken = ("It is <b>broken</b>.", False)
    assert column(3) == [("2.000", False), ("(1.000)", False), broken, ("1.500", True)]
    assert column(7) == [("0.00%", True), ("50.00%", False), broken, ("0.00%", True)]
    assert [is_bold for _, is_bold in column(8)] == [True, False, False, True]  # all keep half of the words whole
    assert "<b>" not in model.index(2, 0).data(Qt.ItemDataRole.ToolTipRole)  # it is shown, not obeyed
    assert model.index(3, 3).data(Qt.ItemDataRole.AccessibleTextRole) == "1.500, the best"
    model.sort(3, Qt.SortOrder.DescendingOrder)
    assert [line.name for line in model.records] == ["a", "d", "b", "c"]
    said = "d needs the fewest tokens per word. Fewer tokens do not"
    assert summary_text(model.records).startswith(f"Of those that lose the least text, {said}")
    without_loss, alone = (figures_lines([rows[0], rows[at]], ["a", "other"]) for at in (3, 1))
    assert summary_text(without_loss).startswith("other needs the fewest tokens per word.")
    assert summary_text(alone) == ""
    sizes = {"B": (2000, 120), "A": (1000, 140), "C": (2000, 250), "D": (1000, 300)}
    each = [replace(figures(name, tokens, 0), vocabulary_size=size) for name, (size, tokens) in sizes.items()]
    four = figures_lines([FiguresRow(Measured(path=f"/{line.name}"), line) for line in each], "BACD")
    assert "fewer tokens. Of those of size 1,000, A needs the fewest. Fewer" in summary_text(four)
    assert "Of those of size" not in summary_text(four[:2])  # nothing is compared at one size
    model.sort(-1)
    assert [line.name for line in model.records] == ["a", "b", "c", "d"]


def test_figures_that_are_written_alike_are_equally_good() -> None:
    one, other = (
        replace(figures("a", 200, 0), renyi_efficiency=value) for value in (0.9175, math.nextafter(0.9175, 1))
    )
    lines = figures_lines([FiguresRow(Measured(path=f"/{each}"), each) for each in (one, other)], "ab")
    assert lines[0].best == lines[1].best
    assert "renyi_efficiency" in lines[0].best


def test_a_run_has_its_disc_and_no_letter_beside_it(studio: Studio) -> None:
    name, table = 0, RecordTableModel(figures_columns())
    run = studio.window.session.runs.all[0]
    measured = Measured(run, len(run.history)), Measured(run, 3), Measured(path="/x")
    names = "A  Score", "A@3  Score", "x"
    table.set_records(figures_lines([FiguresRow(each) for each in measured], names))
    assert [table.text(row, name) for row in range(3)] == list(names)
    assert [table.drawn(row, name) for row in range(3)] == ["Score", "A@3  Score", "x"]
    view = TableView(table, studio.window.theme, studio.window, name="")
    view.resize(400, 200)
    color = studio.window.theme.run_color(run.color)
    view.show()
    image = view.grab().toImage()
    top, height = view.viewport().y() + view.rowViewportPosition(0), view.row_height

    def has_disc(row: int) -> bool:
        ys = range(top + row * height, top + (row + 1) * height)
        return any(image.pixelColor(x, y) == color for y in ys for x in range(40))

    assert [has_disc(row) for row in range(3)] == [True, True, False]


def face_of(studio: Studio) -> SummaryTable:
    """Open the figures by the palette."""
    window = studio.window
    window.actions_.command_palette.trigger()
    palette = window.help_controller.palette
    QTest.keyClicks(palette.field, "Run metrics")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    pane = window.comparison_pane
    studio.wait(lambda: pane.summary.table.isVisible() and pane.isAncestorOf(window.focusWidget()))
    return pane.summary


def test_in_a_low_pane_the_rows_are_as_high_as_ever_and_it_is_scrolled(studio: Studio) -> None:
    table = face_of(studio).table
    for runs in (1, 2):
        studio.wait(lambda count=runs: table.rows.rowCount() == count)
        least = studio.window.comparison_pane.minimumSizeHint().height()
        assert table.minimumHeight() >= table.horizontalHeader().height() + runs * table.row_height
        assert least >= table.minimumHeight()
        studio.window.actions_.keep_run.trigger()
        studio.window.session.settings.choose(objective="count")
        studio.window.actions_.train.trigger()


def choose_files(studio: Studio, *paths: Path) -> None:
    (dialog,) = studio.window.findChildren(QFileDialog)
    dialog.filesSelected.emit([str(path) for path in paths])
    dialog.reject()
    studio.wait(lambda: not studio.window.findChildren(QFileDialog))


def choose_text(face: SummaryTable, place: str) -> None:
    face.texts.setCurrentIndex(face.texts.findData(place))
    face.texts.activated.emit(face.texts.currentIndex())


@pytest.mark.slow
def test_the_table_is_what_library_and_command_line_find(
    studio: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = studio.window
    studio.set_text(HUG)
    window.session.settings.set_target_size(17)
    studio.wait(lambda: window.model.config.vocab_size == 17 and not window.session.changes_since_run().corpus)
    runs, measuring = window.session.runs, window.session.figures
    trained(studio, "sentencepiece-unigram")
    library_run = trained(studio, "tokenizers-bpe")
    face = face_of(studio)
    face.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # in the order of the library

    def shown() -> list[TokenizerFigures | None]:
        studio.wait(lambda: face.lines and not measuring.is_running, 60_000)
        return [line.figures for line in face.lines]

    named = {run.letter: run.library or run.tokenizer_at(len(run.history)) for run in runs.all}
    assert [*named] == [*"ABCD"]  # the sample's, ours and two of libraries
    assert shown() == list(evaluate(named, library_run.counts, with_greedy_gap=True).figures)
    assert face.texts.findData("held-out") < 0  # of so few words
    assert "unknown tokens: A. Do not compare" in face.note.text()

    # Files, as the command line measures what was exported; and who reads the first of them more easily.
    files = [tmp_path / "a" / "hug.txt", tmp_path / "b" / "pug.txt"]
    for file, text in zip(files, ("hug pugs bun\n\n", "hug huns! huns\nxyz"), strict=True):
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
    choose_text(face, "")
    choose_files(studio, *files)
    studio.wait(lambda: face.texts.currentText() == "Files: hug.txt, pug.txt")
    face.parallel.click()
    assert face.parts.currentText() == "pug.txt"
    found = shown()
    assert not face.table.isColumnHidden(16)
    exported = [tmp_path / "A", tmp_path / "B", tmp_path / "c.model", tmp_path / "d.json"]
    for path, run in zip(exported, runs.all, strict=True):
        if run.library_run is None:
            run.tokenizer_at(len(run.history)).save(path)
        else:
            path.write_bytes(run.library_run.content)
    on = [word for file in files for word in ("--on", file)]
    printed = json.loads(run_command(capsys, "evaluate", *exported, *on, "--parallel", "--greedy-gap", "--json")[1])
    for line, theirs in zip(found, printed["parts"]["pug.txt"], strict=True):
        assert line.to_dict() == {**theirs, "name": line.name}
    face.parts.setCurrentIndex(0)
    face.parts.activated.emit(0)
    assert [each.to_dict() | {"name": ""} for each in shown()] == [each | {"name": ""} for each in printed["figures"]]

    # An opened tokenizer beside the runs, one that is none, and the clipboard.
    (tmp_path / "none.json").write_text("{}", encoding="utf-8")
    face.add.click()
    choose_files(studio, exported[0] / "tokenizer.json", tmp_path / "none.json")
    assert [each is None for each in shown()] == [False] * 5 + [True]
    assert shown()[4].tokens == shown()[0].tokens
    assert "has no model" in face.table.model().index(5, 3).data()
    needed = face.fontMetrics().horizontalAdvance(face.table.model().index(5, 3).data())
    room = face.table.visualRect(face.table.model().index(5, 1))
    assert needed < room.width() * (room.height() // face.fontMetrics().height())  # it wraps
    face.table.setFocus()
    QTest.keyClick(face.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = [line.split("\t") for line in QApplication.clipboard().text().splitlines()]
    assert copied[0][:4] == ["Tokenizer", "Step", "Size", "Tokens per word"]
    assert [float(line[3]) for line in copied[1:6]] == [each.tokens_per_word for each in shown()[:5]]
    face.table.selectRow(5)
    QTest.keyClick(face.table, Qt.Key.Key_Delete)
    assert len(shown()) == 5
    every = len(face.table.widths(10_000))
    narrow = next(width for width in range(3000, 0, -5) if len(face.table.widths(width)) == every - 1)
    face.table.setFixedWidth(narrow + face.table.width() - face.table.viewport().width())
    studio.wait(lambda: "1 column is hidden at this width; it is copied too." in face.note.text())

    # The live text; a library that cannot read what it has learned; and stopping.
    sound = runs.all[2].library_run
    runs.all[2].library_run = replace(sound, content=b"spoiled")
    choose_text(face, "live")
    assert [each is None for each in shown()] == [False, False, True, False, False]
    assert "Unigram (SentencePiece)" in face.lines[2].name
    assert "sentencepiece.model" in str(face.lines[2].error)
    runs.all[2].library_run = sound
    window.session.set_live_text("hugs pun")
    assert face.stop.isVisible()
    face.stop.click()
    assert face.note.text().startswith("Stopped.")
    choose_text(face, "live")
    assert shown() == list(
        evaluate(
            {**named, shown()[4].name: wps.load_tokenizer(exported[0])}, texts=["hugs pun"], with_greedy_gap=True
        ).figures
    )
    for run in runs.all[:1] + runs.all[2:]:  # of those left none loses text
        runs.close(run)
    shown()
    window.session.set_live_text("hugs pun")
    face.table.selectRow(1)
    face.remove.click()
    assert [each.name for each in shown()] == ["B"]
    assert "2 words (bert-cased, bert)." in face.heading.text()
    window.session.set_live_text("")
    assert shown() == [None]
    assert face.note.text().startswith("There are no words")
    window.comparison_pane.show_tab(Tab.TEXT)
    window.session.set_live_text("hugs")
    assert not measuring.is_running


def test_over_folds_the_best_stand_with_those_whose_difference_may_be_0() -> None:
    def folded(name: str, tokens: list[int], unknown: int = 0) -> FiguresRow:
        each = tuple(figures(name, number, unknown) for number in tokens)
        return FiguresRow(Measured(path=f"/{name}"), replace(each[0], folds=each, unknown=unknown * len(each)))

    rows = [folded("a", [120, 160, 141]), folded("b", [121, 158, 142]), folded("c", [220, 261, 240])]
    lines = figures_lines(rows, "abc")
    assert ["tokens_per_word" in line.best for line in lines] == [True, True, False]
    model = RecordTableModel(figures_columns())
    model.set_records(lines)
    assert model.text(0, 3) == "1.403 ± 0.200"
    assert summary_text(lines).startswith("a and b need the fewest tokens per word; the differences may be 0. Fewer")
    apart = figures_lines([rows[2], folded("d", [300, 341, 321])], "cd")
    assert summary_text(apart).startswith("c needs the fewest tokens per word; no difference has 0 in its 95% interval")
    lossy = figures_lines([*rows, folded("e", [100, 100, 100], 90)], "abce")
    assert "Those that lose more text are left out." in summary_text(lossy)
