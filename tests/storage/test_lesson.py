"""Lessons as text files: what is read, what is refused and with which line, and the help page that describes them."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.lesson import (
    FUNCTIONS,
    LARGEST_BYTES,
    LAST_STEP,
    PANES,
    SWITCHES,
    Lesson,
    Page,
    is_lesson,
    lesson_paths,
    parse_lesson,
    read_lesson,
)
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.system.printable import printable

HEAD = """---
lesson: Counting
objective: score
special_tokens: none
---

```
hug 10
pug 5
pun 12
bun 4
hugs 5
```

"""


def lesson(pages: str, head: str = HEAD) -> Lesson:
    return parse_lesson(head + pages, Path("some") / "counting.md")


def page(lines: str) -> Page:
    return lesson(f"## Do it\n\n{lines}").pages[0]


def test_the_example_of_the_help_is_a_lesson() -> None:
    example = re.search(r"^    ---\n(?:    .*\n|\n)+", resource_path("help/lessons.md").read_text("utf-8"), re.M)
    assert example is not None
    found = parse_lesson(dedent(example[0]), "example.md")
    assert (found.title, found.order, len(found.pages)) == ("Counting pairs", 10, 4)
    kinds = [question.kind for page in found.pages if (question := page.question) is not None]
    assert kinds == ["ask", "view", "ask", "choose"]
    assert found.pages[2].question is not None
    assert found.pages[2].question.because == "The longest token that fits is taken first."


def test_the_help_has_every_function_switch_and_pane_and_no_other() -> None:
    text = resource_path("help/lessons.md").read_text("utf-8")
    assert {*re.findall(r"^\| `ask: ([a-z_]+)\(", text, re.M)} == {*FUNCTIONS}
    assert {*re.findall(r"^\| `(\w+): yes`", text, re.M)} == {*SWITCHES}
    (panes,) = re.findall(r"^\| `pane: .*$", text, re.M)
    assert {*re.findall(r"`(\w+)`", panes), "scoreboard"} == {*PANES}


def test_a_page_begins_where_the_one_before_ends() -> None:
    first, second, third = lesson(
        "## Step\nlive_text: pugs\nstep: 1\ncheck: step = 3\n## Look\npane: history\n## End\nstep: last\n"
    ).pages
    assert (first.view.step, first.solved.step) == (1, 3)
    assert (second.view.step, second.view.live_text, second.pane) == (3, "pugs", "history")
    assert (third.view.step, third.pane) == (LAST_STEP, "")


def test_a_line_that_begins_with_a_token_is_text() -> None:
    assert page("##u ##g is a pair.\nstep: 2").text == "##u ##g is a pair."


def test_texts_are_plain_and_on_one_line() -> None:
    found = lesson("##  **Do** `it`\n\nFirst *line*.\nSecond\u202eline, n(a) * n(b).\n").pages[0]
    assert (found.title, found.text) == ("Do it", "First line. Second\\u202eline, n(a) * n(b).")


def test_a_hint_is_said_with_a_wrong_answer_and_a_reason_with_the_right_one() -> None:
    for task in ("choose: This\nright: That", "ask: n(h)", "check: step = 1"):
        question = page(f"{task}\nbecause: It is.\nhint: Look.\nhint: Count.").question
        assert question is not None
        assert (question.because, question.hint) == ("It is.", "Look. Count.")


@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("pair h ##u", Selection("pair", "h", "##u")),
        ("token hu", Selection("token", text="hu")),
        ("word hugs", Selection("word", text="hugs")),
        ("none", None),
    ],
)
def test_what_is_selected(text: str, selection: Selection | None) -> None:
    assert page(f"selection: {text}").view.selection == selection


def test_runs_have_the_settings_before_the_first_and_their_own() -> None:
    head = HEAD.replace("objective: score\n", "vocab_size: 12\n").replace(
        "none\n---",
        "none\nrun: Score\nobjective: score\nrun: BPE\nobjective: count\ncontinuing_subword_prefix:\n"
        "end_of_word_suffix: </w>\nchosen_merges: 1 p u, 2 pu n\n---",
    )
    found = lesson("## Look\ncurrent: BPE\nask: n(h ##u) at step 2 in Score\n", head)
    first, second = found.runs
    assert (first.name, first.config.objective, first.config.vocab_size) == ("Score", "score", 12)
    assert second.config.is_byte_pair_encoding
    assert second.config.chosen_merges == ((1, "p", "u"), (2, "pu", "n"))
    assert found.pages[0].view.current == 1
    question = found.pages[0].question
    assert question is not None
    assert (question.about, question.step, question.run) == ("h ##u", 2, 0)
    assert [run.is_compared for run in found.runs] == [True, True]


WRONG = {
    "## Do it\nsetp: 2\n": (16, "setp"),
    "## Do it\nstep: two\n": (16, "does not fit"),
    "## Do it\npane: kitchen\n": (16, "scoreboard"),
    "## Do it\nis_longest_first: perhaps\n": (16, "does not fit"),
    "## Do it\nselection: hug\n": (16, "cannot be selected"),
    "## Do it\ncurrent: BPE\n": (16, "is not known"),
    "## Do it\nask: n()\n": (16, "cannot be asked"),
    "## Do it\nask: eval(1)\n": (16, "cannot be asked"),
    "## Do it\nask: merge(one)\n": (16, "merge(step)"),
    "## Do it\nask: score(h)\n": (16, "score(pair)"),
    "## Do it\ncheck: stop\n": (16, "cannot be checked"),
    "## Do it\ncheck: trained objective = luck\n": (16, "objective"),
    "## Do it\ncheck: trained luck = 1\n": (16, "luck"),
    "## Do it\ncheck: step = 1\n\nask: n(h)\n": (18, "one question"),
    "## Do it\nchoose: This\nchoose: That\n": (16, "right"),
    "## Do it\nright: This\nchoose: This\n": (16, "different"),
    "Stray\n## Do it\n": (15, "title"),
    "##\nText.\n": (15, "has a title"),
    f"## Do it\n\nSay{' much' * 200}.\n": (17, "characters"),
    f"## Do it\n{('word' * 30 + chr(10)) * 20}": (15, "of up to 500"),
}


@pytest.mark.parametrize("pages", WRONG)
def test_what_is_wrong_is_told_with_its_line(pages: str) -> None:
    line, words = WRONG[pages]
    with pytest.raises(StudioError) as caught:
        lesson(pages)
    assert str(caught.value).startswith(f"some{'/'}counting.md, line {line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("head", "line", "words"),
    [
        ("", 1, "between two lines"),
        (HEAD.replace("lesson: Counting", "title: Counting"), 2, "begins with its title"),
        (HEAD.replace("objective: score", "objective: luck"), 3, "objective"),
        (HEAD.replace("objective: score", "objektive: score"), 3, "objektive"),
        (HEAD.replace("objective: score", "base_tokens: a"), 3, "base_tokens"),
        (HEAD.replace("objective: score", "vocab_size: many"), 3, "does not fit"),
        (HEAD.replace("objective: score", "normalizer: luck"), 3, "luck"),
        (HEAD.replace("objective: score", "corpus: ../hug.txt"), 3, "no sample"),
        (HEAD.replace("none\n", "none\n" + "run: x\n" * 9), 13, "at most 8 runs"),
        (HEAD.replace("objective: score", "objective: score\nobjective: count"), 4, "twice"),
        (HEAD.replace("objective: score", "Something"), 3, "name: value"),
        (HEAD.partition("```")[0], 6, "no corpus"),
    ],
)
def test_what_is_wrong_in_the_settings_is_told_with_its_line(head: str, line: int, words: str) -> None:
    with pytest.raises(StudioError) as caught:
        lesson("## Do it\n", head)
    assert f", line {line}: " in str(caught.value)
    assert words in str(caught.value)


@given(st.text(max_size=400))
def test_any_text_is_a_lesson_or_refused(text: str) -> None:
    for whole in (text, HEAD + text, HEAD + "## Do it\n" + text, HEAD.replace("Counting\n", f"Counting\n{text}\n")):
        try:
            told = "".join(page.title + page.text for page in parse_lesson(whole, "any.md").pages)
        except StudioError as error:
            told = str(error)
            assert ", line " in told
        assert printable(told) == told


@given(
    st.lists(
        st.sampled_from(["step: 1", "step: last", "ask: n(h)", "check: step = 2", "choose: a", "right: b", "choose: c",
                         "## Next", "live_text: {0} %s", "because: x", "pane: corpus", "current:", "ask: tokens(", ""]),
        max_size=12,
    )
)  # fmt: skip
def test_any_lines_are_pages_or_refused(lines: list[str]) -> None:
    try:
        told = f"{len(lesson('## Do it' + chr(10) + chr(10).join(lines)).pages)} pages"
    except StudioError as error:
        told = str(error)
    assert re.search(r", line \d+: ", told) or told == f"{1 + lines.count('## Next')} pages"


def test_a_file_is_known_by_how_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    for data, expected in ((HEAD.encode(), True), (b"\xef\xbb\xbf" + HEAD.encode(), True), (b"# Notes\n", False),
                           (b"---\ntitle: x\n---\n", False), (b"\xff\x00", False), (b"", False)):  # fmt: skip
        path.write_bytes(data)
        assert is_lesson(path) is expected
    assert not is_lesson(tmp_path)
    assert not is_lesson(tmp_path / "missing.md")


def test_a_file_that_is_large_or_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(HEAD.encode() + b"x" * LARGEST_BYTES)
    with pytest.raises(StudioError, match="too much for a lesson"):
        read_lesson(path)
    path.write_bytes(HEAD.encode() + b"## \xff\n")
    with pytest.raises(StudioError, match="line 15"):
        read_lesson(path)
    path.write_text(HEAD + "## Do it\n", encoding="utf-8-sig")
    assert read_lesson(path).name == "a"


def test_lessons_are_found_by_language_and_else_in_english() -> None:
    english = lesson_paths()
    assert english
    assert lesson_paths("xx_YY") == english
    assert lesson_paths("../../help") == english
