"""Whether ``train --held-out`` and ``evaluate``, and the library, say the same about one tokenizer.

``python -m tests.benchmarks.held_out_pairs --pairs 100 FILES...`` takes the beginning of each text, and for each pair
chooses at random what trains, how text becomes words, the form of the corpus, and whether a part of it is held out or
another text is judged by. It trains by the command line and by the library, and compares the words and the tokens per
word that four ways give: what ``train`` prints, what ``evaluate`` says about the files that were written, what
`wps.evaluate` says about the training, and about its files. What another library trains differently each time is
only compared with itself. A call that is refused in words counts as such. It exits with 1 if anything differs.

With ``--window``, the pairs are of what the window shows of its runs on held-out text, and of what ``train
--held-out`` prints; set ``QT_QPA_PLATFORM=offscreen`` to see nothing of it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import lzma
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import wordpiece_studio as wps
from wordpiece_studio import cli
from wordpiece_studio.corpus.count_tables import write_word_counts
from wordpiece_studio.libraries.library_training import file_of, reads_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.libraries.library_training import LibraryTrainer

_OURS = ("likelihood", "score", "count")
_LIBRARIES = (
    "tokenizers-wordpiece", "tokenizers-bpe", "tokenizers-unigram", "sentencepiece-bpe", "sentencepiece-unigram",
)  # fmt: skip
VARYING = ("tokenizers-wordpiece", "tokenizers-unigram")
"""What these libraries learn differs from one training to the next."""
_PRE_TOKENIZERS = (
    "bert", "whitespace", "whitespace-split", "whitespace-split+punctuation", "bert+digits-single", "byte-level",
    "whitespace-split+byte-level",
)  # fmt: skip
_NORMALIZERS = ("bert-cased", "bert-uncased", "none", "nfkc", "language-friendly")
_FORMS = ("file", "files", "jsonl", "csv", "counts")
Figures = tuple[int, float]
"""How many words, and tokens per word."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is trained, on what, and what it is judged by."""

    trainer: str
    normalizer: str
    pre_tokenizer: str
    form: str
    size: int
    is_held_out: bool
    text: str

    @property
    def is_ours(self) -> bool:
        """Whether our own trainer trains."""
        return self.trainer in _OURS

    def options(self) -> list[str]:
        """Return the options of ``train`` that choose it."""
        options = ["--vocab-size", str(self.size)]
        options += ["--objective", self.trainer] if self.is_ours else ["--by", self.trainer]
        if not reads_text(self.trainer):
            options += ["--normalizer", self.normalizer, "--pre-tokenizer", self.pre_tokenizer]
        return options

    def config(self) -> wps.TrainingConfig:
        """Return the settings for the library."""
        objective: dict[str, Any] = {"objective": self.trainer} if self.is_ours else {}
        return wps.TrainingConfig(vocab_size=self.size, **objective)

    def __str__(self) -> str:
        steps = "its own" if reads_text(self.trainer) else f"{self.normalizer}, {self.pre_tokenizer}"
        way = "held out" if self.is_held_out else "other text"
        return f"{self.trainer:22} {self.text:12} {self.form:7} {way:10} {self.size:>5}  {steps}"


class Refused(Exception):
    """The command line ended with an error, whose text this is."""


def called(*arguments: object) -> dict[str, Any]:
    """Return what a command prints as JSON."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run([*map(str, arguments), "--json"])
    if code:
        raise Refused(err.getvalue().strip().splitlines()[-1].removeprefix("wordpiece-studio: "))
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def beginning(path: Path, size: int) -> str:
    """Return the beginning of a text, of at most `size` bytes, up to a line end."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return data[: data.rfind(b"\n", 0, size) + 1].decode("utf-8").replace("\r", "")


def written_corpus(folder: Path, text: str, pair: Pair) -> tuple[list[Path], list[wps.CorpusFile], list[str]]:
    """Write a corpus in some form; return its paths, how to read them, and the options that say so."""
    lines = [line for line in text.split("\n") if line.strip()]
    column: str | None = None
    if pair.form == "files":
        third = len(lines) // 3
        parts = {"a.txt": lines[:third], "b.txt": lines[third : 2 * third], "c.txt": lines[2 * third :]}
        contents = {name: "".join(f"{line}\n" for line in part) for name, part in parts.items()}
    elif pair.form == "jsonl":
        contents, column = {"a.jsonl": "".join(json.dumps({"id": 1, "body": line}) + "\n" for line in lines)}, "body"
    elif pair.form == "csv":
        rows = ['"' + line.replace('"', '""') + '",x\n' for line in lines]
        contents, column = {"a.csv": "".join(["body,other\n", *rows])}, "body"
    elif pair.form == "counts":
        counts = wps.count_texts(lines, pair.normalizer, pair.pre_tokenizer)
        write_word_counts(folder / "counts.tsv", counts)
        return [folder / "counts.tsv"], [wps.CorpusFile(str(folder / "counts.tsv"), "word-counts")], ["--word-counts"]
    else:
        contents = {"a.txt": text}
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8", newline="")
    kind: Any = {"jsonl": "jsonl", "csv": "csv"}.get(pair.form, "text")
    paths = [folder / name for name in contents]
    files = [wps.CorpusFile(str(path), kind, column) for path in paths]
    return paths, files, [] if column is None else ["--column", column]


def by_command(pair: Pair, paths: list[Path], reading: list[str], other: Path, folder: Path) -> dict[str, Figures]:
    """Return what ``train`` prints and what ``evaluate`` says about what it wrote."""
    judged = folder / "judged"
    way = ["--held-out", "--held-out-model", judged, "-o", folder / "out"]
    if not pair.is_held_out:
        way = ["--held-out-file", other, "-o", judged]
    printed = called("train", *paths, *reading, *pair.options(), *way)["held_out"]
    on: list[object] = [each for path in paths for each in ("--on", path)] if pair.is_held_out else ["--on", other]
    more = [*reading, "--held-out"] if pair.is_held_out else []
    said = called("evaluate", judged, *on, *more)["figures"][0]
    return {
        "train": (printed["words"], printed["tokens_per_word"][pair.trainer]),
        "evaluate": (said["words"], said["tokens_per_word"]),
    }


def by_library(pair: Pair, files: list[wps.CorpusFile], other: Path, folder: Path) -> dict[str, Figures]:
    """Return what `wps.evaluate` says about a training, and about what is loaded from its files."""
    steps = pair.normalizer, pair.pre_tokenizer
    has_lines = pair.form != "counts"
    counts = None
    if not has_lines:
        counts = wps.read_word_counts([file.path for file in files], *steps)
    elif pair.is_held_out:
        counts = wps.divided_corpus(files, *steps).rest
    else:
        counts = wps.count_words(files, *steps)
    on: Any = files if pair.is_held_out else other
    trained: Any
    if pair.is_ours:
        trained = wps.train(counts, pair.config())
        trained.tokenizer().save(folder / "library")
    else:
        trainer = cast("LibraryTrainer", pair.trainer)
        is_of_lines = reads_text(trainer) and has_lines
        corpus: Any = files if is_of_lines else counts
        trained = wps.train_library(corpus, pair.config(), trainer, is_rest=is_of_lines and pair.is_held_out)
        (folder / "library").mkdir()
        (folder / "library" / file_of(trainer)).write_bytes(trained.content)
    loaded = wps.load_tokenizer(folder / "library")
    found = [wps.evaluate({"x": each}, on, is_held_out=pair.is_held_out).figures[0] for each in (trained, loaded)]
    return {name: (each.words, each.tokens_per_word) for name, each in zip(("library", "loaded"), found, strict=True)}


def pairs_of(texts: dict[str, str], number: int, seed: int) -> Iterator[Pair]:
    """Yield pairs that are chosen at random."""
    chance = random.Random(seed)
    for _ in range(number):
        form = chance.choice(_FORMS)
        steps = chance.choice(_NORMALIZERS), chance.choice(_PRE_TOKENIZERS)
        trainer = chance.choice(_OURS + _LIBRARIES)
        is_held_out = form != "counts" and chance.random() < 0.6
        name = chance.choice([*texts])
        size = chance.choice((1500, 2500, 4000, 6000))
        pair = Pair(trainer, *steps, form, size, is_held_out, name)
        if reads_text(trainer):
            pair = replace(pair, normalizer="none", pre_tokenizer="whitespace-split")
        yield pair


def compared(pair: Pair, texts: dict[str, str], folder: Path) -> tuple[str, dict[str, Figures]]:
    """Return whether all ways say the same, or the text of the refusal, and what they say."""
    paths, files, reading = written_corpus(folder, texts[pair.text], pair)
    other = folder / "other.txt"
    names = [*texts]
    another = texts[names[(names.index(pair.text) + 1) % len(names)]]
    other.write_text(texts[pair.text][-2000:] + another[:2000], encoding="utf-8", newline="")
    found: dict[str, Figures] = {}
    try:
        found = by_command(pair, paths, reading, other, folder)
    except Refused as error:
        try:
            by_library(pair, files, other, folder)
        except wps.StudioError:
            return f"refused: {error}", {}
        return f"DIFFERENT: the command line alone refuses: {error}", {}
    try:
        found |= by_library(pair, files, other, folder)
    except wps.StudioError as error:
        return f"DIFFERENT: the library alone refuses: {error}", found
    groups = [[*found]] if pair.trainer not in VARYING else [["train", "evaluate"], ["library", "loaded"]]
    is_same = all(len({found[name] for name in group}) == 1 for group in groups)
    return "same" if is_same else "DIFFERENT", found


def figures_text(found: dict[str, Figures]) -> str:
    """Return figures in one line, equal ones once."""
    by_value: dict[Figures, list[str]] = {}
    for name, value in found.items():
        by_value.setdefault(value, []).append(name)
    return "  ".join(f"{rate:.4f} of {words:,} ({', '.join(names)})" for (words, rate), names in by_value.items())


def main() -> int:
    """Print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=120_000, help="of each text")
    parser.add_argument("--window", action="store_true", help="compare the window with the command line")
    options = parser.parse_args()
    texts = {path.name.partition(".")[0]: beginning(path, options.bytes) for path in options.files}
    verdicts: Counter[str] = Counter()
    if options.window:
        from tests.benchmarks.held_out_window import window_pairs

        results = window_pairs(texts, options.pairs, options.seed)
    else:
        results = _results(texts, options.pairs, options.seed)
    for number, (name, verdict, found) in enumerate(results, start=1):
        verdicts[verdict.partition(":")[0]] += 1
        sys.stdout.write(f"{number:>4} {name}  {verdict}  {figures_text(found)}\n")
        sys.stdout.flush()
    sys.stdout.write(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()) + "\n")
    return int(verdicts["DIFFERENT"] > 0)


def _results(texts: dict[str, str], number: int, seed: int) -> Iterator[tuple[str, str, dict[str, Figures]]]:
    for pair in pairs_of(texts, number, seed):
        with tempfile.TemporaryDirectory() as folder:
            yield (str(pair), *compared(pair, texts, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
