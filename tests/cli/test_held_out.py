"""What the command line says about text that was not trained on, against `tokenizers`."""

from __future__ import annotations

import json
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer

from tests.cli.calls import COURSE, fails, run
from tests.evaluation.test_held_out import divided
from wordpiece_studio.cli import train

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wordpiece_studio.cli.messages import Report


def text_of(lines: int) -> str:
    """Return lines of words, numbers, and now and then a special token spelled out."""
    chance = random.Random(3)
    stems = ["".join(chance.choices("aeioubdglmnrst한국어", k=chance.randint(2, 7))) for _ in range(400)]
    weights = [1 / (rank + 2) for rank in range(len(stems))]
    spelled = [*stems, "[SEP]", "«x[UNK]y»", "1234", "z" * 101]
    return "".join(
        " ".join(chance.choices(spelled, [*weights, 0.01, 0.01, 0.01, 0.01], k=chance.randint(1, 15))) + "\n"
        for _ in range(lines)
    )


@pytest.mark.parametrize(("objective", "lines"), [("likelihood", 900), ("score", 30_000)])
def test_held_out_figures_are_those_of_tokenizers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], objective: str, lines: int
) -> None:
    text = text_of(lines)
    corpus, rest, model = tmp_path / "corpus.txt", tmp_path / "rest.txt", tmp_path / "judged"
    corpus.write_text(text, encoding="utf-8", newline="")
    others, held_out = divided(text)
    options = ["--objective", objective, "--min-frequency", 3, "--vocab-size", 300, "--json"]
    more = ["--held-out", "--held-out-model", model]
    code, out, _ = run(capsys, "train", corpus, *options, *more, "-o", tmp_path / "out")
    assert code == 0
    figures = json.loads(out)["held_out"]
    judged = Tokenizer.from_file(str(model / "tokenizer.json"))
    encodings = judged.encode_batch(held_out.splitlines(), add_special_tokens=False)
    words = sum(len(set(encoding.word_ids)) for encoding in encodings)
    assert figures["words"] == words
    assert figures["tokens_per_word"][objective] == sum(map(len, encodings)) / words
    assert next(iter(figures["tokens_per_word"])) == objective
    assert figures["tokens_per_word"].keys() == {"likelihood", "score", "count"}
    # What was judged is what training on the rest alone gives.
    rest.write_text(others, encoding="utf-8", newline="")
    assert run(capsys, "train", rest, *options, "-o", tmp_path / "alone")[0] == 0
    assert (model / "vocab.txt").read_bytes() == (tmp_path / "alone" / "vocab.txt").read_bytes()
    assert "a part of the corpus was held out" in (model / "wordpiece-studio.json").read_text()


@pytest.mark.parametrize("way", ["part", "file"])
def test_reading_and_training_once_more_report_their_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(text_of(900), encoding="utf-8", newline="")
    size = corpus.stat().st_size
    reported: dict[str, list[tuple[int, int | None]]] = {}

    @contextmanager
    def recording(**_options: bool) -> Iterator[Report]:
        yield lambda what, done, total: reported.setdefault(what, []).append((done, total))

    monkeypatch.setattr(train, "progress", recording)
    options = ["--held-out"] if way == "part" else ["--held-out-file", corpus]
    assert run(capsys, "train", corpus, "--vocab-size", 300, *options, "-o", tmp_path / "out")[0] == 0
    trainings = [f"Training with {objective} to compare" for objective in ("likelihood", "score", "count")]
    made_before = way == "file"  # that of all of the corpus is judged
    assert list(reported) == ["Counting", "Training", "Reading held-out text", *trainings[made_before:]]
    assert reported["Reading held-out text"][-1] == (size, size)
    assert {reported[training][-1] for training in list(reported)[3:]} == {(300, 300)}


def test_another_text_may_be_judged_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.txt").write_text("hug hug\nbugs\n", encoding="utf-8")
    (tmp_path / "counts.tsv").write_text("hug\t10\npug\t5\npun\t12\nbun\t4\nhugs\t5\n", encoding="utf-8")
    options = ["--word-counts", "--vocab-size", 15, "--held-out-file", tmp_path / "other.txt"]
    code, out, err = run(capsys, "train", tmp_path / "counts.tsv", *options, "-o", tmp_path / "out")
    # hug, hug, b ##ug ##s; by score: hu ##g, hu ##g, b ##u ##gs
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == ["Held-out: 1.67 tokens per word (Count 1.67, Score 2.33)"]
    (tmp_path / "rows.csv").write_text("id,body\n1,hug pug pun\n2,bun hugs hug\n", encoding="utf-8")
    options = ["--column", "body", *options[1:]]
    assert run(capsys, "train", tmp_path / "rows.csv", *options, "-o", tmp_path / "out")[::2] == (0, "")


def test_judging_by_the_corpus_itself_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--vocab-size", 70, "--held-out-file", COURSE, "-o", tmp_path / "out"]
    assert f"{COURSE} is in the corpus, and a vocabulary knows" in run(capsys, "train", COURSE, *options)[2]


def test_held_out_options_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, message in [
        (["--held-out", "--held-out-file", COURSE], "--held-out and --held-out-file cannot be combined"),
        (["--held-out-model", tmp_path / "m"], "--held-out-model needs --held-out"),
        (["--held-out", "--held-out-model", tmp_path / "out"], "are the same folder"),
        (["--held-out", "--bpe"], "--bpe cannot be evaluated on"),
        (["--held-out-file", tmp_path / "none.txt"], "none.txt does not exist"),
        (["--held-out-file", "-"], "--held-out-file needs a text that can be read twice"),
        (["--held-out", "--held-out-model", COURSE], "is not a folder"),
    ]:
        assert message in fails(capsys, "train", COURSE, *options, "-o", tmp_path / "out")
    assert "--held-out needs a text" in fails(capsys, "train", "-", "--held-out", "-o", tmp_path / "out")
    (tmp_path / "one.txt").write_text("one line, and no other", encoding="utf-8")
    told = fails(capsys, "train", tmp_path / "one.txt", "--held-out", "-o", tmp_path / "out")
    assert "--held-out: The corpus has too few lines" in told
    assert "Use --held-out-file" in told
    assert not (tmp_path / "out").exists()
