"""Tokenizers of other libraries: equal to their library, whatever happens to the process that the library runs in."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from tests.libraries.library_models import (
    RUNAWAY,
    STRUCTURES,
    assert_same,
    gpt_2,
    roberta,
    sentencepiece_model,
    texts,
    unigram_of_bytes,
)
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries import library_tokenizer
from wordpiece_studio.libraries.library_child import best_ways
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.system.child import Child
from wordpiece_studio.tokenizer.corpus_encoding import encode_texts
from wordpiece_studio.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

GROWING = {
    "type": "Sequence",
    "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 900}] * 5,
}


@pytest.fixture
def gpt(tmp_path: Path) -> LibraryTokenizer:
    gpt_2().save(str(tmp_path / "tokenizer.json"))
    return LibraryTokenizer(tmp_path / "tokenizer.json")


def spoiled(path: Path, **changes: object) -> Path:
    """Write a tokenizer with other values."""
    value = json.loads(gpt_2().to_str()) | changes
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def child_of(tokenizer: LibraryTokenizer) -> psutil.Process:
    """Return the process in which its library runs."""
    tokenizer.encode("a")
    child = library_tokenizer._libraries().child
    assert child is not None
    assert child.pid is not None
    return psutil.Process(child.pid)


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_same_as_the_library(tmp_path: Path, name: str) -> None:
    path = tmp_path / "tokenizer.json"
    STRUCTURES[name]().save(str(path))
    theirs = STRUCTURES[name]().from_file(str(path))
    ours = load_tokenizer(path)
    assert isinstance(ours, Tokenizer if name in ("bert", "bert_with_more") else LibraryTokenizer)
    assert assert_same(ours, theirs, texts(1, 40)) > 300
    if isinstance(ours, LibraryTokenizer):
        assert (ours.kind, len(ours)) == (type(theirs.model).__name__, theirs.get_vocab_size())
        assert ours.id_of("t") == theirs.token_to_id("t")
        assert ours.id_of("no such token") is None
    for text in ("The quick brown fox jumps.", "학교 나무"):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert ours.ids(text) == ids
        if isinstance(ours, LibraryTokenizer):
            assert ours.decode(ids) == theirs.decode(ids)


def test_many_texts_are_asked_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    STRUCTURES["gpt_2"]().save(str(tmp_path / "tokenizer.json"))
    tokenizer = LibraryTokenizer(tmp_path / "tokenizer.json")
    asked: list[str] = []
    ask = tokenizer._ask

    def noted(job: str, *given: Any, **options: Any) -> Any:
        asked.append(job)
        return ask(job, *given, **options)

    monkeypatch.setattr(tokenizer, "_ask", noted)
    lines = ["The quick", "", "brown fox"] * 30
    encoded = encode_texts(tokenizer, lines)
    assert asked == ["encode"]
    assert [ids.tolist() for ids in encoded] == [each.ids for each in tokenizer.encode(lines)]


FORMS: list[dict[str, Any]] = [
    {},
    {"truncation": "longest_first", "max_length": 15},
    {"truncation": "longest_first", "max_length": 24, "stride": 3},
    {"padding": "max_length", "max_length": 90, "truncation": False},
]


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURES)
def test_pairs_special_tokens_truncation_and_padding(tmp_path: Path, name: str) -> None:
    theirs, side = STRUCTURES[name](), "left" if len(name) % 2 else "right"
    pad = min(theirs.get_vocab()) if theirs.token_to_id("[PAD]") is None else "[PAD]"
    theirs.enable_padding(pad_token=pad, pad_id=theirs.token_to_id(pad), length=90, direction=side)
    theirs.save(str(tmp_path / "tokenizer.json"))
    ours = load_tokenizer(tmp_path)
    ours.truncation_side = "left" if side == "left" else "right"
    assert ours.roles["pad_token"] == pad
    lines = texts(1, 20)
    for form in FORMS:
        if "padding" not in form:
            theirs.no_padding()
        if form.get("truncation"):
            theirs.enable_truncation(form["max_length"], stride=form.get("stride", 0), direction=side)
        for batch, add_special_tokens in product((lines, [*pairwise(lines)]), (False, True)):
            expected = theirs.encode_batch(batch, add_special_tokens=add_special_tokens)
            found = ours.encode(batch, add_special_tokens=add_special_tokens, **form)
            for one, other in zip(found, expected, strict=True):
                for part, library_run in zip((one, *one.overflowing), (other, *other.overflowing), strict=True):
                    assert (part.tokens, part.ids, part.offsets) == (
                        library_run.tokens,
                        library_run.ids,
                        library_run.offsets,
                    )
                    masks = part.type_ids, part.attention_mask, part.special_tokens_mask, list(part.words)
                    assert masks == (
                        library_run.type_ids,
                        library_run.attention_mask,
                        library_run.special_tokens_mask,
                        library_run.word_ids,
                    )
        theirs = STRUCTURES[name]().from_file(str(tmp_path / "tokenizer.json"))


def test_what_a_file_beside_it_says(tmp_path: Path) -> None:
    roberta().save(str(tmp_path / "tokenizer.json"))
    settings = {"pad_token": "<s>", "padding_side": "left", "model_max_length": 3}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    loaded = load_tokenizer(tmp_path)
    for tokenizer in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert tokenizer.encode("t", padding="max_length").tokens == ["<s>", "<s>", "Ġt"]


def test_special_tokens_that_its_library_adds_but_corpora_do_not_get(tmp_path: Path) -> None:
    step = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}] * 2}
    step |= {"pair": [{"Sequence": {"id": each, "type_id": 0}} for each in "AB"], "special_tokens": {}}
    tokenizer = load_tokenizer(spoiled(tmp_path / "tokenizer.json", post_processor=step))
    assert tokenizer.encode("a", add_special_tokens=True).tokens == ["a", "a"]
    with pytest.raises(StudioError, match="its post_processor is not supported"):
        encode_texts(tokenizer, ["a"], add_special_tokens=True)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(given_texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=3))
def test_any_text(tmp_path_factory: pytest.TempPathFactory, given_texts: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    if not path.exists():
        gpt_2().save(str(path))
    theirs = gpt_2().from_file(str(path))
    assert_same(LibraryTokenizer(path), theirs, given_texts)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_sentencepiece_runs_its_own_models(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "spiece.model"
    path.write_bytes(sentencepiece_model(kind=kind))
    ours, theirs = load_tokenizer(path), SentencePieceProcessor(model_file=str(path))
    assert isinstance(ours, LibraryTokenizer)
    given_texts = texts(2, 20)
    for text, found in zip(given_texts, ours.encode(given_texts), strict=True):
        expected = theirs.encode(text, return_type="offset_mapping")
        assert (found.ids, found.tokens, found.offsets) == (expected["ids"], expected["pieces"], expected["offsets"])
    found = ours.encode("the quick fox")
    assert [found.words[0], found.words[-1]] == [0, 2]
    assert (ours.kind, len(ours), ours.id_of("▁")) == ("SentencePiece", len(theirs), theirs.piece_to_id("▁"))
    assert ours.decode(found.ids) == "the quick fox"


def test_the_files_of_gpt_2_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    theirs = gpt_2()
    theirs.model.save(str(tmp_path))
    ours = load_tokenizer(tmp_path)
    assert isinstance(ours, LibraryTokenizer)
    assert assert_same(ours, theirs, texts(3, 20)) > 300
    assert ours.decode(ours.ids("a <|endoftext|>b"), skip_special_tokens=False) == "a <|endoftext|>b"
    assert ours.decode(ours.ids("a <|endoftext|>b")) == "a b"


def test_cutting_and_filling_up_are_left_out(tmp_path: Path) -> None:
    theirs = gpt_2()
    theirs.enable_padding(length=50)
    theirs.enable_truncation(1)
    theirs.save(str(tmp_path / "tokenizer.json"))
    assert load_tokenizer(tmp_path / "tokenizer.json").encode("a b").tokens == ["a", "Ġb"]


def test_ids_that_are_no_tokens(gpt: LibraryTokenizer) -> None:
    for number in (-1, len(gpt), 1 << 40):
        with pytest.raises(StudioError, match=f"No token has the ID {number}"):
            gpt.decode([1, number])


def test_half_a_character_is_refused(gpt: LibraryTokenizer) -> None:
    with pytest.raises(StudioError, match=r"an unpaired surrogate \(U\+D800\) at position 1"):
        gpt.encode("a\ud800")
    assert gpt.encode("a").tokens == ["a"]


def test_it_is_pickled_as_its_place_and_hash(gpt: LibraryTokenizer) -> None:
    pickled = pickle.dumps(gpt)
    assert len(pickled) < 500
    again = pickle.loads(pickled)
    assert again.encode("The dogs") == gpt.encode("The dogs")
    unigram_of_bytes().save(str(gpt.path))
    with pytest.raises(StudioError, match=r"tokenizer\.json is not the file that this tokenizer was loaded from"):
        pickle.loads(pickled)
    gpt.path.unlink()
    with pytest.raises(StudioError, match=r"tokenizer\.json does not exist"):
        pickle.loads(pickled)


@pytest.mark.expects_log
def test_a_tokenizer_in_no_file_is_sent_again_where_the_child_has_lost_it(gpt: LibraryTokenizer) -> None:
    ours = LibraryTokenizer("made.json", content=gpt.path.read_bytes())
    assert ours.path.name == "made.json"
    expected = gpt.encode("The dogs")
    assert ours.encode("The dogs") == expected
    child = child_of(gpt)
    child.kill()
    psutil.wait_procs([child], timeout=30)
    gpt.path.unlink()
    assert pickle.loads(pickle.dumps(ours)).encode("The dogs") == expected
    assert ours.decode(expected.ids) == "The dogs"
    assert ours.scores is None
    with pytest.raises(StudioError, match=r"made\.json: with BPE, a text has one segmentation only"):
        ours.best_segmentations("The")
    with pytest.raises(StudioError, match=r"bad\.json: the tokenizers library cannot read it"):
        LibraryTokenizer("bad.json", content=b"")


def test_the_best_segmentations_of_unigram_models(tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(sentencepiece_model())
    ours, theirs = LibraryTokenizer(tmp_path / "spiece.model"), SentencePieceProcessor()
    theirs.load(str(ours.path))
    pieces = dict(zip(map(theirs.id_to_piece, range(len(theirs))), ours.scores or (), strict=True))
    usual = {piece: score for piece, score in pieces.items() if score}  # special ones have 0
    for text in ("the", "quick lazy", "fox字字"):
        found = ours.best_segmentations(text, np.int64(4))
        assert [list(each.tokens) for each in found] == theirs.nbest_encode(text, nbest_size=4, out_type=str)
        assert list(found[0].tokens) == ours.encode(text).tokens
        worked_out = best_ways(theirs.normalize(text), usual, min(usual.values()) - 10, 4)
        assert [each.score for each in found] == pytest.approx([score for _, score in worked_out], abs=1e-4)
    unigram_of_bytes().save(str(tmp_path / "tokenizer.json"))
    ours = LibraryTokenizer(tmp_path / "tokenizer.json")
    found = ours.best_segmentations("the quick")
    assert list(found[0].tokens) == ours.encode("the quick").tokens
    assert ours.scores is not None
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert found[0].score == sum(ours.scores[ours.id_of(token) or 0] for token in found[0].tokens)
    assert len({each.tokens for each in found}) == 3
    with pytest.raises(StudioError, match="unpaired surrogate"):
        ours.best_segmentations("\ud800")
    for wrong in (0, 513, 2.5, "3", None):
        with pytest.raises(StudioError, match="number of segmentations"):
            ours.best_segmentations("the", wrong)
    with pytest.raises(StudioError, match="None is not a string"):
        ours.best_segmentations(None)


@pytest.mark.expects_log
def test_a_child_that_was_killed_is_replaced(gpt: LibraryTokenizer) -> None:
    expected = gpt.encode("The dogs")
    child = child_of(gpt)
    child.kill()
    psutil.wait_procs([child], timeout=30)
    assert gpt.encode("The dogs") == expected
    assert child_of(gpt) != child


@pytest.mark.expects_log
def test_a_child_that_dies_at_its_work_is_reported_and_replaced(
    gpt: LibraryTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = child_of(gpt)

    def memory_of(pid: int) -> int:
        child.suspend() if child.status() == psutil.STATUS_SLEEPING else child.kill()
        return 0

    monkeypatch.setattr(library_tokenizer, "memory_of", memory_of)  # asked before the request is sent, and after it
    with pytest.raises(StudioError, match=r"tokenizer\.json: the tokenizers library crashed on it.* SIGKILL"):
        gpt.encode("The dogs")
    monkeypatch.undo()
    assert gpt.encode("a").tokens == ["a"]


@pytest.mark.slow
def test_a_library_that_panics_is_reported_and_replaced(tmp_path: Path, gpt: LibraryTokenizer) -> None:
    bad = load_tokenizer(spoiled(tmp_path / "bad.json", pre_tokenizer=RUNAWAY))
    child = child_of(gpt)
    with pytest.raises(StudioError, match=r"bad\.json: the tokenizers library crashed on it: .*retry-limit"):
        bad.encode("a" * 100)
    assert child_of(gpt) != child
    assert bad.encode("b").tokens


@pytest.mark.slow
@pytest.mark.expects_log
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_file_that_takes_all_memory_is_reported_even_if_nobody_looks(
    tmp_path: Path, gpt: LibraryTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_tokenizer, "memory_of", lambda _: None)
    with pytest.raises(StudioError, match=r"bad\.json: the tokenizers library crashed on it.* take too much memory"):
        load_tokenizer(spoiled(tmp_path / "bad.json", normalizer=GROWING))
    assert gpt.encode("a").tokens == ["a"]


def test_a_library_that_does_not_end_is_reported(gpt: LibraryTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    child = child_of(gpt)
    monkeypatch.setattr(library_tokenizer, "_PATIENCE_SECONDS", 0.0)
    child.suspend()
    monkeypatch.setattr(library_tokenizer, "memory_of", lambda _: None)
    with pytest.raises(StudioError, match=r"the tokenizers library did not finish within 0 seconds\. Use another"):
        gpt.encode("The dogs")
    monkeypatch.undo()
    psutil.wait_procs([child], timeout=30)
    assert gpt.encode("a").tokens == ["a"]


def test_after_ctrl_c_no_answer_is_taken_for_another(gpt: LibraryTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = gpt.encode("The dogs")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Child, "_read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gpt.encode("something else")
    monkeypatch.undo()
    assert gpt.encode("The dogs") == expected


def test_several_threads_share_the_child(gpt: LibraryTokenizer) -> None:
    words = [f"{letter}ay {letter}" for letter in "abcdefgh"]
    expected = [gpt.encode(word).ids for word in words]
    found: dict[str, list[list[int]]] = {}

    def work(word: str) -> None:
        found[word] = [gpt.ids(word) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(word,)) for word in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[word] for word in words] == [[ids] * 20 for ids in expected]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalizer": {"type": "Else"}}, "the tokenizers library cannot read it: .*NormalizerUntagged"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]}}, "the tokenizers library cannot read it: "),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.5}}, "with dropout, tokenization"),
        ({"model": {"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1}}, "the tokenizers library cannot read it: "),
    ],
)
def test_what_the_library_refuses_is_reported_in_one_line(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(StudioError, match=r"bad\.json: " + message) as caught:
        load_tokenizer(spoiled(tmp_path / "bad.json", **changes))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("data", [b"", b"x" * 100, sentencepiece_model()[:200]])
def test_damaged_models_of_sentencepiece(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.model").write_bytes(data)
    with pytest.raises(StudioError, match=r"bad\.model: the sentencepiece library cannot read it"):
        load_tokenizer(tmp_path / "bad.model")


@pytest.mark.slow
def test_the_parent_never_loads_a_library(gpt: LibraryTokenizer) -> None:
    code = f"""
import sys
from wordpiece_studio import cli
cli.run(["tokenize", "--vocab", {str(gpt.path)!r}, "a b"])
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    tokens, modules = done.stdout.splitlines()
    assert tokens == "a Ġb"
    assert not {"tokenizers", "sentencepiece"} & set(modules.split())


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_the_child_ends_with_its_parent(gpt: LibraryTokenizer) -> None:
    code = f"""
from wordpiece_studio.libraries import library_tokenizer
tokenizer = library_tokenizer.LibraryTokenizer({str(gpt.path)!r})
print(library_tokenizer._libraries().child.pid, flush=True)
while True:
    tokenizer.encode("the quick brown fox " * 20_000)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        _, alive = psutil.wait_procs([child], timeout=30)
    assert not alive


@pytest.mark.slow
def test_a_model_whose_replacements_grow_is_stopped_by_the_memory_it_takes(tmp_path: Path) -> None:
    grows = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
    unigram_of_bytes().save(str(tmp_path / "tokenizer.json"))
    value = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    value["normalizer"] = {"type": "Sequence", "normalizers": [grows] * 8}
    (tmp_path / "tokenizer.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(StudioError, match=r"took more than 1\d\d MB of memory\. Use another tokenizer"):
        LibraryTokenizer(tmp_path / "tokenizer.json")


def test_an_empty_added_token_is_none_as_for_the_library(tmp_path: Path) -> None:
    token = {"id": 999, "content": "", "special": True, "single_word": False, "lstrip": False, "rstrip": True}
    path = spoiled(tmp_path / "tokenizer.json", added_tokens=[token | {"normalized": False}])
    ours = load_tokenizer(path)
    assert ours.added_tokens == 0
    assert_same(ours, gpt_2().from_file(str(path)), ["The dogs", ""])


def test_any_request_may_take_what_loading_its_file_again_takes(
    gpt: LibraryTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds: list[tuple[float, int]] = []

    class Libraries:
        def answer(self, _request: object, seconds: float, growth: int) -> bytes:
            bounds.append((seconds, growth))
            return b"\xa0"

    monkeypatch.setattr(library_tokenizer, "_libraries", Libraries)
    for gpt._bytes in (0, 10**9):  # as after the child was replaced
        gpt.decode([1])
    assert bounds[1][0] > bounds[0][0] + 600
    assert bounds[1][1] == bounds[0][1] + 100 * 10**9
