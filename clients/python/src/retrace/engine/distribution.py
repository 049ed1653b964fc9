"""The LM head's distribution at chosen hidden states, in chunks: nothing of tokens × vocabulary ever exists.

Legend: M hidden states · C of them in a chunk · h hidden size · V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

# Most logits of one chunk: 64 MiB of float32 on a processor, 1 GiB on a GPU.
MAX_LOGITS = {"cpu": 2**24, "cuda": 2**28}


class TokenDistribution(torch.autograd.Function):
    """log p of each target and the entropy −Σ p·log p for p = softmax(hidden·headᵀ/temperature), float32 [M] each.

    The gradient computes the logits of each chunk again.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        head: torch.Tensor,
        targets: torch.Tensor,
        temperature: float,
        max_logits: int,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Compute both, keeping per token only the logarithm of the sum and the entropy."""
        logprobs = torch.empty(len(targets), dtype=torch.float32, device=hidden.device)
        entropies, sums = torch.empty_like(logprobs), torch.empty_like(logprobs)
        for rows in chunks(len(targets), head, max_logits):
            statistics = token_statistics(scaled_logits(hidden[rows], head, temperature), targets[rows])
            logprobs[rows], entropies[rows], sums[rows] = statistics
        ctx.save_for_backward(hidden, head, targets, entropies, sums)
        ctx.temperature, ctx.max_logits = temperature, max_logits
        return logprobs, entropies

    @staticmethod
    def backward(ctx: Any, d_logprobs: torch.Tensor, d_entropies: torch.Tensor) -> tuple[Any, ...]:
        """∂logits = ∂logprob·(1[target] − p) − ∂entropy·p·(log p + entropy), over the temperature."""
        hidden, head, targets, entropies, sums = ctx.saved_tensors
        wants_hidden, wants_head = ctx.needs_input_grad[:2]
        d_hidden = torch.empty_like(hidden) if wants_hidden else None
        d_head = torch.zeros(head.shape, dtype=torch.float32, device=head.device) if wants_head else None
        for rows in chunks(len(targets), head, ctx.max_logits):
            logits = scaled_logits(hidden[rows], head, ctx.temperature)
            d_logits = logits_gradient(
                logits, targets[rows], sums[rows], entropies[rows], d_logprobs[rows], d_entropies[rows]
            )
            d_logits = d_logits.div_(ctx.temperature).to(head.dtype)
            if d_hidden is not None:
                torch.mm(d_logits, head, out=d_hidden[rows])
            if d_head is not None:
                d_head += d_logits.t() @ hidden[rows]
        return d_hidden, None if d_head is None else d_head.to(head.dtype), None, None, None


def token_distribution(
    hidden: torch.Tensor, head: torch.Tensor, targets: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute logprobs and entropies [M] of targets [M] from hidden [M, h] and head [V, h]; differentiable by hidden and head."""
    max_logits = MAX_LOGITS[hidden.device.type]
    logprobs, entropies = TokenDistribution.apply(hidden, head, targets, temperature, max_logits)
    return logprobs, entropies


def squared_probabilities(hidden: torch.Tensor, head: torch.Tensor, temperature: float) -> torch.Tensor:
    """Compute Σ_v p_v² [M], without a gradient."""
    squares = torch.empty(len(hidden), dtype=torch.float32, device=hidden.device)
    with torch.no_grad():
        for rows in chunks(len(hidden), head, MAX_LOGITS[hidden.device.type]):
            logits = scaled_logits(hidden[rows], head, temperature)
            squares[rows] = torch.softmax(logits, 1).square_().sum(1)
    return squares


def chunks(num_rows: int, head: torch.Tensor, max_logits: int) -> Iterator[slice]:
    """Cut rows so that each chunk has at most so many logits, and at least one row."""
    size = max(1, max_logits // head.shape[0])
    return (slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size))


def scaled_logits(hidden: torch.Tensor, head: torch.Tensor, temperature: float) -> torch.Tensor:
    """Compute hidden·headᵀ/temperature in float32 [C, V]."""
    logits = (hidden @ head.t()).float()
    return logits if temperature == 1 else logits.div_(temperature)


def token_statistics(
    logits: torch.Tensor, targets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute logprob, entropy and log Σ exp of each row."""
    sums = torch.logsumexp(logits, 1)
    chosen = logits.gather(1, targets[:, None])[:, 0]
    mean = (torch.exp(logits - sums[:, None]) * logits).sum(1)
    return chosen - sums, sums - mean, sums


def logits_gradient(
    logits: torch.Tensor,
    targets: torch.Tensor,
    sums: torch.Tensor,
    entropies: torch.Tensor,
    d_logprobs: torch.Tensor,
    d_entropies: torch.Tensor,
) -> torch.Tensor:
    """Compute the gradient of the scaled logits [C, V]."""
    log_p = logits - sums[:, None]
    factor = d_logprobs[:, None] + d_entropies[:, None] * (log_p + entropies[:, None])
    gradient = torch.exp(log_p).mul_(factor).neg_()
    return gradient.scatter_add_(1, targets[:, None], d_logprobs[:, None])
