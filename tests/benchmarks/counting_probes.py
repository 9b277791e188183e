"""Counting, each time in a fresh process: ``python -m tests.benchmarks.counting_probes NAME ARGUMENTS`` prints JSON."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_NORMALIZER, _PRE_TOKENIZER = "bert-uncased", "bert"


def ours(threads: str, *files: str) -> dict[str, Any]:
    """Count with this many threads, the kernels loaded."""
    from wordpiece_studio import count_words
    from wordpiece_studio.compiled.kernel_cache import load_kernels

    load_kernels("text")
    started = time.perf_counter()
    counts = count_words(list(files), _NORMALIZER, _PRE_TOKENIZER, processes=int(threads))
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "words": counts.total, "distinct_words": len(counts), "digest": counts.digest()}


def tokenizers(trainer_name: str, *files: str) -> dict[str, Any]:
    """Count with Hugging Face's library: a training to a size that needs no merges."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    is_word_level = trainer_name == "WordLevelTrainer"
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]") if is_word_level else models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = getattr(trainers, trainer_name)(vocab_size=0, show_progress=False)
    started = time.perf_counter()
    tokenizer.train(list(files), trainer)
    return {"seconds": time.perf_counter() - started}


def parity(*files: str) -> dict[str, Any]:
    """Count a corpus line by line with the library's normalizer and pre-tokenizer, and compare with both of ours."""
    from tokenizers import normalizers, pre_tokenizers

    from wordpiece_studio import count_words

    normalizer, pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    words: Counter[str] = Counter()
    for file in files:
        with Path(file).open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                words.update(word for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(line)))
    left_out = [word for word in words if len(word) > 1000]
    for word in left_out:
        del words[word]
    results = [count_words(list(files), _NORMALIZER, _PRE_TOKENIZER, processes=number) for number in (1, 2)]
    return {
        "words": words.total(),
        "distinct_words": len(words),
        "left_out": len(left_out),
        "same_words": all(Counter(dict(counts.items())) == words for counts in results),
        "same_order": all(counts.items() == list(words.items()) for counts in results),
    }


def large(threads: str, file: str) -> dict[str, Any]:
    """Count a large file, the kernels not yet loaded."""
    from wordpiece_studio import count_words

    most = 0

    def note(progress: Any) -> None:
        nonlocal most
        most = max(most, progress.memory_bytes or 0)

    started = time.perf_counter()
    counts = count_words(file, _NORMALIZER, _PRE_TOKENIZER, processes=int(threads), progress=note)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "words": counts.total, "distinct_words": len(counts), "most_told": most}


PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    probe.__name__: probe for probe in (ours, tokenizers, parity, large)
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(PROBES[sys.argv[1]](*sys.argv[2:])))
