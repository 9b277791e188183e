"""Other people's trainers, each a program of its own: ``python -m tests.benchmarks.libraries NAME CORPUS FOLDER SIZE``.

They learn by count only. Each is set up to read what ours reads and to write what ours writes; where that is not
possible, `SETTINGS` says how it differs.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

SETTINGS = {
    "tokenizers": "WordPieceTrainer, BertNormalizer uncased, BertPreTokenizer, minimum frequency 2, all threads",
    "sentencepiece": "BPE, its own normalization (NFKC) and character coverage, 2 threads, long lines kept",
    "rustbpe": "byte-level BPE over its own pattern, lines as they are (no normalizer), all threads",
}


def installed() -> dict[str, str | None]:
    """Return each library's version, None where it is not installed."""
    return {name: _version(name) for name in SETTINGS}


def train_tokenizers(corpus: Path, folder: Path, size: int) -> None:
    """Learn a WordPiece vocabulary with Hugging Face's trainer and write vocab.txt."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=2, special_tokens=SPECIAL_TOKENS, show_progress=False
    )
    tokenizer.train([str(corpus)], trainer)
    tokenizer.model.save(str(folder))


def train_sentencepiece(corpus: Path, folder: Path, size: int) -> None:
    """Learn a BPE model with SentencePiece and write it and its list of pieces."""
    import sentencepiece

    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(folder / "sentencepiece"),
        model_type="bpe",
        vocab_size=max(size, 10),  # 0 is refused
        num_threads=2,
        max_sentence_length=1 << 24,  # longer lines are left out; by default those above 4,192 bytes
        hard_vocab_limit=False,  # a small corpus ends before it
        minloglevel=2,
    )


def train_rustbpe(corpus: Path, folder: Path, size: int) -> None:
    """Learn byte-level BPE with rustbpe and write its tokens in hexadecimal, one a line."""
    import rustbpe  # type: ignore[import-not-found]

    tokenizer = rustbpe.Tokenizer()
    with corpus.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        tokenizer.train_from_iterator(lines, max(size, 256))
    tokens = (bytes(token).hex() for token, _ in tokenizer.get_mergeable_ranks())
    (folder / "rustbpe.txt").write_text("\n".join(tokens), encoding="ascii")


TRAINERS: dict[str, Callable[[Path, Path, int], None]] = {
    "tokenizers": train_tokenizers,
    "sentencepiece": train_sentencepiece,
    "rustbpe": train_rustbpe,
}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    TRAINERS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
