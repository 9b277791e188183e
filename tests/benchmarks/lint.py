"""What the linter says of real corpora, and what its fixes change in the vocabulary that is learned.

``python -m tests.benchmarks.lint`` looks at every ``course-*.txt`` beside the project, or at the files named, with
BERT's normalizers, cased and uncased, and with none; it prints each warning, and tokens before and after its fix.
"""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

import wordpiece_studio as wps
from wordpiece_studio.corpus.linter.finding import Finding, PipelineFix, TextFix, sample_of_text
from wordpiece_studio.corpus.linter.linter import findings, repaired
from wordpiece_studio.corpus.linter.word_checks import stray_characters
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = Path(__file__).resolve().parents[3] / "shared" / "corpora"
PIPELINES = (("bert-uncased", "bert"), ("bert-cased", "bert"), ("none", "whitespace-split"))
MERGES = 1000

_CONCERNED = {
    "jamo": "with jamo",
    "lost-marks": "with accents or signs",
    "characters-alone": "of two East Asian characters or more",
    "twins": "not in NFC",
    "invisible": "with invisible characters",
    "long-words": "of over 20 characters",
}
_JAMO = re.compile("[\u1100-\u11ff]")
_EAST_ASIAN = re.compile("[\u3041-\u30fa\u3400-\u9fff\uac00-\ud7a3]{2}")
_MARKS = re.compile("[\u0300-\u036f\u0591-\u1000\u3099\u309a]")


def look(text: str, normalizer: str, pre_tokenizer: str) -> list[Finding]:
    """Return what the linter finds in a text that can be edited."""
    pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))
    counts = wps.count_texts([text], normalizer, pre_tokenizer)
    return findings(sample_of_text(text), counts, pipeline)


def mended(text: str, finding: Finding, normalizer: str, pre_tokenizer: str) -> tuple[str, str, str]:
    """Return text, normalizer and pre-tokenizer after the fix; the same if there is none."""
    match finding.fix:
        case PipelineFix(other, cut):
            return text, other, cut
        case TextFix() as fix:
            return repaired(text, fix), normalizer, pre_tokenizer
    return text, normalizer, pre_tokenizer


def learned(text: str, normalizer: str, pre_tokenizer: str, merges: int = MERGES) -> list[str]:
    """Return the tokens that a training learns, without their prefix, those of one character too."""
    counts = wps.count_texts([text], normalizer, pre_tokenizer)
    run = wps.train(counts, wps.TrainingConfig(max_merges=merges, objective="count"))
    return [token.removeprefix("##") for token in run.vocabulary.tokens]


def concerned(kind: str, tokens: list[str]) -> list[str]:
    """Return the tokens that a finding of this kind is about."""
    tests = {
        "jamo": _JAMO.search,
        "lost-marks": lambda token: _MARKS.search(unicodedata.normalize("NFD", token)),
        "characters-alone": _EAST_ASIAN.search,
        "twins": lambda token: not unicodedata.is_normalized("NFC", token),
        "invisible": stray_characters,
        "long-words": lambda token: len(token) > 20,
    }
    return [token for token in tokens if tests[kind](token)]


def report(path: Path) -> Iterator[str]:
    """Yield the lines that say what is found in a file, and what each fix changes."""
    text = path.read_text(encoding="utf-8")
    for normalizer, pre_tokenizer in PIPELINES:
        began = time.process_time()
        found = look(text, normalizer, pre_tokenizer)
        seconds = time.process_time() - began
        yield f"\n{path.name} · {normalizer} · {pre_tokenizer} · counted and looked at in {seconds:.2f} s of CPU"
        if not found:
            yield "   nothing suspicious"
        for finding in found:
            yield f"   {finding.severity}: {finding}"
            yield from (f"      {example.before[:70]} → {example.after[:70]}" for example in finding.examples[:2])
            after = mended(text, finding, normalizer, pre_tokenizer)
            if after == (text, normalizer, pre_tokenizer):
                yield f"      no button; {finding.fix}"
                continue
            yield f"      [{finding.fix_name}] {finding.fix}"
            yield from _change(finding.kind, learned(text, normalizer, pre_tokenizer), learned(*after))
            left = [other.kind for other in look(*after)]
            yield f"      afterwards: {'still there!' if finding.kind in left else 'gone'}; found then: {left}"


def _change(kind: str, before: list[str], after: list[str]) -> Iterator[str]:
    for name, tokens in (("before", before), ("after", after)):
        about = concerned(kind, tokens)
        longest = " ".join(sorted(about, key=len, reverse=True)[:6])
        yield f"      {name}: {len(about):,} of {len(tokens):,} tokens {_CONCERNED[kind]}  {longest[:100]}"


def main() -> None:
    """Look at the files named, or at all there are."""
    console = Console()
    for path in [Path(name) for name in sys.argv[1:]] or sorted(SHARED.glob("course-*.txt")):
        for line in report(path):
            console.print(line, highlight=False, markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
