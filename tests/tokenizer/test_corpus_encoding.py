"""Files and texts to ids: what is one text, what stands around it, how it is written, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from io import BufferedReader, BytesIO
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, processors

import wordpiece_studio as wps
from wordpiece_studio.corpus.files import TextOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import RemoveCharacters
from wordpiece_studio.tokenizer import corpus_encoding
from wordpiece_studio.tokenizer.corpus_encoding import CorpusBlocks, write_npy

SPECIAL = ("[UNK]", "[CLS]", "[SEP]", "[MASK]")
TOKENS = [*SPECIAL, "a", "b", "##a", "##b", "ab", "."]
LINES = ["ab ba. [MASK]", "", "A\tb", "  ", "aab[SEP]x"]


def tokenizer(**settings: object) -> wps.Tokenizer:
    return wps.Tokenizer(wps.Vocabulary(TOKENS, SPECIAL), **{"normalizer": "bert-uncased", **settings})  # type: ignore[arg-type]


@pytest.fixture(params=["plain", "compiled", "tiny blocks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Encode in each of the ways that the size of a corpus chooses among."""
    if request.param != "plain":
        monkeypatch.setattr(corpus_encoding, "_FEW_BYTES", 0)
        monkeypatch.setattr(corpus_encoding, "_FEW_BYTES_UNCOMPILED", 0)
    if request.param == "tiny blocks":
        monkeypatch.setattr(corpus_encoding, "BLOCK_BYTES", 1)


def lists(encoded: wps.EncodedTexts) -> list[list[int]]:
    return [encoded[index].tolist() for index in range(len(encoded))]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("add_special_tokens", [False, True])
def test_each_line_is_encoded_as_hugging_face_does(tmp_path: Path, add_special_tokens: bool) -> None:
    library_run = tokenizers.Tokenizer(models.WordPiece({t: i for i, t in enumerate(TOKENS)}, unk_token="[UNK]"))
    library_run.normalizer = normalizers.BertNormalizer(lowercase=True)
    library_run.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library_run.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    library_run.add_special_tokens(list(SPECIAL))
    expected = [one.ids for one in library_run.encode_batch(LINES, add_special_tokens=add_special_tokens)]
    settings = {"add_special_tokens": add_special_tokens}
    assert lists(wps.encode_texts(tokenizer(), LINES, **settings)) == expected
    for line_end in ("\n", "\r\n"):
        for last in ("", line_end):
            (tmp_path / "a").write_bytes((line_end.join(LINES) + last).encode())
            encoded = wps.encode_files(tokenizer(), [tmp_path / "a", tmp_path / "a"], **settings)
            assert lists(encoded) == expected * 2
            assert encoded.statistics.tokens == len(encoded.ids) == sum(map(len, expected)) * 2
            assert encoded.statistics.unknown == 2
            assert (encoded.statistics.texts, encoded.statistics.corpus.lines) == (10, 10)


@pytest.mark.usefixtures("way")
def test_a_long_line_is_one_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextOnDisk.pieces, "__defaults__", (16,))
    (tmp_path / "a").write_bytes(b"ab a " * 40 + b"\nb")
    encoded = wps.encode_files(tokenizer(), tmp_path / "a", add_special_tokens=True)
    assert lists(encoded) == [[1, *[8, 4] * 40, 2], [1, 5, 2]]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("settings", [{}, {"normalizer": RemoveCharacters(" \n")}])
def test_texts_may_hold_line_ends(settings: dict[str, object]) -> None:
    texts = ["a\nb", "\n", "", "ab\n\nab\n", "x \ud800"]
    encoded = wps.encode_texts(tokenizer(**settings), iter(texts))
    assert lists(encoded) == [tokenizer(**settings).encode(text).ids for text in texts]


@pytest.mark.usefixtures("way")
def test_pipelines_whose_words_cross_blanks(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a b\nab a\n\n.b")
    assert lists(wps.encode_files(tokenizer(normalizer=RemoveCharacters(" ")), tmp_path / "a")) == [
        [8],
        [8, 6],
        [],
        [9, 5],
    ]
    odd = wps.Tokenizer(wps.Vocabulary([*TOKENS, "a b", "b\na"], ["a b", "b\na"]))
    assert lists(wps.encode_files(odd, tmp_path / "a")) == [[10], [8, 4], [], [9, 5]]
    assert lists(wps.encode_texts(odd, ["ab\na b"])) == [[4, 11, 5]]


@pytest.mark.usefixtures("way")
def test_nothing_is_an_empty_array(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    for encoded in (
        wps.encode_texts(tokenizer(), []),
        wps.encode_files(tokenizer(), tmp_path / "a", dtype="uint16", add_special_tokens=True),
    ):
        assert (len(encoded), encoded.ids.tolist(), encoded.offsets.tolist()) == (0, [], [0])
    with pytest.raises(IndexError):
        encoded[0]
    statistics = wps.write_ids(tokenizer(), tmp_path / "a", tmp_path / "ids.npy", offsets_output=tmp_path / "o.npy")
    assert (statistics.tokens, statistics.texts) == (0, 0)
    assert np.load(tmp_path / "ids.npy").tolist() == []
    assert np.load(tmp_path / "o.npy").tolist() == [0]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", ["int32", "uint16"])
def test_what_is_written_is_what_is_returned(tmp_path: Path, dtype: str) -> None:
    (tmp_path / "a").write_text("\n".join(LINES * 7))
    encoded = wps.encode_files(tokenizer(), tmp_path / "a", dtype=dtype)  # type: ignore[arg-type]
    output, offsets = tmp_path / "ids.npy", tmp_path / "offsets"
    statistics = wps.write_ids(tokenizer(), tmp_path / "a", output, offsets_output=offsets, dtype=dtype)  # type: ignore[arg-type]
    written = np.load(output)
    assert written.dtype == encoded.ids.dtype == np.dtype(dtype)
    assert written.tolist() == encoded.ids.tolist()
    assert np.load(offsets).tolist() == encoded.offsets.tolist()
    assert statistics == encoded.statistics
    assert encoded[-1].tolist() == tokenizer().ids(LINES[-1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "ids.npy", "offsets"]


def test_a_stream_is_read_like_a_file() -> None:
    stream = BufferedReader(BytesIO(b"a\nb"))  # type: ignore[arg-type]
    assert lists(wps.encode_files(tokenizer(), stream)) == [[4], [5]]


def test_undecodable_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\nb\xff\nab")
    with pytest.raises(wps.StudioError, match="line 2: the bytes FF at byte 3"):
        wps.encode_files(tokenizer(), tmp_path / "a")
    skipped = wps.encode_files(tokenizer(), tmp_path / "a", errors="skip-line")
    assert (lists(skipped), skipped.statistics.corpus.skipped_lines) == ([[4], [8]], 1)
    replaced = wps.encode_files(tokenizer(), tmp_path / "a", errors="replace")
    assert (lists(replaced), replaced.statistics.corpus.replaced) == ([[4], [5], [8]], 1)  # BERT removes U+FFFD
    assert lists(wps.encode_files(tokenizer(), tmp_path / "a", encoding="latin-1"))[1] == [0]


def test_words_without_an_id_and_words_too_long() -> None:
    without = wps.Tokenizer(wps.Vocabulary(["a"]))
    encoded = wps.encode_texts(without, ["a z", "a" * 101])
    assert (encoded.ids.tolist(), encoded.statistics.unknown) == ([0, -1, -1], 2)
    assert wps.encode_texts(tokenizer(max_word_length=2), ["ab aba"]).ids.tolist() == [8, 0]


def test_contradictory_arguments_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    small = wps.Tokenizer(wps.Vocabulary(["a"]))
    large = wps.Tokenizer(wps.Vocabulary(["[UNK]", *map(str, range(1 << 16))]))
    for one, settings, message in [
        (small, {"dtype": "int64"}, 'no type of IDs called "int64"'),
        (small, {"dtype": "uint16"}, r"The unknown token \[UNK\] is not in the vocabulary.*Use int32"),
        (large, {"dtype": "uint16"}, "The IDs of 65,537 tokens do not fit into uint16"),
        (small, {"add_special_tokens": True}, r"The vocabulary has no \[CLS\] to add"),
    ]:
        with pytest.raises(wps.StudioError, match=message):
            wps.encode_texts(one, ["a"], **settings)  # type: ignore[arg-type]
    with pytest.raises(wps.StudioError, match="Put it into a list"):
        wps.encode_texts(small, "a")
    with pytest.raises(wps.StudioError, match="Text 2 is not a string: 3"):
        wps.encode_texts(small, ["a", 3])  # type: ignore[list-item]
    for output, offsets, message in [
        ("a", None, "a is one of the files to encode"),
        ("ids", os.path.join(".", "ids"), "cannot both be written to"),
        (os.path.join("no", "ids"), None, "There is no folder .*no"),
        ("ids", os.path.join("a", "offsets"), "is not a folder"),
    ]:
        offsets_output = None if offsets is None else tmp_path / offsets
        with pytest.raises(wps.StudioError, match=message):
            wps.write_ids(small, tmp_path / "a", tmp_path / output, offsets_output=offsets_output)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_stopping_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_encoding, "BLOCK_BYTES", 1000)
    (tmp_path / "a").write_bytes(b"a b\n" * 1_000_000)
    (tmp_path / "ids.npy").write_bytes(b"old")
    told: list[tuple[int, int]] = []
    with pytest.raises(wps.EncodingStopped):
        wps.write_ids(
            tokenizer(),
            tmp_path / "a",
            tmp_path / "ids.npy",
            progress=lambda *args: told.append(args),
            should_stop=lambda: len(told) > 1,
        )
    assert told[0][1] == 4_000_000
    assert 0 < told[0][0] < told[1][0] < 4_000_000
    assert (tmp_path / "ids.npy").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "ids.npy"]


def test_small_input_needs_no_kernels(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a ab\n" * 2000)
    code = (
        "import sys, wordpiece_studio as wps\n"
        "tokenizer = wps.Tokenizer(wps.Vocabulary(['a', 'ab']))\n"
        "assert wps.encode_files(tokenizer, sys.argv[1]).ids.sum() == 2000\n"
        "assert 'llvmlite' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], check=True, cwd=Path(__file__).parents[2])


def test_every_file_ends_a_line(tmp_path: Path) -> None:
    contents = [b"a b\r\nc", b"", b"\n", b"\xef\xbb\xbfd\n", b"e"]
    paths = [tmp_path / str(number) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    told: list[tuple[int, int]] = []
    source = CorpusBlocks(paths, progress=lambda *args: told.append(args))
    assert b"".join(source) == b"a b\r\nc\n\nd\ne\n"
    assert (source.statistics.lines, source.statistics.characters, source.statistics.bytes) == (5, 10, 13)
    assert told[-1] == (13, 13)


def test_blocks_have_about_the_same_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_encoding, "BLOCK_BYTES", 100)
    (tmp_path / "a").write_bytes(b"0123456789\n" * 30 + b"\xff\n" + b"0123456789\n" * 70)
    source = CorpusBlocks(tmp_path / "a", errors="replace")
    sizes = [len(block) for block in source]
    assert sum(sizes) == 1104
    assert all(size >= 100 for size in sizes[:-1])
    assert len(sizes) > 1
    assert source.statistics.replaced == 1


def test_a_stream_has_a_name_for_messages(tmp_path: Path) -> None:
    assert b"".join(CorpusBlocks(BufferedReader(BytesIO(b"a\nb")))) == b"a\nb\n"  # type: ignore[arg-type]
    (tmp_path / "x").write_bytes(b"\xff")
    with open(tmp_path / "x", "rb") as stream, pytest.raises(StudioError, match="x, line 1: the bytes FF"):
        list(CorpusBlocks(stream))


def test_no_files_and_no_paths(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="There is no file to read"):
        CorpusBlocks([])
    with pytest.raises(StudioError, match="Files are expected, not 3"):
        CorpusBlocks([3])  # type: ignore[list-item]
    with pytest.raises(StudioError, match="does not exist"):
        CorpusBlocks(tmp_path / "no")


@pytest.mark.parametrize("dtype", [np.int32, np.uint16, np.int64])
@pytest.mark.parametrize("sizes", [[], [0], [1], [3, 0, 100_000]])
def test_numpy_reads_what_was_written_in_pieces(dtype: type, sizes: list[int]) -> None:
    file = BytesIO()
    write_npy(file, (np.arange(size, dtype=np.int64) % 60_000 for size in sizes), dtype)
    assert len(file.getvalue()) == 128 + sum(sizes) * np.dtype(dtype).itemsize  # data at a multiple of 64, as NumPy's
    file.seek(0)
    array = np.load(file, allow_pickle=False)
    assert (array.dtype, array.shape) == (dtype, (sum(sizes),))
    assert array.tolist() == [number % 60_000 for size in sizes for number in range(size)]
