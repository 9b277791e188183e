"""Corpora made in code, and the merges that the library finds in them."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTIVES = ("likelihood", "score", "count")
_MERGES = 400


def texts() -> dict[str, str]:
    """Return some small texts, each hard in its own way."""
    rng = random.Random(5)
    syllables = ["".join(pair) for pair in itertools.product("bdgklmnrst", "aeiou")]
    invented = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(300)]
    zipf = [word for place, word in enumerate(invented, 1) for _ in range(1 + 200 // place)]
    rng.shuffle(zipf)
    return {
        "overlaps": "aaaa aaa aa aaaaa abab ababab bbb bbbb abba " * 3,
        "ties": " ".join("".join(word) for word in itertools.permutations("abcd")),
        "invented": _lines(zipf),
        "scripts": "Größe größer 中文字符 中文 한국어 한국 हिन्दी हिन्द ไทย e\u0301te\u0301 été Δελφοί 👩‍👩‍👧 👩 naïve\n"
        * 2,
    }


def _lines(words: list[str]) -> str:
    return "\n".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12))


def merge_text(merge: Any) -> str:
    """Return all that is known of a merge, in a line."""
    counts = f"n={merge.pair_frequency} f={merge.left_frequency},{merge.right_frequency} N={merge.symbols_before}"
    news = "new" if merge.is_new else "known"
    return (
        f"{merge.step} {merge.left!a} + {merge.right!a} = {merge.token!a} {counts} {merge.objective}={merge.value!r} "
        f"ties={merge.ties} {news}"
    )


def library_merges() -> Iterator[tuple[str, str]]:
    """Yield the merges of the texts under many settings."""
    import wordpiece_studio as wps

    settings: list[dict[str, Any]] = [
        {}, {"tie": "ids"}, {"min_frequency": 3}, {"max_token_length": 4}, {"continuing_subword_prefix": ""},
        {"alphabet_limit": 12, "alphabet_overflow": "remove"},
    ]  # fmt: skip
    for (name, text), objective, extra in itertools.product(texts().items(), OBJECTIVES, settings):
        counts = wps.count_texts(text.splitlines(), "bert-cased", "bert")
        title = f"{name}, {objective}, {extra}"
        try:
            trainer = wps.Trainer(counts, wps.TrainingConfig(objective=objective, max_merges=_MERGES, **extra))
            first = [trainer.step() for _ in range(3)]
            trainer.run()
        except wps.StudioError as error:
            yield title, f"error: {error}"
            continue
        assert [merge for merge in first if merge is not None] == list(trainer.history[: sum(map(bool, first))])
        best = [f"candidate {each}" for each in trainer.top(5)]
        yield title, "\n".join([*map(merge_text, trainer.history), *best])
