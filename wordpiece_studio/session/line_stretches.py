"""Cuts a text into lines, and long lines into stretches that may be tokenized one by one. Plain Python: no Qt.

A cut is only where no word and no special token reaches over it, and where it changes nothing beside it: behind a
blank, or, to a pipeline that goes by single characters, behind one that is a word by itself, as ideographs are to BERT.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from wordpiece_studio.text.normalizer import Normalizer
    from wordpiece_studio.text.pre_tokenizer import PreTokenizer
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

    _Steps = tuple[Normalizer, PreTokenizer, frozenset[str]]

_LONG_LINE = 1000
_LINE = re.compile(r"[^\n]*\n?")
_MARKS = string.punctuation + "、。，！？：；「」『』（）《》"
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
_ONE_IDEOGRAPH = "汉"


class LineCutter:
    """Cuts texts for one tokenizer after another; what it found out about their pipeline it keeps."""

    def __init__(self) -> None:
        self._steps: _Steps | None = None
        self._stretch: re.Pattern[str] | None = None

    def set_tokenizer(self, tokenizer: Tokenizer) -> bool:
        """Cut for this tokenizer; tells whether texts may be cut otherwise from now on."""
        steps = tokenizer.normalizer, tokenizer.pre_tokenizer, frozenset(tokenizer.vocabulary.special_tokens)
        if steps == self._steps:
            return False
        self._steps = steps
        self._stretch = stretch_pattern(Pipeline(*steps[:2]), steps[2])
        return True

    def cut(self, text: str) -> list[str]:
        """Return the lines of a text with their line ends; lines of more than 1,000 characters in stretches."""
        return cut_lines(text, self._stretch)


def cut_lines(text: str, stretch: re.Pattern[str] | None) -> list[str]:
    """Return the lines of a text with their line ends, long ones in stretches; where `stretch` is None, whole.

    Joined they are the text.
    """
    lines = [line for line in _LINE.findall(text) if line]
    if stretch is None or all(len(line) <= 2 * _LONG_LINE for line in lines):
        return lines
    return [each for line in lines for each in (stretch.findall(line) if len(line) > _LONG_LINE else [line])]


def stretch_pattern(pipeline: Pipeline, special_tokens: frozenset[str] = frozenset()) -> re.Pattern[str] | None:
    r"""Return what finds the stretches of a line, of about 1,000 characters each; None if it must stay whole.

    >>> from wordpiece_studio.text.normalizers import BertNormalizer
    >>> from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
    >>> bert = Pipeline(BertNormalizer(), BertPreTokenizer())
    >>> [len(each) for each in cut_lines("汉" * 2500, stretch_pattern(bert))]
    [1000, 1000, 500]
    """
    if not pipeline.is_local or any(" " in token for token in special_tokens):
        return None
    ends = r"(?=[ \n])|\Z"  # a tabulator is no blank to every normalizer
    if cuts := _cut_characters(pipeline, special_tokens):
        ends = rf"(?<=[{cuts}])(?=[\w{cuts}])|{ends}"
    return re.compile(rf"[^\n]{{1,{_LONG_LINE}}}[^ \n]*?(?:{ends}) ?\n?|\n")


def _cut_characters(pipeline: Pipeline, special_tokens: frozenset[str]) -> str:
    """Return characters, for a class of a pattern, behind which a text may be cut; empty if there are none."""
    if not pipeline.is_by_character:
        return ""
    in_special = set().union(*special_tokens)
    marks = (mark for mark in _MARKS if mark not in in_special and _is_a_word(mark, pipeline))
    cuts = "".join(map(re.escape, marks))
    return cuts + _IDEOGRAPHS if _is_a_word(_ONE_IDEOGRAPH, pipeline) else cuts


def _is_a_word(character: str, pipeline: Pipeline) -> bool:
    """Tell whether a character is a word by itself, whatever stands around it."""
    is_alone = not pipeline.normalizer.regards_neighbours(character)
    return is_alone and len(pipeline.words(f"a{character}a")) == 3
