"""Whether the figures of `wps.evaluate` are those of tokenizing every line anew.

``python -m tests.benchmarks.figures FILES...`` takes the beginning of each text, trains five tokenizers on it, and
prints each figure's largest difference from an independent computation: `tokenizers` and `sentencepiece` read the same
files and tokenize every line. With ``--scorer PYTHON``, an interpreter that has the package `tokenization-scorer`, the
Rényi efficiencies are also compared with that package's. It exits with 1 if anything differs.

``python -m tests.benchmarks.figures --table FILES...`` trains on the part of each text that is not held out, by each
objective and by other libraries, at two sizes, and prints the figures of what is held out, and what they show: the
tables of the help. For Chinese there is a second one, without BERT's normalizer, which splits between its characters.
What is trained is kept in a folder, ``--kept``: a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import lzma
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import wordpiece_studio as wps
from tests.evaluation.test_figures import independent
from tests.evaluation.test_held_out import divided
from wordpiece_studio.libraries.library_training import LibraryTrainer, file_of, library_settings
from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCORE = """
import sys
from tokenization_scorer.metrics import get_metric
lines = open(sys.argv[1], encoding="ascii").read().splitlines()
print(get_metric("renyi")([line.split() for line in lines], power=2.5))
"""
_UNKNOWN = {"wordpiece": "[UNK]", "merges": "[UNK]", "unigram.json": "<unk>"}
# On the long words that spaces alone leave, the library's Unigram trainer panics.
_SPLIT = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Metaspace()])
_OURS: dict[str, dict[str, Any]] = {
    "likelihood": {"objective": "likelihood"},
    "score": {"objective": "score"},
    "score, min. frequency 20": {"objective": "score", "min_frequency": 20},
    "count": {"objective": "count"},
}
_LIBRARY_RUNS: tuple[LibraryTrainer, ...] = (
    "tokenizers-wordpiece",
    "tokenizers-bpe",
    "tokenizers-unigram",
    "sentencepiece-unigram",
)
_SIZES = {"english-26mb": (4000, 16_000), "course-hi": (1000, 4000)}
# Of the tables of the help, which are narrow.
_LEFT_OUT = ("tokens per line", "characters per token", "bytes per token", "Rényi of vocabulary", "vocabulary")
_USUAL_SIZES = 3000, 8000  # larger ones are beyond what the words of such short texts give
Figures = dict[str, wps.TokenizerFigures]
Lines = list[tuple[list[int], list[int | None]]]


def text_of(path: Path, size: int) -> str:
    """Return the beginning of a text, of at most `size` bytes, up to a line end."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    return data[: data.rfind(b"\n", 0, size) + 1].decode("utf-8")


def write_tokenizers(folder: Path, text: Path, size: int) -> None:
    """Write five tokenizers that are trained on a text."""
    counts = wps.count_words(text)
    wps.train(counts, wps.TrainingConfig(vocab_size=size)).tokenizer().save(folder / "wordpiece")
    bare: dict[str, Any] = {"objective": "count", "continuing_subword_prefix": "", "special_tokens": ["[UNK]"]}
    wps.write_bpe_files(folder / "merges", wps.train(counts, wps.TrainingConfig(vocab_size=size, **bare)).history)
    lines = text.read_bytes().decode("utf-8").split("\n")
    for name, model, trainer, pre_tokenizer in (
        ("bytes.json", models.BPE(), trainers.BpeTrainer, pre_tokenizers.ByteLevel(add_prefix_space=False)),
        ("unigram.json", models.Unigram(), trainers.UnigramTrainer, _SPLIT),
    ):
        made = Tokenizer(model)
        made.pre_tokenizer = pre_tokenizer
        unknown: dict[str, Any] = {"unk_token": "<unk>"} if trainer is trainers.UnigramTrainer else {}
        made.train_from_iterator(
            lines, trainer(vocab_size=size, special_tokens=["<unk>"], show_progress=False, **unknown)
        )
        made.save(str(folder / name))
    SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "pieces"), vocab_size=size, hard_vocab_limit=False, minloglevel=2
    )


def encoded_by_library(path: Path, lines: list[str]) -> tuple[Lines, int | None, int]:
    """Return the ids and words of each line by the library that reads a file, its unknown id, and its size."""
    if path.suffix == ".model":
        pieces = SentencePieceProcessor(model_file=str(path))
        found: Lines = []
        for ids, tokens in zip(pieces.encode(lines), pieces.encode(lines, out_type=str), strict=True):
            number, words = 0, []
            for token in tokens:
                number += token.startswith("▁")
                words.append(number)
            found.append((ids, words))
        return found, pieces.unk_id(), len(pieces)
    if path.name == "merges":
        library = Tokenizer(models.BPE.from_file(str(path / "vocab.json"), str(path / "merges.txt"), unk_token="[UNK]"))
        library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    else:
        library = Tokenizer.from_file(str(path / "tokenizer.json" if path.is_dir() else path))
    encodings = library.encode_batch(lines, add_special_tokens=False)
    found = [(each.ids, each.word_ids) for each in encodings]
    return found, library.token_to_id(_UNKNOWN.get(path.name, "")), library.get_vocab_size()


def scored(python: str, encoded: Lines, folder: Path) -> float:
    """Return the Rényi efficiency by `tokenization-scorer`."""
    ids = folder / "ids.txt"
    ids.write_text("\n".join(" ".join(map(str, line)) for line, _ in encoded), encoding="ascii")
    done = subprocess.run([python, "-c", _SCORE, ids], check=True, capture_output=True, text=True)
    return float(done.stdout)


def are_equal(text: str, size: int, scorer: str | None) -> bool:
    """Print the figures of a text, and return whether they are those of tokenizing every line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.txt").write_text(text, encoding="utf-8", newline="")
        models_ = folder / "models"
        models_.mkdir()
        write_tokenizers(models_, folder / "text.txt", size)
        paths = {path.name: path for path in sorted(models_.iterdir()) if path.suffix != ".vocab"}
        tokenizers: dict[str, Any] = {name: wps.load_tokenizer(path) for name, path in paths.items()}
        started = time.perf_counter()
        found = wps.evaluate(tokenizers, folder / "text.txt")
        seconds = time.perf_counter() - started
        lines = text.split("\n")
        bert = Pipeline(wps.BertNormalizer(lowercase=False), wps.BertPreTokenizer())
        words = sum(len(bert.words(line)) for line in lines)
        is_equal = True
        started = time.perf_counter()
        for each in found.figures:
            encoded, unknown, tokens = encoded_by_library(paths[each.name], lines)
            expected = independent(encoded, words, unknown, text, tokens)
            wrong = [name for name, value in expected.items() if getattr(each, name) != value]
            line = f"  {each.name:13} {each.tokens:>9,} tokens, {each.tokens_per_word:.4f} per word, "
            line += f"{each.unknown} unknown, Rényi {each.renyi_efficiency:.6f}"
            if scorer is not None:
                theirs = scored(scorer, encoded, folder)
                line += f"  scorer {theirs:.6f}"
                wrong += ["scorer"] if abs(theirs - each.renyi_efficiency) > 1e-12 else []
            is_equal &= not wrong
            sys.stdout.write(f"{line}  {'DIFFERENT: ' + ', '.join(wrong) if wrong else 'the same'}\n")
        sys.stdout.write(f"  evaluated in {seconds:.1f} s, by every line in {time.perf_counter() - started:.1f} s\n")
        return is_equal


def versions() -> str:
    """Return what trains, with versions."""
    libraries = (f"{name} {version(name)}" for name in ("tokenizers", "sentencepiece"))
    return ", ".join([f"WordPiece Studio {wps.__version__}", *libraries])


def kept_tokenizer(folder: Path, name: Any, counts: wps.WordCounts, text: str, size: int) -> Any:
    """Return a tokenizer trained on a text of which these are the words, from the folder if it is there."""
    file = folder / (file_of(name) if name in _LIBRARY_RUNS else "tokenizer.json")
    if not file.exists():
        started = time.perf_counter()
        folder.mkdir(parents=True, exist_ok=True)
        if name in _OURS:
            run = wps.train(counts, wps.TrainingConfig(vocab_size=size, **_OURS[name]))
            run.tokenizer().save(folder, only="tokenizer.json")
        else:
            settings = library_settings(name, wps.TrainingConfig(vocab_size=size))
            library = wps.train_library([text] if name.startswith("sentencepiece") else counts, settings, name)
            unfinished = file.with_suffix(".unfinished")
            unfinished.write_bytes(library.content)
            unfinished.replace(file)
        sys.stderr.write(f"{name} {size:,}: {time.perf_counter() - started:.1f} s\n")
    return wps.load_tokenizer(file)


def print_table(path: Path, kept: Path, normalizer: str) -> list[Figures]:
    """Print and return the figures of what is held out of a text, by size, for tokenizers trained on the rest."""
    text = text_of(path, 1 << 40)
    rest, _ = divided(text)
    counts = wps.count_texts([rest], normalizer)
    digest = hashlib.sha256(f"{versions()}\n{normalizer}\n{text}".encode()).hexdigest()[:16]
    stem = path.name.partition(".")[0]
    sizes = _SIZES.get(stem, _USUAL_SIZES)
    lines: list[str] = []
    tables = []
    for size in sizes:
        folder = kept / f"{stem}-{digest}" / str(size)
        named = {name: kept_tokenizer(folder / name, name, counts, rest, size) for name in (*_OURS, *_LIBRARY_RUNS)}
        found = wps.evaluate(named, texts=[text], is_held_out=True)
        tables.append({each.name: each for each in found.figures})
        titles, *rows = dict(found.tables())[""]
        shown = [place for place, title in enumerate(titles) if title not in _LEFT_OUT]
        head, *rows = ([row[place] for place in shown] for row in (titles, *rows))
        if not lines:
            of = found.figures[0]
            held = f"{of.words:,} words held out, {of.bytes / of.characters:.3f} bytes per character"
            trained = f"trained on {counts.total:,} words, for {sizes[0]:,} and {sizes[1]:,} tokens"
            lines += [f"## {stem}, normalizer {normalizer}", "", f"{held}; {trained}.", ""]
            lines += [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    sys.stdout.write("\n".join([*lines, "", ""]))
    sys.stdout.flush()
    return tables


def span(values: list[float], form: str) -> str:
    """Return the least and the greatest value, or one if both look the same."""
    ends = dict.fromkeys(form.format(value) for value in (min(values), max(values)))
    return " to ".join(ends)


def conclusions(usual: list[list[Figures]], unsplit: list[tuple[list[Figures], list[Figures]]]) -> str:
    """Return three sentences on tables, and on those of texts whose characters BERT splits, with what is unsplit."""
    small, large = zip(*usual, strict=True)

    def times(name: str, other: str, tables: Iterable[Figures]) -> list[float]:
        return [each[name].tokens_per_word / each[other].tokens_per_word for each in tables]

    alike = ("likelihood", "count", "tokenizers-wordpiece")
    more = [
        span([value - 1 for name in alike for value in times(name, "tokenizers-bpe", tables)], "{:.0%}")
        for tables in (large, small)
    ]
    saved = [1 - after[name].tokens / before[name].tokens for before, after in usual for name in alike]
    others = {
        name: span(times(name, "likelihood", [*small, *large]), "{:.2f}")
        for name in (*_OURS, *_LIBRARY_RUNS)
        if name not in alike
    }
    fewer = [1 - none[1][name].tokens / split[1][name].tokens for split, none in unsplit for name in alike]
    sentences = [
        f"Likelihood, count and the WordPiece of tokenizers need {more[0]} more tokens per word than its BPE at the "
        f"larger size, {more[1]} at the smaller; the larger size saves {span(saved, '{:.0%}')}.",
        f"The score needs {others['score']} times the tokens of likelihood, with a minimum frequency of 20 "
        f"{others['score, min. frequency 20']} times, the Unigram of tokenizers {others['tokenizers-unigram']} times, "
        f"and that of SentencePiece {others['sentencepiece-unigram']} times.",
    ]
    if fewer:
        sentences.append(
            f"Where Chinese characters are not split, likelihood, count and the WordPiece of tokenizers need "
            f"{span(fewer, '{:.0%}')} fewer tokens at the larger size."
        )
    return "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1))


def main() -> int:
    """Print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--size", type=int, default=4000, help="of the vocabularies")
    parser.add_argument("--bytes", type=int, default=2_000_000, help="of each text")
    parser.add_argument("--scorer", help="an interpreter that has tokenization-scorer")
    parser.add_argument("--table", action="store_true", help="print the table of the help instead")
    kept = Path(tempfile.gettempdir()) / "wordpiece-studio-table"
    parser.add_argument("--kept", type=Path, default=kept, help="where the tokenizers of the table are (%(default)s)")
    options = parser.parse_args()
    if options.table:
        sys.stdout.write(f"{versions()}\n\n")
        usual = [print_table(path, options.kept, "bert-cased") for path in options.files]
        unsplit = [
            (table, print_table(path, options.kept, "none"))
            for path, table in zip(options.files, usual, strict=True)
            if "zh" in path.name
        ]
        sys.stdout.write(f"{conclusions(usual, unsplit)}\n")
        return 0
    wrong = False
    for path in options.files:
        sys.stdout.write(f"{path.name}\n")
        sys.stdout.flush()
        wrong |= not are_equal(text_of(path, options.bytes), options.size, options.scorer)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
