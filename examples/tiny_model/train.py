"""From nothing to a model that talks: stories, tokenizer, ids, weights. Minutes on two cores.

pip install torch 'tokexport[model]'
python train.py tiny
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import checkpoint
import numpy as np
import torch
from data import batch, read_ids
from layers import Config, LanguageModel
from learning import AdamW, clip_gradients, cosine_rate, cross_entropy
from stories import stories

END = "<|endoftext|>"


def tokexport(*arguments: str) -> None:
    """Runs the command line."""
    subprocess.run([sys.executable, "-m", "tokexport", *arguments, "--quiet"], check=True)


def prepare(folder: Path, count: int, vocabulary: int) -> None:
    """Writes stories, learns a tokenizer from them and makes ids of both parts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, number, seed in (("train", count, 1), ("held-out", count // 20, 2)):
        lines = (json.dumps({"text": text}) + "\n" for text in stories(number, seed))
        (folder / f"{name}.jsonl").write_text("".join(lines))
    tokenizer = folder / "tokenizer"
    texts, out = str(folder / "train.jsonl"), str(tokenizer)
    special = ("--special-token", END)
    tokexport("train", texts, "--vocab-size", str(vocabulary), *special, "-o", out, "--force")
    for name in ("train", "held-out"):
        shards = folder / f"{name}-ids"
        if not shards.exists():
            source = str(folder / f"{name}.jsonl")
            tokexport("tokenize", str(tokenizer / "tokenizer.bin"), source, "-o", str(shards))


@torch.no_grad()
def perplexity(model: LanguageModel, folder: Path, positions: int) -> float:
    """exp of the mean loss on the held-out part."""
    ids = read_ids(folder / "held-out-ids", model.config.vocabulary)
    rng = np.random.default_rng(0)
    parts = [batch(ids, 8, positions, rng) for _ in range(8)]
    losses = [cross_entropy(model(inputs), targets) for inputs, targets in parts]
    return math.exp(float(torch.stack(losses).mean()))


def train(folder: Path, steps: int, size: int, positions: int, vocabulary: int) -> LanguageModel:
    """Trains for some steps, and saves the checkpoint on the way and at the end."""
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    model = LanguageModel(Config(vocabulary))
    optimizer = AdamW(model.parameters())
    ids = read_ids(folder / "train-ids", vocabulary)
    begin = time.monotonic()
    for step in range(steps):
        inputs, targets = batch(ids, size, positions, rng)
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        clip_gradients(model.parameters(), 1.0)
        optimizer.step(cosine_rate(step, steps, steps // 20 + 1, 2e-3, 1e-4))
        if step % 50 == 0 or step + 1 == steps:
            speed = (step + 1) * size * positions / (time.monotonic() - begin)
            print(f"step {step:4}  loss {loss.item():.3f}  {speed:,.0f} tokens a second")
            checkpoint.save(folder / "model", model, optimizer)
    checkpoint.save(folder / "model", model)
    return model


def main() -> None:
    """Reads the options, and does all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stories", type=int, default=20000)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--positions", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=1024)
    options = parser.parse_args()
    prepare(options.folder, options.stories, options.vocabulary)
    model = train(
        options.folder, options.steps, options.batch, options.positions, options.vocabulary
    )
    print(f"held-out perplexity {perplexity(model, options.folder, options.positions):.3f}")


if __name__ == "__main__":
    main()
