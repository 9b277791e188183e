"""``wordpiece-studio prepare``."""

from __future__ import annotations

import time

from wordpiece_studio.cli.messages import number_of, print_result, progress
from wordpiece_studio.cli.options import JSON
from wordpiece_studio.cli.parameters import CliCommand
from wordpiece_studio.compiled.kernel_cache import (
    KERNEL_PACKAGES,
    cache_folder,
    kernels_are_cached,
    load_kernels,
    number_of_kernels,
)
from wordpiece_studio.system.printable import display_name


class PrepareCommand(CliCommand):
    """Compile the engines now, once per machine, so that no later command has to wait for it."""

    as_json: bool = JSON

    def run(self) -> None:
        started = time.monotonic()
        compiled = []
        with progress():
            for package in KERNEL_PACKAGES:
                if not kernels_are_cached(package):
                    compiled.append(package)
                load_kernels(package)  # also finds out whether the cache is damaged
        seconds, folder = time.monotonic() - started, cache_folder("text").parent
        kernels = {package: number_of_kernels(package) for package in KERNEL_PACKAGES}
        lines = [f"Compiled the {package} engine: {number_of(kernels[package], 'kernel')}." for package in compiled]
        done = f"in {seconds:.1f} s" if compiled else "before"
        lines.append(f"Everything was compiled {done}, and is kept in {display_name(folder)}")
        engines = [{"name": name, "kernels": kernels[name], "compiled": name in compiled} for name in KERNEL_PACKAGES]
        summary = {"engines": engines, "folder": str(folder), "seconds": round(seconds, 3)}
        print_result(summary, "\n".join(lines), as_json=self.as_json)
