"""What the Studio tokenizes against what `tokenizers` and `transformers` make of the files that it writes.

``python -m tests.benchmarks.agreement`` goes through every objective, normalizer and pre-tokenizer that a
``tokenizer.json`` can express. For each it trains a small vocabulary, writes the folder, and compares ids, tokens and
offsets over 5,000 lines of real and hostile text: the Studio's, those of ``tokenizers.Tokenizer.from_file``, and those
of ``transformers.AutoTokenizer.from_pretrained`` (with ``[CLS]`` and ``[SEP]`` around them). Files are compared byte
for byte with what `tokenizers` saves, and with what the Studio writes when it has read them. Prints a table, and ends
with 1 if anything differs. ``--corpus`` names files to take real lines from.

``--written`` instead trains on each of the files of ``--corpus`` by the command line, in every form that it can write
and with every library, and compares what is written over as many lines of the same file.
"""

from __future__ import annotations

import argparse
import functools
import gc
import itertools
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from tests.benchmarks.agreement_texts import mixed_lines
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.listing import listing, opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.huggingface.tokenizer_json import why_not_expressible
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer, load_wordpiece_tokenizer
from wordpiece_studio.storage.vocab_txt import vocabulary_bytes
from wordpiece_studio.text import normalizers
from wordpiece_studio.text.normalizers import BertNormalizer, resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import ROLES, Vocabulary
from wordpiece_studio.training.config import Objective, TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wordpiece_studio.tokenizer.encoding import Encoding

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
BERT_NORMALIZERS = tuple(
    BertNormalizer(*flags).name
    for flags in itertools.product([True, False], [True, False], [None, True, False], [True, False])
)
OTHER_NORMALIZERS = (
    "none", "language-friendly", "language-friendly:keep-chinese", "nfc", "nfd", "nfkc", "nfkd", "lowercase",
    "strip-accents", "nfd+strip-accents+lowercase", "nfkc+bert-uncased:keep-accents", "bert-cased+remove:aé.[-]^\\",
    "remove:\n b", "remove: #$&*~+nfc",
)  # fmt: skip
PRE_TOKENIZERS = (
    "bert", "whitespace", "whitespace-split", "punctuation", "whitespace-split+punctuation", "punctuation+whitespace",
    "digits", "bert+digits-single", "byte-level", "bert+byte-level:no-prefix", r"split:merged-with-next:\s+|(?i:the)",
    r"split:isolated:\p{N}{1,3}| ?\p{L}+|\s+(?!\S)+byte-level:bytes-only",
)  # fmt: skip
_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_MERGES = 250
_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Setting:
    """What one tokenizer is trained with."""

    normalizer: str
    pre_tokenizer: str
    objective: Objective = "score"
    special_tokens: tuple[str, ...] = _SPECIAL_TOKENS
    prefix: str = "##"
    max_word_length: int = 100

    @property
    def group(self) -> str:
        """The line of the table that it counts in."""
        is_usual = (self.special_tokens, self.prefix, self.max_word_length) == (_SPECIAL_TOKENS, "##", 100)
        return self.normalizer if is_usual else "other special tokens, prefixes, longest words"

    def beginning(self) -> Tokenizer:
        """Return a tokenizer with the special tokens alone."""
        vocabulary = Vocabulary(self.special_tokens, self.special_tokens, self.prefix)
        normalizer, pre_tokenizer = resolve_normalizer(self.normalizer), resolve_pre_tokenizer(self.pre_tokenizer)
        return Tokenizer(vocabulary, normalizer, pre_tokenizer, max_word_length=self.max_word_length)


@functools.cache
def pipelines() -> list[tuple[str, str]]:
    """Return the names of every normalizer with every pre-tokenizer that can be expressed together."""
    both = itertools.product((*BERT_NORMALIZERS, *OTHER_NORMALIZERS), PRE_TOKENIZERS)
    return [names for names in both if why_not_expressible(Setting(*names).beginning()) is None]


def unusual_settings() -> list[Setting]:
    """Return settings in which not the pipeline is the matter."""
    return [
        Setting("bert-cased", "bert", max_word_length=5),
        Setting("bert-uncased", "bert", "count", prefix=""),
        Setting("nfc", "whitespace", "count", prefix="@@"),
        Setting("bert-uncased", "bert", special_tokens=("[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]")),
        Setting("bert-cased", "bert", special_tokens=("[UNK]", "[MASK]", "[MASK][MASK]", "a", "##")),
        Setting("none", "punctuation", special_tokens=("[UNK]", "[CLS]", "[SEP]", "é [", "中")),
    ]


@dataclass(slots=True)
class Result:
    """How often files and encodings were compared, and what differed."""

    combinations: int = 0
    texts: int = 0
    files: int = 0
    unknown: int = 0
    tokens: int = 0
    differences: int = 0
    shown: tuple[str, ...] = ()

    def add(self, other: Result) -> None:
        """Add another's figures."""
        for name in ("combinations", "texts", "files", "unknown", "tokens", "differences"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.shown = (self.shown + other.shown)[:_MOST_SHOWN]

    def note(self, what: str) -> None:
        """Note a difference."""
        self.differences += 1
        if len(self.shown) < _MOST_SHOWN:
            self.shown += (what,)


def compared(settings: Sequence[Setting], lines: Sequence[str]) -> Result:
    """Compare settings of one pipeline.

    Parameters
    ----------
    settings
        All with the same normalizer and pre-tokenizer.
    lines
        The texts. Vocabularies are trained on every other one, so that some words of the rest are unknown.
    """
    first = settings[0].beginning()
    counts = count_texts(lines[::2], first.normalizer, first.pre_tokenizer)
    result = Result()
    for setting in settings:
        config = TrainingConfig(
            objective=setting.objective,
            max_merges=_MERGES,
            min_frequency=2,
            special_tokens=setting.special_tokens,
            continuing_subword_prefix=setting.prefix,
        )
        vocabulary = train(counts, config).vocabulary
        tokenizer = Tokenizer(
            vocabulary, first.normalizer, first.pre_tokenizer, max_word_length=setting.max_word_length
        )
        result.add(_compared_with_files(setting, tokenizer, lines))
    normalizers._maps.cache_clear()  # of very many characters under each setting
    return result


def _compared_with_files(setting: Setting, tokenizer: Tokenizer, lines: Sequence[str]) -> Result:
    import tokenizers
    import transformers

    result = Result(combinations=1)
    ours = [tokenizer.encode(line) for line in lines]
    result.tokens = sum(map(len, ours))
    result.unknown = sum(encoding.tokens.count(tokenizer.vocabulary.unk_token) for encoding in ours)
    with tempfile.TemporaryDirectory() as folder:
        _save(tokenizer, Path(folder))
        theirs = tokenizers.Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
        _compare_files(setting, theirs, Path(folder), result)
        encodings = theirs.encode_batch(lines, add_special_tokens=False)
        triples = ((encoding.ids, encoding.tokens, encoding.offsets) for encoding in encodings)
        _compare_texts(f"{setting}, tokenizers", lines, map(_triple, ours), triples, result)
        auto = transformers.AutoTokenizer.from_pretrained(folder)
        batch = auto(list(lines), return_offsets_mapping=True)
        tokens = (encoding.tokens for encoding in batch.encodings)
        found = zip(batch["input_ids"], tokens, batch["offset_mapping"], strict=True)
        expected = (_enclosed(encoding, tokenizer.vocabulary) for encoding in ours)
        _compare_texts(f"{setting}, {type(auto).__name__}", lines, expected, found, result)
    return result


def _save(tokenizer: Tokenizer, folder: Path) -> None:
    """Write all files; where words hold blanks or control characters there is no vocab.txt."""
    try:
        vocabulary_bytes(tokenizer.vocabulary.tokens)
    except StudioError:
        tokenizer.save(folder, only="tokenizer.json")
    else:
        tokenizer.save(folder)


def _compare_files(setting: Setting, theirs: Any, folder: Path, result: Result) -> None:
    """Compare what is written with what `tokenizers` saves, and with what is written when it has been read."""
    data = (folder / "tokenizer.json").read_bytes()
    result.files += 1
    if theirs.to_str(pretty=True).encode() != data:
        result.note(f"{setting}: tokenizers saves another tokenizer.json")
    again = folder / "again"
    try:
        _save(load_wordpiece_tokenizer(folder), again)
    except StudioError as error:
        result.note(f"{setting}: what was written is not read or written again: {error}")
        return
    for path in again.iterdir():
        if path.name != "wordpiece-studio.json":  # the manifest tells who wrote it from what
            result.files += 1
            if path.read_bytes() != (folder / path.name).read_bytes():
                result.note(f"{setting}: {path.name} differs when it was read and written again")


def _triple(encoding: Any) -> tuple[Any, ...]:
    return encoding.ids, encoding.tokens, encoding.offsets


def _ids_alone(encoding: Any) -> tuple[Any, ...]:
    return encoding.ids, None, None


def _enclosed(encoding: Encoding, vocabulary: Vocabulary) -> tuple[Any, ...]:
    """Return an encoding with the tokens around it that other programs add."""
    if not {"[CLS]", "[SEP]"} <= set(vocabulary.special_tokens):
        return _triple(encoding)
    first, last = vocabulary.id_of("[CLS]"), vocabulary.id_of("[SEP]")
    return (
        [first, *encoding.ids, last],
        ["[CLS]", *encoding.tokens, "[SEP]"],
        [(0, 0), *encoding.offsets, (0, 0)],
    )


def _compare_texts(name: str, lines: Sequence[str], ours: Iterable[Any], theirs: Iterable[Any], result: Result) -> None:
    for line, mine, other in zip(lines, ours, theirs, strict=True):
        result.texts += 1
        if mine != other:
            what = next(what for what, a, b in zip(("ids", "tokens", "offsets"), mine, other, strict=True) if a != b)
            result.note(f"{name}: the {what} of {line!a}: ours {mine!a}, theirs {other!a}")


def groups_of_settings() -> list[list[Setting]]:
    """Return all settings, those of one pipeline together."""
    usual = [[Setting(*names, objective) for objective in OBJECTIVES] for names in pipelines()]
    return usual + [[setting] for setting in unusual_settings()]


# ---- what the command line writes ------------------------------------------------------------------------------------

_BYTES = ("--normalizer", "none", "--pre-tokenizer", "byte-level")
_BPE = ("--bpe", "--objective", "count", "--continuing-subword-prefix=")
WRITTEN = {
    "--bpe": (*_BYTES, *_BPE),
    "--bpe, no prefix space": ("--normalizer", "nfc", "--pre-tokenizer", "byte-level:no-prefix", *_BPE),
    "--bpe, </w>": ("--normalizer", "none", *_BPE, "--end-of-word-suffix", "</w>", "--end-of-word", "attached"),
    "--by tokenizers-bpe": (*_BYTES, "--by", "tokenizers-bpe"),
    "--by tokenizers-bpe --replay --bpe": (*_BYTES, "--by", "tokenizers-bpe", "--replay", "--bpe"),
    "--by tokenizers-unigram": (*_BYTES, "--by", "tokenizers-unigram"),
    "--by tokenizers-wordpiece": (*_BYTES, "--by", "tokenizers-wordpiece"),
    "--by sentencepiece-bpe": ("--by", "sentencepiece-bpe"),
    "--by sentencepiece-unigram": ("--by", "sentencepiece-unigram"),
    "likelihood": (*_BYTES, "--min-frequency", "2"),
}
"""The options that a form is written with."""


def lines_of(path: Path, count: int) -> list[str]:
    """Return lines of a text, as far apart as possible; of one with fewer, also the halves of the lines."""
    pieces = (piece.text for file in listing(path).files for piece in opened(file).pieces())
    lines = [line for line in "".join(pieces).splitlines() if line.strip()]
    halves = [half for line in lines for half in (line[: len(line) // 2], line[len(line) // 2 :]) if half.strip()]
    lines += halves if len(lines) < count else []
    return lines[:: max(1, len(lines) // count)][:count]


def compared_as_written(form: str, path: Path, lines: Sequence[str], size: int, folder: Path) -> Result:
    """Train on a text by the command line, and compare what it wrote with the libraries, special tokens around it."""
    import tokenizers
    import transformers

    call = [sys.executable, "-m", "wordpiece_studio", "train", str(path), *WRITTEN[form], "--vocab-size", str(size)]
    subprocess.run([*call, "-o", str(folder)], check=True, capture_output=True)
    tokenizer, result = load_tokenizer(folder), Result(combinations=1)
    triple: Callable[[Any], tuple[Any, ...]] = _triple
    if "sentencepiece" in form:  # which finds no special tokens in texts, and has other tokens for what is unknown
        lines = [line for line in lines if not any(token in line for token in _SPECIAL_TOKENS)]
        triple = _ids_alone
    ours = tokenizer.encode(lines, add_special_tokens=True)
    unknown = tokenizer.unk_token or ""
    result.tokens = sum(map(len, ours))
    result.unknown = sum(encoding.tokens.count(unknown) for encoding in ours)
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    result.files += 1
    if triple is _triple and theirs.to_str(pretty=True).encode() != (folder / "tokenizer.json").read_bytes():
        result.note(f"{form}: tokenizers saves another tokenizer.json")
    _compare_texts(
        f"{form}, tokenizers", lines, map(triple, ours), map(triple, theirs.encode_batch(list(lines))), result
    )
    auto = transformers.AutoTokenizer.from_pretrained(str(folder))
    batch = auto(list(lines), return_offsets_mapping=True, verbose=False)
    _compare_texts(f"{form}, {type(auto).__name__}", lines, map(triple, ours), map(triple, batch.encodings), result)
    result.files += 1
    named = {role: getattr(auto, role) for role in ROLES if getattr(auto, role)}
    if named != dict(tokenizer.roles):
        result.note(f"{form}: the roles are {dict(tokenizer.roles)}, there {named}")
    return result


def print_written(paths: Sequence[Path], forms: Sequence[str], count: int, size: int) -> Result:
    """Compare some forms for every text, and print a table."""
    total = Result()
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    for path in paths:
        lines = lines_of(path, count)
        for form in forms:
            with tempfile.TemporaryDirectory() as folder:
                result = compared_as_written(form, path, lines, size, Path(folder) / "out")
            _say(_row(f"{path.name.partition('.')[0]}, {form}", result))
            total.add(result)
    return total


# ---- all settings ----------------------------------------------------------------------------------------------------

_lines: list[str] = []


def _work(settings: list[Setting]) -> tuple[str, Result]:
    return settings[0].group, compared(settings, _lines)


def _begin(lines: list[str]) -> None:
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    gc.disable()  # millions of small objects, and no cycles
    _lines[:] = lines


def results(groups: Sequence[list[Setting]], lines: list[str], processes: int) -> Iterator[tuple[str, Result]]:
    """Yield the result of each group of settings, in order, with the line of the table that it belongs to."""
    with multiprocessing.get_context("spawn").Pool(processes, _begin, (lines,)) as pool:
        yield from pool.imap(_work, groups)


def main() -> int:
    """Compare, print, and return what the process ends with."""
    import tokenizers
    import transformers

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=5000, help="how many lines")
    parser.add_argument("--corpus", type=Path, nargs="*", default=[], help="files in UTF-8 to take real lines from")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--every", type=int, default=1, help="only every Nth pipeline")
    parser.add_argument("--written", action="store_true", help="compare what the command line writes of each file")
    parser.add_argument("--forms", nargs="*", default=list(WRITTEN), choices=list(WRITTEN), help="of --written")
    parser.add_argument("--size", type=int, default=4000, help="the size of the vocabularies of --written")
    arguments = parser.parse_args()
    started = time.monotonic()
    lines = [] if arguments.written else mixed_lines(arguments.lines, arguments.corpus)
    groups = [] if arguments.written else groups_of_settings()[:: arguments.every]
    _say(f"tokenizers {tokenizers.__version__}, transformers {transformers.__version__}; {arguments.lines:,} lines")
    first = "text and form" if arguments.written else "normalizer"
    _say(f"{first:62} {'combinations':>12} {'texts':>10} {'files':>7} {'unknown':>8} {'differences':>12}")
    total = (
        print_written(arguments.corpus, arguments.forms, arguments.lines, arguments.size)
        if arguments.written
        else Result()
    )
    for name, rows in itertools.groupby(results(groups, lines, arguments.processes), key=lambda row: row[0]):
        result = Result()
        for _, one in rows:
            result.add(one)
        _say(_row(ascii(name)[1:-1], result))
        total.add(result)
    _say(_row("all", total))
    for difference in total.shown:
        _say(f"  {difference}")
    _say(
        f"{total.differences} differences in {total.texts:,} encodings, each in ids, tokens and offsets, and "
        f"{total.files:,} files of {total.combinations} combinations; {time.monotonic() - started:.0f} s"
    )
    return int(total.differences > 0)


def _row(name: str, result: Result) -> str:
    unknown = result.unknown / max(result.tokens, 1)
    figures = f"{result.combinations:12} {result.texts:10,} {result.files:7,} {unknown:8.1%} {result.differences:12}"
    return f"{name:62} {figures}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
