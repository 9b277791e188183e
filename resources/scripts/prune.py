"""Take the tokens out of a model that this folder lacks: python prune.py MODEL OUT.

MODEL is a folder with config.json and model.safetensors, OUT the new one. id-map.tsv has the old and the new id of each
token that stays; so do the rows of the embeddings, of the output layer and of its bias.
"""

import json
import shutil
import sys
from pathlib import Path

from safetensors import safe_open
from safetensors.numpy import load_file, save_file

here = Path(__file__).resolve().parent
model, out = map(Path, sys.argv[1:])
lines = (here / "id-map.tsv").read_text(encoding="utf-8").splitlines()[1:]
kept = [int(line.partition("\t")[0]) for line in lines]
if out.exists():
    sys.exit(f"{out} exists already.")
config = json.loads((model / "config.json").read_text(encoding="utf-8"))
size, config["vocab_size"] = config["vocab_size"], len(kept)
if size <= max(kept):
    sys.exit(f"The model has {size} tokens, and the vocabulary that was pruned more.")
tensors = load_file(model / "model.safetensors")
for name, old in tensors.items():
    if old.shape[:1] == (size,):
        tensors[name] = old[kept]
for name, token in config.items():
    if name.endswith("token_id") and isinstance(token, int):
        config[name] = kept.index(token) if token in kept else None
with safe_open(model / "model.safetensors", "np") as file:
    metadata = file.metadata()
shutil.copytree(model, out)
for name in ("special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"):
    shutil.copy(here / name, out)
save_file(tensors, out / "model.safetensors", metadata)
(out / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
