"""Whether likelihood gives the same merges and values everywhere, and what the objectives make of text held out.

``python -m tests.benchmarks.likelihood FILES...`` trains on each file three times: the first merges with the engine
that recounts everything and with the fast one; then to a size with the fast one, here and in a process into which a
library with another ``log`` is loaded, which needs Linux and a C compiler. It exits with 1 if anything differs.

``python -m tests.benchmarks.likelihood --held-out FILES...`` trains on each file by the command line with
``--held-out``, at the sizes of the design's table, and prints its tokens a word beside those of `tokenizers` for the
same lines, with the vocabulary that ``--held-out-model`` writes. It exits with 1 if any differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenizers import Tokenizer

import wordpiece_studio as wps
from tests.evaluation.test_held_out import divided

_COLUMNS = ("left_id", "right_id", "pair_frequency", "value", "ties")
_OTHER_LOG = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
double log(double x) {
    double (*usual)(double) = dlsym(RTLD_NEXT, "log");
    double value = usual(x);
    return value == 0 ? value : nextafter(value, INFINITY);
}
"""

_HELD_OUT = ["--vocab-size", "4000"]
_HELD_OUT_BY_NAME = {  # in the design's table these are read without case
    "shakespeare.txt": ["--vocab-size", "4000", "--normalizer", "bert-uncased"],
    "english-26mb.txt.xz": ["--vocab-size", "16000", "--normalizer", "bert-uncased"],
}
_WAYS = {  # options of `train`
    "score": ["--objective", "score"],
    "score, floor 20": ["--objective", "score", "--min-frequency", "20"],
    "likelihood": ["--objective", "likelihood"],
    "count": ["--objective", "count"],
}


def digest(counts: wps.WordCounts, engine: str, **limits: int | None) -> str:
    """Return a hash of all merges, their counts, values to the last bit, ties and tokens."""
    run = wps.train(counts, wps.TrainingConfig(**limits), engine=engine)  # type: ignore[arg-type]
    found = hashlib.sha256("\n".join(run.vocabulary.tokens).encode())
    for name in _COLUMNS:
        found.update(run.history.column(name).tobytes())
    return f"{len(run.history):>6,} merges {found.hexdigest()[:16]}"


def digests(files: list[str], size: int) -> list[str]:
    """Return the logarithm of 3 by the C library in use, and the digest of each file's training."""
    counted = (wps.count_words(wps.CorpusFile(name, errors="replace")) for name in files)
    return [math.log(3).hex(), *(digest(counts, "compiled", vocab_size=size) for counts in counted)]


def digests_elsewhere(files: list[str], size: int) -> list[str]:
    """Return the digests by a process with another ``log``."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        raise SystemExit("another C library is loaded on Linux with a C compiler only")
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name) / "log.c", Path(name) / "log.so"
        source.write_text(_OTHER_LOG, encoding="utf-8")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl", "-lm"], check=True)
        command = [sys.executable, "-m", __spec__.name, "--only-digests", "--size", str(size), *files]
        environment = os.environ | {"LD_PRELOAD": str(library)}
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def print_held_out(files: list[str]) -> bool:
    """Print tokens a word of held-out text, and return whether they are those of `tokenizers`."""
    are_same = True
    for corpus in map(Path, files):
        settings = _HELD_OUT_BY_NAME.get(corpus.name, _HELD_OUT)
        data = lzma.decompress(corpus.read_bytes()) if corpus.suffix == ".xz" else corpus.read_bytes()
        lines = divided(data.decode("utf-8"))[1].split("\n")
        for way, options in _WAYS.items():
            with tempfile.TemporaryDirectory() as output:
                model = Path(output) / "judged"
                ours = judged(corpus, [*settings, *options], model)
                judge = Tokenizer.from_file(str(model / "tokenizer.json"))
            theirs = tokens_per_word(judge, lines)
            are_same &= ours == theirs
            tokens = judge.get_vocab_size()
            row = f"{corpus.name:20} {way:16} {tokens:>6,} tokens  {ours:.6f}  {theirs:.6f}  {ours - theirs:g}"
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()
    return are_same


def judged(corpus: Path, options: list[str], model: Path) -> float:
    """Return tokens a word of held-out text as the command line says, which writes the vocabulary that it judged."""
    command = [sys.executable, "-m", "wordpiece_studio", "train", corpus, "--json", "--output", model.with_name("all")]
    command += ["--held-out", "--held-out-model", model, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: dict[str, float] = json.loads(done.stdout)["held_out"]["tokens_per_word"]
    return next(iter(figures.values()))  # that of its own objective


def tokens_per_word(tokenizer: Tokenizer, lines: list[str]) -> float:
    """Return how many tokens `tokenizers` makes of a word."""
    encodings = tokenizer.encode_batch(lines, add_special_tokens=False)
    return sum(map(len, encodings)) / sum(len(set(encoding.word_ids)) for encoding in encodings)


def main() -> int:
    """Print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--size", type=int, default=30_000, help="of the vocabularies of the fast engine")
    parser.add_argument("--merges", type=int, default=200, help="that both engines make")
    parser.add_argument("--only-digests", action="store_true", help="print the digests, for another process")
    parser.add_argument("--held-out", action="store_true", help="print the table of figures for held-out text instead")
    options = parser.parse_args()
    if options.held_out:
        return int(not print_held_out(options.files))
    here = digests(options.files, options.size)
    if options.only_digests:
        sys.stdout.write("\n".join([*here, ""]))
        return 0
    elsewhere = digests_elsewhere(options.files, options.size)
    wrong = here[0] == elsewhere[0]
    note = ", the same: nothing is shown" if wrong else ""
    sys.stdout.write(f"log(3) here {here[0]}, elsewhere {elsewhere[0]}{note}\n")
    for name, ours, others in zip(options.files, here[1:], elsewhere[1:], strict=True):
        counts = wps.count_words(wps.CorpusFile(name, errors="replace"))
        slow, fast = (digest(counts, engine, max_merges=options.merges) for engine in ("plain", "compiled"))
        is_same = ours == others and slow == fast
        wrong |= not is_same
        verdict = "the same" if is_same else f"DIFFERENT: {others}, {slow}"
        sys.stdout.write(f"{Path(name).name:24} {ours}  {fast}  {verdict}\n")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
