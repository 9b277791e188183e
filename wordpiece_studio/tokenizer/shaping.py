"""Texts by the library `tokenizers`, in the form that a model expects: pairs, special tokens, truncation, padding.

The library is imported when a `Library` is made, and given only what the Studio wrote itself; a tokenizer of somebody
else is run by the child process alone (`libraries`). Where another way found the tokens, a `shaper` shapes them. Not
here: what options mean (`encoding`).
"""

from __future__ import annotations

import time
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Texts = tuple[str | Sequence[str], ...]
    """A text, or two; each a string, or words."""

_T = TypeVar("_T")

Truncation = Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
Side = Literal["right", "left"]

_INTERVAL_SECONDS = 0.05  # between two reports of the progress
_AT_ONCE = 1 << 16  # characters, where somebody watches


class EncodingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True; no ids are kept."""

    def __init__(self) -> None:
        super().__init__("Encoding was stopped")


class Columns(NamedTuple):
    """The tokens of a text, their ids, their places in it, and the number of the word that each belongs to."""

    tokens: list[str]
    ids: list[int]
    offsets: list[tuple[int, int]]
    words: list[int]


class Cut(NamedTuple):
    """To how many tokens texts are truncated, and how; as the library calls it."""

    max_length: int
    stride: int
    strategy: Truncation
    direction: Side


class Pad(NamedTuple):
    """With what encodings are padded, and to what length: without one, that of the longest; as the library calls it."""

    pad_token: str
    pad_id: int
    length: int | None
    direction: Side
    pad_to_multiple_of: int


class Form(NamedTuple):
    """What becomes of texts: if nothing else is said, they are neither truncated nor padded."""

    add_special_tokens: bool = False
    cut: Cut | None = None
    pad: Pad | None = None


class Template(NamedTuple):
    """What stands around a text and around two: special tokens with their ids, and the texts, 0 and 1, with types."""

    single: list[tuple[str | int, int]]
    pair: list[tuple[str | int, int]]

    @classmethod
    def of(cls, value: Any) -> Template | None:
        """Return what a ``post_processor`` says; None if it has not each text once.

        >>> Template.of({"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}).single
        [('[CLS]', 2), (0, 0), ('[SEP]', 3)]
        """
        match value:
            case None | {"type": "ByteLevel"}:  # the second only moves offsets
                return cls([(0, 0)], [(0, 0), (1, 1)])
            case {"type": "Sequence", "processors": [*steps]}:
                others = [each for each in map(cls.of, steps) if each != cls.of(None)] or [cls.of(None)]
                return others[0] if len(others) == 1 else None
            case {"type": "BertProcessing" | "RobertaProcessing" as kind, "cls": [*first], "sep": [*last]}:
                alone = [tuple(first), (0, 0), tuple(last)]
                second = [tuple(last), (1, 0)] if kind == "RobertaProcessing" else [(1, 1)]
                found = cls(alone, [*alone, *second, tuple(last)])
            case {"type": "TemplateProcessing", "single": [*single], "pair": [*pair], "special_tokens": dict(special)}:
                found = cls(_parts(single, special), _parts(pair, special))
            case _:
                return None
        if not all(len(part) == 2 and isinstance(part[0], str | int) and _is_number(part[1]) for part in chain(*found)):
            return None
        texts = [sorted(name for name, _ in parts if isinstance(name, int)) for parts in found]
        return found if texts == [[0], [0, 1]] else None

    @property
    def special_tokens(self) -> list[tuple[str, int]]:
        return [(name, number) for name, number in chain(*self) if isinstance(name, str)]

    @property
    def changes_types(self) -> bool:
        """Whether even one text alone, without special tokens, is of another type than 0."""
        return (0, 0) not in self.single


def _parts(steps: Iterable[Any], special: dict[str, Any]) -> list[Any]:
    parts: list[Any] = []
    for step in steps:
        match step:
            case {"Sequence": {"id": "A" | "B" as name, "type_id": type_id}} if _is_number(type_id):
                parts.append(("AB".index(name), type_id))
            case {"SpecialToken": {"id": str(name), "type_id": type_id}} if _is_number(type_id):
                match special.get(name):
                    case {"ids": [*ids], "tokens": [*tokens]} if [*map(type, tokens)] == [str] * len(ids):
                        parts += zip(tokens, ids, strict=True)
                    case _:
                        parts.append(())
            case _:
                parts.append(())
    return parts


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 32


class Library:
    """A tokenizer of the library, which is never changed: each form that is asked for is one that shares its model."""

    def __init__(self, tokenizer: Any, *, is_ours: bool = False) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        if tokenizer.post_processor is None:  # the library then does not always say which of two texts a token is of
            from tokenizers.processors import TemplateProcessing

            tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
        self._tokenizer = tokenizer
        self._is_ours = is_ours
        self._forms: dict[tuple[Cut | None, Pad | None], Any] = {(None, None): tokenizer}

    @classmethod
    def of_json(cls, content: bytes) -> Library:
        from tokenizers import Tokenizer

        return cls(Tokenizer.from_str(content.decode()), is_ours=True)

    def encoded(self, both: Sequence[Texts], form: Form, *, is_pretokenized: bool = False) -> list[Any]:
        """Return an encoding for each text or pair; lets other threads run meanwhile if there is much."""
        is_pair, cut = len(both[0]) > 1, form.cut
        options = {"is_pretokenized": is_pretokenized, "add_special_tokens": form.add_special_tokens}
        if cut is not None:
            self._check_cut(cut, both, options)
        made = self._in_form(cut, form.pad)
        try:
            if len(both) == 1 and sum(map(len, both[0])) < _SHORT:
                return [made.encode(*both[0], **options)]
            return made.encode_batch(both if is_pair else [text for (text,) in both], **options)  # type: ignore[no-any-return]
        except Exception as error:
            if cut is None or "Truncation error" not in str(error):
                raise
            what = "Truncating the second text alone cannot make everything fit into {length} tokens"
            if cut.strategy == "only_first":
                what = "Truncating the first text alone cannot make everything fit into {length} tokens"
            advice = 'Use a larger max_length, or truncation="longest_first".'
            raise StudioError(what, advice, length=cut.max_length) from None

    def _in_form(self, cut: Cut | None, pad: Pad | None) -> Any:
        made = self._forms.get((cut, pad))
        if made is None:
            made = _shared(self._tokenizer)
            if pad is not None:
                made.enable_padding(**pad._asdict())
            if cut is not None:
                try:
                    made.enable_truncation(**cut._asdict())
                except ValueError:  # it counts the special tokens of one text even where none are added
                    raise _too_long(cut, cut.max_length - made.num_special_tokens_to_add(False)) from None
            if len(self._forms) >= _MOST_FORMS:
                self._forms = {(None, None): self._tokenizer}
            self._forms[cut, pad] = made
        return made

    def _check_cut(self, cut: Cut, both: Sequence[Texts], options: dict[str, bool]) -> None:
        is_pair = len(both[0]) > 1
        around = self._tokenizer.num_special_tokens_to_add(is_pair) if options["add_special_tokens"] else 0
        room = cut.max_length - around  # for tokens of texts
        if room < 0:
            what = "A length of {length} leaves no room for {count} special tokens"
            raise StudioError(what, "Use a larger max_length.", count=around, length=cut.max_length)
        least = 1 if cut.strategy != "longest_first" else room // 2 if is_pair else room
        if cut.stride >= max(least, 1):
            self._check_stride(cut, room, both, options | {"add_special_tokens": False})

    def _check_stride(self, cut: Cut, room: int, both: Sequence[Texts], options: dict[str, bool]) -> None:
        """Check that truncation does not leave so little of a text that the library panics at the stride."""

        def lengths(texts: Iterable[Any]) -> list[int]:
            return [*map(len, self._tokenizer.encode_batch([*texts], **options))]

        # Of the second text alone enough is left, however long it is, where the first one, a question, is short.
        most = room - cut.stride - 1 if cut.strategy == "only_second" else -1
        unsure = [texts[0] for texts in both if not (self._is_ours and _is_short(texts[0], most))]
        if not unsure or max(lengths(unsure)) <= most:
            return
        for given in zip(*map(lengths, zip(*both, strict=True)), strict=True):
            first, second = (*given, 0)[:2]
            if first + second <= room:
                continue
            left = {"only_first": (room - second, second), "only_second": (first, room - first)}.get(cut.strategy)
            if left is None:  # all of the shorter one is left if it needs no more than half the room
                shorter = min(first, second, room // 2)
                left = (shorter, room - shorter) if first <= second else (room - shorter, shorter)
            for length, whole in zip(left, (first, second), strict=True):
                if 0 < length <= cut.stride and length < whole:
                    raise _too_long(cut, length)


def _shared(tokenizer: Any) -> Any:
    """Return a tokenizer that does the same with the same model, which is not copied."""
    from tokenizers import Tokenizer

    made = Tokenizer(tokenizer.model)
    for name in ("normalizer", "pre_tokenizer", "post_processor"):
        if (step := getattr(tokenizer, name)) is not None:
            setattr(made, name, step)
    added = tokenizer.get_added_tokens_decoder()
    made.add_tokens([token for _, token in sorted(added.items())])
    # A file of somebody else may have gaps between ids.
    return made if made.get_added_tokens_decoder() == added else Tokenizer.from_str(tokenizer.to_str())


def _is_short(text: str | Sequence[str], most: int) -> bool:
    """Return whether a text surely has so few tokens, by steps of the Studio, which lengthen ASCII by a blank."""
    return isinstance(text, str) and len(text) < most and text.isascii()


_MOST_FORMS = 16
_SHORT = 1000  # characters, or words: so little is done before threads would have got their turn


def shaper(post_processor: Any) -> Library:
    """Return a library in which each word is a token, to shape what was found otherwise."""
    parts = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "decoder"))
    parts |= {"post_processor": post_processor, "model": {"type": "WordLevel", "vocab": {"x": 0}, "unk_token": "x"}}
    return _library_of(msgspec.json.encode({"version": "1.0", "added_tokens": [], **parts}))


_library_of = lru_cache(_MOST_FORMS)(Library.of_json)


def around(first: tuple[str, int | None], last: tuple[str, int | None]) -> dict[str, Any]:
    """Return the ``post_processor`` of BERT: a class token before the texts, and a separator after each of them."""
    parts = [
        {kind: {"id": name, "type_id": type_id}}
        for kind, name, type_id in (
            ("SpecialToken", first[0], 0), ("Sequence", "A", 0), ("SpecialToken", last[0], 0),
            ("Sequence", "B", 1), ("SpecialToken", last[0], 1),
        )
    ]  # fmt: skip
    special = {token: {"id": token, "ids": [number], "tokens": [token]} for token, number in sorted({first, last})}
    return {"type": "TemplateProcessing", "single": parts[:3], "pair": parts, "special_tokens": special}


def _too_long(cut: Cut, length: int) -> StudioError:
    what = "A stride of {stride} is too long where truncation leaves {length} tokens of a text"
    return StudioError(what, "Use a smaller stride, or a larger max_length.", stride=cut.stride, length=length)


def portions(texts: Iterable[_T], characters: int) -> Iterator[list[_T]]:
    """Yield some texts at a time, together not much longer than so many characters."""
    portion: list[_T] = []
    size = 0
    for text in texts:
        portion.append(text)
        size += len(written(text)) or 1
        if size >= characters:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def watched(
    texts: Iterable[_T],
    progress: Callable[[int, int], None] | None,
    should_stop: Callable[[], bool] | None,
    total: int | None,
    characters: int = _AT_ONCE,
) -> Iterator[list[_T]]:
    """Yield portions of texts, and take the next once the last one is encoded.

    Now and then report how many of `total`, if that is known, are encoded, and ask whether to stop.
    """
    done, next_look = 0, 0.0

    def looked() -> Iterator[_T]:
        nonlocal next_look
        for text in texts:
            if time.monotonic() >= next_look:
                if should_stop is not None and should_stop():
                    raise EncodingStopped
                if progress is not None and total is not None:
                    progress(done, total)
                next_look = time.monotonic() + _INTERVAL_SECONDS
            yield text

    for portion in portions(looked(), characters):
        yield portion
        done += len(portion)
    if progress is not None and total is not None:
        progress(total, total)


def written(texts: Any) -> Any:
    """Return all characters of a text, of its words, or of two of them; bytes as they are."""
    return texts if isinstance(texts, str | bytes) else "".join(map(written, texts))


def restored(state: bytes) -> Any:
    from tokenizers import Encoding

    raw = Encoding()
    raw.__setstate__(state)
    return raw
