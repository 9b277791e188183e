"""``wordpiece-studio check``."""

from __future__ import annotations

from wordpiece_studio.cli.messages import aligned, guessed_case, print_result, progress, warn
from wordpiece_studio.cli.options import JSON, TEXT_FILES, FileOptions, LoadingOptions
from wordpiece_studio.cli.parameters import CliCommand, argument, option
from wordpiece_studio.system.printable import printable


class CheckCommand(CliCommand, FileOptions, LoadingOptions):
    vocab: str = argument("A folder that a tokenizer was saved in, or a file of one, of any library.", "DIR|FILE")
    on: str | None = option(f"Also check what this text shows. {TEXT_FILES}.", metavar="FILES")
    as_json: bool = JSON

    def run(self) -> int:
        from wordpiece_studio.evaluation.check import check  # with it comes NumPy

        tokenizer = self.tokenizer(self.vocab)
        warn(*guessed_case(tokenizer, self.vocab))
        with progress() as report:
            listed = () if self.on is None else self.listed_text(self.on, "--on")
            found = check(tokenizer, listed, progress=report)
        rows = [(each.status, each.name, each.reason) for each in found.checks]
        lines = []
        for line, each in zip(aligned(rows, names=3), found.checks, strict=True):
            about = "  ".join(each.examples) if each.status in ("warning", "fail") else ""
            lines += [line, *(f"    {text}" for text in (each.advice, about) if text)]
        print_result(found.to_dict(), "\n".join(map(printable, lines)), as_json=self.as_json)
        return 1 if found.failed else 0
