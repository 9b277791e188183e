"""``wordpiece-studio sweep``."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from wordpiece_studio.cli.messages import aligned, print_result, progress, warn
from wordpiece_studio.cli.options import FORCE, JSON, TEXT_FILES, FileOptions, PipelineOptions, check_results, results
from wordpiece_studio.cli.parameters import CliCommand, argument, option
from wordpiece_studio.cli.train import TrainCommand
from wordpiece_studio.corpus.listing import Listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.sizes import NEEDS, NUMBER_OF_SIZES, RULES, USUAL_SIZES, RuleName, checked_sizes
from wordpiece_studio.libraries.library_training import LibraryTrainer, check_library_settings
from wordpiece_studio.libraries.sweep import FOLDS, sweep
from wordpiece_studio.storage.manifest import marked_page
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.training.config import Objective, TrainingConfig

if TYPE_CHECKING:
    from wordpiece_studio.evaluation.sizes import Sweep

_RULE_NAMES = ", ".join(get_args(RuleName))
_SETTINGS = ("min_frequency", "max_token_length", "special_tokens", "alphabet_limit", "continuing_subword_prefix")


class SweepCommand(CliCommand, FileOptions, PipelineOptions):
    files: list[str] = argument(f"{TEXT_FILES}.", "FILES")
    sizes: str = option(
        f"The sizes: two ends, of which {NUMBER_OF_SIZES} sizes (20: 1000..64000:20) are measured as far as the "
        "corpus reaches, or several like 1000,2000,4000.",
        default=USUAL_SIZES, metavar="SIZES",
    )  # fmt: skip
    objective: list[str] | None = option(
        f"Train with {', '.join(get_args(Objective))}. Repeat --objective for several; by default all.",
        values=Objective,
    )
    by: list[str] | None = option(
        f"Train with another library: {', '.join(get_args(LibraryTrainer))}. Repeat --by for several. Objectives are "
        "compared too if --objective names them.",
        values=LibraryTrainer,
    )
    folds: int = option(
        "Divide the corpus into this many blocks, and measure on each what was trained on the others. With 1, measure "
        "on a tenth.",
        default=FOLDS, least=1,
    )  # fmt: skip
    min_frequency = TrainCommand.min_frequency
    max_token_length = TrainCommand.max_token_length
    special_tokens = TrainCommand.special_tokens
    alphabet_limit = TrainCommand.alphabet_limit
    continuing_subword_prefix: str | None = TrainCommand.continuing_subword_prefix
    max_word_length: int = option("Leave out words of more characters.", default=1000, least=1)
    output: str | None = option("Write a page with charts to this file.", names=("-o", "--output"), metavar="HTML")
    export: str | None = option(
        "Then train on the whole corpus with the best method at the size that --rule advises, and write the tokenizer "
        "to this folder.",
        metavar="DIR",
    )
    rule: str = option(f"The rule for --export: {_RULE_NAMES}.", default="description", values=RuleName)
    force: bool = FORCE
    as_json: bool = JSON

    def run(self) -> int:
        self._check()
        names = {name: getattr(self, name) for name in _SETTINGS if self.is_given(name)}
        listed = Listing(tuple(file for path in self.files for file in self.listed_text(path, "sweep").files))
        methods = [*(self.objective or ([] if self.by else get_args(Objective))), *(self.by or ())]
        with progress() as report:
            found = sweep(
                listed, methods, sizes=self.sizes, folds=self.folds, config=TrainingConfig(**names),
                normalizer=self.whole_normalizer(), pre_tokenizer=self.pre_tokenizer,
                max_word_length=self.max_word_length, progress=report,
            )  # fmt: skip
        data, lines = found.to_dict(), sweep_lines(found)
        best = None if self.export is None else found.best(self.rule)  # type: ignore[arg-type]  # it is checked
        with contextlib.ExitStack() as stack:
            if self.output is not None:
                from wordpiece_studio.evaluation.sweep_page import sweep_html

                page = sweep_html(found, ", ".join(Path(path).name for path in self.files))
                content = marked_page(page.encode("utf-8", "backslashreplace"))
                stack.enter_context(results(force=self.force))
                atomic_write_all({self.output: content}, folder=Path(self.output).parent)
                lines.append(f"The page is {display_name(self.output)}.")
            if self.export is not None and best is not None:
                method, size = best
                data["exported"] = {"output": self.export, "method": method, "size": size, "rule": self.rule}
                with contextlib.redirect_stdout(io.StringIO()):
                    TrainCommand(self._call(method, size)).run()
                lines.append(f"Trained on the whole corpus: {method}, {size:,} tokens, in {display_name(self.export)}.")
        print_result(data, "\n".join(lines), as_json=self.as_json)
        if self.export is None or best is not None:
            return 0
        needs = NEEDS[found.need(self.rule)]  # type: ignore[arg-type]  # it is checked
        warn(f"The rule {self.rule} holds for none of the sizes, so nothing was exported. It needs {needs}.")
        return 1

    def _check(self) -> None:
        checked_sizes(self.sizes)
        if self.rule not in get_args(RuleName):
            raise StudioError("There is no rule {name}", "Use one of {names}.", name=self.rule, names=_RULE_NAMES)
        if self.is_given("rule") and self.export is None:
            raise StudioError("--rule needs --export", "Specify the folder to write to.")
        for name in self.objective or ():
            TrainingConfig(objective=name)  # type: ignore[arg-type]  # is checked here
        for name in self.by or ():
            check_library_settings(name, TrainingConfig(vocab_size=1))  # type: ignore[arg-type]  # is checked here
        if self.output is not None:
            check_folder(Path(self.output).parent)
            check_results([self.output], force=self.force)
        if self.export is not None:
            check_folder(self.export)
            check_results([Path(self.export) / "tokenizer.json"], force=self.force)

    def _call(self, method: str, size: int) -> list[str]:
        """Return the call of ``train`` that trains so, with what was given here."""
        words = [*self.files, f"--output={self.export}", f"--vocab-size={size}"]
        words.append(f"--{'objective' if method in get_args(Objective) else 'by'}={method}")
        shared = self.declared().keys() & TrainCommand.declared().keys()
        for name in sorted(shared - {"files", "output", "objective", "by", "as_json"}):
            value, option_name = getattr(self, name), TrainCommand.declared()[name].names[0]
            if self.is_given(name):
                text = " ".join(value) if isinstance(value, list | tuple) else str(value)
                words.append(option_name if value is True else f"{option_name}={text}")
        return words


def sweep_lines(found: Sweep) -> list[str]:
    """Return what is printed of a sweep."""
    lines: list[str] = []
    for method in found.methods:
        rows = [[printable(cell) for cell in row] for row in found.rows(method)]
        lines += [method, *aligned(rows, names=0), ""]
    lines += [f"Measured on text not trained on: {found.measured_on}.", "", *aligned(found.rule_rows()), ""]
    return [*lines, *(rule.text for rule in RULES), "", *found.conclusions()]
