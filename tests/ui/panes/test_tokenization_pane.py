"""Live tokenization by keyboard and mouse, against the tokenizer itself."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication, QImage, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget

from tests.sampling import some_pairs
from tests.ui.panes.conftest import COURSE
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.session.live_text import LiveText
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.panes.tokenization.why_here import UnknownBox

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.panes.tokenization.tokenization_pane import TokenizationPane

COURSE_TEXT = "This is the Hugging Face course!"


@pytest.fixture
def pane(bench: Bench) -> TokenizationPane:
    pane = bench.show_tokenization()
    bench.seek(12)
    return pane


def type_text(bench: Bench, pane: TokenizationPane, text: str) -> None:
    pane.edit.selectAll()
    bench.qtbot.keyClicks(pane.edit, text)
    bench.settle()


def click_chip(bench: Bench, pane: TokenizationPane, place: ChipPlace, *, at_boundary: bool = False) -> None:
    rect = pane.chips.rect_of(place)
    point = rect.center() if not at_boundary else rect.center() + (rect.topRight() - rect.topLeft()) / 2
    if at_boundary:
        point.setX(point.x() + 2)
    bench.qtbot.mouseClick(pane.chips.viewport(), Qt.MouseButton.LeftButton, pos=point.toPoint())


def test_the_course_sentence_at_merge_12(bench: Bench, pane: TokenizationPane) -> None:
    expected = bench.model.tokenizer_at(12).encode(COURSE_TEXT)
    assert pane.text == COURSE_TEXT
    assert pane.tokens == expected.tokens
    assert pane._summary.text() == "7 words · 24 tokens · (3.43) tokens per word · 1 unknown"
    assert pane.hints[0] == "Merge 12 of 25 · follows the timeline"


def test_one_word_and_one_token_are_singular(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("i")
    bench.settle()
    assert pane._summary.text() == "1 word · 1 token · 1.00 tokens per word · 0 unknown"


def test_tokens_per_word_is_no_figure_where_much_is_unknown(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("ok qq this is")
    bench.settle()
    assert pane._summary.text() == "4 words · 8 tokens · 2 unknown"


def test_the_reason_of_an_unknown_word_is_exact(pane: TokenizationPane) -> None:
    assert pane.unknown_box.text() == (
        "“!” is [UNK]: the symbol ! does not occur in the training corpus.\nThe whole word becomes unknown, not only "
        "the missing part."
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cqt", "q (character 2) does not occur in the training corpus"),
        ("xab", "the symbol x does not occur in"),
        ("zab", "no word in the training corpus starts with z"),
        (
            "aH",
            "##H (character 2) does not occur in the training corpus; H occurs there only at the start",
        ),
        ("a" * 101, "it has 101 characters, and words longer than 100 are not split"),
    ],
)
def test_each_kind_of_unknown_word_has_its_reason(bench: Bench, pane: TokenizationPane, text: str, reason: str) -> None:
    type_text(bench, pane, text)
    assert reason in pane.unknown_box.text()


@pytest.mark.parametrize("step", [0, 3, 4, 9, 16, 25])
def test_it_follows_the_step(bench: Bench, pane: TokenizationPane, step: int) -> None:
    bench.seek(step)
    assert pane.tokens == bench.model.tokenizer_at(step).encode(COURSE_TEXT).tokens


def test_walking_through_all_steps_keeps_nothing_stale(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("This chapter\nshows the section\nHopefully trained tokens\n\nface")
    for step in [*range(26), 3, 25, 0, 14]:
        bench.model.seek(step)
        pane.refresh()
        assert pane.tokens == bench.model.tokenizer_at(step).encode(pane.text).tokens


def test_typing_is_tokenized(bench: Bench, pane: TokenizationPane) -> None:
    type_text(bench, pane, "This Face")
    assert pane.tokens == bench.model.tokenizer_at(12).encode("This Face").tokens


def test_markup_is_text(bench: Bench, pane: TokenizationPane) -> None:
    type_text(bench, pane, "<img src=x> <b>the</b>")
    assert pane.text == "<img src=x> <b>the</b>"
    assert "<" in pane.unknown_box.text()
    assert pane.unknown_box.textFormat() is Qt.TextFormat.PlainText


def test_what_an_input_method_composes_is_not_text_yet(bench: Bench, pane: TokenizationPane) -> None:
    type_text(bench, pane, "the ")
    event = QInputMethodEvent("안녀", [])
    QApplication.sendEvent(pane.edit, event)
    bench.settle()
    assert pane.text == "the "
    event = QInputMethodEvent()
    event.setCommitString("안녕")
    QApplication.sendEvent(pane.edit, event)
    bench.settle()
    assert pane.text == "the 안녕"


def test_no_break_spaces_and_emoji_are_unchanged(bench: Bench, pane: TokenizationPane) -> None:
    text = "the\u00a0🤗 Face"
    pane.set_text(text)
    bench.settle()
    assert pane.text == text
    pieces = [piece for line in pane.live for word in line.words for piece in word.pieces]
    assert (pieces[-1].start, pieces[-1].end) == (9, 10)


def test_a_click_on_a_boundary_shows_why_it_is_there(bench: Bench, pane: TokenizationPane) -> None:
    click_chip(bench, pane, ChipPlace(0, 3, 1), at_boundary=True)
    assert pane.why.title == "Why “Hugging” is split after character 2"
    assert [row[0] for row in pane.why.rows] == ["##ugging", "##uggin", "##uggi", "##ugg", "##ug", "##u"]
    assert pane.why.rows[-1] == ("##u", "✓", "in the alphabet")


def test_a_click_on_a_chip_shows_its_ladder_and_selects_it(bench: Bench, pane: TokenizationPane) -> None:
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    assert pane.why.rows == [("This", "✗", ""), ("Thi", "✗", ""), ("Th", "✓", "created at step 9")]
    assert bench.model.selection == Selection("token", text="Th")


def test_a_tried_piece_that_becomes_a_token_later_shows_when(bench: Bench, pane: TokenizationPane) -> None:
    click_chip(bench, pane, ChipPlace(0, 3, 0))
    rows = {row[0]: row[2] for row in pane.why.rows}
    step = next(merge.step for merge in bench.model.history if merge.token == "Hu")
    assert rows["Hu"] == f"not created until step {step}"


def test_an_unknown_chip_shows_where_nothing_matched(bench: Bench, pane: TokenizationPane) -> None:
    type_text(bench, pane, "cqt")
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    assert pane.why.title == "Why “cqt” is unknown: nothing matches from character 2"
    assert [row[:2] for row in pane.why.rows] == [("##qt", "✗"), ("##q", "✗")]


def test_the_arrow_keys_walk_through_the_chips(bench: Bench, pane: TokenizationPane) -> None:
    chips = pane.chips
    for key, place in (
        (Qt.Key.Key_Right, (0, 0, 0)),
        (Qt.Key.Key_Right, (0, 0, 1)),
        (Qt.Key.Key_End, (0, 6, 0)),
        (Qt.Key.Key_Left, (0, 5, 5)),
        (Qt.Key.Key_Home, (0, 0, 0)),
    ):
        bench.qtbot.keyClick(chips, key)
        assert chips.current == place
    bench.qtbot.keyClick(chips, Qt.Key.Key_Down)
    assert chips.rect_of(chips.current).top() > chips.rect_of(ChipPlace(0, 0, 0)).top()
    bench.qtbot.keyClick(chips, Qt.Key.Key_Up)
    assert chips.current == (0, 0, 0)


def test_the_walking_keys_are_not_left_to_the_window(pane: TokenizationPane) -> None:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(pane.chips, event)
    assert event.isAccepted()


def test_a_screen_reader_hears_the_chip(bench: Bench, pane: TokenizationPane) -> None:
    bench.qtbot.keyClick(pane.chips, Qt.Key.Key_Home)
    assert pane.chips.accessibleDescription() == (
        "Token Th · ID 53 · characters 0–2 · created at step 9 · in the word This"
    )


def test_the_table_says_the_same_as_the_chips(bench: Bench, pane: TokenizationPane) -> None:
    bench.qtbot.mouseClick(pane.options.table, Qt.MouseButton.LeftButton)
    bench.settle()
    encoding = bench.model.tokenizer_at(12).encode(COURSE_TEXT)
    model = pane._table.rows
    rows = [[model.index(row, column).data() for column in range(5)] for row in range(model.rowCount())]
    assert [row[0] for row in rows] == encoding.tokens
    assert [row[1] for row in rows] == [str(number) for number in encoding.ids]
    assert [row[2] for row in rows] == [f"{start}–{end}" for start, end in encoding.offsets]
    assert pane._table.isVisible()


def test_copying(bench: Bench, pane: TokenizationPane) -> None:
    encoding = bench.model.tokenizer_at(12).encode(COURSE_TEXT)
    tokens, ids, _ = [action for action in pane.options._more.menu().actions() if action.isVisible()]
    tokens.trigger()
    assert QGuiApplication.clipboard().text() == " ".join(encoding.tokens)
    ids.trigger()
    assert QGuiApplication.clipboard().text() == " ".join(map(str, encoding.ids))


def test_the_changes_name_the_steps_that_changed_the_text(bench: Bench, pane: TokenizationPane) -> None:
    bench.wait(lambda: bool(pane.changes_view.rows))
    counts = [len(bench.model.tokenizer_at(step).encode(COURSE_TEXT)) for step in range(26)]
    changed = [step for step in range(1, 26) if counts[step] != counts[step - 1]]
    assert [row.step for row in pane.changes_view.rows] == changed
    assert [row.tokens for row in pane.changes_view.rows] == [counts[step] for step in changed]


def test_the_step_stays_in_view_when_the_list_shrinks(bench: Bench, pane: TokenizationPane) -> None:
    bench.wait(lambda: bool(pane.changes_view.rows))
    bench.model.last()
    bench.settle()
    changes, table = pane.changes_view, pane.changes_view._table
    for height in (260, 90, 70):
        changes.resize(changes.width(), height)
        row = table.visualRect(changes.model.index(changes.last_past(), 0))
        assert table.viewport().rect().contains(row)


def test_a_click_on_a_change_goes_to_its_step(bench: Bench, pane: TokenizationPane) -> None:
    bench.wait(lambda: bool(pane.changes_view.rows))
    table = pane.changes_view._table
    place = table.visualRect(table.rows.index(1, 1)).center()
    table.scrollTo(table.rows.index(1, 1))
    place = table.visualRect(table.rows.index(1, 1)).center()
    bench.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.model.step == pane.changes_view.rows[1].step


def test_special_tokens_are_found_first(bench: Bench, pane: TokenizationPane) -> None:
    type_text(bench, pane, "[CLS] the")
    assert pane.tokens[0] == "[CLS]"
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    assert "special token" in pane.why.title


def test_before_training_it_says_what_to_do(empty_bench: Bench) -> None:
    pane = empty_bench.show_tokenization()
    assert pane.tokens == []
    assert "Train" in pane._summary.text()
    empty_bench.train()
    empty_bench.settle()
    assert pane.tokens


def test_a_pane_that_is_hidden_catches_up(bench: Bench, pane: TokenizationPane) -> None:
    pane.hide()
    bench.seek(25)
    pane.show()
    bench.settle()
    assert pane.tokens == bench.model.tokenizer_at(25).encode(COURSE_TEXT).tokens


def test_every_control_has_a_name(pane: TokenizationPane) -> None:
    controls = [pane.edit, pane.chips, pane._table, *pane.findChildren(QToolButton)]
    assert all(control.accessibleName() or control.text() for control in controls)


def test_20000_characters_stay_usable(bench: Bench, pane: TokenizationPane) -> None:
    text = "This chapter is about tokenization and how tokenizers are trained.\n" * 295
    pane.set_text(text)
    bench.wait(lambda: len(pane.live) == 295)
    bench.wait(lambda: pane._changes.is_known)
    assert pane._changes.summary_at(25).words == 295 * 11
    bench.qtbot.keyClick(pane.chips, Qt.Key.Key_End)
    assert pane.chips.rect_of(pane.chips.current).bottom() <= pane.chips.viewport().height()
    assert pane.changes_view.rows


def test_the_text_is_known_at_once(pane: TokenizationPane) -> None:
    pane.set_text("another text")
    assert pane.text == "another text"


@pytest.mark.usefixtures("styled")
def test_before_a_training_the_field_is_no_higher_than_its_two_rows(empty_bench: Bench) -> None:
    pane = empty_bench.show_tokenization()
    assert pane._field.height() == pane.edit.height() + pane.options.height() + 8 + 2


def test_escape_and_a_click_beside_the_chips_end_the_question(bench: Bench, pane: TokenizationPane) -> None:
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    assert pane.why.isVisible()
    bench.qtbot.keyClick(pane.chips, Qt.Key.Key_Escape)
    assert not pane.why.isVisible()


def test_an_open_answer_follows_the_theme(bench: Bench, pane: TokenizationPane) -> None:
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    bench.settle()
    bench.wait(lambda: pane.why.height() > 0)  # it is laid out
    light = pane.why.grab().toImage()
    bench.theme.set_choice("dark")
    dark = pane.why.grab().toImage()
    click_chip(bench, pane, ChipPlace(0, 3, 0))
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    bench.settle()
    assert pane.why.grab().toImage() == dark != light
    bench.theme.set_choice("light")
    assert pane.why.grab().toImage() == light


def cut_texts(pane: TokenizationPane) -> list[str]:
    """Return the texts of labels and buttons that are not completely visible."""
    cut = []
    for part in pane.findChildren(QWidget):
        if not part.isVisible() or not isinstance(part, QLabel | QToolButton) or not part.text():
            continue
        wraps = isinstance(part, QLabel) and part.wordWrap()
        room = QRect(0, 0, part.width() if wraps else 10_000, 10_000)
        flags = int(Qt.TextFlag.TextWordWrap) if wraps else 0
        needed, seen = part.fontMetrics().boundingRect(room, flags, part.text()), part.visibleRegion().boundingRect()
        if needed.height() > seen.height() + 1 or needed.width() > seen.width() + 1:
            cut.append(part.text())
    return cut


@pytest.mark.slow
@some_pairs(("size", "is_asked"), [(300, 460), (330, 560), (390, 430), (560, 900)], [False, True])
def test_no_text_is_cut_off_at_any_font_size(
    bench: Bench, pane: TokenizationPane, size: tuple[int, int], is_asked: bool
) -> None:
    type_text(bench, pane, "The Hugging Face course! and zebras")
    pane.resize(*size)
    bench.settle()
    if is_asked:
        pane.chips.chosen.emit((ChipPlace(0, 1, 0), False))
    for points in (7, 9, 10, 11, 12, 14, 16, 13, 10, 8):
        pane.setStyleSheet(f"* {{ font-size: {points}pt; }}")
        bench.theme.set_scale(points / 10)
        bench.settle()
        pane.resize(*size)
        bench.settle()
        assert cut_texts(pane) == [], points
        assert pane.why.isVisible() == is_asked


def test_switches_without_room_are_in_the_menu(bench: Bench, pane: TokenizationPane) -> None:
    options = pane.options
    entries = options.in_menu
    assert all(button.isVisible() != entry.isVisible() for button, entry in entries.items())
    pane.resize(200, 660)
    bench.settle()
    assert all(entry.isVisible() and not button.isVisible() for button, entry in entries.items())
    entries[options.table].trigger()
    bench.settle()
    assert pane._table.isVisible()
    pane.resize(600, 660)
    bench.settle()
    assert options.table.isVisible()
    assert options.table.isChecked()


def test_an_answer_without_rungs_takes_no_room_for_them(bench: Bench, pane: TokenizationPane) -> None:
    why = pane.why
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    assert why._table.isVisible()
    why.show_library(has_scores=False)
    assert why._table.isHidden()
    assert why.needed_height() < why._title.height() + why._table.minimumHeight()


def test_a_click_does_not_move_the_chips(bench: Bench, pane: TokenizationPane) -> None:
    pane.resize(380, 560)
    bench.settle()
    place = ChipPlace(0, 3, 1)
    before = pane.chips.viewport().mapTo(pane, pane.chips.rect_of(place).center().toPoint())
    click_chip(bench, pane, place)
    bench.settle()
    assert pane.chips.viewport().mapTo(pane, pane.chips.rect_of(place).center().toPoint()) == before


def test_the_ladder_begins_at_its_top_and_shows_six_rungs(bench: Bench, pane: TokenizationPane) -> None:
    pane.resize(380, 560)
    type_text(bench, pane, "tokenizationsandmore")
    click_chip(bench, pane, ChipPlace(0, 0, 0))
    bench.settle()
    table = pane.why._table
    assert table.verticalScrollBar().value() == 0
    assert table.viewport().height() >= 6 * table.verticalHeader().defaultSectionSize()


def test_the_field_shows_whole_lines(pane: TokenizationPane) -> None:
    edit = pane.edit
    assert 0 <= edit.viewport().height() - 2 * edit.fontMetrics().lineSpacing() <= 2


def painted(pane: TokenizationPane, place: ChipPlace) -> QImage:
    rect = pane.chips.rect_of(place).toRect().adjusted(-3, -3, 3, 3)
    corner = pane.chips.viewport().mapTo(pane, rect.topLeft())
    return pane.grab(QRect(corner, rect.size())).toImage().convertToFormat(QImage.Format.Format_RGB32)


@pytest.mark.parametrize(
    ("selection", "ringed"),
    [
        (Selection("token", text="##e"), {(2, 2), (4, 1), (5, 5)}),
        (Selection("pair", left="##s", right="##e"), {(5, 4), (5, 5)}),
        (Selection("pair", left="T", right="##h"), {(0, 0)}),  # made already: the token that it made
        (Selection("word", text="the"), {(2, 0), (2, 1), (2, 2)}),
        (Selection("token", text="nowhere"), set()),
    ],
)
def test_the_chips_in_the_selection_are_ringed(
    bench: Bench, pane: TokenizationPane, selection: Selection, ringed: set[tuple[int, int]]
) -> None:
    words = pane.live[0].words
    places = [ChipPlace(0, word, chip) for word in range(len(words)) for chip in range(len(words[word].pieces))]
    before = {place: painted(pane, place) for place in places}
    bench.model.set_selection(selection)
    changed = {(place.word, place.chip) for place in places if painted(pane, place) != before[place]}
    neighbours = {(word, chip + side) for word, chip in ringed for side in (-1, 1)}
    assert ringed <= changed <= ringed | neighbours
    bench.model.set_selection(None)
    assert {place: painted(pane, place) for place in places} == before


def test_the_token_born_at_this_step_is_marked(bench: Bench, pane: TokenizationPane) -> None:
    bench.seek(9)
    at_birth = painted(pane, ChipPlace(0, 0, 0))
    bench.seek(10)
    assert painted(pane, ChipPlace(0, 0, 0)) != at_birth
    bench.seek(9)
    assert painted(pane, ChipPlace(0, 0, 0)) == at_birth


def test_a_double_click_and_shift_enter_select_the_word(bench: Bench, pane: TokenizationPane) -> None:
    place = ChipPlace(0, 3, 1)
    point = pane.chips.rect_of(place).center().toPoint()
    bench.qtbot.mouseDClick(pane.chips.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert bench.model.selection == Selection("word", text="Hugging")
    bench.qtbot.keyClick(pane.chips, Qt.Key.Key_Home)
    bench.qtbot.keyClick(pane.chips, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert bench.model.selection == Selection("word", text="This")


def test_an_unknown_word_stands_below_its_chip(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("This 🤗 [UNK]\n" + "ß" * 40)
    bench.settle()
    chips = pane.chips

    def captions() -> list[tuple[str, ...]]:
        words = [(line, word) for line in pane.live for word in line.words]
        return [chips._captions_of(line, word, word.pieces[0]) for line, word in words]

    this, own, spelled, long = captions()
    assert own == ("1", "🤗")
    assert (len(this), spelled) == (1, ("1",))
    assert long == ("1", "ß" * 15 + "…")
    assert pane.tokens[-3:] == ["[UNK]"] * 3
    bench.qtbot.mouseClick(pane.options.ids, Qt.MouseButton.LeftButton)
    bench.settle()
    assert captions() == [(), ("🤗",), (), ("ß" * 15 + "…",)]
    place = ChipPlace(1, 0, 0)
    chip = chips.rect_of(place)
    below = QRect(int(chip.left()), int(chip.bottom()) + 2, int(chip.width()), chips._style.caption_height)
    image = chips.viewport().grab(below).toImage()
    assert len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}) > 3
    assert chips.chip_at(QPointF(below.center())) == place


def test_offsets_are_in_characters(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("thé Face 🤗")
    bench.qtbot.mouseClick(pane.options.offsets, Qt.MouseButton.LeftButton)
    bench.settle()
    line = pane.live[0]
    assert pane._texts.captions(line, line.words[-1].pieces[-1])[-1] == "9–10"
    assert pane._summary.text().endswith(" · offsets in characters, from 0")
    assert " · characters 9–10 · " in pane._texts.spoken(line, line.words[-1], -1)


def test_ids_are_decoded(bench: Bench, pane: TokenizationPane) -> None:
    box, (*_, decode) = pane._field.decode_box, pane.options._more.menu().actions()
    assert not box.isVisible()
    decode.trigger()
    assert box.isVisible()
    tokenizer = bench.model.tokenizer_at(12)
    ids = tokenizer.encode("This chapter").ids
    bench.qtbot.keyClicks(box.field, ", ".join(map(str, ids)))
    assert box.result.text() == tokenizer.decode(ids)
    bench.qtbot.keyClicks(box.field, " x")
    assert box.result.text() == "“x” is not an ID: IDs are whole numbers."
    box.field.setText("69")
    assert "no token with the ID" in box.result.text()
    bench.seek(25)
    assert box.result.text() == bench.model.vocabulary_at(25)[69]
    box.field.setText("²")
    assert "is not an ID" in box.result.text()


def test_the_token_table_has_all_tokens(bench: Bench, pane: TokenizationPane, qtmodeltester: ModelTester) -> None:
    pane.set_text("This is the course\n\n" * 60)
    bench.qtbot.mouseClick(pane.options.table, Qt.MouseButton.LeftButton)
    bench.settle()
    model = pane._table.rows
    tokens = bench.model.tokenizer_at(12).encode(pane.text).tokens
    qtmodeltester.check(model)
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == tokens
    headings = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(5)]
    assert headings == ["Token", "ID", "Characters", "Created", "Word"]
    heading = pane._table.horizontalHeader()
    assert all(heading.sectionSize(column) >= heading.sectionSizeHint(column) for column in range(4))
    spoken = model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Token Th · ID 53 · characters 0–2 · created at step 9 · in the word This"


def test_the_changes_grow_while_training_runs(empty_bench: Bench, qtmodeltester: ModelTester) -> None:
    bench = empty_bench
    pane = bench.show_tokenization()
    pane.set_text("This chapter shows tokens")
    bench.model.start(count_texts(COURSE), TrainingConfig(objective="score", vocab_size=70), paused=True)
    bench.wait(lambda: bench.model.state is TrainerState.PAUSED)
    changes, resets, inserted = pane.changes_view.model, [], []
    changes.modelReset.connect(lambda: resets.append(True))
    changes.rowsInserted.connect(lambda _parent, first, last: inserted.append((first, last)))
    for _ in range(25):
        bench.model.next_merge()
        bench.wait(lambda: not bench.model.is_busy)
    counts = [len(bench.model.tokenizer_at(step).encode(pane.text)) for step in range(26)]
    bench.wait(lambda: len(pane.changes_view.rows) == sum(one != other for one, other in pairwise(counts)))
    assert len(inserted) > 1
    assert not resets
    assert [row.tokens for row in pane.changes_view.rows] == [counts[row.step] for row in pane.changes_view.rows]
    assert [row.change for row in pane.changes_view.rows] == [
        counts[r.step] - counts[r.step - 1] for r in pane.changes_view.rows
    ]
    qtmodeltester.check(changes)
    bench.seek(9)
    row = pane.changes_view.last_past()
    assert pane.changes_view.rows[row].step == 9
    said = changes.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == f"Step 9: T + ##h → Th · −1 token · then {counts[9]} tokens"


def test_typing_in_a_long_text_tokenizes_what_is_visible(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("This chapter is about tokenization and how tokenizers are trained.\n" * 295)
    bench.wait(lambda: pane._changes.is_known)
    pane.live = LiveText()
    cursor = pane.edit.textCursor()
    cursor.setPosition(70)
    pane.edit.setTextCursor(cursor)
    bench.qtbot.keyClick(pane.edit, "x")
    bench.wait(lambda: "x" in pane.live.text)
    assert sum(map(len, pane.live.known.values())) < 5
    bench.wait(lambda: pane._changes.is_known)
    assert pane._changes.summary_at(25).words == 295 * 11


def test_the_field_grows_to_four_lines_without_a_horizontal_bar(bench: Bench, pane: TokenizationPane) -> None:
    low = pane.edit.height()
    pane.set_text("강의에 오신 여러분들 환영합니다! " * 12)
    bench.settle()
    edit = pane.edit
    lines = edit.document().firstBlock().layout()
    assert edit.height() > low
    assert edit.viewport().height() >= sum(lines.lineAt(line).height() for line in range(4))
    assert not edit.horizontalScrollBar().isVisible()


def test_what_is_beyond_the_limit_is_reported(bench: Bench, pane: TokenizationPane) -> None:
    pane.set_text("a\n" * 2_000_000)
    assert len(pane.text) == 20_000
    bench.wait(lambda: len("".join(pane.live.texts)) == 20_000)
    assert pane._field.limit.text() == "Live tokenization takes up to 20,000 characters; 3,980,000 left out."
    assert pane._field.limit.isVisible()
    pane.set_text("a")
    bench.settle()
    assert not pane._field.limit.isVisible()


def test_a_low_box_of_unknown_words_says_of_which_and_of_how_many(qtbot: QtBot) -> None:
    box = UnknownBox()
    qtbot.addWidget(box)
    box.show_text("gun is [UNK].\nThe text has 2 unknown words in all.\nThe whole word is.", is_low=True)
    assert box.text() == "gun is [UNK]. The text has 2 unknown words in all."
    assert "The whole word is." in box.toolTip()
