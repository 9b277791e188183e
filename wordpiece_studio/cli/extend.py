"""``wordpiece-studio extend`` and ``wordpiece-studio prune``."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.messages import aligned, guessed_case, number_of, print_result, progress, warn
from wordpiece_studio.cli.options import (
    FORCE,
    JSON,
    TEXT_FILES,
    FileOptions,
    LoadingOptions,
    check_results,
    results,
    tokens_in,
)
from wordpiece_studio.cli.parameters import CliCommand, argument, flag, option, required_option
from wordpiece_studio.corpus.listing import Listing
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.evaluation.extension import Effect, Extension, Pruning
    from wordpiece_studio.evaluation.held_out import HeldOutText
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer

_CURVE_ROWS = 10


class _AdaptCommand(CliCommand, FileOptions, LoadingOptions):
    vocab: str = argument("A folder that train or transformers wrote, or a vocab.txt or tokenizer.json.", "DIR|FILE")
    on: list[str] = required_option(f"The text of the domain. {TEXT_FILES}.", "--on", metavar="FILES")
    general: list[str] | None = option(
        "A general text, to see what it loses. By default a tenth of what the vocabulary was trained on, if its "
        "manifest names the files and they are there.",
        metavar="FILES",
    )
    output: str | None = option("Write the new tokenizer to this folder.", names=("-o", "--output"), metavar="DIR")
    force: bool = FORCE
    top: int = option("Print this many rows of each list.", default=20, least=0)
    as_json: bool = JSON

    def adapted(self, adapt: Callable[..., Any], save: Callable[..., None], **options: Any) -> Any:
        if self.output is not None:
            check_results([Path(self.output) / "tokenizer.json"], force=self.force)
        tokenizer = self.tokenizer(self.vocab)
        warn(*guessed_case(tokenizer, self.vocab))
        domain = self._listing(self.on, "--on")
        with progress() as report:
            found = adapt(tokenizer, domain, general=self._general(tokenizer), progress=report, **options)
        if self.output is not None:
            with results(force=self.force):
                save(self.output, found)
        if found.general is None:
            warn("The effect on general text is unknown: specify one with --general.")
        return found

    def _general(self, tokenizer: AnyTokenizer) -> Listing | HeldOutText | None:
        from wordpiece_studio.storage.adapted_vocabulary import held_out_of_training
        from wordpiece_studio.tokenizer.tokenizer import Tokenizer

        if self.general:
            return self._listing(self.general, "--general")
        return held_out_of_training(Path(self.vocab), tokenizer) if isinstance(tokenizer, Tokenizer) else None

    def _listing(self, paths: list[str], option: str) -> Listing:
        return Listing(tuple(file for path in paths for file in self.listed_text(path, option).files))

    def print(self, data: dict[str, Any], lines: list[str]) -> None:
        written = [] if self.output is None else ["", f"Written to {display_name(self.output)}."]
        print_result(data, "\n".join([*lines, *written]), as_json=self.as_json)


class ExtendCommand(_AdaptCommand):
    budget: int = option("Add at most this many tokens.", default=500, least=1)
    min_frequency: int = option("Propose no token that saves less, and no word that occurs fewer times.", default=5)
    include: str | None = option("A file of tokens to add first, one per line.", metavar="FILE")
    exclude: str | None = option("A file of tokens never to add, one per line.", metavar="FILE")
    unused: bool = flag("Put the tokens in place of [unused0] and so on, instead of appending them.")

    def run(self) -> None:
        from wordpiece_studio.evaluation.extension import extend
        from wordpiece_studio.storage.adapted_vocabulary import save_extension

        found: Extension = self.adapted(
            extend, partial(save_extension, in_unused=self.unused), budget=self.budget,
            min_frequency=self.min_frequency, include=tokens_in(self.include), exclude=tokens_in(self.exclude),
        )  # fmt: skip
        self.print(_extension_data(found, self.top), _extension_lines(found, self.top))


class PruneCommand(_AdaptCommand):
    min_count: int = option("Remove tokens that the text uses fewer times.", default=1, least=1)
    keep: str | None = option("A file of tokens to keep, one per line.", metavar="FILE")

    def run(self) -> None:
        from wordpiece_studio.evaluation.extension import prune
        from wordpiece_studio.storage.adapted_vocabulary import save_pruning

        found: Pruning = self.adapted(prune, save_pruning, min_count=self.min_count, protected=tokens_in(self.keep))
        shown, before, after = found.removed[: self.top], len(found.tokenizer), len(found.kept)
        data = {"removed": len(found.removed), "kept": after, "effect": _effects_data(found), "removed_tokens": shown}
        lines = [f"{number_of(len(found.removed), 'token')} of {before:,} can go, {after:,} stay", ""]
        lines += _curve(found, ["before", "after"], [0, 1])
        if shown:
            lines += ["", f"Removed: {printable(' '.join(shown))}{' …' if len(found.removed) > len(shown) else ''}"]
        self.print(data, lines)


def _extension_data(found: Extension, top: int) -> dict[str, Any]:
    return {
        "tokens": [dataclasses.asdict(proposal) for proposal in found.proposals],
        "enough": found.enough,
        "effect": _effects_data(found),
        "costly_words": [{**dataclasses.asdict(word), "cost": word.cost} for word in found.costly_words[:top]],
        "unknown_words": [dataclasses.asdict(word) for word in found.unknown_words[:top]],
        "unused_tokens": len(found.unused_tokens),
    }


def _effects_data(found: Extension | Pruning) -> dict[str, Any]:
    effects = {"held_out": found.held_out, "general": found.general}
    return {
        name: effect and {"words": effect.words, "tokens": effect.tokens.tolist(), "unknown": effect.unknown.tolist()}
        for name, effect in effects.items()
    }


def _extension_lines(found: Extension, top: int) -> list[str]:
    number = len(found.proposals)
    if not number:
        return ["No token is missing: none would save anything often enough"]
    steps = sorted({round(number * row / _CURVE_ROWS) for row in range(_CURVE_ROWS + 1)})
    lines = [f"{number_of(number, 'token')} to add", "", *_curve(found, [f"{step:,} tokens" for step in steps], steps)]
    if found.enough is not None:
        lines += ["", f"After {found.enough:,} tokens, a hundred more save less than 0.1% of the tokens held out."]
    rows = [(each.token, each.kind, f"{each.saves:,}") for each in found.proposals[:top]]
    costly = [(each.word, printable(" ".join(each.tokens)), f"{each.cost:,}") for each in found.costly_words[:top]]
    unknown = [(each.word, _reason(each.reason), f"{each.count:,}") for each in found.unknown_words[:top]]
    for titles, table in (
        (("token", "kind", "saves"), rows),
        (("costly word", "tokens", "cost"), costly),
        (("unknown word", "reason", "count"), unknown),
    ):
        printed = [(printable(first), *others) for first, *others in table]
        lines += ["", *aligned([titles, *printed], names=2)] if printed else []
    return [*lines, "", f"Unused: {number_of(len(found.unused_tokens), 'token')} of {len(found.tokenizer):,}"]


def _reason(reason: Any) -> str:
    return "too long" if reason.kind == "too-long" else f"no token {printable(reason.symbol)}"


def _curve(found: Extension | Pruning, names: Sequence[str], steps: Sequence[int]) -> list[str]:
    effects: list[tuple[str, Effect]] = [("held out", found.held_out)]
    effects += [("general text", found.general)] if found.general is not None else []
    titles = ["tokens per word", *(name for name, _ in effects), *(f"unknown, {name}" for name, _ in effects)]
    rows = [titles]
    for name, step in zip(names, steps, strict=True):
        rates = [f"{effect.tokens_per_word[step]:.4f}" for _, effect in effects]
        rows.append([name, *rates, *(f"{effect.unknown[step]:,}" for _, effect in effects)])
    return aligned(rows)
