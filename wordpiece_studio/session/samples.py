"""The samples that come with the program, each a project with text, settings, runs and notes of its own.

Some are corpora to watch a training on. The others are documents that the program began with: the Hugging Face course's
chapter on WordPiece and what others made of it. `tests/test_documents.py` reproduces all that they print.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QCoreApplication

from wordpiece_studio.corpus.count_tables import entry_of, is_typed_counts
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.lesson import RunPlan
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run, RunOrigin, steps_of
from wordpiece_studio.storage.view import Bookmark, RunTab, View
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

_tr = partial(QCoreApplication.translate, "samples")

TEXT = "This is the Hugging Face course!"
ARTICLE = "low lower newest widest"
TEXT_OF_ARTICLE = "newest Ilikeeatingapples!"
CLEANED = "corpus:lowercase+corpus:remove:,.+bert-cased"
_SCORE = TrainingConfig(objective="score", vocab_size=70)
_ALL = TrainingConfig(objective="score")
_ALONE = replace(_ALL, special_tokens=())
# That is, ten merges; a size is what other libraries are trained to, too.
_BYTE_PAIRS = TrainingConfig(
    objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>", special_tokens=("</u>",),
    unk_token="</u>", vocab_size=22,
)  # fmt: skip
_LIBRARY = TrainingConfig(vocab_size=70).replaying(())
_LIBRARY_TOKENS = ("[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """A corpus, the runs on it, and a text to tokenize with what they learned."""

    corpus: str
    runs: tuple[RunPlan, ...]
    text: str = TEXT
    step: int | None = None  # of the first run, which is shown; None is the last one
    notes: Mapping[int, str] = field(default_factory=dict)  # of steps of it
    offered: str = ""  # a text that suits another run
    is_longest_first: bool = False


def _read(name: str) -> str:
    return resource_path(f"samples/{name}").read_text(encoding="utf-8")


def _course() -> str:
    return _read(START_SAMPLE)


def _mistake() -> str:
    return _tr("The course merges hu + ##g next, with a score of 1/15. But that score is 10/(15 × 15) = 2/45; only "
               "hu + ##gs has 5/(15 × 5) = 1/15. Among the others, ##u + ##g has 5/(21 × 15) = 1/63, not 1/21. The "
               "run “The course’s way to hug” makes the merge that the course prints, and splits hugs into hug ##s."
               )  # fmt: skip


def _way_of_course(config: TrainingConfig) -> RunPlan:
    size = len(config.special_tokens) + 7 + 3  # the characters of the five words, and three merges
    config = replace(config, vocab_size=size, chosen_merges=((3, "hu", "##g"),))
    return RunPlan(_tr("The course’s way to hug"), config, is_compared=False)


def _course_in_english() -> _Sample:
    notes = {
        25: _tr("With these 70 tokens, ! is unknown, as in the course. The five words of its text are the sample “hug, "
                "pug, pun, bun, hugs”, where a note says what is wrong there: 10/(15 × 15) is 2/45, not 1/15.")
    }  # fmt: skip
    return _Sample(corpus=_course(), runs=(RunPlan("", _SCORE, is_compared=False),), notes=notes)


def _hug() -> _Sample:
    return _Sample(
        corpus=_read("hug.txt"),
        runs=(RunPlan(_tr("By the rule"), _ALL, is_compared=False), _way_of_course(_ALL)),
        text="hugs pug puns mug", step=1, notes={2: _mistake()},
    )  # fmt: skip


def _language(name: str, text: str, size: int, normalizer: str = "bert-cased") -> _Sample:
    run = RunPlan("", replace(_ALL, vocab_size=size), normalizer, is_compared=False)
    return _Sample(corpus=_read(name), runs=(run,), text=text)


def _spanish() -> _Sample:
    return _Sample(
        corpus=_read("hug.txt"),
        runs=(
            RunPlan(_tr("Walkthrough, step by step"), _ALONE, is_compared=False),
            RunPlan(_tr("The course’s code, 70 tokens"), _SCORE, text=_course(), is_compared=False),
            _way_of_course(_ALONE),
        ),
        text="hugs bugs mug bum pugs",
        offered=TEXT,
        step=2,
        notes={
            2: _mistake(),
            4: _tr("The course’s exercises. After its own merge of hug, the next merge is hu + ##gs, with 5/(5 × 5) = "
                   "1/5. By its rule, that pair came first and the next one is p + ##u. And pugs is split into p ##u "
                   "##gs."),
        },
    )  # fmt: skip


def _english() -> _Sample:
    low = replace(_LIBRARY, special_tokens=_LIBRARY_TOKENS)
    counts = _counted(_course(), "bert-uncased", "bert")
    # The library takes the order of ties at random. In that of the text it prints what the notebook shows.
    order = dict.fromkeys(f"##{character}" for word in counts.words for character in word[1:])
    return _Sample(
        corpus=_course(),
        runs=(
            RunPlan(_tr("The notebook’s class"), _SCORE),
            RunPlan("train_new_from_iterator", _LIBRARY),
            RunPlan("WordPieceTrainer", low.replaying([*order]), "bert-uncased"),
            RunPlan(_tr("Whitespace only"), low, "nfd+lowercase+strip-accents", "whitespace-split", is_compared=False),
        ),
        notes={
            1: _tr("WordPieceTrainer learns by count. Among the notebook’s normalizers and pre-tokenizers, only "
                   "WhitespaceSplit gives different words, such as “course.”; the last run uses it, with NFD, "
                   "Lowercase and StripAccents."),
            25: _tr("The notebook’s class picks the best pair from scores that it never recomputes, so it merges a + "
                    "##b 25 times. Its output comes from the vocabulary learned before that, which is this one."),
        },
    )  # fmt: skip


def _traditional_chinese() -> _Sample:
    times = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    counted = " ".join(" ".join([word] * n) for word, n in times.items())
    plain = ("none", "whitespace-split")
    return _Sample(
        corpus=ARTICLE,
        runs=(
            RunPlan(_tr("Byte pair encoding"), _BYTE_PAIRS, *plain),
            RunPlan(_tr("Low 5 times, lower 2, newest 6, widest 3"), _BYTE_PAIRS, *plain, counted, is_compared=False),
            RunPlan("WordPiece", _ALONE, *plain),
        ),
        text=TEXT_OF_ARTICLE,
        step=3,
        is_longest_first=True,
        notes={
            1: _tr("The article calls p(ab) / (p(a) × p(b)) mutual information. For l + o, it is (2/24) / (2/24 × "
                   "2/24) = 12: the score, 1/2, times the number of symbols, 24. Mutual information is its logarithm. "
                   "The run “WordPiece” uses that score, with ## instead of </w>."),
            2: _tr("The article says that its choice minimizes the code length. With ##, its four words, each once, "
                   "take 65.68 bits at the frequencies of their symbols. After one merge, they take 59.96 by the "
                   "score, but 56.30 by likelihood or count. See “Code length” in Help."),
            3: _tr("The article’s table of tokens after each merge matches the Vocabulary pane, which shows how often "
                   "each token occurs and, in its title, how many are in use and by how much that changed. The chart "
                   "“Tokens in use” plots this number; with so few words, it falls at once."),
            10: _tr("Below the split by merges is the split of the article’s own encoder: a word in the corpus keeps "
                    "its merged form; in any other word, the longest token is taken wherever it occurs, even the w in "
                    "</w>, and the rest becomes </u>. For Unigram and SentencePiece, choose Training ▸ Train with "
                    "another library."),
        },
    )  # fmt: skip


def _simplified_chinese() -> _Sample:
    steps = "none", "unicode-punctuation"
    return _Sample(
        corpus=_course(),
        runs=(
            RunPlan(_tr("Step by step"), _SCORE, *steps),
            RunPlan(_tr("By the most frequent pair"), replace(_SCORE, objective="count"), *steps),
        ),
        notes={
            25: _tr("The notebook’s list of merges is the Left and Right columns of Merge history. It records merges "
                    "but splits words by longest match. Its pre_tokenize is the pre-tokenizer “Unicode punctuation”.")
        },
    )  # fmt: skip


def _korean() -> _Sample:
    return _Sample(
        corpus=_course().replace("Course", "course"),
        runs=(
            RunPlan(_tr("Only the corpus is cleaned"), _SCORE, CLEANED),
            RunPlan(_tr("The text is cleaned too"), _SCORE, "lowercase+remove:,.+bert-cased"),
            RunPlan(_tr("Likelihood"), replace(_SCORE, objective="likelihood"), CLEANED),
        ),
        notes={
            1: _tr("The notebook says that WordPiece uses likelihood, but it computes the score, which for a + ##b is "
                   "2/(5 × 2) = 1/5. The run “Likelihood” uses likelihood."),
            30: _tr("The notebook cleans the corpus but not the text, so This, Hugging, Face and ! are [UNK]. The "
                    "second run has the cleaning in its normalizer and splits the three words; ! is not in the corpus "
                    "and stays [UNK]."),
        },
    )  # fmt: skip


START_SAMPLE = "course-en.txt"
_SAMPLES: dict[str, Callable[[], _Sample]] = {
    START_SAMPLE: _course_in_english,
    "hug.txt": _hug,
    # BERT makes every Chinese character a word, which leaves no pair to learn.
    "chinese.txt": partial(_language, "chinese.txt", "春天的小鱼在河边唱歌。", 90, "bert-cased:keep-chinese"),
    "korean.txt": partial(_language, "korean.txt", "할머니는 꽃에 물을 주셨다.", 110),
    "spanish.txt": partial(_language, "spanish.txt", "La niña contaba los niños.", 110),
    "spanish-course": _spanish,
    "english-notebook": _english,
    "traditional-chinese-article": _traditional_chinese,
    "simplified-chinese-notebook": _simplified_chinese,
    "korean-notebook": _korean,
}


def document_titles() -> dict[str, str]:
    return {
        "spanish-course": _tr("Spanish course: hug, pug, pun, bun, hugs"),
        "english-notebook": _tr("English notebook: one class, and the library’s trainer"),
        "traditional-chinese-article": _tr("Traditional Chinese article: byte pair encoding"),
        "simplified-chinese-notebook": _tr("Simplified Chinese notebook: splitting by patterns"),
        "korean-notebook": _tr("Korean notebook: a lowercase corpus without punctuation"),
    }


def samples() -> list[tuple[str, str, str]]:
    """Return name and title of every sample, and what it is for."""
    uses = {
        _tr("To follow every merge"): {
            START_SAMPLE: _tr("English: the Hugging Face course"),
            "hug.txt": "hug, pug, pun, bun, hugs",
        },
        _tr("To try another language"): {
            "chinese.txt": _tr("Chinese: the river in spring"),
            "korean.txt": _tr("Korean: the grandmother’s stories"),
            "spanish.txt": _tr("Spanish: the storks"),
        },
        _tr("To follow a published lesson"): document_titles(),
    }
    return [(name, title, use) for use, titles in uses.items() for name, title in titles.items()]


def text_offered(name: str) -> str:
    return _SAMPLES[name]().offered


def sample_project(name: str) -> Project:
    sample, title = _SAMPLES[name](), next(title for each, title, _ in samples() if each == name)
    project = planned_project(title, sample.corpus, sample.runs, View())
    history = project.runs[0].history
    notes = tuple(Bookmark(step, note, history[step - 1].token, owner=0) for step, note in sample.notes.items())
    view = msgspec.structs.replace(
        project.view, step=len(history) if sample.step is None else sample.step, live_text=sample.text, notes=notes,
        is_longest_first=sample.is_longest_first,
    )  # fmt: skip
    return replace(project, view=view)


def planned_project(
    title: str, corpus: str, planned: Sequence[RunPlan], view: View, *, should_stop: Callable[[], bool] = lambda: False
) -> Project:
    """Return a project with its runs, trained as if no one had asked for them, so that nothing is lost with them."""
    runs, tabs, shown = [], [], planned[view.current]
    for number, run in enumerate(planned):
        text = run.text or corpus
        counts = _counted(text, run.normalizer, run.pre_tokenizer)
        trained = train(counts, run.config, should_stop=should_stop)
        is_of_corpus = (text, run[2:4]) == (corpus, shown[2:4])
        origin = RunOrigin(corpus_name=title, corpus=None if is_of_corpus else ProjectCorpus(name=title, text=text))
        runs.append(
            Run(counts, run.config, trained.history, stop_reason=trained.stop_reason, origin=origin,
                is_of_corpus=is_of_corpus, number=number)
        )  # fmt: skip
        tabs.append(RunTab(number, run.name, number, is_compared=run.is_compared, step=len(trained.history)))
    settings = ProjectSettings(training=shown.config.to_dict(), **steps_of(runs[view.current].counts))
    runs.sort(key=lambda run: run.number != view.current)  # the one that is shown comes first
    view = msgspec.structs.replace(view, tabs=tuple(tabs))
    return Project(settings=settings, corpus=ProjectCorpus(name=title, text=corpus), view=view, runs=tuple(runs))


def _counted(text: str, normalizer: str | Normalizer, pre_tokenizer: str | PreTokenizer) -> WordCounts:
    from wordpiece_studio.corpus.counting.counting import count_corpus  # otherwise only children of the window count

    steps = normalizer, pre_tokenizer
    return count_corpus(text, (), *steps, 1000, progress=lambda _: None, should_stop=lambda: False)


_SEARCHED = 2000  # characters
_LONGEST_SENTENCE = 100


def first_sentence(text: str) -> str:
    """Return a short sentence from the beginning of `text` to try out, from a line of several words if there is one.

    Of words with their counts, it is the first words.

    >>> first_sentence("Four words are here.")
    'Four words are here.'
    """
    lines = [line.strip() for line in text[:_SEARCHED].splitlines() if line.strip()]
    if is_typed_counts(text):
        lines = [" ".join(entry[0] for line in lines if (entry := entry_of(line)) is not None)]
    line = next((line for line in lines if len(line.split()) > 3), lines[0] if lines else "")
    if len(line) <= _LONGEST_SENTENCE:
        return line
    cut = line[:_LONGEST_SENTENCE]
    return cut.rpartition(" ")[0] or cut
