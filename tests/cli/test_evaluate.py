"""Tokenizers compared by the command line."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.cli.calls import COURSE, fails, run
from tests.libraries.library_models import gpt_2, t5
from wordpiece_studio.cli import evaluate
from wordpiece_studio.storage.manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.cli.messages import Report


@pytest.fixture
def library_runs(tmp_path: Path) -> list[Path]:
    for name, made in {"gpt.json": gpt_2(), "t5.json": t5()}.items():
        made.save(str(tmp_path / name))
    return [tmp_path / "gpt.json", tmp_path / "t5.json"]


def test_json_is_what_the_library_finds(
    tmp_path: Path, course: Path, library_runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hug.txt").write_text("hug hugs\n", encoding="utf-8")
    (tmp_path / "pug.txt").write_text("pug, a hug", encoding="utf-8")
    texts = [tmp_path / "pug.txt", tmp_path / "hug.txt"]
    on = ["--on", texts[0], "--on", texts[1]]
    code, out, err = run(capsys, "evaluate", course, *library_runs, *on, "--parallel", "--json")
    assert (code, err) == (0, "")
    tokenizers = {path.name: wps.load_tokenizer(path) for path in (course, *library_runs)}
    named = {path.name: path for path in texts}
    assert json.loads(out) == wps.evaluate(tokenizers, named, is_parallel=True).to_dict()
    (tmp_path / "two.txt").write_text("hug\nhugs", encoding="utf-8")
    told = fails(capsys, "evaluate", course, "--on", tmp_path / "two.txt", "--on", texts[1], "--parallel")
    assert "two.txt and hug.txt do not say the same line by line: they have 2 and 1 lines. Use texts of" in told
    told = fails(capsys, "evaluate", course, *on, "--parallel", "--held-out")
    assert "--held-out and --parallel cannot be combined" in told


def test_the_judged_vocabulary_has_the_figure_that_train_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, judged = tmp_path / "corpus.txt", tmp_path / "judged"
    corpus.write_text("the hug and the pug [SEP]\nthe bun\nthey hug the pugs\n" * 50, encoding="utf-8")
    options = ["--vocab-size", 30, "--held-out", "--held-out-model", judged, "-o", tmp_path / "out", "--json"]
    printed = json.loads(run(capsys, "train", corpus, *options)[1])["held_out"]
    figures = json.loads(run(capsys, "evaluate", judged, "--on", corpus, "--held-out", "--json")[1])["figures"][0]
    assert (figures["words"], figures["tokens_per_word"]) == (
        printed["words"],
        printed["tokens_per_word"]["likelihood"],
    )
    (tmp_path / "counts.tsv").write_text("hug\t3\n", encoding="utf-8")
    told = fails(capsys, "evaluate", judged, "--on", tmp_path / "counts.tsv", "--held-out")
    assert told.endswith("--held-out: Words with their counts have no lines and cannot be held out. Omit it.\n")


def test_the_table(course: Path, library_runs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "evaluate", course, library_runs[0], "--on", COURSE)
    words, _, head, own, gpt, *notes = out.splitlines()
    figures = wps.evaluate([wps.load_tokenizer(course), wps.load_tokenizer(library_runs[0])], COURSE).figures
    assert code == 0
    assert f"{course} was trained on all of {COURSE}, and knows it better than other text." in err
    assert (
        head.split()
        == (
            "tokenizer size tokens per word tokens per line characters per token bytes per token unknown whole words "
            "tokens used Rényi Rényi of vocabulary bits per character vocabulary description length"
        ).split()
    )
    for line, each in zip((own, gpt), figures, strict=True):
        assert f"{each.vocabulary_size}  " in line
        shown = f"({each.tokens_per_word:.3f})" if each.unknown_share > 0.01 else f"{each.tokens_per_word:.3f}"
        assert f" {shown} " in line
    assert len({len(line) for line in (head, own, gpt)}) == 1
    assert notes[1].startswith("Bits per character: each token by those before it")
    assert notes[3].startswith("Fewer tokens do not by themselves make a better model (Schmidt et al. 2024")
    assert words == f"{figures[0].words} words, as found by bert-cased, bert"
    assert run(capsys, "evaluate", course, library_runs[0], "--on", COURSE, "--each")[1].splitlines()[6:10] == [
        "course-en.txt", head, own, gpt,
    ]  # fmt: skip


def test_unknown_words_do_not_look_good(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("ж жж жжж ю юю юююю я\n", encoding="utf-8")
    _, _, _, row, _, explained, *_ = run(capsys, "evaluate", course, "--on", text)[1].splitlines()
    assert row.split()[2:11] == ["(1.000)", "7.00", "3.000", "5.000", "100.00%", "0.0%", "1.4%", "–", "–"]
    assert float(row.split()[11]) > 10  # each character of what is lost takes as much as any
    assert explained.startswith("In brackets: more than 1% of the tokens are unknown")
    options = ["--vocab-size", 70, "--held-out-file", text, "-o", tmp_path / "out"]
    said = "Held-out: 1.00 tokens per word with 100.0% unknown (Count 1.00 with 100.0% unknown, "
    assert said in run(capsys, "train", COURSE, *options)[1]


def test_files_that_were_divided_together_are_divided_so_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    for path, line in zip(paths, ("the hug and the pug\n", "a mug hums\nthey bug\n", "buns\nruns\n"), strict=True):
        path.write_text(line * 40, encoding="utf-8")
    judged, out = tmp_path / "judged", tmp_path / "out"
    options = ["--vocab-size", 30, "--held-out", "--held-out-model", judged, "-o", out, "--json"]
    printed = json.loads(run(capsys, "train", *paths[:2], *options)[1])["held_out"]
    corpus = read_manifest(judged / "wordpiece-studio.json").corpus
    assert corpus is not None
    assert [Path(file.path).name for file in corpus.files] == ["a.txt", "b.txt"]
    for order in (paths[:2], paths[1::-1]):
        on = [text for path in order for text in ("--on", path)]
        code, told, err = run(capsys, "evaluate", judged, *on, "--held-out", "--json")
        figures = json.loads(told)["figures"][0]
        assert (code, err, figures["words"]) == (0, "", printed["words"])
        assert figures["tokens_per_word"] == printed["tokens_per_word"]["likelihood"]
    for on in (["--on", paths[0]], ["--on", paths[0], "--on", paths[1], "--on", paths[2]]):
        told = fails(capsys, "evaluate", judged, *on, "--held-out")
        assert "judged: a part was held out of these files together: ../a.txt, ../b.txt. Measure on all" in told
    both = ["--on", paths[0], "--on", paths[1]]
    assert "one part of all files together" in fails(capsys, "evaluate", judged, *both, "--held-out", "--each")
    known = run(capsys, "evaluate", judged, "--on", paths[1])[2]
    assert f"was trained on most of {paths[1]}, and knows it better than other text. Measure with --held-out." in known
    assert run(capsys, "evaluate", judged, "--on", paths[2])[2] == ""
    assert run(capsys, "verify", judged)[0] == 0
    # Each of two trainings divided its own file.
    for path in paths[:2]:
        alone = ["--vocab-size", 25, "--held-out", "--held-out-model", tmp_path / path.stem, "-o", out]
        assert run(capsys, "train", path, *alone)[0] == 0
    alone = [tmp_path / "a", tmp_path / "b"]
    found = json.loads(run(capsys, "evaluate", *alone, *both, "--held-out", "--each", "--json")[1])
    assert [*found["parts"]] == ["a.txt", "b.txt"]
    assert "different parts of FILES" in fails(capsys, "evaluate", judged, alone[0], *both, "--held-out")


def test_it_reports_its_progress(
    course: Path, library_runs: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: dict[str, list[tuple[int, int | None]]] = {}

    @contextmanager
    def recording() -> Iterator[Report]:
        yield lambda what, done, total: reported.setdefault(what, []).append((done, total))

    monkeypatch.setattr(evaluate, "progress", recording)
    assert run(capsys, "evaluate", course, *library_runs, "--on", COURSE)[0] == 0
    assert [*reported] == ["Reading", "Tokenizing"]
    assert all(each[-1][0] == each[-1][1] for each in reported.values())


@pytest.mark.skipif(os.name != "posix", reason="POSIX files")
def test_texts_whose_names_look_alike_are_both_measured(
    tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a\u202e.txt", tmp_path / r"a\u202e.txt"]
    for path in paths:
        path.write_text("hug pug", encoding="utf-8")
    found = json.loads(run(capsys, "evaluate", course, "--on", paths[0], "--on", paths[1], "--json")[1])
    assert (found["figures"][0]["words"], len(found["parts"])) == (4, 2)


def test_what_cannot_be_evaluated(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    for arguments, message in [
        ([course, "--on", "-"], "--on needs a text that can be read twice"),
        ([course, "--on", tmp_path / "none.txt"], "none.txt does not exist"),
        ([course, "--on", tmp_path / "empty.txt"], "There are no words in empty.txt"),
        ([course, "--on", tmp_path / "empty.txt", "--parallel"], "Parity needs at least two texts"),
        ([course, course, "--on", COURSE], "is specified twice"),
        ([tmp_path / "none", "--on", COURSE], "none does not exist"),
    ]:
        assert message in fails(capsys, "evaluate", *arguments)
    assert "--on" in fails(capsys, "evaluate", course, code=2)


def test_folds_train_again_what_was_trained_on_the_text(
    tmp_path: Path, library_runs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the hug and the pug\nthe bun hums\nthey hug the pugs\na mug on the rug\n" * 40, encoding="utf-8")
    for name, more in {"ours": [], "bare": ["--min-count", 41], "bpe": ["--by", "tokenizers-bpe"]}.items():
        assert run(capsys, "train", corpus, "--vocab-size", 32, *more, "-o", tmp_path / name)[0] == 0
    given = [tmp_path / name for name in ("ours", "bare", "bpe")] + library_runs[:1]
    on = ["--on", corpus, "--folds", 4]
    code, out, err = run(capsys, "evaluate", *given, *on, "--json")
    assert (code, err) == (0, "")  # none knows the blocks that it is measured on
    found = {each["name"]: each for each in json.loads(out)["figures"]}
    assert [each["is_retrained"] for each in found.values()] == [True, True, True, False]
    counts, config = wps.count_words(corpus), wps.TrainingConfig(vocab_size=32)
    library_run = wps.train_library(counts, config, "tokenizers-bpe")
    runs = {"ours": wps.train(counts, config), "bpe": library_run, "gpt.json": wps.load_tokenizer(library_runs[0])}
    for each in wps.cross_validate(runs, corpus, folds=4).figures:
        assert found[each.name] == json.loads(json.dumps(each.to_dict()))
    assert found["bare"]["unknown_share"] > found["ours"]["unknown_share"]

    printed = run(capsys, "evaluate", *given, *on, "--sort", "tokens-per-word", "--greedy-gap")[1].splitlines()
    assert printed[2].endswith("greedy gap")
    rates = [float(line.split()[2].strip("(")) for line in printed[3:7]]
    assert rates == sorted(rates)
    assert all("±" in line for line in printed[3:7])
    assert "Mean ± standard deviation over 4 folds" in printed[-5]
    assert printed[-3] == "Not trained again: gpt.json"
    sizes = run(capsys, "evaluate", *given[:2], "--on", corpus, "--sort", "bits-per-character", "--json")[1]
    bits = [each["bits_per_character"] for each in json.loads(sizes)["figures"]]
    assert bits == sorted(bits)
    for options, message in [
        (["--sort", "color"], "There is no column color. Use one of name, vocabulary-size, tokens-per-word"),
        (["--sort", "greedy-gap"], "--sort greedy-gap needs --greedy-gap. Add it."),
        (["--sort", "parity"], "--sort parity needs --parallel. Add it."),
        (["--folds", 4, "--held-out"], "--held-out and --folds cannot be combined: they measure different parts"),
        (["--folds", 4, "--each"], "--folds and --each cannot be combined"),
    ]:
        assert message in fails(capsys, "evaluate", given[0], "--on", corpus, *options)
    assert "at least 2" in fails(capsys, "evaluate", given[0], "--on", corpus, "--folds", 1, code=2)


def test_errors_of_folds_name_them(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, counts = tmp_path / "text.txt", tmp_path / "counts.tsv"
    for lines in ("", " \n", "one line\n", "a\nb\nc\n"):
        text.write_text(lines, encoding="utf-8")
        told = fails(capsys, "evaluate", course, "--on", text, "--folds", 10)
        assert told.endswith("--folds: There are too few lines for 10 folds. Use more text, or fewer folds.\n")
    counts.write_text("a\t3\nb\t2\n", encoding="utf-8")
    told = fails(capsys, "evaluate", course, "--on", counts, "--word-counts", "--folds", 10)
    assert "--folds: The corpus is words with their counts" in told


def test_boundaries_of_morphemes(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, text = tmp_path / "words.tsv", tmp_path / "text.txt"
    words.write_text("tokens\ttoken|s\nthe\tthe\n", encoding="utf-8")
    text.write_text("the tokens the\n", encoding="utf-8")
    options = ["evaluate", course, "--on", text, "--boundaries", words]
    data = json.loads(run(capsys, *options, "--json")[1])["boundaries"]
    pair = wps.morpheme_boundaries(wps.load_tokenizer(course), words, text)["A"]
    assert pair[1] is not None
    assert data == {course.name: {"by_word": pair[0].to_dict(), "by_occurrence": pair[1].to_dict()}}
    lines = run(capsys, *options)[1].splitlines()
    at = lines.index("Boundaries of morphemes, words of the text")
    assert lines[at + 1].split() == ["tokenizer", "words", "whole", "unknown", "precision", "recall", "F1"]
    assert lines[at + 2].split()[1] == "3"
    assert "Boundaries are those of the tokenizers as they are, not trained again." not in lines
    text.write_text("hug\n" * 9, encoding="utf-8")
    lines = run(capsys, *options, "--folds", 3)[1].splitlines()
    at = lines.index("Boundaries of morphemes, words of the text")
    assert lines[at + 1] == "None of the words to compare occurs in FILES."
    assert lines[-1] == "Boundaries are those of the tokenizers as they are, not trained again."
    words.write_text("tokens token|s\n", encoding="utf-8")
    assert "words.tsv, line 1" in fails(capsys, *options)
