"""What each pane marks as looked at, read off the panes, and whether it is what all of them should look at."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from tests.end_to_end.driver import Driver
    from wordpiece_studio.storage.view import Selection
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.main_window import MainWindow


def assert_all_panes_look_at(driver: Driver, selection: Selection | None) -> None:
    """Check that the selection is this one, and that every pane that is seen marks it and nothing else."""
    driver.settle()
    window, history = driver.window, driver.model.history
    assert driver.model.selection == selection
    step = _step_of(selection, history)
    if selection is None or selection.kind != "word":
        assert window.history_pane.view.selection_step == step
    assert (window.timeline_pane.plot.marks.birth or 0) == step
    assert ringed(window) == _expected_rings(window, selection)
    assert marked_words(window) == _expected_words(window, selection)
    if selection is not None and selection.kind != "word":
        _assert_vocabulary(window, _token_of(selection))
        _assert_charts(window, _token_of(selection))
        _assert_token_details(window, _token_of(selection))


def ringed(window: MainWindow) -> list[str]:
    """Return the tokens of the chips with a ring, in the order of the text."""
    chips = window.tokenization_pane.chips
    rings = chips.rings or (lambda _word: ())
    words = [word for line in chips.lines for word in line.words]
    return [piece.token for word in words for at, piece in enumerate(word.pieces) if at in rings(word)]


def marked_words(window: MainWindow) -> list[str]:
    """Return the words of the corpus that are marked."""
    editor = window.corpus_pane.editor
    return [cursor.selectedText() for cursor in editor.selection_marks]


def marked_candidate(window: MainWindow) -> str:
    """Return the token of the candidate that is marked, empty if none is."""
    view = window.scoreboard_pane.candidates_view
    row = view.currentIndex().row()
    return view.candidates.records[row].token if row >= 0 else ""


def _token_of(selection: Selection) -> str:
    return selection.text if selection.kind == "token" else selection.left + selection.right.removeprefix("##")


def _step_of(selection: Selection | None, history: MergeHistory) -> int:
    """Return the step that made a token, merged a pair, or made a word whole; 0 if none did."""
    if selection is None:
        return 0
    for step, merge in enumerate(history, start=1):
        if selection.kind == "pair" and (merge.left, merge.right) == (selection.left, selection.right):
            return step
        if selection.kind != "pair" and merge.token == selection.text:
            return step
    return 0


def _expected_rings(window: MainWindow, selection: Selection | None) -> list[str]:
    words = [word for line in window.tokenization_pane.chips.lines for word in line.words]
    if selection is None:
        return []
    if selection.kind == "word":
        return [
            piece.token for word in words if word.word and word.word.text == selection.text for piece in word.pieces
        ]
    if selection.kind == "token":
        return [piece.token for word in words for piece in word.pieces if piece.token == selection.text]
    found = []
    for word in words:
        tokens = [piece.token for piece in word.pieces]
        pairs = list(pairwise(tokens))
        for at, token in enumerate(tokens):
            is_of_pair = (selection.left, selection.right) in (pairs[at : at + 1] + pairs[max(at - 1, 0) : at])
            if is_of_pair or token == _token_of(selection):
                found.append(token)
    return found


def _expected_words(window: MainWindow, selection: Selection | None) -> list[str]:
    """Return the words of the corpus that hold the selection at the step, in their order."""
    if selection is None:
        return []
    tokenizer = window.model.tokenizer_at(window.model.step)
    found = []
    for word in tokenizer.tokenize_words(window.corpus_pane.editor.toPlainText().replace("\n", " ")):
        tokens = [piece.token for piece in word.pieces]
        holds = {
            "token": selection.text in tokens,
            "word": word.word is not None and word.word.text == selection.text,
            "pair": (selection.left, selection.right) in pairwise(tokens) or _token_of(selection) in tokens,
        }
        if holds[selection.kind] and word.word is not None:
            found.append(word.word.text)
    return found


def _assert_vocabulary(window: MainWindow, token: str) -> None:
    pane, vocabulary = window.vocabulary_pane, window.model.vocabulary_at(window.model.step)
    if pane.isVisible():
        selected = [vocabulary.tokens[at] for at in pane.view.selected_items().tolist()]
        assert selected == ([token] if token in vocabulary.tokens else [])


def _assert_charts(window: MainWindow, token: str) -> None:
    pane, vocabulary = window.charts_pane, window.model.vocabulary_at(window.model.merge_count)
    if pane.isVisible():
        selected = pane._source.selected
        assert (selected.text if selected is not None else None) == (token if token in vocabulary.tokens else None)


def _assert_token_details(window: MainWindow, token: str) -> None:
    pane = window.token_details_pane
    if pane.isVisible():
        assert token_text(token) in f"{pane.title} {pane.hints[0]} {pane.accessibleName()}"
