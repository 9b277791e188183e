"""Project files of the formats 1.0 to 1.5: their records in the form of today's.

In them, the run that was shown first, our other runs and those of other libraries had records of their own, numbered
words and texts, and the bookmarks lay in a part. A program that did not know some of this kept it as it was.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.storage.project.contents import ProjectCorpus, Run, from_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.storage.project.container import Container
    from wordpiece_studio.storage.view import View

_VIEW_NAMES = {"moment": "step", "focus": "selection", "watched_text": "live_text"}


def upgrade(container: Container, records: dict[str, Any], corpus: ProjectCorpus) -> None:
    settings = records["settings"]
    now = corpus_digest(corpus, settings["max_word_length"]), settings["normalizer"], settings["pre_tokenizer"]

    def is_of_corpus(digest: str, head: dict[str, Any]) -> bool:
        return (digest, head["normalizer"], head["pre_tokenizer"]) == now

    if "counts" in records and not is_of_corpus(records["counts"].pop("corpus"), records["counts"]):
        del records["counts"]
    ours = [*([records.pop("run")] if "run" in records else ()), *records.pop("runs", ())]
    runs, libraries = list(_placed(container, ours, "runs")), records.pop("peers", [])
    for library, head in zip(libraries, _placed(container, [each["run"] for each in libraries], "peers"), strict=True):
        head["is_of_corpus"] = is_of_corpus(library.pop("corpus", ""), head)
        runs.append({**head, "library": {name: library[name] for name in library if name != "run"}})
    view = records["view"] = {_VIEW_NAMES.get(name, name): value for name, value in records["view"].items()}
    if libraries:
        _number(runs)
        runs.sort(key=lambda head: head["number"] != view.get("current", 0))
    records["runs"] = runs
    notes = from_json(container.text("view/notes"))
    for name, values in (("run", view.pop("note_runs", ())), ("owner", view.pop("note_owners", ()))):
        for note, value in zip(notes, values, strict=False):
            note[name] = value
    notes += [{"step": step, "text": marker} for marker, step in view.pop("markers", {}).items()]
    view["notes"] = sorted(notes, key=lambda note: note["step"])


def _placed(container: Container, heads: list[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    """Yield records with the names of their parts; not of ours whose words another program has replaced."""

    def prefix(place: int) -> str:
        return f"{kind}/{place}/" if place or kind == "peers" else ""

    for place, head in enumerate(heads):
        words, words_hash, text = head.pop("words", 0), head.pop("words_hash", ""), head.pop("text", None)
        part = container.parts.get(f"{prefix(words)}words/counts")
        if words == place or kind == "peers" or (part is not None and part.hash.hex() == words_hash):
            yield {
                "number": 0,
                **head,
                "parts": prefix(place),
                "words": prefix(words),
                "text": None if text is None else f"{kind}/text/{text}",
            }


def _number(heads: list[dict[str, Any]]) -> None:
    used: set[int] = set()
    for head in heads:
        if head["number"] in used:
            head["number"] = 1 + max(used.union(each["number"] for each in heads))
        used.add(head["number"])


def corpus_digest(corpus: ProjectCorpus, max_word_length: int) -> str:
    """Return a hash of what a corpus is counted from: its text, or its files as they were when last read."""
    result = hashlib.sha256(f"{max_word_length}\0".encode())
    if corpus.text is not None:
        result.update(b"text\0" + corpus.text.encode("utf-8", "surrogatepass"))
    for reference in corpus.files:
        file = reference.file
        about = [file.kind, file.column, file.encoding, file.errors, reference.size, reference.modified_ns]
        result.update(json.dumps(about).encode() + b"\0")
    return result.hexdigest()


def with_tokens(view: View, runs: Sequence[Run]) -> View:
    """Return a view in which the bookmarks that were markers know what the merge of the first run made."""
    history = runs[0].history if runs else ()
    notes = tuple(
        msgspec.structs.replace(note, token=history[note.step - 1].token)
        if not note.token and 0 < note.step <= len(history)
        else note
        for note in view.notes
    )
    return msgspec.structs.replace(view, notes=notes)
