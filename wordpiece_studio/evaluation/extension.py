"""Which tokens a vocabulary lacks for a domain, which it can do without, and what either changes.

A domain is a text. A part of it is held out, see `held_out`; the rest decides which tokens come or go. That part, and a
general text besides, are tokenized to show the effect. What to add is defined in `training/extension_reference.py`. Not
here: the files (`storage/adapted_vocabulary.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from wordpiece_studio.corpus.counts import stop_check
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import (
    NO_LINES,
    NO_WORDS,
    TOO_FEW_LINES,
    HeldOutText,
    Watch,
    divided_corpus,
    held_out_text,
)
from wordpiece_studio.evaluation.usage import count_usage, parts_encoded
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import ROLES, Vocabulary
from wordpiece_studio.training.extension import additions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.held_out import Place, ReadingOptions, Report
    from wordpiece_studio.tokenizer.encoding import UnknownReason
    from wordpiece_studio.training.reference import Corpus

    Files = Place | Iterable[Place] | Listing

UNUSED = re.compile(r"\[unused\d+\]")
"""How BERT calls the tokens that it keeps free."""
FURTHER, LITTLE = 100, 0.001
"""So many further tokens that save less than this share of the held-out tokens are no longer worth it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A token to add: whether it is a whole word of the domain, a piece of words or a missing character.

    `saves`: how many tokens fewer the domain takes when its turn comes, a word that was unknown counting as its
    characters; for a missing character, how often it occurs.
    """

    token: str
    kind: Literal["word", "piece", "character"]
    saves: int


@dataclass(frozen=True, slots=True)
class CostlyWord:
    """A word of the domain that is several tokens; its cost is `count` × (number of tokens - 1)."""

    word: str
    count: int
    tokens: tuple[str, ...]

    @property
    def cost(self) -> int:
        return self.count * (len(self.tokens) - 1)


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word of the domain that is unknown, and why."""

    word: str
    count: int
    reason: UnknownReason


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """What a text takes, before the change first.

    Attributes
    ----------
    words
        How many words the text has, special tokens included.
    tokens, unknown
        How many tokens it takes after each addition, and how many of them are the unknown token: int64, the first entry
        with none. After a pruning, each has two entries.
    """

    words: int
    tokens: NDArray[np.int64]
    unknown: NDArray[np.int64]

    @property
    def tokens_per_word(self) -> NDArray[np.float64]:
        """Tokens divided by words: float64, as long as `tokens`."""
        return self.tokens / self.words


@dataclass(frozen=True, eq=False)
class Extension:
    """What a vocabulary lacks for a domain.

    Attributes
    ----------
    tokenizer
        The one to be extended.
    proposals
        The tokens to add, best first.
    held_out
        Their effect on the part of the domain that is held out, token by token.
    general
        That on the general text; None if there is none.
    costly_words, unknown_words
        The words of the domain that take several tokens, by their cost, and those that are unknown, by their count.
    unused_tokens
        The tokens that the domain never uses, special tokens left out, in order of id.
    """

    tokenizer: Tokenizer
    proposals: tuple[Proposal, ...]
    held_out: Effect
    general: Effect | None
    costly_words: list[CostlyWord] = field(repr=False)
    unknown_words: list[UnknownWord] = field(repr=False)
    unused_tokens: list[str] = field(repr=False)
    _texts: tuple[HeldOutText, HeldOutText | None] = field(repr=False)

    def __repr__(self) -> str:
        before, after = self.held_out.tokens_per_word[[0, -1]]
        return f"<Extension by {len(self.proposals):,} tokens: {before:.4f} to {after:.4f} tokens per word, held out>"

    @property
    def tokens(self) -> list[str]:
        """The tokens to add, best first."""
        return [proposal.token for proposal in self.proposals]

    @property
    def enough(self) -> int | None:
        """After how many tokens a further hundred save less than 0.1% of the held-out tokens; None if they never do."""
        tokens = self.held_out.tokens
        found = np.flatnonzero(tokens[:-FURTHER] - tokens[FURTHER:] < LITTLE * tokens[0])
        return int(found[0]) if len(found) else None

    def chosen(self, tokens: Collection[str]) -> Extension:
        """Return the extension by some of the tokens alone, with its effect."""
        wanted = frozenset(tokens)
        proposals = tuple(proposal for proposal in self.proposals if proposal.token in wanted)
        effects = _effects(self.tokenizer, [proposal.token for proposal in proposals], self._texts)
        return replace(self, proposals=proposals, held_out=effects[0], general=effects[1])

    def extended(self, *, in_unused: bool = False) -> Tokenizer:
        """Return the tokenizer with the tokens, each id that it had unchanged.

        Parameters
        ----------
        in_unused
            Put them in place of ``[unused0]`` and so on, which are no special tokens any more, and not at the end.

        Raises
        ------
        StudioError
            If there are not enough of those.
        """
        if not in_unused:
            return with_tokens(self.tokenizer, self.tokens)
        given = list(self.tokenizer.vocabulary.tokens)
        free = [number for number, token in enumerate(given) if UNUSED.fullmatch(token)]
        if len(free) < len(self.tokens):
            what = "There are {n:,} [unused] tokens in the vocabulary, and {tokens:,} to add"
            raise StudioError(what, "Add fewer, or append them.", n=len(free), tokens=len(self.tokens))
        for number, token in zip(free, self.tokens, strict=False):
            given[number] = token
        return _changed(self.tokenizer, given)


@dataclass(frozen=True, eq=False)
class Pruning:
    """A vocabulary without tokens that a text does not use.

    Attributes
    ----------
    tokenizer
        The one to be pruned.
    kept
        The ids of the tokens that stay: the new id of ``kept[i]`` is i. Shape ``(n_tokens,)``, int64.
    removed
        The tokens that go, in order of id.
    held_out, general
        The effect on the part that is held out, and on the general text, if there is one.
    """

    tokenizer: Tokenizer
    kept: NDArray[np.int64]
    removed: list[str] = field(repr=False)
    held_out: Effect
    general: Effect | None

    def __repr__(self) -> str:
        return f"<Pruning: {len(self.removed):,} of {len(self.tokenizer):,} tokens go>"

    def pruned(self) -> Tokenizer:
        """Return the tokenizer with the tokens that stay."""
        return with_only(self.tokenizer, self.kept.tolist())


def extend(
    tokenizer: Tokenizer,
    domain: Files = (),
    *,
    texts: Iterable[str] = (),
    general: Files | HeldOutText | None = None,
    budget: int = 500,
    min_frequency: int = 5,
    include: Sequence[str] = (),
    exclude: Collection[str] = (),
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Extension:
    """Return the tokens that a vocabulary lacks for a domain, with what adding them changes.

    Training goes on on top of the vocabulary: each word begins as its tokens, and the token comes next that saves most,
    wherever two neighbors or a whole word spell it. Continued training is due to Purason et al., "Teaching Old
    Tokenizers New Words" (2025, arXiv 2512.03989), for byte pair encoding; that whole words come beside pairs is ours.

    Parameters
    ----------
    tokenizer
        A WordPiece tokenizer, as from :func:`~wordpiece_studio.load_tokenizer`.
    domain, texts
        The text of the domain: files, as for :func:`~wordpiece_studio.count_words`, or texts in place of them. A part
        of it, see `DividedCorpus`, is held out and only shows the effect.
    general
        A text that must not suffer: files, or what was held out of a corpus. None: the effect on it is unknown.
    budget
        How many tokens to add at most.
    min_frequency
        A token that saves less, or a whole word that occurs fewer times, is not proposed.
    include, exclude
        Tokens to add before all others, and tokens never to add; spelled as in the vocabulary.
    progress
        Called now and then with what is being done, how much of it is done, and how much there is.
    should_stop
        Called now and then; `CountingStopped` is raised if it returns True.

    Raises
    ------
    StudioError
        If the vocabulary is of another kind; if a token of `include` is there already or could never be found; if a
        file cannot be read or the text of the domain is too short.

    >>> from wordpiece_studio import Vocabulary
    >>> words = Vocabulary(["[UNK]", "h", "p", "##u", "##g", "##s"], ["[UNK]"])
    >>> found = extend(Tokenizer(words), texts=["hug pugs hugs"] * 20, min_frequency=1, budget=2)
    >>> found.proposals
    (Proposal(token='##ug', kind='piece', saves=54), Proposal(token='##ugs', kind='piece', saves=36))
    >>> found.held_out.tokens.tolist()
    [22, 16, 12]
    """
    check_wordpiece(tokenizer)
    vocabulary = tokenizer.vocabulary
    if len(vocabulary.pieces) < len(vocabulary):
        raise StudioError(
            "The vocabulary ends in tokens that were added to it, and others behind those could not be pieces of words",
            "Extend the vocabulary without them.",
        )
    included = _checked_includes(tokenizer, include)
    watch = Watch(progress, should_stop)
    rest, held_out, general_text = _read(tokenizer, domain, texts, general, watch)
    watch.note("Choosing tokens", 0, budget)
    begun = with_tokens(tokenizer, included) if included else tokenizer
    prefix = vocabulary.continuing_subword_prefix
    found = additions(
        _begun(begun, rest), frozenset(begun.vocabulary.pieces), min_frequency=max(1, min_frequency), prefix=prefix,
        excluded=frozenset(exclude), check_stop=stop_check(should_stop),
    )  # fmt: skip
    chosen: list[tuple[str, int]] = []
    for token in islice(found, max(0, budget - len(included))):
        chosen.append(token)
        watch.note("Choosing tokens", len(chosen), budget)
    if included:
        saved = -np.diff(_effect(tokenizer, included, HeldOutText(rest)).tokens)
        chosen = [*zip(included, saved.tolist(), strict=True), *chosen][:budget]
    words = frozenset(rest.words)
    rows = tuple(Proposal(token, _kind(token, words, prefix), saves) for token, saves in chosen)
    watch.note("Measuring", 0, 1)
    effects = _effects(tokenizer, [row.token for row in rows], (held_out, general_text))
    costly, unknown, unused = _wanting(tokenizer, rest)
    watch.note("Measuring", 1, 1)
    return Extension(tokenizer, rows, *effects, costly, unknown, unused, (held_out, general_text))


def prune(
    tokenizer: Tokenizer,
    text: Files = (),
    *,
    texts: Iterable[str] = (),
    general: Files | HeldOutText | None = None,
    min_count: int = 1,
    protected: Collection[str] = (),
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Pruning:
    """Return a vocabulary without the tokens that a text uses too rarely, with what that changes.

    Special tokens, user tokens, single characters and protected tokens stay. With longest match no token needs another
    one to be reached, so what stays can still be found; that is not so for byte pair encoding.

    Parameters
    ----------
    tokenizer
        A WordPiece tokenizer, as from :func:`~wordpiece_studio.load_tokenizer`.
    text, texts
        The text that is to be tokenized well: files, as for :func:`~wordpiece_studio.count_words`, or texts in place of
        them. A part of it, see `DividedCorpus`, is held out and only shows the effect.
    general
        A second text to show the effect on, as for `extend`.
    min_count
        A token that the text uses fewer times goes.
    protected
        Tokens that stay.
    progress, should_stop
        As for `extend`.

    Raises
    ------
    StudioError
        If the vocabulary is of another kind, a file cannot be read, or the text is too short.

    >>> from wordpiece_studio import Vocabulary
    >>> words = Vocabulary(["[UNK]", "h", "hug", "hat", "##u", "##g", "##s"], ["[UNK]"])
    >>> found = prune(Tokenizer(words), texts=["hug hugs"] * 20)
    >>> found.removed, found.pruned().encode("hugs").tokens
    (['hat'], ['hug', '##s'])
    """
    check_wordpiece(tokenizer)
    vocabulary = tokenizer.vocabulary
    watch = Watch(progress, should_stop)
    rest, held_out, general_text = _read(tokenizer, text, texts, general, watch)
    usage = count_usage(tokenizer, rest, should_stop)
    prefix, pieces = vocabulary.continuing_subword_prefix, len(vocabulary.pieces)
    stays = {*vocabulary.special_tokens, *vocabulary.user_tokens, *protected, vocabulary.unk_token}
    kept = [
        number
        for number, (token, count) in enumerate(zip(vocabulary.tokens, usage.frequencies.tolist(), strict=True))
        if count >= min_count or token in stays or len(token.removeprefix(prefix)) == 1 or number >= pieces
    ]
    after = with_only(tokenizer, kept)

    def effect_on(text: HeldOutText) -> Effect:
        amounts = [_amounts(each, text, should_stop) for each in (tokenizer, after)]
        return Effect(text.words, *np.array(amounts, dtype=np.int64).T)

    watch.note("Measuring", 0, 1)
    effects = effect_on(held_out), None if general_text is None else effect_on(general_text)
    watch.note("Measuring", 1, 1)
    staying = frozenset(kept)
    removed = [token for number, token in enumerate(vocabulary.tokens) if number not in staying]
    return Pruning(tokenizer, np.array(kept, dtype=np.int64), removed, *effects)


def with_tokens(tokenizer: Tokenizer, tokens: Sequence[str]) -> Tokenizer:
    return _changed(tokenizer, [*tokenizer.tokens, *tokens])


def with_only(tokenizer: Tokenizer, kept: Sequence[int]) -> Tokenizer:
    vocabulary = tokenizer.vocabulary
    pieces = len(vocabulary.pieces)
    left = None if pieces == len(vocabulary) else sum(number < pieces for number in kept)
    return _changed(tokenizer, [vocabulary[number] for number in kept], left)


def _changed(tokenizer: Tokenizer, tokens: Sequence[str], pieces: int | None = None) -> Tokenizer:
    old, present = tokenizer.vocabulary, frozenset(tokens)
    roles: dict[str, Any] = {role: token if (token := old.roles.get(role, "")) in present else "" for role in ROLES}
    vocabulary = Vocabulary(
        tokens,
        [token for token in old.special_tokens if token in present],
        old.continuing_subword_prefix, old.end_of_word_suffix, pieces=pieces,
        added_tokens=[token for token in old.added_tokens if token.content in present], **roles,
    )  # fmt: skip
    return tokenizer.changed(vocabulary=vocabulary)


def check_wordpiece(tokenizer: Tokenizer) -> None:
    if not isinstance(tokenizer, Tokenizer):
        raise StudioError(
            "Only a WordPiece vocabulary can be changed, and this is a {kind} model: its tokens are made from each "
            "other",
            "Choose a WordPiece vocabulary.", kind=getattr(tokenizer, "kind", type(tokenizer).__name__),
        )  # fmt: skip
    vocabulary = tokenizer.vocabulary
    prefix = vocabulary.continuing_subword_prefix
    if vocabulary.unk_token not in vocabulary:
        what = "The vocabulary has no {token}, which stands for unknown words"
        raise StudioError(what, "Add it at its end first.", token=vocabulary.unk_token)
    if vocabulary.end_of_word_suffix or not prefix or not any(token.startswith(prefix) for token in vocabulary.pieces):
        raise StudioError(
            "This is not a WordPiece vocabulary: no token has a prefix such as ## to say that it continues a word",
            "Choose a WordPiece vocabulary.",
        )


def _checked_includes(tokenizer: Tokenizer, tokens: Sequence[str]) -> list[str]:
    vocabulary, included = tokenizer.vocabulary, list(dict.fromkeys(tokens))
    for token in included:
        word = token.removeprefix(vocabulary.continuing_subword_prefix)
        if token in vocabulary:
            raise StudioError("The vocabulary has the token {token!r} already", "Leave it out.", token=token)
        is_as_read = tokenizer.pre_tokenizer.is_byte_level or tokenizer.pipeline.words(word) == [word]
        if not word or len(word) > tokenizer.max_word_length or not is_as_read:
            raise StudioError(
                "The token {token!r} could never be found: the vocabulary's text processing makes {words} of it",
                "Spell it as text is after processing.", token=token,
                words=" ".join(map(repr, tokenizer.pipeline.words(word))),
            )  # fmt: skip
    return included


def _read(
    tokenizer: Tokenizer, domain: Files, texts: Iterable[str], general: Files | HeldOutText | None, watch: Watch
) -> tuple[WordCounts, HeldOutText, HeldOutText | None]:
    """Return the rest of the domain, its part held out, and the general text, as the tokenizer finds their words."""
    steps = tokenizer.pipeline.normalizer, tokenizer.pipeline.pre_tokenizer

    try:
        divided = divided_corpus(domain, *steps, texts=texts, **reading(tokenizer, "Reading the domain", watch))
    except StudioError as error:
        if error.what_template == TOO_FEW_LINES:
            what = "The text of the domain has too few lines: a tenth of it is held out, to measure the effect"
            raise StudioError(what, "Use a longer text.") from None
        if error.what_template == NO_LINES:
            what = "The text of the domain is words with their counts, of which no part can be held out"
            raise StudioError(what, "Use the text itself.") from None
        raise
    if general is not None and not isinstance(general, HeldOutText):
        try:
            general = held_out_text(general, *steps, **reading(tokenizer, "Reading the general text", watch))
        except StudioError as error:
            if error.what_template in (NO_WORDS, NO_LINES):
                raise StudioError("The general text has no lines with words", "Use another one.") from None
            raise
    return divided.rest, divided.held_out, general


def reading(tokenizer: Tokenizer, what: str, watch: Watch) -> ReadingOptions:
    """Return how a text is read in which the tokenizer is to find its words."""
    return {
        "added_tokens": tokenizer.vocabulary.added_tokens,
        "user_tokens": tokenizer.vocabulary.user_tokens,
        "max_word_length": 1 << 30,  # the tokenizer has a limit of its own
        "progress": lambda done: watch.note(what, done.bytes_done, done.bytes_total),
        "should_stop": watch.is_stopped,
    }


def _begun(tokenizer: Tokenizer, counts: WordCounts) -> Corpus:
    """Return the words as `extension_reference.begun` does; those beyond the tokenizer's limit are left out."""
    tokens, prefix = tokenizer.vocabulary.tokens, tokenizer.vocabulary.continuing_subword_prefix
    unknown = tokenizer.id_of(tokenizer.vocabulary.unk_token)
    corpus: Corpus = []
    for part in parts_encoded(tokenizer, counts):
        ids, begin = part.ids.tolist(), 0
        for end, word, times in zip(part.ends.tolist(), part.words, part.weights.tolist(), strict=True):
            if end - begin == 1 and ids[begin] == unknown:
                if len(word) <= tokenizer.max_word_length:
                    corpus.append(([*word[:1], *(prefix + character for character in word[1:])], times))
            elif end - begin > 1:  # a word that is one token needs no other
                corpus.append(([tokens[number] for number in ids[begin:end]], times))
            begin = end
    return corpus


def _kind(token: str, words: Collection[str], prefix: str) -> Literal["word", "piece", "character"]:
    if len(token.removeprefix(prefix)) == 1:
        return "character"
    return "word" if token in words else "piece"


def _effects(
    tokenizer: Tokenizer, tokens: Sequence[str], texts: tuple[HeldOutText, HeldOutText | None]
) -> tuple[Effect, Effect | None]:
    held_out, general = texts
    return _effect(tokenizer, tokens, held_out), None if general is None else _effect(tokenizer, tokens, general)


def _effect(tokenizer: Tokenizer, tokens: Sequence[str], text: HeldOutText) -> Effect:
    """Return what a text takes after each of the tokens.

    Words that take none of the tokens in the end, and are known, take none on the way: there is no match to be longer.
    """
    after, changes = with_tokens(tokenizer, tokens), np.zeros((2, len(tokens) + 1), dtype=np.int64)
    changes[:, 0] = _amounts(tokenizer, text)
    size, unknown = len(tokenizer), tokenizer.id_of(tokenizer.vocabulary.unk_token)
    for part in parts_encoded(after, text.counts):
        places = np.flatnonzero((part.ids >= size) | (part.ids == unknown))
        for index in np.unique(part.ends.searchsorted(places, side="right")).tolist():
            times, before = int(part.weights[index]), None
            for step, now in _on_the_way(after, size, part.words[index]):
                if before is not None:
                    changes[:, step] += np.subtract(now, before) * times
                before = now
    tokens_after, unknown_after = changes.cumsum(axis=1)
    return Effect(text.words, tokens_after, unknown_after)


def _on_the_way(tokenizer: Tokenizer, size: int, word: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield after which additions a word may change, and how many tokens and unknown ones it is then; with none first.

    `size`: the number of tokens that are no additions.
    """
    if len(word) > tokenizer.max_word_length:
        return
    vocabulary = tokenizer.vocabulary
    ends = range(1, len(word) + 1)
    found = (vocabulary.id_of(vocabulary.spelled(word, start, end)) or 0 for end in ends for start in range(end))
    for token_id in sorted({size - 1, *(number for number in found if number >= size)}):
        _, ids, places = vocabulary.with_size(token_id + 1).longest_matches(word)
        yield token_id + 1 - size, (len(ids), 0) if places[-1] == len(word) else (1, 1)


def _amounts(tokenizer: Tokenizer, text: HeldOutText, should_stop: Callable[[], bool] | None = None) -> tuple[int, int]:
    usage, skipped = count_usage(tokenizer, text.counts, should_stop), text.counts.statistics.skipped_words
    return usage.tokens + skipped + text.special_tokens, usage.unknown_occurrences + skipped


def _wanting(tokenizer: Tokenizer, counts: WordCounts) -> tuple[list[CostlyWord], list[UnknownWord], list[str]]:
    tokens, unknown = tokenizer.tokens, tokenizer.id_of(tokenizer.vocabulary.unk_token)
    used = np.zeros(len(tokens), dtype=np.bool_)
    costly: list[CostlyWord] = []
    lost: list[UnknownWord] = []
    for part in parts_encoded(tokenizer, counts):
        used[part.ids] = True
        begins = np.append(0, part.ends[:-1])
        for index in np.flatnonzero((part.ends - begins > 1) | (part.ids[begins] == unknown)).tolist():
            word, times = part.words[index], int(part.weights[index])
            ids = part.ids[begins[index] : part.ends[index]].tolist()
            if ids != [unknown]:
                costly.append(CostlyWord(word, times, tuple(tokens[number] for number in ids)))
            elif (reason := tokenizer.match(word).unknown) is not None:
                lost.append(UnknownWord(word, times, reason))
    costly.sort(key=lambda each: -each.cost)
    lost.sort(key=lambda each: -each.count)
    special = frozenset((*tokenizer.vocabulary.special_tokens, *tokenizer.vocabulary.user_tokens))
    idle = [tokens[number] for number in np.flatnonzero(~used).tolist() if tokens[number] not in special]
    return costly, lost, idle
