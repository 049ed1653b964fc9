"""The LM head's distribution at chosen hidden states, in chunks: nothing of tokens × vocabulary ever exists.

Legend: M hidden states · C of them in a chunk · h hidden size · V vocabulary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

# Most logits of one chunk: 64 MiB of float32 on a processor, 512 MiB of bfloat16 on a GPU.
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
            statistics = token_statistics(raw_logits(hidden[rows], head), targets[rows], temperature)
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
            of_rows = (column[rows] for column in (targets, sums, entropies, d_logprobs, d_entropies))
            d_logits = logits_gradient(raw_logits(hidden[rows], head), *of_rows, ctx.temperature)
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
            logits = raw_logits(hidden[rows], head)
            sums = token_statistics(logits, torch.zeros_like(logits[:, 0], dtype=torch.long), temperature)[2]
            squares[rows] = sum_of_squares(logits, sums, temperature)
    return squares


def chunks(num_rows: int, head: torch.Tensor, max_logits: int) -> Iterator[slice]:
    """Cut rows so that each chunk has at most so many logits, and at least one row."""
    size = max(1, max_logits // head.shape[0])
    return (slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size))


def raw_logits(hidden: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
    """Compute hidden·headᵀ [C, V], before the temperature, in the precision of products."""
    return hidden @ head.t()


class Fused:
    """A function of logits that a GPU computes in one pass over them, compiled; without a compiler it is computed step by step."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._compiled: Callable[..., Any] | None = None
        self._fails = False

    def __call__(self, logits: torch.Tensor, *rest: Any) -> Any:
        """Call the function."""
        if not logits.is_cuda or self._fails:
            return self._function(logits, *rest)
        try:
            self._compiled = self._compiled or torch.compile(self._function, dynamic=True)
            return self._compiled(logits, *rest)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            reason = str(error).strip().split("\n")[0]
            print(f"engine: {self._function.__name__} is not compiled, and slower: {reason}", file=sys.stderr, flush=True)
            self._fails = True
            return self._function(logits, *rest)


@Fused
def token_statistics(
    logits: torch.Tensor, targets: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute logprob, entropy and log Σ exp of each row."""
    scaled = logits.float() / temperature
    sums = torch.logsumexp(scaled, 1)
    chosen = logits.gather(1, targets[:, None])[:, 0].float() / temperature
    mean = (torch.exp(scaled - sums[:, None]) * scaled).sum(1)
    return chosen - sums, sums - mean, sums


@Fused
def logits_gradient(
    logits: torch.Tensor,
    targets: torch.Tensor,
    sums: torch.Tensor,
    entropies: torch.Tensor,
    d_logprobs: torch.Tensor,
    d_entropies: torch.Tensor,
    temperature: float,
) -> torch.Tensor:
    """Compute the gradient of the logits [C, V], in their precision."""
    log_p = logits.float() / temperature - sums[:, None]
    of_all = torch.exp(log_p) * (d_logprobs[:, None] + d_entropies[:, None] * (log_p + entropies[:, None]))
    is_target = torch.arange(logits.shape[1], device=logits.device) == targets[:, None]
    gradient = torch.where(is_target, d_logprobs[:, None] - of_all, -of_all)
    return (gradient / temperature).to(logits.dtype)


@Fused
def sum_of_squares(logits: torch.Tensor, sums: torch.Tensor, temperature: float) -> torch.Tensor:
    """Compute Σ p² of each row."""
    return torch.exp(2 * (logits.float() / temperature - sums[:, None])).sum(1)
