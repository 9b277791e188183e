"""What the panes say of the step, read off the panes, and whether it is one and the same everywhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, value_text

if TYPE_CHECKING:
    from tests.end_to_end.driver import Driver
    from wordpiece_studio.ui.main_window import MainWindow

_NUMBER = r"(\d[\d,]*)"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person reads in the panes; None where the pane is not seen or says nothing.

    Attributes
    ----------
    steps, counts
        The step, and the number of steps, by the name of the pane that says it.
    tokens
        The token that the step made, by pane.
    values
        Its value as text, by pane.
    text_tokens
        The number of tokens of the live text, by the part that says it.
    sizes
        The size of the vocabulary, by pane.
    """

    steps: dict[str, int]
    counts: dict[str, int]
    tokens: dict[str, str]
    values: dict[str, str]
    text_tokens: dict[str, int]
    sizes: dict[str, int]


def shown(window: MainWindow) -> Shown:
    """Read the panes."""
    found = Shown({}, {}, {}, {}, {}, {})
    _read_headings(window, found)
    _read_timeline(window, found)
    _read_scoreboard(window, found)
    _read_history(window, found)
    _read_tokenization(window, found)
    _read_vocabulary(window, found)
    return found


def assert_all_panes_agree(driver: Driver) -> Shown:
    """Check that every number about the step is the same in all panes, and the model's; return what they say."""
    driver.settle()
    window, model = driver.window, driver.model
    found = shown(window)
    history = model.history
    assert history is not None
    assert set(found.steps.values()) <= {model.step}, found.steps
    assert set(found.counts.values()) <= {model.merge_count}, found.counts
    assert set(found.sizes.values()) <= {history.vocabulary_size(model.step)}, found.sizes
    assert len(set(found.text_tokens.values())) <= 1, found.text_tokens
    if model.step:
        merge = history[model.step - 1]
        assert set(found.tokens.values()) <= {token_text(merge.token)}, found.tokens
        assert set(found.values.values()) <= {value_text(merge.value)}, found.values
    _assert_chips_are_those_of_the_step(window)
    return found


def _read_headings(window: MainWindow, found: Shown) -> None:
    """Take "step 3 of 25", "merge 3 of 25" from whatever title line says it."""
    for name, pane in (("scoreboard", window.scoreboard_pane), ("tokenization", window.tokenization_pane),
                       ("vocabulary", window.vocabulary_pane), ("token details", window.token_details_pane),
                       ("charts", window.charts_pane), ("timeline", window.timeline_pane)):  # fmt: skip
        if not pane.isVisible():
            continue
        said = re.search(rf"(?:[Ss]tep|[Mm]erge) {_NUMBER} of {_NUMBER}", f"{pane.title} {pane.hints[0]}")
        if said:
            found.steps[f"{name} heading"] = _number(said[1])
            found.counts[f"{name} heading"] = _number(said[2])


def _read_timeline(window: MainWindow, found: Shown) -> None:
    pane = window.timeline_pane
    if pane.isVisible():
        found.steps["slider"] = pane.plot.value()
        found.counts["slider"] = pane.plot.maximum()


def _read_scoreboard(window: MainWindow, found: Shown) -> None:
    pane = window.scoreboard_pane
    if not pane.isVisible() or not window.model.step:
        return
    said = pane.formula.accessibleName()
    found.tokens["formula"] = token_text(said.split(" → ")[1].split(", ")[0]) if " → " in said else ""
    found.values["formula"] = said.rsplit("= ", 1)[-1]
    best = pane.candidates_view.candidates.records
    if best and pane.middle.currentWidget() is pane.candidates_view:
        found.tokens["best candidate"] = token_text(best[0].token)
        found.values["best candidate"] = value_text(best[0].value)


def _read_history(window: MainWindow, found: Shown) -> None:
    pane = window.history_pane
    if not pane.isVisible() or not pane.view.isVisible():
        return
    items = pane.rows.source
    marked = (step for step in range(1, window.model.merge_count + 1) if pane.view.look(items, step - 1).is_marked)
    found.steps["history"] = next(marked, 0)
    row = pane.rows.row_of_step(window.model.step)
    if row < 0:
        return
    cells = {column: str(pane.rows.index(row, column).data()) for column in HistoryColumn}
    found.steps["history row"] = _number(cells[HistoryColumn.STEP])
    found.tokens["history row"] = token_text(cells[HistoryColumn.TOKEN])
    found.sizes["history row"] = _number(cells[HistoryColumn.VOCABULARY])


def _read_tokenization(window: MainWindow, found: Shown) -> None:
    pane = window.tokenization_pane
    if not pane.isVisible():
        return
    found.text_tokens["chips"] = sum(len(word.pieces) for line in pane.chips.lines for word in line.words)
    said = re.search(rf"{_NUMBER} tokens?\b", pane._summary.text())
    if said:
        found.text_tokens["summary"] = _number(said[1])
    past = [row for row in pane.changes_view.rows if row.step <= window.model.step]
    if past:
        found.text_tokens["changes"] = past[-1].tokens


def _read_vocabulary(window: MainWindow, found: Shown) -> None:
    pane = window.vocabulary_pane
    if not pane.isVisible():
        return
    if said := re.search(rf"{_NUMBER} tokens", pane.hints[0]):
        found.sizes["vocabulary heading"] = _number(said[1])
    if not pane.controls.filter.text and pane.table.filter.kind == "all":
        found.sizes["vocabulary rows"] = pane.table.rowCount()


def _assert_chips_are_those_of_the_step(window: MainWindow) -> None:
    pane, model = window.tokenization_pane, window.model
    if pane.isVisible():
        expected = [
            token for line in pane.text.split("\n") for token in model.tokenizer_at(model.step).encode(line).tokens
        ]
        painted = [piece.token for line in pane.chips.lines for word in line.words for piece in word.pieces]
        assert painted == expected


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def row_texts(view: object, row: int) -> list[str]:
    """Return the texts of a row of a table."""
    model = view.model()  # type: ignore[attr-defined]
    return [str(model.index(row, column).data()) for column in range(model.columnCount())]


def step_words(step: int, count: int) -> str:
    """Return how panes say which step is shown."""
    return f"{number_text(step)} of {number_text(count)}"
