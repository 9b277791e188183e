"""A training by another library as a history without merges: words and texts as the library cuts them."""

from __future__ import annotations

from typing import get_args

import pytest

import wordpiece_studio as wps
from wordpiece_studio.libraries.library_history import LibraryHistory, LibraryRunTokenizer
from wordpiece_studio.libraries.library_training import LibraryTrainer, library_settings, train_library


@pytest.mark.parametrize("trainer", get_args(LibraryTrainer))
def test_words_stand_as_the_library_cuts_them(trainer: LibraryTrainer) -> None:
    counts = wps.count_texts(["hug pug hugs pügs bun hug hug"] * 5)
    settings = wps.TrainingConfig(vocab_size=30, objective="score", max_merges=3, alphabet="huggingface")
    library_run = train_library(counts, library_settings(trainer, settings), trainer)
    library = library_run.tokenizer()
    history = LibraryHistory(library_run, counts, library)
    cuts = {word: library.encode(word).tokens for word in counts.words}
    assert {word: history.segmentation(word, 0) for word in counts.words} == cuts
    assert history.symbols_after(0) == sum(count * len(cuts[word]) for word, count in counts.items())
    token = cuts["pügs"][-1]
    assert ("pügs", 5) in history.words_with_token(library_run.tokens.index(token), 0)
    tokenizer = LibraryRunTokenizer(history, counts, library)
    word, special = tokenizer.tokenize_words("pügs[MASK]")
    assert [piece.token for piece in word.pieces] == cuts["pügs"]
    assert "".join("pügs"[piece.start : piece.end] for piece in word.pieces) == "pügs"
    encoded = tokenizer.encode("ﬁ pügs", add_special_tokens=False)  # one character that becomes two
    assert encoded.tokens[-len(word.pieces) :] == cuts["pügs"]
    assert encoded.offsets[-len(word.pieces) :] == [(piece.start + 2, piece.end + 2) for piece in word.pieces]
    unknown = tokenizer.encode("hugλ").tokens[-1]
    assert isinstance(unknown, wps.UnknownToken)
    assert (unknown, unknown.reason.symbol[-1:]) == (tokenizer.unk_token, "λ")
    assert special.pieces[0].id == library_run.tokens.index("[MASK]")
    between = " " if trainer == "tokenizers-unigram" else ""  # without word marks, the library joins pieces by spaces
    assert tokenizer.decode([piece.id for piece in word.pieces]) == between.join(cuts["pügs"]).removeprefix("▁")
