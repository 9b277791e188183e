"""Trainings by other libraries: what the library itself gives, whatever happens to the process that it runs in."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

import psutil
import pytest
import tokenizers
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import models, normalizers, pre_tokenizers, trainers

import wordpiece_studio as wps
from tests.evaluation.test_figures import uncoded
from tests.evaluation.test_held_out import divided
from wordpiece_studio.libraries import library_training, training_child
from wordpiece_studio.libraries.library_training import (
    LibraryHistory,
    LibraryProgress,
    LibraryRunTokenizer,
    LibraryTrainer,
    LibraryTrainingStopped,
    Repetition,
    library_settings,
    train_library,
)
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.vocab_txt import vocabulary_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fake = Callable[[str], None]

COURSE = resource_path("samples/course-en.txt")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIZE = 90
SAYING_ITS_PID = """
import os, time
print(f'"Compute merges","current":{os.getpid()},"total":{os.getpid()}', flush=True)
while True:
    time.sleep(1)
"""
WRITING_ON_EVERY_PIPE = """
import os, time
for number in range(3, 20):
    try:
        os.write(number, {content!r})
    except OSError:
        pass
while True:
    time.sleep(1)
"""
NO_MESSAGE = b"".join(number.to_bytes(8, "little") for number in (2, 1, 2)) + b"e{}"
"""A message of two parts, an error and what is no pickle."""
ABORTING = """
import os, sys
print("F0000 trainer_interface.cc(99) Check failed: size > 0", file=sys.stderr, flush=True)
os.abort()
"""
REAL_ONE_WITHOUT_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
del sys.path[0], sys.modules['{library}']
import {library}
sys.modules['{library}'] = {library}
"""


@pytest.fixture
def counts() -> wps.WordCounts:
    return wps.count_words([COURSE], "bert-uncased")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Put other code in the place of the library `tokenizers`, in the processes to come."""

    def put(code: str) -> None:
        (tmp_path / "fake").mkdir(exist_ok=True)
        (tmp_path / "fake" / "tokenizers.py").write_text(code, encoding="utf-8")
        monkeypatch.setattr(sys, "path", [str(tmp_path / "fake"), *sys.path])

    return put


def settings(trainer: str = "", **changes: Any) -> wps.TrainingConfig:
    prefix = "##" if trainer == "tokenizers-wordpiece" else ""
    return wps.TrainingConfig(**{"vocab_size": SIZE, "continuing_subword_prefix": prefix, **changes})


def trained_here(kind: str, **options: Any) -> tokenizers.Tokenizer:
    """Train with `tokenizers` in this process, which reads the text by itself."""
    made = tokenizers.Tokenizer(getattr(models, kind)(**({} if kind == "Unigram" else {"unk_token": "[UNK]"})))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    trainer = getattr(trainers, f"{kind.title() if kind == 'BPE' else kind}Trainer")
    made.train([str(COURSE)], trainer(vocab_size=SIZE, special_tokens=SPECIAL, show_progress=False, **options))
    return made


def assert_encodes_alike(run: wps.LibraryRun, theirs: tokenizers.Tokenizer) -> None:
    text = "This course is ABOUT tokenizers, 한 and more."
    expected = theirs.encode(text, add_special_tokens=False)
    found = run.tokenizer().encode(text)
    assert (found.tokens, found.ids, found.offsets) == (expected.tokens, expected.ids, expected.offsets)


def test_byte_pair_encoding_is_what_the_library_makes_of_the_text(counts: wps.WordCounts) -> None:
    progress: list[LibraryProgress] = []
    run = train_library(counts, settings(), "tokenizers-bpe", progress=progress.append)
    theirs = trained_here("BPE")
    assert {token: number for number, token in enumerate(run.tokens)} == theirs.get_vocab()
    assert [list(pair) for pair in run.merges or ()] == json.loads(theirs.to_str())["model"]["merges"]
    assert (run.scores, run.counts, run.learned.version) == (None, counts, tokenizers.__version__)
    assert_encodes_alike(run, theirs)
    assert progress[0] == LibraryProgress()
    assert {each.total for each in progress[1:]} <= {len(run.merges or ())}  # they may come too late
    ours = wps.train(counts, run.replay_config())
    assert ours.vocabulary.tokens == list(run.tokens)
    assert [(merge.left, merge.right) for merge in ours.history] == list(run.merges or ())


def test_wordpiece_differs_each_time_and_is_replayed_to_the_byte(
    counts: wps.WordCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    progress: list[LibraryProgress] = []
    config = settings("tokenizers-wordpiece", user_tokens=["<url>"])
    run = train_library(counts, config, "tokenizers-wordpiece", twice=True, progress=progress.append)
    assert run.repetition is not None
    assert not run.repetition.is_same
    assert progress == [LibraryProgress(), LibraryProgress(is_second=True)]  # it does not say how far it is
    (tmp_path / "tokenizer.json").write_bytes(run.content)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    theirs.model.save(str(tmp_path))
    tokenizer = wps.load_tokenizer(tmp_path / "tokenizer.json")
    assert isinstance(tokenizer, wps.Tokenizer)
    assert tokenizer.vocabulary.user_tokens == ("<url>",)
    assert tokenizer.encode("this<url> is").tokens == run.tokenizer().encode("this<url> is").tokens
    ours = wps.train(counts, run.replay_config())
    assert vocabulary_bytes(ours.vocabulary.tokens) == (tmp_path / "vocab.txt").read_bytes()
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("trainer", ["tokenizers-bpe", "tokenizers-wordpiece", "tokenizers-unigram"])
def test_all_bytes_are_in_the_alphabet(trainer: LibraryTrainer) -> None:
    counts = wps.count_words([COURSE], "none", "byte-level")
    config = settings(trainer, vocab_size=600)
    run = train_library(counts, config, trainer)
    assert {*wps.ByteLevel.alphabet()} <= {*run.tokens}
    if trainer == "tokenizers-unigram":
        return
    assert wps.train(counts, run.replay_config()).vocabulary.tokens == list(run.tokens)
    if trainer == "tokenizers-wordpiece":
        assert len(run.tokens) == config.vocab_size
    seen = train_library(counts, dataclasses.replace(config, byte_alphabet="seen"), trainer)
    assert not {*wps.ByteLevel.alphabet()} <= {*seen.tokens}
    for marks in ({}, {"continuing_subword_prefix": "@@", "end_of_word_suffix": "</w>"}):
        if trainer == "tokenizers-bpe":
            run = train_library(counts, dataclasses.replace(config, vocab_size=1500, **marks), trainer)
            assert wps.train(counts, run.replay_config()).vocabulary.tokens == list(run.tokens)
        assert "[UNK]" not in run.tokenizer().encode("Hello 日本 \x00 x\x00 ÿ").tokens


def test_symbols_with_the_prefix_may_be_in_the_initial_alphabet(counts: wps.WordCounts) -> None:
    config = settings("tokenizers-wordpiece", initial_alphabet=["☃", "##☃", "##e"])
    run = train_library(counts, config, "tokenizers-wordpiece")
    assert len(run.tokens) == SIZE
    assert run.tokenizer().encode("e☃e").tokens[:2] == ["e", "##☃"]
    assert wps.train(counts, run.replay_config()).vocabulary.tokens == list(run.tokens)


def test_a_special_token_that_words_spell_out_is_no_piece_of_unigram() -> None:
    """The library learns it from long texts with many of them, and fits both into the size."""
    pieces = [["[UNK]", 0.0], ["[MASK]", 0.0], ["u", -2.0], ["[MASK]", -3.0], ["g", -4.0]]
    assert training_child._without_repeated(pieces) == [*pieces[:3], pieces[4]]


def test_unigram_of_hugging_face(counts: wps.WordCounts) -> None:
    run = train_library(counts, settings(), "tokenizers-unigram")
    theirs = trained_here("Unigram", unk_token="[UNK]")
    expected = dict(json.loads(theirs.to_str())["model"]["vocab"])
    assert dict(zip(run.tokens, run.scores or (), strict=True)).keys() == expected.keys()
    tokenizer = run.tokenizer()
    for text in ("한국 course", "tokenizers"):
        best = tokenizer.best_segmentations(text, 3)
        assert list(best[0].tokens) == tokenizer.encode(text).tokens
    assert best[0].score > best[1].score > best[2].score
    assert tokenizer.scores == pytest.approx(run.scores, abs=1e-12)  # the library reads numbers inexactly
    with pytest.raises(wps.StudioError, match="tokenizers-unigram cannot be replayed"):
        run.replay_config()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_sentencepiece_is_what_the_library_makes_of_the_text(kind: str) -> None:
    text = COURSE.read_text("utf-8") * 4
    trainer: LibraryTrainer = f"sentencepiece-{kind}"  # type: ignore[assignment]
    progress: list[LibraryProgress] = []
    run = train_library([text], settings(), trainer, twice=True, progress=progress.append)
    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(text.splitlines()), model_writer=written, model_type=kind, vocab_size=SIZE, unk_id=1,
        unk_piece="[UNK]", bos_id=-1, eos_id=-1, pad_id=-1, control_symbols=["[PAD]", "[CLS]", "[SEP]", "[MASK]"],
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    theirs = SentencePieceProcessor(model_proto=written.getvalue())
    assert run.tokens == tuple(map(theirs.id_to_piece, range(len(theirs))))
    assert run.tokens[:5] == tuple(SPECIAL)
    assert run.scores == tuple(map(theirs.get_score, range(len(theirs))))
    assert run.repetition == Repetition(0, 0, 0)
    assert run.tokenizer().ids("This is a course.") == theirs.encode("This is a course.")
    counts = wps.WordCounts.from_pairs([("hug", 10), ("a\tpug", 5), ("hugs", 5), ("pun", 12)], pre_tokenizer="bert")
    words = train_library(counts, settings(vocab_size=20, special_tokens=[]), trainer)
    assert words.tokens[0] == "<unk>"
    assert "▁hug" in words.tokens
    assert "▁pun" in words.tokens


@pytest.mark.slow
def test_sentencepiece_reads_the_lines_of_files_or_of_what_is_not_held_out(tmp_path: Path) -> None:
    text = COURSE.read_text("utf-8")
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    places: Any = [tmp_path / "a.txt", wps.CorpusFile(str(COURSE))]
    run = train_library(places, settings(), "sentencepiece-unigram")
    assert run.tokens == train_library([text, text], settings(), "sentencepiece-unigram").tokens
    assert (run.is_of_words, run.counts, repr(run)) == (False, None, "<LibraryRun: sentencepiece-unigram, 58 tokens>")
    rest = train_library(places[0], settings(), "sentencepiece-unigram", is_rest=True)
    expected = train_library([divided(text)[0]], settings(), "sentencepiece-unigram")
    assert rest.tokens == train_library([text], settings(), "sentencepiece-unigram", is_rest=True).tokens
    assert (rest.tokens, rest.scores) == (expected.tokens, expected.scores)
    words = train_library(wps.count_texts([text]), settings(), "sentencepiece-unigram")
    assert words.is_of_words
    assert repr(words).endswith(" tokens, trained on words>")
    fallback = train_library([text], settings(vocab_size=400), "sentencepiece-bpe", byte_fallback=True)
    assert "<0xFF>" in fallback.tokens
    assert fallback.tokenizer().encode("ж").tokens == ["▁", "<0xD0>", "<0xB6>"]


def test_byte_pair_encoding_usually_has_no_prefix(counts: wps.WordCounts) -> None:
    run = train_library(counts, wps.TrainingConfig(vocab_size=SIZE), "tokenizers-bpe")
    assert run.config == settings()
    assert not any(token.startswith("##") for token in run.tokens)


def test_its_tokenizer_finds_words_as_when_it_is_loaded(tmp_path: Path) -> None:
    counts = wps.count_texts(["they, hug-hug (pugs)"] * 3, "lowercase", "whitespace-split")
    run = train_library(counts, settings(user_tokens=["<url>"]), "tokenizers-bpe")
    (tmp_path / "tokenizer.json").write_bytes(run.content)
    made, loaded = run.tokenizer(), wps.load_tokenizer(tmp_path)
    assert made.reading == loaded.reading
    assert made.reading is not None
    assert made.reading.pipeline.words("a, b") == ["a,", "b"]
    texts = ["they <url> hug, [SEP] pugs"]
    first, second = (wps.evaluate({"x": each}, texts=texts) for each in (run, loaded))
    assert first.words_of == second.words_of == ("lowercase", "whitespace-split")
    assert uncoded(first) == uncoded(second)


def test_words_with_blanks_are_given_as_often_as_they_occur() -> None:
    counts = wps.WordCounts.from_pairs([("a b", 3), ("c\n", 1), ("d" * 70_000, 2), ("e", 100_000)])
    separator = training_child._separator(counts.words)
    texts = list(training_child._repeated(counts, separator))
    assert Counter("".join(texts).split(separator)) == Counter(dict(counts.items())) + Counter([""])
    assert len(texts) > 3


def test_what_is_for_the_corpus_only_is_no_part_of_the_tokenizer() -> None:
    counts = wps.count_texts(["This is this"], normalizer="corpus:lowercase+bert-cased")
    tokenizer = train_library(counts, wps.TrainingConfig(vocab_size=20), "tokenizers-wordpiece").tokenizer()
    assert [tokenizer.encode(text).tokens for text in ("this", "This")] == [["this"], ["[UNK]"]]


def test_how_far_byte_pair_encoding_is() -> None:
    hears = training_child._TokenizersProgress(
        {"trainer": {"special_tokens": ["[UNK]"]}}, wps.WordCounts.from_pairs([("hug", 1)])
    )
    printed = '{"stage":"Compute merges","current":%d,"total":9}\n'  # the size of the vocabulary, not the merges
    assert hears(printed % 2 + printed % 3) == (3, 5)
    assert hears("Tokenize words") is None


@pytest.mark.slow
def test_how_far_sentencepiece_is() -> None:
    far = training_child._SentencePieceProgress({"vocab_size": 1000})
    assert far("Loaded all 3 sentences\nI0 trainer.cc:601] Alphabet size=27\n") is None
    assert far("Merged: freq=3 merges=100 piece=a\nMerged: freq=2 merges=200 piece=Initialized 5\n") == (227, 1000)
    assert far("Initialized 5000 seed pieces\nEM sub_iter=0 size=4200 obj=1\n") == (800, 4000)
    assert far("merges=99999") is None


def test_what_differs_between_two_trainings() -> None:
    first = Learned("1", ("a", "b", "c"), (-3.0, -1.0, -2.0))
    second = Learned("1", ("a", "d", "b"), (-3.0000000000000004, -1.0, -1.5))
    assert library_training._compared(first, second) == Repetition(tokens=2, ids=1, scores=1)
    assert library_training._compared(first, first).is_same


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "import os; os._exit(7)",
            r"tokenizers cannot train on this corpus\. The background process ended with exit code 7\.",
        ),
        ("raise ValueError('bad\\n news')", r"The library tokenizers could not train: bad news\. Change the settings"),
        ("raise SystemExit(0)", r"The library tokenizers could not train: 0\."),
        ("raise ModuleNotFoundError('No module')", r"The library tokenizers is missing: No module\. Install it: pip"),
        ("Tokenizer = 3", r"The library tokenizers is missing: cannot import name 'models'"),
        ("raise MemoryError", r"There is not enough memory\."),
        (
            WRITING_ON_EVERY_PIPE.format(content=b"nonsense"),
            r"tokenizers cannot train on this corpus\. The background process sent",
        ),
        (WRITING_ON_EVERY_PIPE.format(content=NO_MESSAGE), r"process sent invalid data\. Try again"),
        (ABORTING, r"process (was ended by the signal SIGABRT|ended with exit code)"),
    ],
)
@pytest.mark.expects_log
def test_a_library_that_fails_is_reported_in_one_line(
    counts: wps.WordCounts, fake: Fake, code: str, message: str
) -> None:
    fake(code)
    with pytest.raises(wps.StudioError, match=message) as caught:
        train_library(counts, settings(), "tokenizers-bpe")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_library_that_takes_all_memory(counts: wps.WordCounts, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake("taken = []\nwhile True: taken.append(bytearray(64 << 20))")
    monkeypatch.setattr(library_training, "_MOST_MEMORY", 512 << 20)
    with pytest.raises(wps.StudioError, match="There is not enough memory"):
        train_library(counts, settings(), "tokenizers-bpe")
    fake("import resource; raise ValueError(resource.getrlimit(resource.RLIMIT_CORE))")
    with pytest.raises(wps.StudioError, match=r"could not train: \(0, "):
        train_library(counts, settings(), "tokenizers-bpe")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("trainer", ["tokenizers-unigram", "sentencepiece-bpe"])
def test_a_full_disk_is_not_noticed(
    counts: wps.WordCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainer: LibraryTrainer
) -> None:
    library = trainer.partition("-")[0]
    (tmp_path / f"{library}.py").write_text(REAL_ONE_WITHOUT_DISK.format(library=library), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert {*"course"} < {*train_library(counts, settings(), trainer).tokens}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        ("tokenizers-unigram", "The vocabulary is too small for all characters of the corpus, which the library"),
        ("sentencepiece-bpe", "tokens is too small: special tokens and alphabet alone are 13 or more"),
        ("sentencepiece-unigram", r"alphabet alone are 13 or more\. Choose a larger size"),
    ],
)
def test_a_vocabulary_that_is_too_small(trainer: LibraryTrainer, message: str) -> None:
    words = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    with pytest.raises(wps.StudioError, match=message):
        train_library(words, settings(vocab_size=6), trainer)


@pytest.mark.slow
def test_what_sentencepiece_leaves_out_is_counted() -> None:
    reserved = "\u2585"
    words = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), (f"a{reserved}b", 7)])
    run = train_library(words, settings(vocab_size=20), "sentencepiece-bpe")
    assert run.left_out == 1
    assert "a" not in run.tokens
    long = train_library(["hug pug\n" + "mat " * 2000], settings(vocab_size=20), "sentencepiece-bpe")
    assert long.left_out == 0
    assert "▁mat" in long.tokens
    for nothing in (reserved, "\u3000"):
        with pytest.raises(wps.StudioError, match="There are no words"):
            train_library(wps.WordCounts.from_pairs([(nothing, 1)]), settings(vocab_size=20), "sentencepiece-bpe")


def test_where_memory_has_no_limit_it_is_watched(counts: wps.WordCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    children = psutil.Process().children()
    monkeypatch.setattr(library_training, "_WATCHES_MEMORY", True)
    monkeypatch.setattr(library_training, "available_memory", lambda: 0)
    with pytest.raises(wps.StudioError, match="There is not enough memory for this run"):
        train_library(counts, settings(), "tokenizers-bpe")
    assert psutil.Process().children() == children


@pytest.mark.slow
def test_a_library_that_prints_nonsense_is_understood_no_further(counts: wps.WordCounts, fake: Fake) -> None:
    fake(
        "import os, sys\n"
        "for number in (1, 2):\n"
        '    os.write(number, b\'\\xff\\x00e["Compute merges","current":1e9,"total"\' * 10_000)\n'
        "del sys.path[0], sys.modules['tokenizers']\n"
        "import tokenizers\n"
        "sys.modules['tokenizers'] = tokenizers\n"
    )
    progress: list[LibraryProgress] = []
    run = train_library(counts, settings(), "tokenizers-bpe", progress=progress.append)
    assert list(run.tokens) == wps.train(counts, run.replay_config()).vocabulary.tokens
    assert {each.total for each in progress} <= {None, len(run.merges or ())}  # a short training may say none
    assert progress


def test_a_library_that_learns_nonsense_is_refused(counts: wps.WordCounts, fake: Fake) -> None:
    fake("""
class Tokenizer:
    def __init__(self, model): pass
    def train_from_iterator(self, texts, trainer): pass
    def to_str(self, pretty=False): return '{"added_tokens": [], "model": {"vocab": [], "merges": []}}'
    def get_vocab(self): return {7: 0}
    @classmethod
    def from_str(cls, text): return cls(None)
class models: BPE = dict
class trainers: BpeTrainer = dict
class pre_tokenizers: CharDelimiterSplit = str
__version__ = "1"
""")
    with pytest.raises(wps.StudioError, match=r"could not train: Expected `str`, got `int`"):
        train_library(counts, settings(), "tokenizers-bpe")


@pytest.mark.parametrize("ending", ["killed", "stopped"])
@pytest.mark.expects_log
def test_one_that_is_killed_or_stopped_leaves_no_process(counts: wps.WordCounts, fake: Fake, ending: str) -> None:
    fake(SAYING_ITS_PID)
    children: list[psutil.Process] = []

    def note(progress: LibraryProgress) -> None:
        if progress.done is not None:
            children.append(psutil.Process(progress.done))
            if ending == "killed":
                children[0].kill()

    def should_stop() -> bool:
        return ending == "stopped" and bool(children)

    expected = wps.StudioError if ending == "killed" else LibraryTrainingStopped
    with pytest.raises(expected, match="The background process" if ending == "killed" else "was stopped"):
        train_library(counts, settings(), "tokenizers-bpe", progress=note, should_stop=should_stop)
    assert not children[0].is_running()


@pytest.mark.slow
@pytest.mark.parametrize(
    "trainer", [pytest.param("tokenizers-unigram", marks=pytest.mark.exhaustive), "sentencepiece-unigram"]
)
def test_a_library_at_work_ends_with_the_parent(trainer: str) -> None:
    code = f"""
import os, random, psutil
import wordpiece_studio as wps
letters = random.Random(1)
words = ["".join(letters.choices("abcdefghij", k=12)) for _ in range(300_000)]
counts = wps.WordCounts.from_pairs([(word, 1) for word in words])
began = []
def should_stop():
    children = psutil.Process().children()
    if children and not began and children[0].cpu_times().user > 5:  # the library is at its work
        began.append(True)
        print(children[0].pid, flush=True)
config = wps.TrainingConfig(vocab_size=2000, continuing_subword_prefix="")
wps.train_library(counts, config, {trainer!r}, should_stop=should_stop)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        _, alive = psutil.wait_procs([child], timeout=30)
    assert not alive


@pytest.mark.parametrize("trainer", get_args(LibraryTrainer))
def test_settings_that_a_library_has_not_are_refused(counts: wps.WordCounts, trainer: LibraryTrainer) -> None:
    for changes, message in (
        ({"vocab_size": None}, f"The setting vocab_size must be a whole number for {trainer}"),
        ({"max_merges": 3}, f"The setting max_merges is not available for {trainer}"),
        ({"objective": "score"}, f"The setting objective is not available for {trainer}"),
    ):
        with pytest.raises(wps.StudioError, match=message):
            train_library(counts, settings(trainer, **changes), trainer)
    with pytest.raises(wps.StudioError, match="no words to train on"):
        train_library(wps.WordCounts.from_pairs([]), settings(trainer, objective="count", tie="ids"), trainer)


def test_wrong_arguments(counts: wps.WordCounts) -> None:
    for trainer, corpus, config, message in (
        ("bpe", counts, settings(), 'no trainer called "bpe"'),
        ("tokenizers-bpe", counts, {}, "Settings are expected"),
        ("tokenizers-bpe", ["a text"], settings(), "tokenizers-bpe is trained on words"),
        ("sentencepiece-bpe", "a text", settings(), "One text was given"),
        ("sentencepiece-bpe", [" \n"], settings(), "no words to train on"),
        ("sentencepiece-bpe", wps.WordCounts.from_pairs([("\n", 3)]), settings(), "no words to train on"),
        ("sentencepiece-bpe", ["hug"], wps.TrainingConfig(vocab_size=3), "of 3 tokens is too small: .* are 5 or more"),
        ("sentencepiece-bpe", ["hug"], wps.TrainingConfig(vocab_size=8), "of 8 tokens is too small: .* are 9 or more"),
        ("sentencepiece-bpe", ["\ud800"], settings(), "an unpaired surrogate"),
        ("tokenizers-bpe", wps.WordCounts.from_pairs([("a", 2**31)]), settings(), "counts pairs in 32 bits"),
        ("tokenizers-bpe", wps.count_texts(["a"], pre_tokenizer="pattern:a"), settings(), "cannot express"),
    ):
        with pytest.raises(wps.StudioError, match=message):
            train_library(corpus, config, trainer)  # type: ignore[arg-type]


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
