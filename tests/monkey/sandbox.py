"""The files that the monkey opens, saves over and spoils: a folder of its own, made afresh for each session."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    import random
    from pathlib import Path

TEXTS = (
    "hug pug pun bun hugs",
    "low lower lowest new newer newest wide wider widest",
    "La niña contaba los niños y las niñas en el jardín.",
    "할머니는 꽃에 물을 주셨다. 꽃은 할머니를 보고 웃었다.",
    "春天的小鱼在河边唱歌。小鱼在河里。",
    "हिन्दी में शब्द कैसे टूटते हैं",
    "##a ##a ##b a##b # ## ###",
    "[UNK] [CLS] [MASK] unk [unk]",
    "<b>bold</b> &amp; <img src=x> %s {0} {name}",
    "a\tb\r\nc\rd\u2028e\u2029f\x0bg\x0ch",
    "\ufeffmark at the start \ufeff and inside \ufffe\uffff\ufdd0",
    "e\u0301 \u200d\u200b\u00ad\u00a0 \U0001f917\U0001f468\u200d\U0001f469\u200d\U0001f467 𠮷野家",
    "\u202eright to left\u202c العربية עברית",
    "aaaa aaaaaaaa abababab",
    "1 22 333 4444 55555 3.14159 1,000,000",
    "hug 10\npug 5\npun 12\nbun 4\nhugs 5",
    "x" * 300,
    " ",
    "",
)
"""What is typed and pasted."""

PATTERNS = (".*", "(a|b)+", "^##", "[", "(?R)", "\\w+$", "a{2,", "(x+x+)+y", "hug", "##", "\u0301")
NUMBERS = ("0", "1", "2", "5", "12", "50", "100", "1000", "30000", "-1", "999999999999", "1e9", "inf", "x")
NAMES = ("new.wpstudio", "again.wpstudio", "vocab", "text.txt", "merges.csv", "chart.png", "chart.svg", "no/where/x")


class Sandbox:
    """The folder, and which of its files may be opened.

    Parameters
    ----------
    folder
        An empty folder.
    rng
        Decides what the larger texts hold.

    Attributes
    ----------
    middle_text
        What its file of that name held at first; the monkey may take it away.
    """

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self._write_texts(rng)
        self.middle_text = (folder / "middle.txt").read_text("utf-8")
        self._write_tables()
        self._write_hostile()

    def paths(self, *suffixes: str) -> list[Path]:
        """Return its files and folders, in order; of files only those with one of these suffixes, if any is given."""
        found = (path for path in sorted(self.folder.rglob("*")) if "settings" not in path.parts)
        return [path for path in found if not suffixes or path.suffix in suffixes]

    def spoil(self, rng: random.Random) -> Path | None:
        """Write a spoiled copy of one of the files that the window has saved; None if there is none yet."""
        saved = self.paths(".wpstudio", ".json", ".txt", ".tsv")
        if not saved:
            return None
        source = rng.choice(saved)
        data = bytearray(source.read_bytes()[: 4 << 20])
        for _ in range(rng.choice((1, 1, 4, 64))):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data) + 1) :]
        spoiled = source.with_name(f"spoiled-{rng.randrange(4)}{source.suffix}")
        spoiled.write_bytes(data)
        return spoiled

    def change(self, path: Path, rng: random.Random) -> None:
        """Do to a file, or to one in a folder, what another program may: rewrite, replace, truncate or delete it."""
        if path.is_dir():
            inside = [file for file in self.paths() if path in file.parents and file.is_file()]
            path = rng.choice(inside) if inside else path
        if not path.is_file():
            return
        data, way = path.read_bytes()[: 1 << 20], rng.choice(("rewrite", "replace", "truncate", "delete"))
        changed = data + b" changed" if rng.random() < 0.5 else data[::-1]
        if way == "delete":
            path.unlink()
        elif way == "truncate":
            path.write_bytes(data[: rng.randrange(len(data) + 1)])
        elif way == "rewrite":
            path.write_bytes(changed)
        else:
            new = path.with_name("replacing.tmp")
            new.write_bytes(changed)
            new.replace(path)

    def _write_texts(self, rng: random.Random) -> None:
        for path in sorted(resource_path("samples").glob("*.txt")):
            (self.folder / path.name).write_bytes(path.read_bytes())
        letters = "etaoinshrdlucmfwypvbgk"
        words = ["".join(rng.choices(letters, range(len(letters), 0, -1), k=rng.randint(1, 9))) for _ in range(3000)]
        for name, count in (("middle.txt", 20_000), ("large.txt", 200_000)):
            chosen = rng.choices(words, [1 / rank for rank in range(1, len(words) + 1)], k=count)
            lines = (" ".join(chosen[start : start + 12]) for start in range(0, count, 12))
            (self.folder / name).write_text("\n".join(lines), "utf-8")
        many = self.folder / "many"
        many.mkdir()
        for number in range(30):
            (many / f"{number:02}.txt").write_text(TEXTS[number % len(TEXTS)], "utf-8")
        (many / "README.md").write_text("not a corpus", "utf-8")

    def _write_tables(self) -> None:
        rows = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
        folder = self.folder
        (folder / "counts.tsv").write_text("".join(f"{word}\t{count}\n" for word, count in rows), "utf-8")
        (folder / "rows.csv").write_text("id,text\n" + "".join(f'{n},"{t}"\n' for t, n in rows), "utf-8")
        (folder / "rows.jsonl").write_text("".join(f'{{"text": "{t}", "id": {n}}}\n' for t, n in rows), "utf-8")
        (folder / "packed.txt.gz").write_bytes(gzip.compress(b"low lower lowest\n" * 50, mtime=0))
        (folder / "vocab.txt").write_text("[UNK]\nh\n##u\n##g\nhu\nhug\n", "utf-8")
        model = {
            "type": "BPE",
            "vocab": {"[UNK]": 0, "h": 1, "u": 2, "hu": 3},
            "merges": [["h", "u"]],
            "unk_token": "[UNK]",
        }
        whole = {"version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}}
        (folder / "tokenizer.json").write_text(json.dumps(whole), "utf-8")

    def _write_hostile(self) -> None:
        folder = self.folder
        (folder / "empty.txt").write_bytes(b"")
        (folder / "binary.bin").write_bytes(bytes(range(256)) * 40)
        (folder / "latin.txt").write_bytes("La niña está aquí".encode("latin-1"))
        (folder / "utf16.txt").write_bytes("hug pug pun".encode("utf-16"))
        (folder / "marked.txt").write_bytes(b"\xef\xbb\xbf\xef\xbb\xbfhello world")
        (folder / "unusual.txt").write_text("".join(TEXTS), "utf-8", newline="")
        (folder / "one-line.txt").write_text("word" * 100_000, "utf-8")
        (folder / "lines.txt").write_text("a\n" * 300_000, "utf-8")
        (folder / "not-a-project.wpstudio").write_bytes(b"WordPiece" * 100)
        (folder / "empty.wpstudio").write_bytes(b"")
        (folder / "broken.jsonl").write_text('{"text": "a"}\n{"text": \n', "utf-8")
