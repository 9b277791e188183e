"""Give a model the new tokens of this folder: python resize.py MODEL OUT.

MODEL is a folder with config.json and model.safetensors, OUT the new one. In the embeddings, the output layer and its
bias, the row of a new token is the mean of the rows of the old tokens that spelled it, as in Gee et al., "Fast
Vocabulary Transfer for Language Model Compression" (EMNLP 2022).
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

here = Path(__file__).resolve().parent
model, out = map(Path, sys.argv[1:])
plan = json.loads((here / "new-tokens.json").read_text(encoding="utf-8"))
if out.exists():
    sys.exit(f"{out} exists already.")
config = json.loads((model / "config.json").read_text(encoding="utf-8"))
size = config["vocab_size"]
if size < plan["old_size"]:
    sys.exit(f"The model has {size} tokens, and the vocabulary that was extended {plan['old_size']}.")
config["vocab_size"] = max(size, plan["new_size"])
tensors = load_file(model / "model.safetensors")
for name, old in tensors.items():
    if old.shape[:1] == (size,):
        tensors[name] = new = np.zeros((config["vocab_size"], *old.shape[1:]), old.dtype)
        new[:size] = old
        for token, pieces in plan["pieces"].items():
            new[int(token)] = old[pieces].astype(np.float32).mean(axis=0)
with safe_open(model / "model.safetensors", "np") as file:
    metadata = file.metadata()
shutil.copytree(model, out)
for name in plan["files"]:
    shutil.copy(here / name, out)
save_file(tensors, out / "model.safetensors", metadata)
(out / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
