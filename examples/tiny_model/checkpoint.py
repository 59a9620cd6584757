"""Checkpoints: a folder in Hugging Face's format, with config.json and model.safetensors."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from layers import Config, LanguageModel
from learning import AdamW
from safetensors.torch import load_file, save_file


def save(
    folder: Path,
    model: LanguageModel,
    optimizer: AdamW | None = None,
    dtype: torch.dtype | None = None,
) -> None:
    """Writes the model, converted to ``dtype`` if given, and with an optimizer also the state that
    training needs to resume.
    """
    config = model.config
    folder.mkdir(parents=True, exist_ok=True)
    described = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "intermediate_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.key_heads,
        "head_dim": config.head_size,
        "max_position_embeddings": config.context,
        "rms_norm_eps": config.epsilon,
        "rope_theta": config.rope_theta,
        "tie_word_embeddings": False,
        "hidden_act": "silu",
    }
    (folder / "config.json").write_text(json.dumps(described, indent=2) + "\n")
    tensors = {name: tensor.to(dtype) for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    if optimizer is not None:
        torch.save(optimizer.state(), folder / "optimizer.pt")


def load(folder: Path) -> tuple[LanguageModel, AdamW | None]:
    """The model of a folder, and its optimizer if it was saved."""
    described = json.loads((folder / "config.json").read_text())
    config = Config(
        vocabulary=described["vocab_size"],
        width=described["hidden_size"],
        hidden=described["intermediate_size"],
        layers=described["num_hidden_layers"],
        heads=described["num_attention_heads"],
        key_heads=described["num_key_value_heads"],
        head_size=described["head_dim"],
        context=described["max_position_embeddings"],
        epsilon=described["rms_norm_eps"],
        rope_theta=described["rope_theta"],
    )
    model = LanguageModel(config)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    if not (folder / "optimizer.pt").exists():
        return model, None
    optimizer = AdamW(model.parameters())
    optimizer.load(torch.load(folder / "optimizer.pt", weights_only=True))
    return model, optimizer
