"""Whether a tokenizer is healthy: one check for each thing that can be wrong with it, with the reason and what to do.

What is broken fails; what may be meant so, but costs something, is a warning. Each limit is a constant here.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from wordpiece_studio import tokenizer as room
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.evaluating import common_reading, named_tokenizers
from wordpiece_studio.evaluation.extension import UNUSED
from wordpiece_studio.evaluation.held_out import TextInFiles, Watch, as_text, as_texts, is_given, texts_by_name
from wordpiece_studio.evaluation.reachability import reachability
from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN, parts_encoded
from wordpiece_studio.text.pre_tokenizers import ByteLevel, text_of_letters
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer, WordEncoder
from wordpiece_studio.tokenizer.vocabulary import UNKNOWN_TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.evaluation.evaluating import Measurable
    from wordpiece_studio.evaluation.held_out import CountedWord, Report, Text, TextInWords
    from wordpiece_studio.tokenizer.encoding import Encoder, LibraryEncoder

CheckStatus = Literal["pass", "warning", "fail", "skipped"]

_TOO_MUCH_UNKNOWN = 0.1  # the share of unknown words from which a tokenizer does not suit a text
_TOO_MANY_UNREACHABLE = 0.1  # the share of tokens from which they were made for another normalizer or pre-tokenizer
_RARE, _MOST_RARE = 100, 0.05  # Gowda & May 2020: 95% of the tokens occur 100 times or more
_FEW_WORDS = 100  # of a script: fewer say nothing
_MOST_CHARACTERS, _LINES_AT_ONCE = 500_000, 1000  # of the text that is encoded and decoded
_MOST_WORDS = 20_000
_MOST_SHOWN, _LONGEST_EXAMPLE = 8, 100
_BERT_ROLES = ("pad_token", "cls_token", "sep_token", "mask_token")
_Found = tuple[Any, ...]  # a status and the reason; the advice, the values of both, and examples, if there are any
_NO_TEXT: _Found = "skipped", "It needs a text"
_ON_UNKNOWN = "Train on text of that kind, or extend the vocabulary: what is unknown is lost to a model."


@dataclass(frozen=True, slots=True)
class TokenizerCheck:
    """What one check found.

    Attributes
    ----------
    name, status
        What was checked, and ``"pass"``, ``"warning"``, ``"fail"``, or ``"skipped"`` if it does not apply.
    reason_template, advice_template, values
        Why, and what to do, or nothing: with ``{named}`` fields and their values, so that a window can translate them.
    examples
        Tokens, words or lines that it is about, at most eight, each with at most 100 characters.
    """

    name: str
    status: CheckStatus
    reason_template: str
    advice_template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    examples: Sequence[str] = ()

    def __post_init__(self) -> None:
        cut = (f"{each[:_LONGEST_EXAMPLE]}…" * (len(each) > _LONGEST_EXAMPLE) or each for each in self.examples)
        object.__setattr__(self, "examples", tuple(islice(cut, _MOST_SHOWN)))

    @property
    def reason(self) -> str:
        """Why, with the values filled in."""
        return self.reason_template.format(**self.values)

    @property
    def advice(self) -> str:
        """What to do; empty if there is nothing to do."""
        return self.advice_template.format(**self.values)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What all checks of a tokenizer found."""

    checks: tuple[TokenizerCheck, ...]

    @property
    def failed(self) -> bool:
        """Whether a check failed; warnings do not count."""
        return any(each.status == "fail" for each in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        checks = [asdict(each) | {"reason": each.reason, "advice": each.advice} for each in self.checks]
        return {"failed": self.failed, "checks": checks}


def check(
    tokenizer: Measurable | str | os.PathLike[str],
    on: Text = (),
    *,
    texts: Iterable[str] = (),
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> CheckReport:
    """Check whether a tokenizer is healthy.

    Parameters
    ----------
    tokenizer
        One from :func:`~wordpiece_studio.load_tokenizer`, or what that takes: a folder or a file; or a run.
    on
        A text such as it is made for: files, as for :func:`~wordpiece_studio.count_words`, or words with their counts.
        Without one, the checks that need a text are skipped.
    texts
        Texts in place of files.
    progress, should_stop
        As for `evaluate`.

    Returns
    -------
    CheckReport
        Eight checks. Tokens that no text can produce are exact for WordPiece; rare tokens are those that the text has
        fewer than 100 times (Gowda & May 2020, Findings of EMNLP).

    Raises
    ------
    StudioError
        If a file cannot be read, there are no words in the text, or a library fails.

    >>> from wordpiece_studio import Tokenizer, Vocabulary
    >>> tokens = ["[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "hug", "##s", "##,"]
    >>> report = check(Tokenizer(Vocabulary(tokens, tokens[:5])), texts=["hugs hug"])
    >>> [(each.name, each.status, each.examples[:2]) for each in report.checks[5:7]]
    [('digits', 'warning', ('0', '1')), ('reachable tokens', 'fail', ('##,',))]
    """
    loaded = room.load_any(tokenizer) if isinstance(tokenizer, str | os.PathLike) else tokenizer
    (found,) = named_tokenizers({"The tokenizer": loaded}).values()
    texts = list(texts)
    sources = list(texts_by_name(on, texts).values()) if texts or is_given(on) else []
    if len(sources) > 1:
        raise StudioError("A tokenizer is checked on one text", "Pass one, without names.")
    watch = Watch(progress, should_stop)
    seen = _Seen(found, sources[0], watch) if sources else None
    checks = {
        "IDs": _ids(found),
        "special tokens": _special_tokens(found),
        "round trip": _round_trip(found, seen, watch),
        "unknown tokens": _unknown_tokens(seen) if seen else _NO_TEXT,
        "unicode forms": _unicode_forms(found, seen),
        "digits": _digits(found),
        "reachable tokens": _reachable_tokens(found, watch),
        "rare tokens": _rare_tokens(found, seen) if seen else _NO_TEXT,
    }
    return CheckReport(tuple(TokenizerCheck(name, *each) for name, each in checks.items()))


class _Seen:
    """What a tokenizer makes of the words of a text."""

    def __init__(self, tokenizer: Encoder, source: TextInFiles | TextInWords, watch: Watch) -> None:
        self._source = source
        self.frequencies, self.words, self.unknown = Counter[int | None](), Counter[str](), Counter[str]()
        text, lost = source.begin(common_reading([tokenizer]), watch), _unknown(tokenizer)
        is_byte_level, note = _is_byte_level(tokenizer), partial(watch.note, "Tokenizing")
        if tokenizer.reading is None:
            counted = source.counted_by(cast("LibraryEncoder", tokenizer), note)
        else:
            text, _ = source.counted(tokenizer.reading, watch)
            counted = _counted(tokenizer, text.counts, note)
            self.words.update(text.spelled_out)  # as `evaluate` counts them
        for word, ids, count in counted:
            read = text_of_letters([word]) if is_byte_level else word
            self.words[read] += count
            self.unknown[read] += count * (not lost.isdisjoint(ids))
            for token_id in ids:
                self.frequencies[token_id] += count
        for token, count in text.spelled_out.items():
            self.frequencies[tokenizer.id_of(token)] += count

    def lines(self) -> Iterator[list[str]]:
        """Yield the beginning of the text, some lines at a time; of words alone, the most frequent ones."""
        lines: Iterator[str] = (as_text(word) for word, _ in self.words.most_common(_MOST_WORDS))
        if isinstance(self._source, TextInFiles):
            lines = self._source.lines(lambda *_: None)
        characters = 0
        while characters < _MOST_CHARACTERS and (part := list(islice(lines, _LINES_AT_ONCE))):
            characters += sum(map(len, part))
            yield [line for line in part if line.strip()]


def _counted(tokenizer: Encoder, counts: WordCounts, note: Callable[[int, int], None]) -> Iterator[CountedWord]:
    done = 0
    for ids, ends, words, weights in parts_encoded(tokenizer, counts):
        note(done, len(counts))
        done += len(ends)
        yield from zip(words, map(tuple, np.split(ids, ends[:-1])), weights.tolist(), strict=True)


def _is_byte_level(tokenizer: Encoder) -> bool:
    """Return whether words are spelled in letters that stand for bytes; of a library's, their blank tells."""
    if tokenizer.reading is not None:
        return tokenizer.reading.pipeline.pre_tokenizer.is_byte_level
    named = set(tokenizer.roles.values())
    letters = set("".join(token for token in tokenizer.tokens if token not in named))
    return "Ġ" in letters and letters.issubset(ByteLevel.alphabet())


def _unknown(tokenizer: Encoder) -> set[int | None]:
    """Return the ids that stand for what is unknown."""
    return {NO_ID} if tokenizer.unk_token is None else {NO_ID, tokenizer.id_of(tokenizer.unk_token)}


def _ids(tokenizer: Encoder) -> _Found:
    found = {number for token in tokenizer.tokens if (number := tokenizer.id_of(token)) is not None}
    rows = max(found, default=-1) + 1
    values = {"tokens": len(found), "largest": rows - 1, "gaps": rows - len(found), "rows": rows}
    if rows == len(found):
        return "pass", "{tokens:,} tokens have the IDs from 0 to {largest:,}, without gaps", "", values
    what = "{gaps:,} of the IDs from 0 to {largest:,} belong to no token"
    advice = "A model needs {rows:,} rows. Keep the tokenizer.json: vocab.txt cannot represent gaps."
    gaps = (str(number) for number in range(rows) if number not in found)
    return "warning", what, advice, values, [*islice(gaps, _MOST_SHOWN)]


def _special_tokens(tokenizer: Encoder) -> _Found:
    roles, is_wordpiece = dict(tokenizer.roles), tokenizer.kind == "WordPiece"
    if is_wordpiece:
        roles["unk_token"] = tokenizer.unk_token or UNKNOWN_TOKEN
    tokens = list(dict.fromkeys(roles.values()))
    if missing := [token for token in tokens if tokenizer.id_of(token) is None]:
        advice = "Add it: without an ID it is nothing to a model."
        return "fail", "{token} is not in the vocabulary", advice, {"token": missing[0]}, missing
    # A model of SentencePiece never finds its control symbols in a text.
    is_found = tokenizer.reading is not None or tokenizer.words_of is None
    if split := [token for token in tokens if is_found and list(tokenizer.ids(token)) != [tokenizer.id_of(token)]]:
        what, advice = "{token} is split where a text spells it out", "List it among the special tokens."
        return "fail", what, advice, {"token": split[0]}, split
    if absent := [role for role in _BERT_ROLES if is_wordpiece and role not in roles]:
        advice = "If the model is like BERT, train with [PAD], [CLS], [SEP] and [MASK]."
        return "warning", "No token has the role {roles}", advice, {"roles": ", ".join(absent)}
    values = {"roles": ", ".join(f"{role} {token}" for role, token in roles.items())}
    return "pass", "{roles}" if roles else "There are none, and none is needed", "", values


def _round_trip(tokenizer: Encoder, seen: _Seen | None, watch: Watch) -> _Found:
    """Encode and decode lines; only characters count that the normalizer and the pre-tokenizer leave."""
    if not getattr(tokenizer, "has_decoder", True):
        what = "The tokenizer.json has no decoder: decoded by tokenizers, tokens are separated by spaces"
        return "fail", what, "Add a WordPiece decoder, or load and save it with WordPiece Studio, which adds one."
    if seen is None:
        return _NO_TEXT
    examples: dict[str, list[str]] = {"same": [], "changed": [], "unknown": [], "lost": []}
    unknown, done = _unknown(tokenizer), 0
    for lines in seen.lines():
        watch.note("Decoding", done, done + len(lines))
        done += len(lines)
        for line, encoding in zip(lines, tokenizer.encode(lines), strict=True):
            ids = [number for number in encoding.ids if number != NO_ID]
            decoded = tokenizer.decode(ids, skip_special_tokens=False)  # type: ignore[attr-defined]
            fate = "lost" if unknown.isdisjoint(encoding.ids) else "unknown"
            if _is_left(tokenizer, line, decoded):
                fate = "same" if decoded.strip() == line.strip() else "changed"
            examples[fate].append(line[:_LONGEST_EXAMPLE])
    values = {"lines": done, **{fate: len(found) for fate, found in examples.items()}}
    if examples["lost"]:
        what = "Decoding changes {lost:,} of {lines:,} lines or words beyond what the normalizer does"
        advice = "Compare such a line with its tokens: some character has none, or one stands for something else."
        return "fail", what, advice, values, examples["lost"]
    if examples["unknown"]:
        what = "{unknown:,} of {lines:,} lines or words do not come back whole, because they have unknown tokens"
        return "warning", what, _ON_UNKNOWN, values, examples["unknown"]
    what = "{lines:,} lines or words come back exactly"
    if examples["changed"]:
        what = "{lines:,} lines or words come back, {changed:,} without the case, accents or spaces that are not kept"
    return "pass", what, "", values


def _is_left(tokenizer: Encoder, line: str, decoded: str) -> bool:
    """Return whether a decoded line has all that the tokenizer's steps leave of it, apart from white space."""
    if not isinstance(tokenizer, WordEncoder) or tokenizer.pipeline.pre_tokenizer.is_byte_level:
        return _alike(line) == _alike(decoded)
    words = tokenizer.tokenize_words(line)
    left = [each.pieces[0].token if each.word is None else each.word.text for each in words]
    return "".join(decoded.split()) in ("".join(line.split()), "".join("".join(left).split()))


def _alike(text: str) -> str:
    """Return what is left of a text if what a library's normalizer may change does not count: case, accents, forms."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(each for each in parts if unicodedata.category(each)[0] not in "MCZ")


def _unknown_tokens(seen: _Seen) -> _Found:
    words, unknown = Counter[str](), Counter[str]()
    for word, count in seen.words.items():
        letter = next(filter(str.isalpha, word), "\0")  # which has no name
        script = unicodedata.name(letter, "other").partition(" ")[0].capitalize()  # as names of characters begin
        words[script] += count
        unknown[script] += seen.unknown[word]
    share = unknown.total() / max(words.total(), 1)
    shares = {script: unknown[script] / number for script, number in words.most_common()}
    lost = ", ".join(f"{script.replace('Cjk', 'Han')} {each:.2%}" for script, each in shares.items() if each)
    values = {"share": share, "words": words.total(), "scripts": lost, "shares": shares}
    if not lost:
        return "pass", "All {words:,} words are known", "", values
    is_poor = any(each > MUCH_UNKNOWN and words[script] >= _FEW_WORDS for script, each in shares.items())
    status = "warning" if is_poor or share > MUCH_UNKNOWN else "pass"
    status = "fail" if share > _TOO_MUCH_UNKNOWN else status
    what = "{share:.2%} of {words:,} words are unknown; by script: {scripts}"
    examples = [word for word, count in seen.unknown.most_common() if count]
    return status, what, "" if status == "pass" else _ON_UNKNOWN, values, examples


def _unicode_forms(tokenizer: Encoder, seen: _Seen | None) -> _Found:
    """Compare the tokens of both forms of words, or without a text, of the characters of the tokens."""
    normal, words = unicodedata.normalize, sorted(set("".join(tokenizer.tokens)))
    if seen is not None:
        words = [word for word, _ in seen.words.most_common(_MOST_WORDS)]
    forms = [(normal("NFC", word), normal("NFD", word)) for word in words]
    both = [pair for pair in forms if pair[0] != pair[1]]
    if not both:
        return "pass", "No character here can be composed or decomposed"
    encoded = [tokenizer.encode(as_texts(tokenizer, list(form))) for form in zip(*both, strict=True)]
    pairs = zip(both, *encoded, strict=True)
    differing = [composed for (composed, _), one, other in pairs if one.ids != other.ids]
    values = {"differing": len(differing), "number": len(both)}
    if not differing:
        what = "All {number:,} words or characters have the same tokens composed (NFC) and decomposed (NFD)"
        return "pass", what, "", values
    what = "{differing:,} of {number:,} words or characters have other tokens decomposed (NFD) than composed (NFC)"
    advice = "Bring all texts to one form first, or train with a normalizer that does, such as nfc."
    return "warning", what, advice, values, differing


def _digits(tokenizer: Encoder) -> _Found:
    numbers, unknown = [*map(str, range(10_000))], _unknown(tokenizer)
    encodings = tokenizer.encode(as_texts(tokenizer, numbers))
    found = list(zip(numbers, encodings, strict=True))
    lost = [number for number, encoding in found if not unknown.isdisjoint(encoding.ids)]
    sizes = {len(encoding): number for number, encoding in reversed(found[1000:])}  # of four digits
    values = {"lost": len(lost), "fewest": min(sizes), "most": max(sizes)}
    if lost:
        what, advice = "{lost:,} of the numbers up to 9,999 are unknown", "Add all digits to the alphabet."
        return "warning", what, advice, values, lost
    if len({tuple(encoding.offsets) for _, encoding in found[1000:]}) == 1:
        return "pass", "All numbers of four digits are split alike, into {most}", "", values
    what = "Numbers are split unevenly: those of four digits into {fewest} to {most} tokens"
    advice = "If a model is to calculate, train with digits split: digits-single here, split_digits of SentencePiece."
    return "warning", what, advice, values, [sizes[size] for size in sorted(sizes)]


def _reachable_tokens(tokenizer: Encoder, watch: Watch) -> _Found:
    if not isinstance(tokenizer, Tokenizer) or not tokenizer.is_cut_by_tokens:
        return "skipped", "It applies only to WordPiece with longest match"
    watch.note("Looking for tokens", 0, 1)
    found = reachability(tokenizer, watch.is_stopped)
    lost = [token for token in found.unreachable if not UNUSED.fullmatch(token)]
    free = len(found.unreachable) - len(lost)
    tokens, obstacles = found.tokens - free, Counter(found.unreachable[token] for token in lost)
    values = {
        "lost": len(lost), "tokens": tokens, "free": free, "undecided": len(found.undecided),
        "by_obstacle": dict(obstacles),
        "obstacles": ", ".join(f"{each} {number:,}" for each, number in obstacles.most_common()),
    }  # fmt: skip
    more = "; {free:,} like [unused0] left out" if free else ""
    more += "; {undecided:,} undecided" if found.undecided else ""
    if not lost:
        return "pass", "No token of {tokens:,} is out of reach" + more, "", values
    status = "fail" if len(lost) > _TOO_MANY_UNREACHABLE * tokens else "warning"
    advice = "Prune them, or use the normalizer and pre-tokenizer that the vocabulary was trained with."
    what = "No text can produce {lost:,} of {tokens:,} tokens, because of: {obstacles}"
    return status, what + more, advice, values, lost


def _rare_tokens(tokenizer: Encoder, seen: _Seen) -> _Found:
    special = {*tokenizer.roles.values(), *getattr(tokenizer, "special_tokens", ())}
    tokens = [token for token in tokenizer.tokens if token not in special and not UNUSED.fullmatch(token)]
    counts = {token: seen.frequencies[tokenizer.id_of(token)] for token in tokens}
    rare = sorted((token for token, count in counts.items() if count < _RARE), key=counts.__getitem__)
    total, share = seen.frequencies.total(), len(rare) / max(len(counts), 1)
    values = {"rare": len(rare), "tokens": len(counts), "share": share, "least": _RARE, "total": total}
    what = "{rare:,} of {tokens:,} tokens ({share:.1%}) occur fewer than {least} times in the text"
    if share <= _MOST_RARE:
        return "pass", what, "", values
    if total < _RARE * len(counts):
        what = "The text is too short: of its {total:,} tokens not each of {tokens:,} can occur {least} times"
        return "skipped", what, "Choose a longer text.", values
    advice = "A model learns little about such tokens: train a smaller vocabulary, or prune this one."
    return "warning", what, advice, values, rare
