from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

import wordpiece_studio
from wordpiece_studio import cli
from wordpiece_studio.resources import resource_path
from wordpiece_studio.terminal_demo import terminal_demo

COURSE = str(resource_path("samples/course-en.txt"))
SENTENCE = "This is the Hugging Face course!"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CONTINUING = [f"##{letter}" for letter in "abcdefghiklmnoprstuvwyz"]
# As the Hugging Face course prints it, and the Korean notebook, which drops commas and full stops and lower-cases.
COURSE_VOCABULARY = [
    *SPECIAL, *CONTINUING, ",", ".", *"CFHTabcghistuwy", "ab", "##fu", "Fa", "Fac", "##ct", "##ful", "##full",
    "##fully", "Th", "ch", "##hm", "cha", "chap", "chapt", "##thm", "Hu", "Hug", "Hugg", "sh", "th", "is", "##thms",
    "##za", "##zat", "##ut",
]  # fmt: skip
KOREAN_VOCABULARY = [
    *SPECIAL, *CONTINUING, *"abcfghistuwy", "ab", "##fu", "fa", "fac", "##ct", "##ful", "##full", "##fully", "##hm",
    "##thm", "is", "##thms", "##pt", "##apt", "##hapt", "chapt", "##za", "##zat", "abl", "##izat", "##izati", "##cti",
    "##iz", "##ithms", "wi", "wil", "will", "al", "##al", "alg",
]  # fmt: skip
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and pipes")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = cli.run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def fails(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 1) -> str:
    """Return the one line that a failing command says on stderr."""
    result, out, err = run(capsys, *arguments)
    assert (result, out) == (code, "")
    assert err.startswith("wordpiece-studio: ")
    assert err.count("\n") == 1
    return err


def process(*arguments: object, env: dict[str, str] | None = None, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wordpiece_studio", *map(str, arguments)]
    # As for most users: output is held back until there is much of it, or the program ends.
    environment = {name: value for name, value in (env or os.environ).items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options)


def tokens_in(path: Path) -> list[str]:
    return [COURSE_VOCABULARY[token_id] for token_id in np.load(path)]


@pytest.fixture
def course(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(capsys, "train", COURSE, "--vocab-size", 70, "-o", tmp_path / "course")[0] == 0
    return tmp_path / "course"


@pytest.fixture
def korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = tmp_path / "korean"
    options = ["--vocab-size", 70, "--normalizer", "lowercase", "--remove", ",.", "-o", folder]
    assert run(capsys, "train", COURSE, *options)[0] == 0
    return folder


def test_the_courses_vocabulary_and_its_sentence(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (course / "vocab.txt").read_text(encoding="utf-8").split("\n") == [*COURSE_VOCABULARY, ""]
    code, out, err = run(capsys, "tokenize", "--vocab", course, SENTENCE)
    expected = "Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]\n"
    assert (code, out, err) == (0, expected, "")
    assert run(capsys, "tokenize", "--vocab", course / "vocab.txt", "HOgging")[1] == "[UNK]\n"


def test_the_korean_notebooks_vocabulary_and_its_sentence(korean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (korean / "vocab.txt").read_text(encoding="utf-8").split("\n") == [*KOREAN_VOCABULARY, ""]
    # The notebook does not lower-case when it tokenizes.
    _, out, _ = run(capsys, "tokenize", "--vocab", korean, "--normalizer", "none", SENTENCE)
    assert out == "[UNK] is t ##h ##e [UNK] [UNK] c ##o ##u ##r ##s ##e [UNK]\n"
    _, out, _ = run(capsys, "tokenize", "--vocab", korean, "This, is.")
    assert out == "t ##h ##i ##s is\n"


def test_ids_and_json(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "tokenize", "--vocab", course, "--ids", "is a\nis")[1] == "65 34\n65\n"
    out = run(capsys, "tokenize", "--vocab", course, "--json", "Hugging\x1b\nis")[1]
    assert [json.loads(line) for line in out.splitlines()] == [
        {
            "text": "Hugging\x1b",
            "tokens": ["Hugg", "##i", "##n", "##g"],
            "ids": [62, 13, 17, 11],
            "offsets": [[0, 4], [4, 5], [5, 6], [6, 7]],
        },
        {"text": "is", "tokens": ["is"], "ids": [65], "offsets": [[0, 2]]},
    ]
    assert "\x1b" not in out


def test_encode_writes_ids(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("is a\n\nThis HOgging [MASK]")
    output, offsets = tmp_path / "ids.npy", tmp_path / "offsets.npy"
    arguments = ["encode", tmp_path / "a.txt", "--vocab", course, "-o", output]
    code, out, err = run(capsys, *arguments, "--offsets", offsets)
    assert (code, err) == (0, "")
    assert tokens_in(output) == ["is", "a", "Th", "##i", "##s", "[UNK]", "[MASK]"]
    assert np.load(offsets).tolist() == [0, 2, 2, 7]
    said = re.sub(r"in [0-9.]+ s \([0-9.]+ MB/s", "in 0.0 s (0.0 MB/s", out)
    assert said == f"7 tokens of 3 texts in 0.0 s (0.0 MB/s, 14.29% [UNK]), written to {output}\n"
    arguments += ["--dtype", "uint16", "--add-special-tokens", "--normalizer", "lowercase", "--json"]
    summary = json.loads(run(capsys, *arguments)[1])
    words = ["is", "a", "[SEP]", "[CLS]", "[SEP]", "[CLS]", "th", "##i", "##s", "h", "##o"]
    assert tokens_in(output) == ["[CLS]", *words, "##g", "##g", "##i", "##n", "##g", "[MASK]", "[SEP]"]
    assert {key: summary[key] for key in ("tokens", "texts", "unknown", "bytes")} == {
        "tokens": 19,
        "texts": 3,
        "unknown": 0,
        "bytes": 25,
    }


def test_encode_tells_what_is_unusual(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"is\nx\xff\n")
    encode = ["encode", tmp_path / "a.txt", "--vocab", course, "-o", tmp_path / "ids.npy"]
    assert "use --errors replace" in fails(capsys, *encode)
    assert not (tmp_path / "ids.npy").exists()
    assert run(capsys, *encode, "--errors", "skip-line")[2].endswith(": 1 undecodable line was left out.\n")
    assert "--dtype: There is no type of ids" in fails(capsys, *encode, "--dtype", "int8")
    (tmp_path / "vocab.txt").write_text("is\n")
    encode = ["encode", tmp_path / "a.txt", "--encoding", "latin-1", "--vocab", tmp_path / "vocab.txt", "-o"]
    encode.append(tmp_path / "ids.npy")
    code, out, err = run(capsys, *encode)
    assert (code, np.load(tmp_path / "ids.npy").tolist()) == (0, [0, -1])
    assert "50.00% [UNK]" in out
    assert "The vocabulary has no [UNK]: words that it cannot spell have no id and are written as -1." in err
    assert "--dtype: The [UNK] of unknown words" in fails(capsys, *encode, "--dtype", "uint16")
    assert "--add-special-tokens: There is no [SEP]" in fails(capsys, *encode, "--add-special-tokens")
    assert "Stdin is read alone" in fails(capsys, *encode, "-")


def test_encode_reads_stdin(course: Path, tmp_path: Path) -> None:
    with process("encode", "-", "--vocab", course, "-o", tmp_path / "ids.npy", stdin=subprocess.PIPE) as encode:
        out, err = encode.communicate(b"is\nis is")
    assert (encode.returncode, err) == (0, b"")
    assert out.startswith(b"3 tokens of 2 texts")
    assert np.load(tmp_path / "ids.npy").tolist() == [65, 65, 65]
    with process("encode", "-", "--vocab", course, "-o", tmp_path / "ids.npy", stdin=subprocess.PIPE) as encode:
        out, err = encode.communicate(b"is\nb\xff\n")
    assert encode.returncode == 1
    assert b"stdin, line 2: the bytes FF at byte 4 are not UTF-8. Give the encoding with --encoding" in err


def test_explain_shows_the_ladder(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "explain", "--vocab", course, "isH")[1]
    assert out == "isH\n  at 0: isH ✗  is ✓\n  at 2: ##H ✗\n  → [UNK]: ##H at 2 is not in the vocabulary\n"
    traces = [json.loads(line) for line in run(capsys, "explain", "--vocab", course, "--json", "is.")[1].splitlines()]
    assert [trace["tokens"] for trace in traces] == [["is"], ["."]]
    assert traces[0]["positions"] == [{"start": 0, "tried": [{"candidate": "is", "matched": True}], "token": "is"}]
    assert "more than 100 characters" in run(capsys, "explain", "--vocab", course, "i" * 101)[1]


def test_train_tells_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["train", COURSE, "--max-merges", 3, "--json", "-o", tmp_path / "a" / "b"]
    summary = json.loads(run(capsys, *arguments)[1])
    assert {key: summary[key] for key in ("tokens", "merges", "stop_reason", "words")} == {
        "tokens": 48,
        "merges": 3,
        "stop_reason": "max_merges",
        "words": 36,
    }
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["vocab.txt", "wordpiece-studio.json"]


def test_every_setting_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {
        "objective": "count", "vocab_size": 80, "max_merges": 9, "max_seconds": 60.0, "min_frequency": 2,
        "min_value": 1.5, "max_token_length": 4, "tie": "ids", "alphabet": "huggingface",
        "continuing_order": ["##b", "##a"], "initial_alphabet": ["q", "##q"], "alphabet_limit": 90,
        "alphabet_overflow": "remove", "special_tokens": ["[UNK]", "[X]"], "continuing_subword_prefix": "@",
        "end_of_word_suffix": "</w>", "end_of_word": "attached",
    }  # fmt: skip
    given["continuing_order"], given["initial_alphabet"] = ["@b", "@a"], ["q", "@q"]
    options: list[object] = []
    for name, value in given.items():
        options += [f"--{name.replace('_', '-')}", " ".join(value) if isinstance(value, list) else value]
    assert run(capsys, "train", COURSE, *options, "-o", tmp_path)[0] == 0
    assert json.loads((tmp_path / "wordpiece-studio.json").read_text())["training"] == given


def test_the_defaults_are_the_librarys(course: Path) -> None:
    settings = json.loads((course / "wordpiece-studio.json").read_text())
    assert settings["training"] == wordpiece_studio.TrainingConfig(vocab_size=70).to_dict()
    assert (settings["normalizer"]["type"], settings["pre_tokenizer"]["type"]) == ("bert", "bert")


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"wordpiece-studio {wordpiece_studio.__version__}\n", "")
    assert run(capsys, "--help")[0] == run(capsys, "train", "-h")[0] == 0


@pytest.mark.parametrize(
    "arguments", [["trian"], ["train"], ["train", COURSE], ["encode", COURSE], ["--nonsense"], ["explain"]]
)
def test_wrong_calls(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "See wordpiece-studio --help." in fails(capsys, *arguments, code=2)


def test_wrong_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, value, message in [
        ("--objective", "bpe", "--objective must be one of"),
        ("--max-token-length", "0", "--max-token-length must be"),
        ("--normalizer", "bert", 'no normalizer called "bert"'),
        ("--pre-tokenizer", "spaces", 'no pre-tokenizer called "spaces"'),
        ("--errors", "ignore", "strict, replace and skip-line"),
        ("--encoding", "klingon", "no text encoding"),
        ("--vocab-size", "7", "--vocab-size: A vocabulary of 7 tokens is too small"),
        ("--special-tokens", "[A] [A]", "--special-tokens: The special token '[A]' is named twice"),
        ("--max-word-length", "0", "--max-word-length: The longest word must have at least one character"),
    ]:
        assert message in fails(capsys, "train", COURSE, option, value, "-o", tmp_path / "out")
    assert "'--vocab-size'" in fails(capsys, "train", COURSE, "--vocab-size", "x", "-o", tmp_path / "out", code=2)
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


def test_bad_places(tmp_path: Path, capsys: pytest.CaptureFixture[str], course: Path) -> None:
    assert "does not exist" in fails(capsys, "train", tmp_path / "no.txt", "-o", tmp_path / "out")
    assert "is a folder" in fails(capsys, "train", tmp_path, "-o", tmp_path / "out")
    assert "is not a folder" in fails(capsys, "train", COURSE, "-o", course / "vocab.txt")
    assert "does not exist" in fails(capsys, "tokenize", "--vocab", tmp_path / "no", "a")
    assert "There is no word" in fails(capsys, "explain", "--vocab", course, " ")


def test_a_missing_vocabulary_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, course: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "--vocab" in fails(capsys, "tokenize", "a")
    monkeypatch.chdir(course)
    assert run(capsys, "tokenize", "is")[1] == "is\n"


def test_losses_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"a b\nab " + b"x" * 2000 + b"\nc\xff\n")
    code, _, err = run(capsys, "train", tmp_path / "a.txt", "--errors", "replace", "-o", tmp_path / "out")
    assert code == 0
    assert "1 word was left out as too long: 2,000 characters in" in err
    assert "line 2, byte 7" in err
    assert "1 undecodable place was replaced" in err


def test_names_are_shown_in_one_line_whatever_they_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert r"two\nlines.txt does not exist" in fails(capsys, "train", "two\nlines.txt", "-o", tmp_path)
    assert '"" does not exist' in fails(capsys, "train", "", "-o", tmp_path)


def test_what_is_unusual_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
        (["--vocab-size", "45"], "0 merges in 0.0 s (the vocabulary has the size asked for, so nothing was merged)"),
        (["--vocab-size", "46"], "46 tokens after 1 merge in 0.0 s (the vocabulary has the size asked for)"),
        (["--min-frequency", "100000"], "(no pair occurs 100,000 times or more, so nothing was merged)"),
        (["--max-merges", "2"], "(as many merges as asked for)"),
        (["--min-value", "7"], "(no pair has a value of 7.0 or more, so nothing was merged)"),
        (["--max-seconds", "0"], "(the time is over, so nothing was merged)"),
        ([], "(no pair is left)"),
    ],
)
def test_why_it_ended_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    assert reason in re.sub(r"in [0-9.]+ s", "in 0.0 s", run(capsys, "train", COURSE, *options, "-o", tmp_path)[1])


def test_words_without_an_id_are_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    options = ["tokenize", "--vocab", tmp_path / "vocab.txt"]
    code, out, err = run(capsys, *options, "--ids", "a x\nx b")
    assert (code, out) == (0, "0 -1\n-1 1\n")
    assert err.startswith("wordpiece-studio: The vocabulary has no [UNK]: ")
    assert err.count("\n") == 1
    assert run(capsys, *options, "--ids", "a")[2] == run(capsys, *options, "x")[2] == ""


def test_nothing_that_a_terminal_obeys_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "a\x1b]0;owned\x07\u202e"
    (tmp_path / "a.txt").write_text(f"{evil} {evil}", encoding="utf-8")
    folder = tmp_path / "out"
    options = ["--normalizer", "none", "--pre-tokenizer", "whitespace", "-o", folder]
    assert run(capsys, "train", tmp_path / "a.txt", *options)[0] == 0
    outputs = [
        run(capsys, "tokenize", "--vocab", folder, evil),
        run(capsys, "tokenize", "--vocab", folder, "--json", evil),
        run(capsys, "explain", "--vocab", folder, evil),
        run(capsys, "train", tmp_path / evil, "-o", folder),
    ]
    for _, out, err in outputs:
        assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
    assert json.loads(outputs[1][1])["text"] == evil


def test_stdin(course: Path, tmp_path: Path) -> None:
    with process("tokenize", "--vocab", course, stdin=subprocess.PIPE) as tokenize:
        out, err = tokenize.communicate("is\r\n\nab".encode("utf-8-sig"))
    assert (tokenize.returncode, out.decode().splitlines(), err) == (0, ["is", "", "ab"], b"")
    with process("train", "-", "--vocab-size", 70, "-o", tmp_path / "out", stdin=subprocess.PIPE) as train:
        train.communicate(Path(COURSE).read_bytes())
    assert (tmp_path / "out" / "vocab.txt").read_bytes() == (course / "vocab.txt").read_bytes()
    with process("tokenize", "--vocab", course, "-", stdin=subprocess.PIPE) as tokenize:
        out, err = tokenize.communicate(b"a\nb\xff\n")
    assert tokenize.returncode == 1
    assert b"stdin, line 2: the bytes FF at byte 3 are not UTF-8. Convert the text to UTF-8." in err


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"", [], b"There are no words in stdin."),
        (b"a\0b\n", [], b"stdin, line 1: there is a NUL character at byte 1, as in a binary file. If it is text"),
        (b"\xff", [], b"stdin, line 1: the bytes FF at byte 0 are not UTF-8. Give the encoding with --encoding"),
        (b"\xffa b", ["--errors", "replace"], b"1 undecodable place was replaced"),
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


def test_text_in_utf_16_is_tokenized(course: Path) -> None:
    with process("tokenize", "--vocab", course, stdin=subprocess.PIPE) as tokenize:
        out, err = tokenize.communicate("is the\r\nis".encode("utf-16"))
    assert (out.decode().splitlines(), err) == (["is th ##e", "is"], b"")


@POSIX
@pytest.mark.parametrize("command", ["tokenize --vocab {}", "train - -o {}", "encode - -o ids.npy --vocab {}"])
def test_a_closed_stdin_is_told(course: Path, command: str) -> None:
    line = f"{shlex.quote(sys.executable)} -m wordpiece_studio {command.format(shlex.quote(str(course)))} <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        b"wordpiece-studio: There is nothing to read: stdin is closed. Name a file or give a text instead.\n"
    )


@POSIX
@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["--version"]])
def test_a_reader_that_has_enough_of_the_help_is_no_error(arguments: list[str]) -> None:
    with process(*arguments) as helping:
        assert helping.stdout is not None
        assert helping.stderr is not None
        helping.stdout.close()
        assert (helping.wait(), helping.stderr.read()) == (0, b"")


@POSIX
def test_ctrl_c_while_modules_are_loaded_is_an_orderly_end() -> None:
    code = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from wordpiece_studio.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"wordpiece-studio: Stopped.\n")


def test_the_installed_command_starts_in_main() -> None:
    pyproject = Path(__file__).resolve().parent.parent / "pyproject.toml"
    scripts = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"wordpiece-studio": "wordpiece_studio.__main__:main"}


@POSIX
def test_a_reader_that_has_enough_is_no_error(course: Path) -> None:
    with process("tokenize", "--vocab", course, stdin=subprocess.PIPE) as tokenize:
        assert tokenize.stdin is not None
        assert tokenize.stdout is not None
        assert tokenize.stderr is not None
        tokenize.stdout.close()
        tokenize.stdin.write(b"is the\n" * 10)
        tokenize.stdin.close()
        assert (tokenize.wait(), tokenize.stderr.read()) == (0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a window would open")
def test_a_reader_that_has_enough_of_the_demo_is_no_error() -> None:
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    environment.pop("QT_QPA_PLATFORM", None)
    with process(env=environment) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        demo.stdout.close()
        assert (demo.wait(), demo.stderr.read()) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device to write to")
def test_a_full_disk_behind_stdout_is_told(course: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "wordpiece_studio", "tokenize", "--vocab", str(course), "is"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"wordpiece-studio: stdout: No space left on device.\n"


@POSIX
def test_ctrl_c_ends_at_once_and_writes_nothing(tmp_path: Path) -> None:
    with process("train", "-", "-o", tmp_path / "out", stdin=subprocess.PIPE) as train:
        assert train.stdin is not None
        assert train.stderr is not None
        train.stdin.write(b"some words\n" * 100_000)  # returns when most was read, so it is at work
        train.stdin.flush()
        train.send_signal(signal.SIGINT)
        started = time.monotonic()
        assert (train.wait(timeout=60), train.stderr.read()) == (130, b"wordpiece-studio: Stopped.\n")
        assert time.monotonic() - started < 5
    assert not (tmp_path / "out").exists()


def test_no_command_or_a_file_opens_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def open_window(arguments: list[str]) -> int:
        calls.append(arguments)
        return 7

    monkeypatch.setattr(cli, "_open_window", open_window)
    assert cli.run([]) == 7
    assert cli.run([COURSE]) == 7
    assert calls == [[], [COURSE]]


def test_the_demo_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert terminal_demo("There is no display\nhere.") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "There is no display here."
    assert sum("##full" in line for line in lines) == 2
    assert "→ Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]" in lines


def test_what_was_done_before_a_fault_is_printed(course: Path) -> None:
    tokenize = process("tokenize", "--vocab", course, stdin=subprocess.PIPE)
    out, err = tokenize.communicate(b"hug\n" * 100_000 + b"\xff\n")
    assert tokenize.returncode == 1
    assert out.count(b"\n") > 90_000
    assert err.count(b"\n") == 1


def test_the_vocabulary_is_not_written_over(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (course / "vocab.txt").read_bytes()
    assert "is the vocabulary itself" in fails(capsys, "encode", COURSE, "--vocab", course, "-o", course / "vocab.txt")
    assert (course / "vocab.txt").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_being_terminated_leaves_no_temporary_file(course: Path, tmp_path: Path) -> None:
    encode = process("encode", "-", "--vocab", course, "-o", tmp_path / "ids.npy", stdin=subprocess.PIPE)
    assert encode.stdin is not None
    encode.stdin.write(b"hug\n" * 500_000)
    encode.stdin.flush()
    waiting = time.monotonic() + 30
    while not list(tmp_path.glob(".ids.npy*")) and time.monotonic() < waiting:
        time.sleep(0.02)
    encode.send_signal(signal.SIGTERM)
    encode.communicate()
    assert encode.returncode == 143
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
