"""The samples that come with the program: corpora, each with settings that suit it, and whole documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.resources import resource_path
from wordpiece_studio.session.document_samples import document_titles

if TYPE_CHECKING:
    from wordpiece_studio.training.config import Objective

START_SAMPLE = "course-en.txt"
_SEARCHED = 2000  # characters
_LONGEST_SENTENCE = 100


@dataclass(frozen=True, slots=True)
class SampleCorpus:
    """A sample corpus, or a document, of which only name and title are given here: the rest is its project.

    Attributes
    ----------
    name
        The name of its file, or of the document.
    title
        Its name in the menu.
    sentence
        A text to tokenize with the vocabulary learned from it; empty if there is none.
    size
        The vocabulary size to train to; 0 trains as far as possible.
    objective
        The course's, whose formula the samples teach.
    normalizer, pre_tokenizer
        The names of its normalizer and pre-tokenizer.
    step
        The step shown when it is trained; None is the last one.
    """

    name: str
    title: str
    sentence: str = ""
    size: int = 0
    objective: Objective = "score"
    normalizer: str = "bert-cased"
    pre_tokenizer: str = "bert"
    step: int | None = None


def samples() -> list[SampleCorpus]:
    """Return every sample, the one shown at startup first, the documents last."""
    names = sorted(path.name for path in resource_path("samples").glob("*.txt"))
    names.sort(key=lambda name: name != START_SAMPLE)  # stable: the others stay in order
    documents = [SampleCorpus(name, title) for name, title in document_titles().items()]
    return [*map(sample, names), *documents]


def sample(name: str) -> SampleCorpus:
    """Return the sample in the file `name`."""
    known = {
        # 70 tokens, as in the Hugging Face course, where the "!" of this example is unknown.
        "course-en.txt": (_tr("English: the Hugging Face course"), "This is the Hugging Face course!", 70),
        "hug.txt": ("hug, pug, pun, bun, hugs", "hugs pug puns mug", 0),
        "spanish.txt": (_tr("Spanish: the storks"), "La niña contaba los niños.", 110),
        "chinese.txt": (_tr("Chinese: the river in spring"), "春天的小鱼在河边唱歌。", 90),
        "korean.txt": (_tr("Korean: the grandmother’s stories"), "할머니는 꽃에 물을 주셨다.", 110),
    }
    title, sentence, size = known.get(name, (name.removesuffix(".txt").replace("-", " "), "", 0))
    # BERT makes every Chinese character a word, which leaves no pair to learn.
    normalizer = "bert-cased:keep-chinese" if name == "chinese.txt" else "bert-cased"
    step = 1 if name == "hug.txt" else None  # small enough to be followed from its first merge
    return SampleCorpus(name, title, sentence, size, normalizer=normalizer, step=step)


def first_sentence(text: str) -> str:
    """Return a short sentence from the beginning of `text` to try out, from a line of several words if there is one.

    >>> first_sentence("Four words are here.")
    'Four words are here.'
    """
    lines = [line.strip() for line in text[:_SEARCHED].splitlines() if line.strip()]
    line = next((line for line in lines if len(line.split()) > 3), lines[0] if lines else "")
    if len(line) <= _LONGEST_SENTENCE:
        return line
    cut = line[:_LONGEST_SENTENCE]
    return cut.rpartition(" ")[0] or cut


def _tr(text: str) -> str:
    return QCoreApplication.translate("samples", text)
