from __future__ import annotations

import itertools
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting.cluster_counting import Fault, merged_counts, summary_of
from wordpiece_studio.corpus.counting.cluster_counting import counted as counted_by_worker
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.counting.part_counts import PartCounts, merged
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

PIPELINE = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
TEXT = st.text(st.sampled_from("abé \n\n[,한"), max_size=30)


@st.composite
def divisions(draw: st.DrawFn, texts: list[str]) -> list[list[Segment]]:
    """Divide files anywhere, and put neighbouring segments together at random."""
    segments = []
    for number, text in enumerate(texts):
        size = len(text.encode())
        cuts = sorted({0, *draw(st.lists(st.integers(0, size), max_size=3))})
        segments += [Segment(number, start, end) for start, end in zip(cuts, [*cuts[1:], None], strict=True)]
    borders = sorted({0, *draw(st.lists(st.integers(0, len(segments) - 1), max_size=4)), len(segments)})
    return [segments[start:end] for start, end in itertools.pairwise(borders)]


def counted(files: list[CorpusFile], segments: list[Segment], longest: int) -> PartCounts:
    part = counted_by_worker(dict(enumerate(files)), segments, PIPELINE, longest, 0)
    assert isinstance(part, PartCounts)
    return part


@pytest.mark.slow
@given(texts=st.lists(TEXT, min_size=1, max_size=4), data=st.data(), longest=st.sampled_from([1000, 2]))
def test_any_division_merged_in_any_tree(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject, longest: int
) -> None:
    folder = tmp_path_factory.mktemp("merging")
    files = [CorpusFile(str(folder / f"{number}.txt")) for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        Path(file.path).write_bytes(text.encode())
    parts = [counted(files, stretch, longest) for stretch in data.draw(divisions(texts))]
    while len(parts) > 1:
        start = data.draw(st.integers(0, len(parts) - 2))
        end = data.draw(st.integers(start + 2, len(parts)))
        part = merged(parts[start:end], is_compiled=data.draw(st.sampled_from([False, False, True])))
        parts[start:end] = [pickle.loads(pickle.dumps(part))]
    counts = parts[0].word_counts(PIPELINE, [file.path for file in files])
    reference = count_words(files, max_word_length=longest)
    assert counts.items() == reference.items()
    assert counts.statistics == reference.statistics
    assert counts.skipped == reference.skipped
    assert parts[0].bytes_read <= sum(len(text.encode()) for text in texts)
    rare = parts[0].at_least(2).word_counts(PIPELINE, [file.path for file in files])
    assert rare.items() == reference.at_least(2).items()
    assert rare.statistics == reference.at_least(2).statistics


def test_figures_are_in_one_order(tmp_path: Path) -> None:
    files = [CorpusFile(str(tmp_path / name)) for name in ("a.txt", "b.txt")]
    for file, text in zip(files, ("[UNK] [SEP]", "[MASK]"), strict=True):
        Path(file.path).write_text(text)
    parts = [counted(files, [Segment(number)], 1000) for number in range(2)]
    counts = merged(parts, is_compiled=False).word_counts(PIPELINE, [file.path for file in files])
    assert repr(counts.statistics) == repr(count_words(files).statistics)
    assert list(counts.statistics.spelled_out) == ["[MASK]", "[SEP]", "[UNK]"]


def test_a_summary_has_no_words(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\none\n")
    part = counted([CorpusFile(str(tmp_path / "a.txt"))], [Segment(0)], 1000)
    summary = summary_of(part)
    assert isinstance(summary, PartCounts)
    assert (summary.bytes_read, summary.first_file, summary.files) == (12, 0, part.files)
    assert (part.files[0].words, part.files[0].lines) == (3, 2)
    assert summary.words == b""
    assert not any(map(len, (summary.numbers, summary.counts, summary.places, summary.ends)))


def test_the_first_fault_is_kept(tmp_path: Path) -> None:
    good, bad, worse = (CorpusFile(str(tmp_path / name)) for name in ("good.txt", "bad.txt", "worse.txt"))
    Path(good.path).write_text("one")
    Path(bad.path).write_bytes(b"one\n\xff")
    Path(worse.path).write_bytes(b"\0")
    files = {0: good, 1: bad, 2: worse}
    fault = merged_counts(
        [counted_by_worker(files, [Segment(n)], PIPELINE, 10, 0) for n in range(3)], may_compile=False
    )
    assert isinstance(fault, Fault)
    assert (fault.file, fault.has_lines_before) == (1, False)
    assert "bad.txt, line 2: the bytes FF at byte 4" in str(fault.error)
    cut = counted_by_worker(files, [Segment(1, 2)], PIPELINE, 10, 0)
    assert isinstance(cut, Fault)
    assert cut.has_lines_before
    assert "bad.txt, line 1: the bytes FF at byte 4" in str(cut.error)


def test_files_that_are_cut(tmp_path: Path) -> None:
    texts = ("one\ntoolong one\nthree\n", "two\ntoolong\none\n\ntoolong three\none two\n", "six\n")
    files = [CorpusFile(str(tmp_path / f"{number}.txt")) for number in range(3)]
    for file, text in zip(files, texts, strict=True):
        Path(file.path).write_text(text, newline="")
    stretches = [
        [Segment(0, 0, 10)],
        [Segment(0, 10), Segment(1, 0, 5)],
        [Segment(1, 5, 18)],
        [Segment(1, 18), Segment(2)],
    ]
    a, b, c, d = (counted(files, stretch, 5) for stretch in stretches)
    reference = count_words(files, max_word_length=5)
    assert [(word.line, word.byte) for word in reference.skipped] == [(2, 4), (2, 4), (5, 17)]
    for whole in (merged([a, b, c, d]), merged([merged([a, b]), merged([c, d])]), merged([a, merged([b, c]), d])):
        counts = whole.word_counts(PIPELINE, [file.path for file in files])
        assert counts.items() == reference.items()
        assert counts.skipped == reference.skipped
        assert counts.statistics == reference.statistics
