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
# The user begins a story, the model continues it.
CHAT = (
    "{% for m in messages %}{{ m.content }}"
    "{% if m.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
)


def tokexport(*arguments: str) -> None:
    """Runs the command line."""
    subprocess.run([sys.executable, "-m", "tokexport", *arguments, "--quiet"], check=True)


def prepare(folder: Path, count: int, vocabulary: int) -> None:
    """Writes stories, trains a tokenizer on them, and encodes both parts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, number, seed in (("train", count, 1), ("held-out", count // 20, 2)):
        lines = (json.dumps({"text": text}) + "\n" for text in stories(number, seed))
        (folder / f"{name}.jsonl").write_text("".join(lines))
    tokenizer = folder / "tokenizer"
    texts, out = str(folder / "train.jsonl"), str(tokenizer)
    special = ("--special-token", END, "--eos", END)
    tokexport("train", texts, "--vocab-size", str(vocabulary), *special, "-o", out, "--force")
    described = tokenizer / "tokenizer_config.json"
    settings = {**json.loads(described.read_text()), "chat_template": CHAT}
    described.write_text(json.dumps(settings, indent=2) + "\n")
    tokexport("convert", out, "-o", f"{out}/tokenizer.bin", "--force")
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


@torch.no_grad()
def greedy(model: LanguageModel, ids: list[int], count: int) -> list[int]:
    """The most likely ids that follow."""
    found = list(ids)
    while len(found) < len(ids) + count:
        found.append(int(model(torch.tensor([found]))[0, -1].argmax()))
    return found[len(ids) :]


def record(folder: Path, prompt: str, count: int) -> None:
    """Writes greedy.json: PyTorch's continuation of a prompt with the saved checkpoint."""
    from tokexport import load

    model, _ = checkpoint.load(folder / "model")
    tokenizer = load(folder / "tokenizer" / "tokenizer.bin")
    ids = greedy(model, tokenizer.encode(prompt), count)
    written = {"prompt": prompt, "ids": ids, "text": tokenizer.decode(ids)}
    (folder / "greedy.json").write_text(json.dumps(written) + "\n")


def train(folder: Path, steps: int, size: int, positions: int, config: Config) -> LanguageModel:
    """Trains for some steps, and saves checkpoints on the way and at the end."""
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    model = LanguageModel(config)
    optimizer = AdamW(model.parameters())
    ids = read_ids(folder / "train-ids", config.vocabulary)
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
    (folder / "model" / "optimizer.pt").unlink()
    return model


def main() -> None:
    """Reads the options, and runs all steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stories", type=int, default=20000)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--positions", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--bfloat16", action="store_true", help="save the weights in 16 bits")
    options = parser.parse_args()
    prepare(options.folder, options.stories, options.vocabulary)
    width = options.width
    config = Config(options.vocabulary, width, 3 * width, options.layers, head_size=width // 4)
    model = train(options.folder, options.steps, options.batch, options.positions, config)
    checkpoint.save(
        options.folder / "model", model, dtype=torch.bfloat16 if options.bfloat16 else None
    )
    record(options.folder, "Once upon a time", 200)
    print(f"held-out perplexity {perplexity(model, options.folder, options.positions):.3f}")


if __name__ == "__main__":
    main()
