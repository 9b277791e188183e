"""From one chip to the next: what the arrow keys mean in a text of chips. No widget, no painting."""

from __future__ import annotations

from PySide6.QtCore import Qt

from wordpiece_studio.ui.panes.tokenization.chip_blocks import ChipBlocks, ChipPlace, FlowLines


def first_place(lines: FlowLines) -> ChipPlace | None:
    """Return the first chip, or None if there is none."""
    return _seek(lines, 0, 1)


def last_place(lines: FlowLines) -> ChipPlace | None:
    """Return the last chip, or None if there is none."""
    return _seek(lines, len(lines) - 1, -1)


def next_place(lines: FlowLines, place: ChipPlace) -> ChipPlace | None:
    """Return the chip after this one in reading order."""
    words = lines[place.line].words
    if place.chip + 1 < len(words[place.word].pieces):
        return place._replace(chip=place.chip + 1)
    for word in range(place.word + 1, len(words)):
        if words[word].pieces:
            return ChipPlace(place.line, word, 0)
    return _seek(lines, place.line + 1, 1)


def previous_place(lines: FlowLines, place: ChipPlace) -> ChipPlace | None:
    """Return the chip before this one in reading order."""
    if place.chip > 0:
        return place._replace(chip=place.chip - 1)
    words = lines[place.line].words
    for word in range(place.word - 1, -1, -1):
        if words[word].pieces:
            return ChipPlace(place.line, word, len(words[word].pieces) - 1)
    return _seek(lines, place.line - 1, -1)


def place_in_row(blocks: ChipBlocks, lines: FlowLines, place: ChipPlace, down: bool) -> ChipPlace | None:
    """Return the chip above or below this one: the one of the neighbouring row whose middle is nearest."""
    here = blocks.rect_of(place)
    if here is None:
        return None
    middle = here[0] + here[2] / 2
    y_in_block = here[1] - float(blocks.tops[place.line])
    rows = {chip.y for chip in blocks.block(place.line).chips}
    beyond = [y for y in rows if (y > y_in_block if down else y < y_in_block)]
    line = place.line
    if beyond:
        row = min(beyond) if down else max(beyond)
    else:
        other = _seek(lines, line + 1, 1) if down else _seek(lines, line - 1, -1)
        if other is None:
            return None
        line = other.line
        rows = {chip.y for chip in blocks.block(line).chips}
        row = min(rows) if down else max(rows)
    chips = [chip for chip in blocks.block(line).chips if chip.y == row]
    nearest = min(chips, key=lambda chip: abs(chip.x + chip.width / 2 - middle))
    return ChipPlace(line, nearest.word, nearest.chip)


def place_for_key(key: Qt.Key, blocks: ChipBlocks, lines: FlowLines, here: ChipPlace | None) -> ChipPlace | None:
    """Return the chip to which a key leads from `here`, or None if the key leads nowhere."""
    walking = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return)
    if key == Qt.Key.Key_Home or (here is None and (key in walking or key == Qt.Key.Key_Space)):
        return first_place(lines)
    if key == Qt.Key.Key_End:
        return last_place(lines)
    if here is None:
        return None
    if key == Qt.Key.Key_Left:
        return previous_place(lines, here) or here
    if key == Qt.Key.Key_Right:
        return next_place(lines, here) or here
    if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
        return place_in_row(blocks, lines, here, key == Qt.Key.Key_Down) or here
    return here if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) else None


def kept_place(lines: FlowLines, place: ChipPlace | None) -> ChipPlace | None:
    """Return the chip that is now where the cursor was, or the last chip of that word, or None if the word is gone."""
    if place is None or place.line >= len(lines) or place.word >= len(lines[place.line].words):
        return None
    pieces = lines[place.line].words[place.word].pieces
    return place._replace(chip=min(place.chip, len(pieces) - 1)) if pieces else None


def _seek(lines: FlowLines, line: int, direction: int) -> ChipPlace | None:
    while 0 <= line < len(lines):
        filled = [index for index, word in enumerate(lines[line].words) if word.pieces]
        if filled:
            word = filled[0] if direction > 0 else filled[-1]
            return ChipPlace(line, word, 0 if direction > 0 else len(lines[line].words[word].pieces) - 1)
        line += direction
    return None
