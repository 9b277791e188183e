"""Chips: their layout, moving through them, and that only visible ones are laid out and painted."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter

from wordpiece_studio.session.live_text import LiveText
from wordpiece_studio.text.pipeline import Word
from wordpiece_studio.tokenizer.encoding import UnknownReason
from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipBlocks, ChipPlace, LiveChips, kept_place
from wordpiece_studio.ui.widgets.chips import PLAIN_CHIP, ChipLook, ChipStyle, FlowSpacing, lay_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.live_text import LiveLine
    from wordpiece_studio.ui.widgets.theme import Theme

SPACING = FlowSpacing(chip_gap=2, word_gap=6, row_height=20)


Words = tuple[TokenizedWord, ...]


def line(*words: str) -> Words:
    """Return the words of a line, each given as its tokens with spaces between them."""
    pieces = (tuple(Piece(token, 0, 0, 1) for token in word.split()) for word in words)
    return tuple(TokenizedWord(None, each, None) for each in pieces)


def text(*lines: Words) -> LiveText:
    """Return a text of these lines, each starting where its index says."""
    known = {" ".join("".join(piece.token for piece in word.pieces) for word in words): words for words in lines}
    return of_known(known)


def of_known(known: dict[str, Words], texts: list[str] | None = None) -> LiveText:
    """Return a text of these lines, whose words are known."""
    live = LiveText()
    live.texts = list(known) if texts is None else texts
    live.text = "".join(live.texts)
    live.starts, live.known = list(range(len(live.texts))), {Tokenizer(Vocabulary(["a"])): known}
    return live


def ten_pixels_a_chip(of: LiveLine) -> list[list[float]]:
    return [[10.0] * len(word.pieces) for word in of.words]


def laid_out(
    lines: LiveText,
    width: float,
    spacing: FlowSpacing = SPACING,
    widths: Callable[[LiveLine], list[list[float]]] = ten_pixels_a_chip,
) -> ChipBlocks:
    blocks = ChipBlocks(widths)
    blocks.lay_out(width, spacing)
    blocks.set_lines(lines)
    return blocks


def test_words_stay_in_one_row() -> None:
    placed = lay_out([[10, 10], [10, 10], [10]], 46, SPACING)
    assert [(x, y) for x, y, _width in placed] == [(0, 0), (12, 0), (0, 20), (12, 20), (28, 20)]
    assert laid_out(text(line("a b", "c d", "e")), 46).height == 40


def test_a_word_wider_than_a_row_is_broken() -> None:
    placed = lay_out([[10] * 5], 24, SPACING)
    assert [y for _x, y, _width in placed] == [0, 0, 20, 20, 40]


def test_chips_do_not_overlap() -> None:
    placed = lay_out([[7.5] * (index % 5 + 1) for index in range(40)], 83, SPACING)
    for before, after in itertools.pairwise(placed):
        assert after[1] > before[1] or after[0] >= before[0] + before[2]


def test_an_empty_text_takes_no_room() -> None:
    assert laid_out(text(line()), 100).height == 0


def test_a_step_looks_at_no_line_that_is_not_in_view(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = text(*(line(*[f"a b {number}"] * 10) for number in range(50)))
    blocks = laid_out(lines, 200)
    heights = blocks.tops.tolist()
    later = of_known(dict(lines.known[next(iter(lines.known))]), lines.texts)
    monkeypatch.setattr(blocks, "_guess_heights", lambda: pytest.fail("all lines are looked at"))
    blocks.set_lines(later)
    assert blocks.lines is later
    assert blocks.tops.tolist() == heights


@pytest.mark.slow
def test_only_lines_in_view_are_laid_out() -> None:
    asked: list[int] = []

    def widths(of: LiveLine) -> list[list[float]]:
        asked.append(of.start)
        return ten_pixels_a_chip(of)

    lines = text(*(line(*[f"a b {number}"] * 100) for number in range(500)))
    assert len(lines.text) > 5000
    blocks = laid_out(lines, 200, widths=widths)
    assert not asked
    seen = list(blocks.between(blocks.tops[400], blocks.tops[400] + 50))
    assert seen[0][0] == 400
    assert len(asked) == len(seen)


def test_the_chips_of_unchanged_lines_are_kept() -> None:
    first, second = line("a b"), line("c")
    blocks = laid_out(text(first, second), 100)
    before = [blocks.block(0), blocks.block(1)]
    blocks.set_lines(text(line("x"), second))
    assert blocks.block(1) is before[1]
    assert blocks.block(0) is not before[0]


def test_the_very_same_words_are_neither_laid_out_nor_painted_again(qtbot: QtBot, theme: Theme) -> None:
    """Once each: its widths are asked for when a chip is laid out, its captions again when it is painted."""
    asked: list[str] = []

    def captions(_line: LiveLine, piece: Piece) -> tuple[str, ...]:
        asked.append(piece.token)
        return ()

    flow = LiveChips(theme, captions, str)
    qtbot.addWidget(flow)
    flow.resize(300, 100)
    flow.show()
    first, second = line("a b"), (TokenizedWord(None, (Piece("c", 7, 0, 1), Piece("##d", 9, 1, 2)), None),)
    lines = text(first, second)

    def asked_for(lines: LiveText, fresh_id: int | None = None) -> list[str]:
        flow.set_lines(lines, fresh_id)
        qtbot.wait(1)
        found = asked.copy()
        asked.clear()
        return found

    assert asked_for(lines) == ["a", "b", "c", "##d"] * 2
    same = of_known({"ab": first, "c##d": second}, lines.texts)
    assert asked_for(same) == asked_for(same, 8) == []
    assert flow.lines is same
    assert asked_for(same, 9) == asked_for(same, 10) == ["a", "b", "c", "##d"]
    assert asked_for(of_known({"ab": line("ab"), "c##d": second}, lines.texts)) == ["ab", "ab", "c", "##d"]
    assert asked_for(text(line("a b"), second)) == ["a", "b", "a", "b", "c", "##d"]


def test_moving_forward_and_back_visits_every_chip_once() -> None:
    known = {"ab c": line("a b", "c"), "": line(), "def": line("d e f")}
    lines = of_known(known, ["ab c", "", "def", ""])
    blocks = laid_out(lines, 30)
    places = [blocks.next_to(None, 1)]
    while (place := blocks.next_to(places[-1], 1)) is not None:
        places.append(place)
    assert places == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (2, 0, 0), (2, 0, 1), (2, 0, 2)]
    back = [blocks.next_to(None, -1)]
    while (place := blocks.next_to(back[-1], -1)) is not None:
        back.append(place)
    assert back == places[::-1]
    assert laid_out(text(line()), 30).next_to(None, 1) is None


def test_up_and_down_find_the_nearest_chip() -> None:
    lines = text(line("a b", "c d"), line("e f"))
    blocks = laid_out(lines, 30)
    below = blocks.in_next_row(ChipPlace(0, 0, 1), 1)
    assert below == (0, 1, 1)
    below = blocks.in_next_row(below, 1)
    assert below == (1, 0, 1)
    assert blocks.in_next_row(below, 1) is None
    assert blocks.in_next_row(below, -1) == (0, 1, 1)


def test_only_rows_with_an_unknown_word_are_higher() -> None:
    unknown = TokenizedWord(Word("x", (4,), (5,)), (Piece("[UNK]", 0, 0, 1),), UnknownReason("symbol", 0, "x"))
    known = {"abcx": (*line("a b", "c"), unknown, *line("d")), "e": line("e")}
    lines = of_known(known)
    spacing = dataclasses.replace(SPACING, unknown_height=7)
    blocks = laid_out(lines, 28, spacing)
    assert [chip.y for chip in blocks.block(0).chips] == [0, 0, 20, 20, 47]
    assert blocks.height == 87
    heights = [blocks.rect_of(ChipPlace(0, word, 0)).height() for word in range(4)]
    assert heights == [20, 20, 27, 20]
    assert laid_out(lines, 100, spacing).block(0).height == 27
    assert laid_out(lines, 28).height == 80


def test_the_cursor_stays_in_its_word_while_its_tokens_change() -> None:
    assert kept_place(text(line("a b")), ChipPlace(0, 0, 3)) == (0, 0, 1)
    assert kept_place(text(line("a")), ChipPlace(0, 1, 0)) is None
    assert kept_place(text(), ChipPlace(0, 0, 0)) is None


@pytest.mark.parametrize("token", ["<img src=x>", "<b>", "##\u0301", "\u200d", "👨‍👩‍👧", "x" * 500, "한", "\ud800"])
def test_every_token_can_be_painted(qtbot: QtBot, theme: Theme, token: str) -> None:
    flow = LiveChips(theme, _captions, str)
    qtbot.addWidget(flow)
    flow.resize(200, 100)
    flow.captions_changed(1, hold_places=False)
    piece = Piece(token, 0, 0, 1)
    unknown = TokenizedWord(None, (piece,), UnknownReason("symbol", 0, token))
    flow.set_lines(text((TokenizedWord(None, (piece,), None), unknown)))
    assert not flow.grab().isNull()


def test_which_chips_of_a_word_are_selected_is_found_once_for_all_of_them(qtbot: QtBot, theme: Theme) -> None:
    flow, asked = LiveChips(theme, lambda _line, _piece: (), str), []
    qtbot.addWidget(flow)
    flow.resize(400, 100)
    flow.set_lines(text(line("a b c d", "e f")))
    flow.set_rings(lambda word: (asked.append(word), {0})[1])
    flow.grab()
    assert [len(word.pieces) for word in asked] == [4, 2]


def painted(style: ChipStyle, width: float, look: ChipLook, ratio: float = 1.0, token: str = "##ab") -> QImage:
    image = QImage(QSize(60, 40) * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    style.paint(painter, QRectF(5, 5, width, style.height), token, look)
    painter.end()
    return image


def test_a_chip_painted_again_looks_the_same_and_another_one_does_not(qtbot: QtBot, theme: Theme) -> None:
    kinds = [
        (width, look, ratio, token)
        for width in (40.0, 44.5)
        for look in (PLAIN_CHIP, ChipLook(selected=True), ChipLook(unknown=True), ChipLook(faded=True))
        for ratio in (1.0, 2.0)
        for token in ("##ab", "##ac")
    ]
    style = ChipStyle(theme)
    images = [painted(style, *kind) for kind in kinds]
    assert [painted(style, *kind) for kind in kinds] == images
    assert [painted(ChipStyle(theme), *kind) for kind in kinds] == images
    assert all(one != other for one, other in itertools.combinations(images, 2))


def test_only_useful_pictures_of_chips_are_kept(qtbot: QtBot, theme: Theme) -> None:
    style = ChipStyle(theme)
    for number in range(1100):
        painted(style, 30, PLAIN_CHIP, token=str(number))
    painted(style, 5000, PLAIN_CHIP, token="x" * 600)
    assert len(style.pictures) == 100


def test_markup_is_as_wide_as_its_letters(qtbot: QtBot, theme: Theme) -> None:
    style = ChipStyle(theme)
    assert style.width("<b>x</b>") > style.width("x") * 2


def _captions(_line: object, piece: Piece) -> tuple[str, ...]:
    return (str(piece.id),)
