from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.core.corpus.corpus_file import CorpusFile
from wordpiece_studio.core.corpus.counting import count_cache, counting
from wordpiece_studio.core.corpus.counting.counting import CountingProgress, count_words
from wordpiece_studio.core.text.alignment import AlignedText
from wordpiece_studio.core.text.normalizers import Normalizer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(count_cache, "_folder", lambda: folder)
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("é a [CLS] b\n" + "x" * 30 + " a\n", encoding="utf-8")
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was really counted, and not found."""
    calls: list[object] = []
    count_files = counting.count_files

    def count(*args: object, **options: object) -> object:
        calls.append(args)
        return count_files(*args, **options)

    monkeypatch.setattr(counting, "count_files", count)
    return calls


def test_what_was_counted_before_is_found(path: Path, counted: list[object]) -> None:
    plain = count_words(path, max_word_length=20)
    results = [count_words(path, max_word_length=20, cache=True, processes=number) for number in (1, 2, None)]
    assert len(counted) == 2
    for counts in results:
        assert counts == plain
        assert (counts.statistics, counts.skipped) == (plain.statistics, plain.skipped)
        assert (counts.normalizer, counts.pre_tokenizer) == (plain.normalizer, plain.pre_tokenizer)
        assert not counts.counts.flags.writeable


def test_anything_else_is_counted_anew(path: Path, tmp_path: Path, counted: list[object]) -> None:
    other = tmp_path / "b.txt"
    other.write_bytes(path.read_bytes())
    ways: list[tuple[object, dict[str, object]]] = [
        (path, {}),
        (other, {}),
        ([path, path], {}),
        (path, {"normalizer": "bert-uncased"}),
        (path, {"pre_tokenizer": "whitespace-split"}),
        (path, {"max_word_length": 20}),
        (path, {"errors": "replace"}),
        (path, {"encoding": "latin-1"}),
        (CorpusFile(str(path), "csv", "1"), {}),
    ]
    for number, (files, options) in enumerate(ways, start=1):
        assert count_words(files, **options, cache=True) == count_words(files, **options, cache=True)  # type: ignore[arg-type]
        assert len(counted) == number


def test_a_changed_file_is_counted_anew(path: Path, counted: list[object]) -> None:
    count_words(path, cache=True)
    status = path.stat()
    path.write_text(path.read_text(encoding="utf-8").replace("b", "c"), encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert "c" in count_words(path, cache=True).words
    assert len(counted) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "text"])
def test_what_is_damaged_is_counted_anew(path: Path, folder: Path, counted: list[object], damage: str) -> None:
    expected = count_words(path, cache=True)
    (kept,) = folder.iterdir()
    data = kept.read_bytes()
    places = range(0, len(data), 17) if damage in ("cut", "changed") else range(1)
    for place in places:
        flipped = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        kept.write_bytes({"cut": data[:place], "changed": flipped, "empty": b"", "text": b"word 3"}[damage])
        assert count_words(path, cache=True) == expected
        assert kept.read_bytes() == data
    assert len(counted) == 1 + len(places)


def test_nothing_is_kept_of_what_is_not_the_whole(path: Path, folder: Path) -> None:
    def grow(_: CountingProgress) -> None:
        path.write_text("another", encoding="utf-8")

    count_words(path, cache=True, should_stop=lambda: True, keeps_when_stopped=True)
    count_words(path, cache=True, progress=grow)
    assert list(folder.iterdir()) == []


def test_a_pipeline_of_ones_own_is_not_kept(path: Path, folder: Path) -> None:
    class Own(Normalizer):
        name = "own"

        def align(self, text: str) -> AlignedText:
            return AlignedText.identity(text)

    count_words(path, Own(), cache=True)
    assert list(folder.iterdir()) == []


def test_the_oldest_go_first(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    kept: list[Path] = []
    for number, path in enumerate(paths):
        path.write_text("a b c")
        if number == 2:
            # The first one was asked for again.
            os.utime(kept[0], ns=(4 * 10**15, 4 * 10**15))
            monkeypatch.setattr(count_cache, "MOST_BYTES", 2 * kept[0].stat().st_size + 100)
        count_words(path, cache=True)
        kept += [entry for entry in folder.iterdir() if entry not in kept]
        os.utime(kept[-1], ns=((number + 1) * 10**15, (number + 1) * 10**15)) if number < 2 else None
    assert sorted(folder.iterdir()) == sorted([kept[0], kept[2]])
    count_cache.clear()
    assert list(folder.iterdir()) == []


def test_without_a_folder_it_is_counted_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise PermissionError

    monkeypatch.setattr(count_cache, "_folder", none)
    assert count_words(path, cache=True) == count_words(path)
