"""Pictures of all scenes at all sizes, compared pixel by pixel."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QImage, QPainter

from tests.unchanged import recorder
from tests.unchanged.records import Comparison

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_TOLERANCE = 12
"""Of a colour, from 0 to 255."""
_MOST_OTHER_PIXELS = 12
_GAP = 8


def record(checkout: Path, output: Path, corpora: Path | None, only: str, sizes: str) -> None:
    """Let a checkout make its pictures, with its own scenes."""
    command = ["-m", "tests.end_to_end.pictures", "--scenes", str(output)]
    command += ["--corpora", str(corpora)] if corpora is not None else []
    command += ["--only", only] if only else []
    command += ["--sizes", sizes] if sizes else []
    recorder.run(checkout, *command)


def compared(base: Sequence[Path], new: Sequence[Path], shown: Path | None) -> Comparison:
    """Compare the pictures of two checkouts; of those that differ, show both and the difference in a folder.

    Each checkout may have made some of its pictures several times: where a list is scrolled to may depend on which of
    two things was ready first. A picture is equal if any of one checkout equals any of the other.
    """
    result = Comparison()
    for name in sorted({path.name for folder in (*base, *new) for path in folder.glob("*.png")}):
        old, now = ([folder / name for folder in each if (folder / name).exists()] for each in (base, new))
        if not old or not now:
            result.note(name, [f"only in the {'base' if old else 'new one'}"])
            continue
        found = [difference(*pair) for pair in itertools.product(old, now)]
        lines = [] if [] in found else found[0]
        if lines and shown is not None:
            shown.mkdir(parents=True, exist_ok=True)
            side_by_side(old[0], now[0], shown / name)
            lines.append(f"see {shown / name}")
        result.note(name, lines)
    return result


def difference(base: Path, new: Path) -> list[str]:
    """Return what differs, in words."""
    old, now = _pixels(base), _pixels(new)
    if old.shape != now.shape:
        return [f"{old.shape[1]} x {old.shape[0]} pixels became {now.shape[1]} x {now.shape[0]}"]
    rows, columns = np.nonzero(_differs(old, now))
    if len(rows) <= _MOST_OTHER_PIXELS:
        return []
    place = f"x {columns.min()} to {columns.max()}, y {rows.min()} to {rows.max()}"
    return [f"{len(rows):,} pixels differ ({len(rows) / (old.shape[0] * old.shape[1]):.2%}), at {place}"]


def _differs(old: NDArray[np.uint8], now: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return (np.abs(old.astype(np.int16) - now.astype(np.int16)) > _TOLERANCE).any(axis=2)


def _pixels(path: Path) -> NDArray[np.uint8]:
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    return rows[:, : image.width(), :3].copy()


def side_by_side(base: Path, new: Path, output: Path) -> None:
    """Draw both pictures beside each other, and what differs in red on the faded new one as a third."""
    images = [QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32) for path in (base, new)]
    old, now = _pixels(base), _pixels(new)
    if old.shape == now.shape:
        faded = np.full((*now.shape[:2], 4), 255, np.uint8)
        faded[..., :3] = 170 + now // 3
        faded[_differs(old, now)] = (0, 0, 255, 255)
        height, width = now.shape[:2]
        images.append(QImage(faded.tobytes(), width, height, width * 4, QImage.Format.Format_RGB32).copy())
    whole = QImage(
        sum(image.width() + _GAP for image in images), max(image.height() for image in images),
        QImage.Format.Format_RGB32,
    )  # fmt: skip
    whole.fill(0xFF808080)
    painter = QPainter(whole)
    left = 0
    for image in images:
        image.setDevicePixelRatio(1)
        painter.drawImage(left, 0, image)
        left += image.width() + _GAP
    painter.end()
    whole.save(str(output))
