"""Each part of the tiny model equals that of PyTorch, and the model learns in training."""

import sys
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("safetensors")
sys.path.append(str(ROOT / "examples" / "tiny_model"))

import checkpoint  # noqa: E402
import layers  # noqa: E402
import learning  # noqa: E402
import numpy as np  # noqa: E402
import torch.nn.functional as F  # noqa: E402, N812
from stories import stories  # noqa: E402
from torch import nn  # noqa: E402

SMALL = layers.Config(vocabulary=50, width=16, hidden=24, layers=2, heads=4, head_size=6)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(1)


def close(left: Any, right: Any) -> bool:
    return bool(left.shape == right.shape and torch.allclose(left, right, atol=1e-5))


def test_linear_embedding_and_norm_equal_those_of_torch() -> None:
    x, ids = torch.randn(2, 3, 8), torch.randint(0, 9, (2, 3))
    linear = layers.Linear(8, 5)
    assert close(linear(x), F.linear(x, linear.weight))
    embedding = layers.Embedding(9, 4)
    assert close(embedding(ids), F.embedding(ids, embedding.weight))
    norm = layers.RMSNorm(8, 1e-5)
    nn.init.normal_(norm.weight)
    assert close(norm(x), F.rms_norm(x, (8,), norm.weight, 1e-5))


def test_silu_softmax_and_swiglu_equal_those_of_torch() -> None:
    x = 10 * torch.randn(2, 3, 8)
    assert close(layers.silu(x), F.silu(x))
    assert close(layers.softmax(x), F.softmax(x, -1))
    feed = layers.SwiGLU(8, 12)
    gate, up = F.linear(x, feed.gate_proj.weight), F.linear(x, feed.up_proj.weight)
    assert close(feed(x), F.linear(F.silu(gate) * up, feed.down_proj.weight))


def test_rotary_positions_rotate_complex_numbers() -> None:
    x = torch.randn(2, 4, 7, 6)
    numbers = torch.complex(x[..., :3], x[..., 3:])
    angles = torch.outer(torch.arange(7.0), 100.0 ** (-torch.arange(3) / 3))
    rotated = numbers * torch.polar(torch.ones_like(angles), angles)
    assert close(layers.rotary(x, 100.0), torch.cat([rotated.real, rotated.imag], -1))


def test_attention_equals_scaled_dot_product_attention() -> None:
    query, key, value = (torch.randn(2, 4, 5, 6) for _ in range(3))
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(query, key, value, mask)
    assert close(layers.attention(query, key, value, mask), expected)


def test_attention_with_equal_heads_equals_multi_head_attention(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layers, "rotary", lambda part, theta: part)  # torch's has none
    config = layers.Config(50, width=16, heads=4, key_heads=4, head_size=4)
    ours, x = layers.Attention(config), torch.randn(2, 5, 16)
    theirs = nn.MultiheadAttention(16, 4, bias=False, batch_first=True)
    parts = (ours.q_proj, ours.k_proj, ours.v_proj)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.out_proj.weight.copy_(ours.o_proj.weight)
    future = ~torch.ones(5, 5, dtype=torch.bool).tril()
    assert close(ours(x), theirs(x, x, x, attn_mask=future, need_weights=False)[0])


def test_the_whole_model_equals_llama_of_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = layers.LanguageModel(SMALL)
    checkpoint.save(tmp_path, model)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    ids = torch.randint(0, 50, (2, 9))
    with torch.no_grad():
        assert close(model(ids), theirs(ids).logits)


def test_cross_entropy_and_its_gradient_equal_those_of_torch() -> None:
    logits = (5 * torch.randn(2, 3, 7)).requires_grad_()
    targets = torch.randint(0, 7, (2, 3))
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    actual = learning.cross_entropy(logits, targets)
    assert close(actual, expected)
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in (actual, expected)]
    assert close(*gradients)


def test_adamw_takes_the_steps_of_torch() -> None:
    ours = nn.Parameter(torch.randn(4, 3))
    theirs = nn.Parameter(ours.detach().clone())
    optimizer = learning.AdamW([ours])
    reference = torch.optim.AdamW([theirs], betas=(0.9, 0.95), weight_decay=0.1)
    for step in range(20):
        gradient = torch.randn(4, 3)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        rate = 1e-2 / (step + 1)
        optimizer.step(rate)
        reference.param_groups[0]["lr"] = rate
        reference.step()
        assert close(ours, theirs)


def test_the_learning_rate_decays_as_half_a_cosine() -> None:
    parameter = nn.Parameter(torch.zeros(1))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        torch.optim.SGD([parameter], lr=1.0), T_max=100, eta_min=0.1
    )
    for step in range(100):
        assert learning.cosine_rate(step, 100, 0, 1.0, 0.1) == pytest.approx(
            schedule.get_last_lr()[0], abs=1e-9
        )
        schedule.optimizer.step()
        schedule.step()


def test_gradients_are_clipped_as_in_torch() -> None:
    for largest in (0.5, 100.0):
        ours = [nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(2, 2))]
        theirs = [nn.Parameter(part.detach().clone()) for part in ours]
        for our, their in zip(ours, theirs, strict=True):
            our.grad = torch.randn_like(our)
            their.grad = our.grad.clone()
        norm = nn.utils.clip_grad_norm_(theirs, largest)
        assert learning.clip_gradients(ours, largest) == pytest.approx(float(norm), rel=1e-5)
        assert all(close(our.grad, their.grad) for our, their in zip(ours, theirs, strict=True))


def test_training_resumes_from_a_checkpoint_without_a_difference(tmp_path: Path) -> None:
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 50, (4, 10)))

    def steps(model: layers.LanguageModel, optimizer: learning.AdamW, count: int) -> float:
        for _ in range(count):
            loss = learning.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
            loss.backward()
            optimizer.step(1e-2)
        return float(loss.detach())

    model = layers.LanguageModel(SMALL)
    optimizer = learning.AdamW(model.parameters())
    first = steps(model, optimizer, 5)
    checkpoint.save(tmp_path, model, optimizer)
    loaded, loaded_optimizer = checkpoint.load(tmp_path)
    assert loaded_optimizer is not None
    last = steps(model, optimizer, 5)
    assert last < first
    assert steps(loaded, loaded_optimizer, 5) == pytest.approx(last, rel=1e-4)


def test_the_script_trains_a_model_that_learns(tmp_path: Path) -> None:
    import train

    train.prepare(tmp_path, 300, 400)
    model = train.train(tmp_path, 30, 8, 32, layers.Config(400))
    assert train.perplexity(model, tmp_path, 32) < 150  # of 400, untrained


def test_stories_are_the_same_for_the_same_seed() -> None:
    assert stories(20, 1) == stories(20, 1) != stories(20, 2)
