"""Figures of tokenizers on a text, against the libraries that run or read the same files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.peers.foreign import STRUCTURES, texts

if TYPE_CHECKING:
    from pathlib import Path

LINES = [line for text in texts(3, 100) for line in text.split("\n")]


@pytest.mark.parametrize("name", STRUCTURES)
def test_words_counted_once_have_the_ids_that_the_library_gives_the_text(tmp_path: Path, name: str) -> None:
    theirs, path = STRUCTURES[name](), tmp_path / "tokenizer.json"
    theirs.save(str(path))
    expected: Counter[int] = Counter()
    for encoding in theirs.encode_batch(LINES, add_special_tokens=False):
        expected.update(encoding.ids)
    ours = wps.load_tokenizer(path)
    if (reading := ours.reading) is not None:
        text = wps.held_out_text(
            (), *(reading.pipeline.normalizer, reading.pipeline.pre_tokenizer),
            texts=LINES, added_tokens=reading.added_tokens, max_word_length=1 << 30,
        )  # fmt: skip
        found = Counter({ours.id_of(token): count for token, count in text.spelled_out.items()})
        for encoding, count in zip(ours.encode_words(text.counts.words), text.counts.counts.tolist(), strict=True):
            found.update(dict.fromkeys(encoding.ids, 0) | {i: n * count for i, n in Counter(encoding.ids).items()})
        assert found == expected
        assert (text.characters, text.bytes) == (len("".join(LINES)), len("".join(LINES).encode()))
    if isinstance(ours, wps.ImportedTokenizer):
        counted: Counter[int] = Counter()
        for _, ids, count in ours.count_words(LINES):
            counted.update({i: n * count for i, n in Counter(ids).items()})
        assert counted == expected
    by_library = {"llama_2", "clip", "metaspace", "xlm_r", "t5", "albert", "unigram_of_bytes"}
    assert (ours.reading is None) == (name in by_library)


def test_a_library_cuts_words_in_their_characters(tmp_path: Path) -> None:
    for name in ("xlm_r", "unigram_of_bytes"):
        STRUCTURES[name]().save(str(tmp_path / name))
    known, of_bytes = (wps.ImportedTokenizer(tmp_path / name) for name in ("xlm_r", "unigram_of_bytes"))
    assert (known.unk_token, of_bytes.unk_token) == ("<unk>", None)
    korean, german = known.encode_words(["▁학교에서", "▁Größe"])
    assert (korean.tokens, korean.offsets) == (["▁학교", "에", "서"], [(0, 3), (3, 4), (4, 5)])
    assert german.offsets[-1] == (4, 6)
    found = of_bytes.encode_words(["athé"])[0]
    assert list(zip(found.tokens, found.offsets, strict=True))[3:] == [("<0xC3>", (3, 4)), ("<0xA9>", (3, 4))]
