from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio
from tests.cli.calls import COURSE, POSIX, fails, process, run
from wordpiece_studio.storage.merge_table import read_merge_table

if TYPE_CHECKING:
    from pathlib import Path


def test_train_tells_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", COURSE, "--max-merges", 3, "--json", "-o", tmp_path / "a" / "b"]
    summary = json.loads(run(capsys, *arguments)[1])
    assert {key: summary[key] for key in ("tokens", "merges", "stop_reason", "words")} == {
        "tokens": 48,
        "merges": 3,
        "stop_reason": "max_merges",
        "words": 36,
    }
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
        "wordpiece-studio.json",
    }


def test_the_merges_are_written_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--max-merges", 3, "-o", tmp_path / "out", "--history"]
    run(capsys, "train", COURSE, *options, tmp_path / "merges.jsonl")
    table = read_merge_table(tmp_path / "merges.jsonl")
    assert table["step"].tolist() == [1, 2, 3]
    for place, message in (("merges.xlsx", "does not end in"), ("none/merges.csv", "does not exist")):
        assert message in fails(capsys, "train", COURSE, *options, tmp_path / place)


def test_every_setting_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {
        "objective": "count", "vocab_size": 80, "max_merges": 9, "max_seconds": 60.0, "min_frequency": 2,
        "min_value": 1.5, "max_token_length": 4, "tie": "ids", "alphabet": "huggingface",
        "continuing_order": ["##b", "##a"], "initial_alphabet": ["q", "##q"], "alphabet_limit": 90,
        "alphabet_overflow": "remove", "byte_alphabet": "seen", "special_tokens": ["[UNK]", "[X]"],
        "continuing_subword_prefix": "@",
        "end_of_word_suffix": "</w>", "end_of_word": "attached", "unk_token": "[UNK]", "pad_token": "[X]",
        "cls_token": "", "sep_token": "", "mask_token": "", "bos_token": "", "eos_token": "",
    }  # fmt: skip
    given["continuing_order"], given["initial_alphabet"] = ["@b", "@a"], ["q", "@q"]
    options: list[object] = []
    for name, value in given.items():
        options += [f"--{name.replace('_', '-')}", " ".join(value) if isinstance(value, list) else value]
    assert "end-of-word suffix" in fails(capsys, "train", COURSE, *options, "-o", tmp_path)
    assert run(capsys, "train", COURSE, *options, "--only", "vocab.txt", "-o", tmp_path)[0] == 0
    assert json.loads((tmp_path / "wordpiece-studio.json").read_text())["training"] == given | {"user_tokens": []}


def test_roles_and_user_tokens_are_written_and_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("a <url> bab C++ bab<url>\n" * 3, encoding="utf-8")
    (tmp_path / "users.txt").write_bytes("\ufeff<url>\r\nC++\r\n\r\n".encode())
    options = ["--special-tokens", "<unk> <s> </s> <pad>", "--mask-token", "<m>", "--bos-token", ""]
    options += ["--user-tokens", str(tmp_path / "users.txt"), "--model-max-length", "99"]
    out = tmp_path / "out"
    assert run(capsys, "train", tmp_path / "text.txt", *options, "-o", out)[::2] == (0, "")
    tokenizer = wordpiece_studio.Tokenizer.load(out)
    vocabulary = tokenizer.vocabulary
    assert vocabulary.tokens[:7] == ["<unk>", "<s>", "</s>", "<pad>", "<m>", "<url>", "C++"]
    assert not any(character in token for token in vocabulary.tokens[7:] for character in "<>urlC+")
    assert vocabulary.roles == {
        "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>", "eos_token": "</s>", "pad_token": "<pad>",
        "mask_token": "<m>",
    }  # fmt: skip
    assert tokenizer.encode("xC++ bab<url>").tokens == ["<unk>", "C++", "bab", "<url>"]
    config = json.loads((out / "tokenizer_config.json").read_text())
    assert {**vocabulary.roles, "model_max_length": 99, "max_input_chars_per_word": 100}.items() <= config.items()
    assert run(capsys, "verify", out)[0] == 0
    assert "user token" in fails(
        capsys, "train", tmp_path / "text.txt", *options, "--pad-token", "C++", "-o", tmp_path / "other"
    )


def test_the_defaults_are_the_librarys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "train", COURSE, "--vocab-size", 70, "-o", tmp_path)[::2] == (0, "")
    settings = json.loads((tmp_path / "wordpiece-studio.json").read_text())
    assert settings["training"] == wordpiece_studio.TrainingConfig(vocab_size=70).to_dict()
    assert (settings["normalizer"]["type"], settings["pre_tokenizer"]["type"]) == ("bert", "bert")


@pytest.mark.parametrize(("floor", "is_named"), [(0, True), (1, True), (2, False)])
def test_the_score_without_a_floor_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], floor: int, is_named: bool
) -> None:
    options = ["--objective", "score", "--min-frequency", floor, "--max-merges", 3]
    code, _, err = run(capsys, "train", COURSE, *options, "-o", tmp_path)
    assert code == 0
    assert err.count("--objective score favors pairs seen once") == err.count("\n") == is_named


def test_wrong_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, value, message in [
        ("--objective", "bpe", "--objective must be one of"),
        ("--max-token-length", "0", "--max-token-length must be"),
        ("--normalizer", "bert", 'no normalizer called "bert"'),
        ("--pre-tokenizer", "spaces", 'no pre-tokenizer called "spaces"'),
        ("--errors", "ignore", "strict, replace or skip-line"),
        ("--encoding", "klingon", "no text encoding"),
        ("--vocab-size", "7", "--vocab-size: A vocabulary of 7 tokens is too small"),
        ("--special-tokens", "[A] [A]", "--special-tokens: The special token '[A]' is listed twice"),
        ("--max-word-length", "0", "--max-word-length: The longest word must have at least one character"),
    ]:
        assert message in fails(capsys, "train", COURSE, option, value, "-o", tmp_path / "out")
    wrong = fails(capsys, "train", COURSE, "--vocab-size", "x", "-o", tmp_path / "out", code=2)
    assert "--vocab-size must be a whole number, not x" in wrong
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no words in"),
        (b"x" * 5000, "1 word was left out as too long: 5,000 characters"),
        (b"x" * 5000, "line 1, byte 0. Allow longer words with --max-word-length"),
        (b"\xff", "use --errors replace"),
        (b" \n\t\n", "no words in"),
        (b"a\n\xff\n", "line 2: the bytes FF at byte 2 are not UTF-8"),
        (b"\x7fELF\0\0", "as in a binary file"),
    ],
)
def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, message: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    error = fails(capsys, "train", tmp_path / "a.txt", "--vocab-size", 100, "-o", tmp_path / "out")
    assert message in error
    assert "a.txt" in error
    assert not (tmp_path / "out").exists()


def test_losses_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"a b\nab " + b"x" * 2000 + b"\nc\xff\n")
    code, _, err = run(capsys, "train", tmp_path / "a.txt", "--errors", "replace", "-o", tmp_path / "out")
    assert code == 0
    assert "1 word was left out as too long: 2,000 characters in" in err
    assert "line 2, byte 7" in err
    assert "1 invalid sequence was replaced" in err


def test_what_is_unusual_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes("ab [MASK] ab".encode("utf-16"))
    code, out, err = run(capsys, "train", tmp_path / "a.txt", "--special-tokens", "[MASK]", "-o", tmp_path / "out")
    assert code == 0
    assert "no pair is left" in out
    assert "a.txt was read as UTF-16-" in err
    assert "spells out the special token [MASK]" in err
    assert "[UNK] is not among the special tokens" in err
    assert err.count("wordpiece-studio: ") == err.count("\n") == 3


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--vocab-size", "45"], "0 merges in 0.0 s (the vocabulary has the requested size, so nothing was merged)"),
        (["--vocab-size", "46"], "46 tokens after 1 merge in 0.0 s (the vocabulary has the requested size)"),
        (["--min-frequency", "100000"], "(no pair occurs 100,000 times or more, so nothing was merged)"),
        (["--max-merges", "2"], "(the requested number of merges was reached)"),
        (["--min-value", "7000"], "(no pair has a merge score of 7000.0 or more, so nothing was merged)"),
        (["--max-seconds", "0"], "(the time limit was reached, so nothing was merged)"),
        ([], "(no pair is left)"),
    ],
)
def test_why_it_ended_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert reason in re.sub(r"in [0-9.]+ s", "in 0.0 s", run(capsys, "train", COURSE, *options, "-o", tmp_path)[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"", [], b"There are no words in stdin."),
        (b"a\0b\n", [], b"stdin, line 1: there is a NUL character at byte 1, as in a binary file. If it is text"),
        (b"\xff", [], b"stdin, line 1: the bytes FF at byte 0 are not UTF-8. Specify the encoding with --encoding"),
        (b"\xffa b", ["--errors", "replace"], b"1 invalid sequence was replaced"),
        ("a b".encode("utf-16"), [], b"stdin was read as UTF-16"),
        (b"\xe4b", ["--encoding", "latin-1"], b""),
    ],
)
def test_stdin_is_read_like_a_file(tmp_path: Path, data: bytes, options: list[str], message: bytes) -> None:
    with process("train", "-", *options, "-o", tmp_path / "out", stdin=subprocess.PIPE) as train:
        _, err = train.communicate(data)
    assert message in err
    assert err.count(b"\n") == bool(message)
    assert train.returncode == (0 if options or data.startswith(b"\xff\xfe") else 1)


@POSIX
def test_ctrl_c_ends_at_once_and_writes_nothing(tmp_path: Path) -> None:
    with process("train", "-", "-o", tmp_path / "out", stdin=subprocess.PIPE) as train:
        assert train.stdin is not None
        assert train.stderr is not None
        train.stdin.write(b"some words\n" * 100_000)  # returns when most was read, so it is at work
        train.stdin.flush()
        train.send_signal(signal.SIGINT)
        assert (train.wait(timeout=60), train.stderr.read()) == (130, b"wordpiece-studio: Stopped.\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("pre_tokenizer", "normalizer", "message", "only", "files"),
    [
        ("punctuation", "none", "cannot appear in a vocab.txt: ' ' (whitespace", "tokenizer.json", 4),
        ("punctuation", "bert-cased", "words would continue from one line to the next", "vocab.txt", 0),
        ("unicode-punctuation", "none", 'cannot express the pre-tokenizer "unicode-punctuation"', "vocab.txt", 2),
        (r"split:removed,invert:\b\w+", "none", r'cannot express the pattern "\b\w+"', "vocab.txt", 2),
        ("pattern:[a-z]+", "nfc", 'cannot express the pre-tokenizer "[a-z]+"', "vocab.txt", 2),
    ],
)
def test_what_cannot_be_written_is_reported_before_the_training(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    pre_tokenizer: str,
    normalizer: str,
    message: str,
    only: str,
    files: int,
) -> None:
    options = ["--pre-tokenizer", pre_tokenizer, "--normalizer", normalizer, "--max-merges", 2, "-o", tmp_path / "out"]
    with monkeypatch.context() as patch:
        patch.setattr("wordpiece_studio.training.trainer.Trainer.run", None)
        told = fails(capsys, "train", COURSE, *options)
    assert message in told
    assert f"--only {only}" in told
    assert not (tmp_path / "out").exists()
    if files:
        run(capsys, "train", COURSE, *options, "--only", only)
        assert len(list((tmp_path / "out").iterdir())) == files
        assert (tmp_path / "out" / only).exists()
    else:  # its words hold blanks, so neither file can be written
        assert "whitespace at the end" in fails(capsys, "train", COURSE, *options, "--only", only)


def test_files_of_another_tokenizer_are_not_left_beside_this_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "train", COURSE, "--max-merges", 2, "-o", tmp_path)
    run(capsys, "train", COURSE, "--max-merges", 3, "-o", tmp_path)
    told = fails(capsys, "train", COURSE, "--max-merges", 4, "--only", "vocab.txt", "-o", tmp_path)
    assert "special_tokens_map.json already exists and does not belong to the new files" in told
    assert "x cannot be written alone" in fails(capsys, "train", COURSE, "--only", "x", "-o", tmp_path)


BPE = ["--objective", "count", "--continuing-subword-prefix", ""]


def test_byte_pair_encoding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(capsys, "train", COURSE, *BPE, "--max-merges", 9, "--bpe", "--with-counts", "-o", out)[0] == 0
    assert {path.name for path in out.iterdir()} == {
        "merges.txt", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.json",
        "word-counts.tsv", "word-counts.tsv.card.json", "wordpiece-studio.json",
    }  # fmt: skip
    assert (out / "merges.txt").read_text().count("\n") == 10
    assert run(capsys, "verify", out, COURSE)[0] == 0
    ours = json.loads(run(capsys, "tokenize", "This course.", "--vocab", out, "--json")[1])
    models = pytest.importorskip("tokenizers.models")
    theirs = models.BPE.from_file(str(out / "vocab.json"), str(out / "merges.txt"), unk_token="[UNK]")
    found = [token for word in ("This", "course", ".") for token in theirs.tokenize(word)]
    assert [(token.id, token.value) for token in found] == list(zip(ours["ids"], ours["tokens"], strict=True))


def test_byte_pair_encoding_without_a_tokenizer_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [*BPE, "--max-merges", 9, "--pre-tokenizer", r"pattern:\w+", "--bpe", "--model-max-length", 99]
    code, _, err = run(capsys, "train", COURSE, *options, "-o", tmp_path / "out")
    assert (code, "Only vocab.json and merges.txt are written" in err) == (0, True)
    names = {"merges.txt", "vocab.json", "wordpiece-studio.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    assert wordpiece_studio.load_tokenizer(tmp_path / "out").model_max_length == 99
    assert run(capsys, "verify", tmp_path / "out", COURSE)[0] == 0


def test_why_there_is_no_byte_pair_encoding_is_reported_before_the_words_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], course: Path
) -> None:
    out = tmp_path / "out"
    message = fails(capsys, "train", "none.txt", "--objective", "count", "--bpe", "-o", out)
    assert "a prefix inside words" in message
    assert "--continuing-subword-prefix ''" in message
    assert "--bpe and --only cannot be combined" in fails(
        capsys, "train", "none.txt", *BPE, "--bpe", "--only", "vocab.txt", "-o", out
    )
    assert "contains a tokenizer with a vocab.txt" in fails(capsys, "train", "none.txt", *BPE, "--bpe", "-o", course)
    options = [*BPE, "--pre-tokenizer", "punctuation", "--normalizer", "none", "--bpe", "-o", out]
    assert "The symbol ' ' cannot appear in merges.txt" in fails(capsys, "train", COURSE, *options)
    assert not out.exists()


def test_a_full_disk_leaves_no_folder_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    corpus = tmp_path / "corpus.txt"
    corpus.write_text(COURSE)
    monkeypatch.setattr(os, "fsync", full)
    message = fails(capsys, "train", corpus, "-o", tmp_path / "a" / "b", "--vocab-size", 60)
    assert "No space left on device" in message
    assert list(tmp_path.iterdir()) == [corpus]


def test_a_training_goes_on_with_other_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, out, further = (tmp_path / name for name in ("a.txt", "b.txt", "out", "further"))
    first.write_text("hug hugs pug pun bun\n" * 9, encoding="utf-8")
    second.write_text("hugging bugs runs\n" * 5, encoding="utf-8")
    run(capsys, "train", first, "--max-merges", 4, "-o", out, "--history", out / "merges.csv")
    code, _, err = run(capsys, "train", second, "--continue", out, "--max-merges", 3, "-o", further)
    assert (code, err) == (0, "")
    old, new = (wordpiece_studio.load_tokenizer(folder).tokens for folder in (out, further))
    assert new[: len(old)] == old
    assert run(capsys, "verify", further, second)[0] == 0
    told = fails(capsys, "train", second, "--continue", out, "--objective", "count", "-o", tmp_path / "no")
    assert "--objective and --continue cannot be combined: the settings are those of the training so far" in told
    assert "There are no merges in" in fails(capsys, "train", second, "--continue", further, "-o", tmp_path / "no")


def test_tokens_are_reserved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "train", COURSE, "--max-merges", 3, "--unused", 2, "-o", tmp_path / "out")
    tokenizer = wordpiece_studio.Tokenizer.load(tmp_path / "out")
    assert tokenizer.tokens[-5:-3] == ["[unused0]", "[unused1]"]
    assert "[unused0]" not in tokenizer.vocabulary.special_tokens
    assert tokenizer.decode([tokenizer.id_of("[unused0]")]) == "[unused0]"


def test_user_tokens_stay_taken_out_when_a_run_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens, text, out = tmp_path / "tokens.txt", tmp_path / "a.txt", tmp_path / "out"
    tokens.write_text("xyzzy\n", encoding="utf-8")
    text.write_text("see xyzzy now\n" * 9, encoding="utf-8")
    run(capsys, "train", text, "--max-merges", 2, "--user-tokens", tokens, "-o", out, "--history", out / "merges.csv")
    code, _, err = run(capsys, "train", text, "--continue", out, "--max-merges", 9, "-o", tmp_path / "further")
    assert (code, err) == (0, "")
    assert not any(token.startswith("x") for token in wordpiece_studio.load_tokenizer(tmp_path / "further").tokens[6:])
    for option in (["--unused", 2], ["--user-tokens", tokens]):
        told = fails(capsys, "train", text, "--continue", out, *option, "-o", tmp_path / "no")
        assert f"{option[0]} and --continue cannot be combined" in told
