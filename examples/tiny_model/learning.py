"""Loss, optimizer, schedule and gradient clipping."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean of -ln p(target). logits: (..., vocabulary); targets: (...)."""
    shifted = logits - logits.amax(-1, keepdim=True)
    chosen = shifted.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (shifted.exp().sum(-1).log() - chosen).mean()


class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019)."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        betas: tuple[float, float] = (0.9, 0.95),
        epsilon: float = 1e-8,
        decay: float = 0.1,
    ) -> None:
        self.parameters = list(parameters)
        self.betas, self.epsilon, self.decay = betas, epsilon, decay
        self.step_count = 0
        self.means = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Moves each parameter against its gradient, and clears the gradient."""
        self.step_count += 1
        one, two = self.betas
        correction = math.sqrt(1 - two**self.step_count) / (1 - one**self.step_count)
        epsilon = self.epsilon * math.sqrt(1 - two**self.step_count)
        for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            if parameter.grad is None:
                continue
            parameter.mul_(1 - rate * self.decay)
            mean.mul_(one).add_(parameter.grad, alpha=1 - one)
            square.mul_(two).addcmul_(parameter.grad, parameter.grad, value=1 - two)
            parameter.addcdiv_(mean, square.sqrt().add_(epsilon), value=-rate * correction)
            parameter.grad = None

    def state(self) -> dict[str, object]:
        """The state that a checkpoint needs to resume."""
        return {"step_count": self.step_count, "means": self.means, "squares": self.squares}

    def load(self, state: dict[str, object]) -> None:
        """Resumes from a state."""
        self.step_count, self.means, self.squares = (  # type: ignore[assignment]
            state[name] for name in ("step_count", "means", "squares")
        )


def cosine_rate(step: int, steps: int, warmup: int, largest: float, smallest: float) -> float:
    """The learning rate: linear up to ``largest``, then half a cosine down to ``smallest``.

    >>> [cosine_rate(step, 10, 2, 1.0, 0.0) for step in (0, 1, 2, 10)]
    [0.5, 1.0, 1.0, 0.0]
    """
    if step < warmup:
        return largest * (step + 1) / warmup
    share = min(1.0, (step - warmup) / max(1, steps - warmup))
    return smallest + (largest - smallest) * (1 + math.cos(math.pi * share)) / 2


@torch.no_grad()
def clip_gradients(parameters: Iterable[nn.Parameter], largest: float) -> float:
    """Scales all gradients so that their norm is at most ``largest``; returns the norm before."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients))
    if norm > largest:
        for gradient in gradients:
            gradient.mul_(largest / (norm + 1e-6))
    return norm
