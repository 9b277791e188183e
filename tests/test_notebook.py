"""What a notebook shows: chips, formulas and tables, safe and of bounded size; and a notebook run from start to end."""

from __future__ import annotations

import dataclasses
import os
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

import wordpiece_studio as wps

if TYPE_CHECKING:
    from pathlib import Path

HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


class Seen(HTMLParser):
    """What a reader of some HTML sees, and which elements and tooltips it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.tips: list[str] = []
        self._open: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        assert {name for name, _ in attrs} <= {"style", "title"}
        self.tips += [value or "" for name, value in attrs if name == "title"]
        if tag != "br":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def seen(shown: Any) -> Seen:
    html = Seen(shown._repr_html_())
    assert set(html.names) <= {"div", "span", "b", "s", "br", "table", "thead", "tbody", "tr", "th", "td"}
    return html


def trained(objective: Any = "score") -> wps.Trainer:
    trainer = wps.Trainer(HUG, wps.TrainingConfig(objective=objective))
    trainer.run()
    return trainer


def test_an_encoding_is_chips_with_ids_offsets_and_reasons() -> None:
    trainer = trained()
    tokenizer = wps.Tokenizer(trainer.history.vocabulary(3), max_word_length=9)
    html = seen(tokenizer.encode("hugs bum " + "hug" * 4))
    assert html.text == (
        "hugs 0–4 [UNK] 5–8 [UNK] 9–21"
        " [UNK] at 5–8: nothing in the vocabulary matches from character 3 of the word, not even ##m"
        " [UNK] at 9–21: the word has more characters than the tokenizer accepts"
    )
    vocabulary = tokenizer.vocabulary
    assert html.tips[0] == f"ID {vocabulary.id_of('hugs')}"
    assert html.tips[1].startswith(f"ID {vocabulary.id_of('[UNK]')}: nothing in the vocabulary matches")


def test_the_words_of_a_pair_stay_apart() -> None:
    tokenizer = wps.Tokenizer(trained().history.vocabulary(3))

    def words(*texts: str) -> int:
        return tokenizer.encode(*texts)._repr_html_().count("vertical-align:top")

    assert words("hug", "pug") == words("hug pug") == 2


@pytest.mark.parametrize(
    ("objective", "text"),
    [
        ("score", "score = n(ab) / (n(a) × n(b)) = 5 / (20 × 5) = 1/20 = 0.05000"),
        (
            "likelihood",
            "gain = n(ab) × ln(n(ab) × N / (n(a) × n(b))) = 20 × ln(20 × 113 / (36 × 20)) = 20 × ln(113/36)"
            " = 20 × 1.144 = 22.88",
        ),
        ("count", "count = n(ab) = 20"),
    ],
)
def test_a_merge_has_its_formula_filled_in(objective: str, text: str) -> None:
    merge = trained(objective).history[0]
    html = seen(merge).text
    assert text in html
    assert f"Merge 1: {merge.left} + {merge.right} → {merge.token}" in html
    assert "times as often as expected by chance" in html
    assert "tied" not in html
    odd = seen(dataclasses.replace(merge, ties=3, is_new=False)).text
    assert "3 candidates tied." in odd
    assert "The token was already in the vocabulary." in odd


def test_candidates_are_a_table_with_the_best_first() -> None:
    trainer = trained()
    trainer.seek(1)
    candidates = trainer.top(4)
    html = seen(candidates)
    assert html.names.count("tr") == 5
    assert "rank pair n(ab) / (n(a) × n(b)) score" in html.text
    for candidate in candidates:
        assert f"{candidate.pair_frequency} / ({candidate.left_frequency} × {candidate.right_frequency})" in html.text
    assert html.text.count("tie") == sum(candidate.is_tied for candidate in candidates) > 1
    assert candidates[0].symbols_before == trainer.history[1].symbols_before
    assert seen(trainer.top(0)).text == "No pairs"


def test_a_history_is_its_first_rows_and_how_many_more() -> None:
    history = wps.train(wps.count_texts(["the hugging and the pugnacious", "they hug the pugs"])).history
    html = seen(history)
    assert html.names.count("tr") == 11
    assert f"{len(history) - 10} more merge" in html.text
    assert history[10].token not in html.texts
    rows = seen(history[12:9:-1])
    assert [text for text in rows.texts if text.isdigit()] == ["13", "12", "11"]
    assert "more" not in rows.text


def test_a_trace_shows_what_was_tried() -> None:
    tokenizer = wps.Tokenizer(trained().history.vocabulary(3))
    assert seen(tokenizer.explain("hugs")).text == "hugs → hugs from character pieces tried, longest first 1 hugs"
    html = seen(tokenizer.explain("bum"))
    reason = "nothing in the vocabulary matches from character 3 of the word, not even ##m"
    assert f"1 bum bu b 2 ##um ##u 3 ##m {reason}" in html.text


def test_figures_are_a_table_for_each_text() -> None:
    names = {"<b>": trained(), "other": trained("count")}
    tokenizers = {name: wps.Tokenizer(each.vocabulary) for name, each in names.items()}
    html = seen(wps.evaluate(tokenizers, texts={"en": ["hugs bum"], "<i>": ["hug"]}, is_parallel=True))
    assert html.names.count("table") == 3
    assert "tokenizer size tokens per word" in html.text
    assert {"<b>", "<i>", "3 words, as found by bert-cased, bert"} <= set(html.texts)
    assert html.texts.count("parity") == 2


def test_a_comparison_shows_the_first_other_merge_and_both_cuts() -> None:
    counts = wps.WordCounts.from_pairs(HUG)
    first, second = (wps.train(counts, wps.TrainingConfig(objective=each, max_merges=3)) for each in ("score", "count"))
    html = seen(wps.compare(first, second, counts))
    assert "They diverge at step 1: the first merges ##g + ##s, the second merges ##u + ##g" in html.text
    assert "word count first second" in html.text
    assert seen(wps.compare(first, first)).names.count("table") == 0


MARKUP = "<script>alert('x')</script>&amp;\"\u202e\x1b"


def test_text_from_outside_is_shown_not_obeyed() -> None:
    counts = wps.WordCounts.from_pairs({MARKUP: 2, "a": 1}, "none", "whitespace-split")
    run = wps.train(counts)
    tokenizer = run.tokenizer()
    for shown in (run.history, run.history[-1], tokenizer.encode(MARKUP + " é"), tokenizer.explain(MARKUP)):
        html = seen(shown)
        assert "\u202e" not in html.text
    assert MARKUP.replace("\u202e\x1b", "⟨U+202E⟩⟨U+001B⟩") in seen(tokenizer.encode(MARKUP)).texts


def test_much_is_shown_in_part() -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "a"]))
    assert "4,600 more tokens" in seen(tokenizer.encode("a " * 5000)).text
    unknown = seen(tokenizer.encode("b " * 5000)).text
    assert "390 more unknown words" in unknown
    assert len(unknown) < 20_000
    assert len(tokenizer.explain("a" * 100)._repr_html_()) < 100_000
    assert len(wps.Tokenizer(wps.Vocabulary(["[UNK]", "a" * 90])).encode("a" * 90)._repr_html_()) < 1000


CELLS = [
    "import wordpiece_studio as wps\ncounts = wps.count_texts(['the hug and the pug', 'the bun', 'they hug the pugs'])",
    "trainer = wps.Trainer(counts, wps.TrainingConfig(vocab_size=40, objective='score'))\ntrainer.top(5)",
    "trainer.step()",
    "run = wps.train(counts)\nrun.history",
    "run.history[3:0:-1]",
    "run.tokenizer().encode('the hugs mug')",
    "run.tokenizer().explain('mug')",
    "run.history.to_pandas().head()",
    "run",
    "import sys\n'PySide6' in sys.modules",
]


@pytest.mark.slow  # starting a kernel takes seconds
@pytest.mark.filterwarnings("default")  # those of the libraries that run notebooks
def test_a_notebook_runs_from_start_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    NotebookClient(notebook, kernel_name="python3", timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [cell.outputs[-1].data if cell.outputs else {} for cell in notebook.cells]
    expected = [
        "", "<td", "Merge 1: <span", "1 more merge<", "<td", "[UNK] at 9–12: nothing in the vocabulary matches",
        "pieces tried", "pair_frequency", "", "",
    ]  # fmt: skip
    for data, text in zip(shown, expected, strict=True):
        assert text in data.get("text/html", "")
    assert shown[-2]["text/plain"].startswith("<TrainingRun: ")
    assert shown[-1]["text/plain"] == "False"
