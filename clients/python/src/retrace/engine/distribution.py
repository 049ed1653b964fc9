"""The LM head's distribution at chosen hidden states, in chunks: no large matrix of tokens by vocabulary ever exists.

Legend: M hidden states · C of them in a chunk · h hidden size · V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

# Most logits of one chunk: 64 MiB of float32 on a processor, 512 MiB of bfloat16 on a GPU.
MAX_LOGITS = {"cpu": 2**24, "cuda": 2**28}


class TokenDistribution(torch.autograd.Function):
    """log p of each target, the entropy -Σ p·log p and Σ p² [M], log p of chosen ids [M, k]; p = softmax(hidden·headᵀ/temperature).

    The gradient, which Σ p² hasn't, computes the logits of each chunk again, unless one chunk holds them all: their gradient
    needs as much memory in any case.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        head: torch.Tensor,
        targets: torch.Tensor,
        temperature: float,
        max_logits: int,
        chosen: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        """Compute them, keeping per token only the logarithm of the sum and the entropy."""
        columns = torch.empty(4, len(targets), dtype=torch.float32, device=hidden.device)
        of_chosen = torch.empty(chosen.shape, dtype=torch.float32, device=hidden.device)
        ctx.logits = None
        if any(ctx.needs_input_grad[:2]) and len(targets) <= chunk_rows(head, max_logits):
            ctx.logits = raw_logits(hidden, head)
            columns[:] = token_statistics(ctx.logits, targets, temperature)
            of_chosen[:] = chosen_logprobs(ctx.logits, chosen, columns[2], temperature)
        else:
            for rows in chunks(len(targets), head, max_logits):
                logits = raw_logits(hidden[rows], head)
                columns[:, rows] = token_statistics(logits, targets[rows], temperature)
                of_chosen[rows] = chosen_logprobs(logits, chosen[rows], columns[2, rows], temperature)
        logprobs, entropies, sums, squares = (column.clone() for column in columns)
        ctx.save_for_backward(hidden, head, targets, entropies, sums, chosen)
        ctx.temperature, ctx.max_logits = temperature, max_logits
        ctx.mark_non_differentiable(squares)
        return logprobs, entropies, squares, of_chosen

    @staticmethod
    def backward(
        ctx: Any, d_logprobs: torch.Tensor, d_entropies: torch.Tensor, _: Any, d_chosen: torch.Tensor
    ) -> tuple[Any, ...]:
        """∂logits = Σ ∂logprob·(1[id] - p) - ∂entropy·p·(log p + entropy), over the temperature; Σ over target and chosen ids."""
        hidden, head, targets, entropies, sums, chosen = ctx.saved_tensors
        d_logprobs, d_entropies = d_logprobs.contiguous(), d_entropies.contiguous()
        wants_hidden, wants_head = ctx.needs_input_grad[:2]
        d_hidden = torch.empty_like(hidden) if wants_hidden else None
        d_head = torch.zeros(head.shape, dtype=torch.float32, device=head.device) if wants_head else None
        # Their memory becomes that of their gradient.
        kept, ctx.logits = ctx.logits, None
        for rows in chunks(len(targets), head, ctx.max_logits):
            columns = RowColumns(
                targets[rows],
                sums[rows],
                entropies[rows],
                d_logprobs[rows],
                d_entropies[rows],
                d_logprobs[rows] + d_chosen[rows].sum(1),
            )
            logits = raw_logits(hidden[rows], head) if kept is None else kept
            d_logits = logits_gradient(logits, columns, chosen[rows], d_chosen[rows], ctx.temperature)
            kept = None
            if d_hidden is not None:
                torch.mm(d_logits, head, out=d_hidden[rows])
            if d_head is not None:
                d_head += d_logits.t() @ hidden[rows]
        return d_hidden, None if d_head is None else d_head.to(head.dtype), None, None, None, None


def token_distribution(
    hidden: torch.Tensor,
    head: torch.Tensor,
    targets: torch.Tensor,
    temperature: float,
    chosen: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute logprobs, entropies and Σ p² [M] of targets [M], and logprobs of chosen ids [M, k], from hidden [M, h] and head [V, h]."""
    max_logits = MAX_LOGITS[hidden.device.type]
    logprobs, entropies, squares, of_chosen = TokenDistribution.apply(
        hidden, head, targets, temperature, max_logits, chosen
    )
    return logprobs, entropies, squares, of_chosen


def likeliest_ids(
    hidden: torch.Tensor, head: torch.Tensor, top_k: int, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Find the k likeliest ids, int32 [M, k] from the likeliest on, and their logprobs, float32; without a gradient."""
    ids = torch.empty(len(hidden), top_k, dtype=torch.int32, device=hidden.device)
    logprobs = torch.empty(ids.shape, dtype=torch.float32, device=hidden.device)
    for rows in chunks(len(hidden), head, MAX_LOGITS[hidden.device.type]):
        scaled = raw_logits(hidden[rows], head).float() / temperature
        greatest, ids[rows] = scaled.topk(top_k, 1)
        logprobs[rows] = greatest - scaled.logsumexp(1, keepdim=True)
    return ids, logprobs


def chunks(num_rows: int, head: torch.Tensor, max_logits: int) -> Iterator[slice]:
    """Cut rows so that each chunk has at most so many logits, and at least one row."""
    size = chunk_rows(head, max_logits)
    return (slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size))


def chunk_rows(head: torch.Tensor, max_logits: int) -> int:
    """Rows of a chunk: as many as have so many logits together, and at least one."""
    return max(1, max_logits // len(head))


def raw_logits(hidden: torch.Tensor, head: torch.Tensor) -> torch.Tensor:
    """Compute hidden·headᵀ [C, V], before the temperature, in the precision of products."""
    return hidden @ head.t()


def token_statistics(logits: torch.Tensor, targets: torch.Tensor, temperature: float) -> torch.Tensor:
    """Compute logprob, entropy, log Σ exp and Σ p² of each row: float32 [4, C]."""
    if logits.is_cuda:
        from . import kernels

        return kernels.token_statistics(logits, targets, temperature)
    scaled = logits.float() if temperature == 1 else logits.float() / temperature
    greatest = scaled.amax(1)
    # The steps of `torch.logsumexp`, whose memory is used again: each new matrix costs as much as a step.
    p = (scaled - greatest[:, None]).exp_()
    sums = p.sum(1).log_().add_(greatest)
    chosen = scaled.gather(1, targets[:, None])[:, 0]
    torch.sub(scaled, sums[:, None], out=p).exp_()
    entropies = sums - (p * scaled).sum(1)
    return torch.stack((chosen - sums, entropies, sums, p.square_().sum(1)))


def chosen_logprobs(
    logits: torch.Tensor, chosen: torch.Tensor, sums: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Compute log p of chosen ids [C, k], given log Σ exp of each row [C]."""
    return logits.gather(1, chosen).float() / temperature - sums[:, None]


class RowColumns(NamedTuple):
    """What the gradient needs of each row of a chunk, [C] each."""

    targets: torch.Tensor
    sums: torch.Tensor
    entropies: torch.Tensor
    d_logprobs: torch.Tensor
    d_entropies: torch.Tensor
    d_totals: torch.Tensor
    """By the logprobs of all ids of the row, each of which takes p from every logit."""


def logits_gradient(
    logits: torch.Tensor,
    columns: RowColumns,
    chosen: torch.Tensor,
    d_chosen: torch.Tensor,
    temperature: float,
) -> torch.Tensor:
    """Compute the gradient of the logits [C, V], in their precision, from those of chosen ids [C, k] and the other columns.

    What an id gets by itself and what all ids take from it may be large and cancel, so both are added in float32. It may use the
    memory of the logits.
    """
    if logits.is_cuda:
        from . import kernels

        of_chosen = chosen_gradient(logits.gather(1, chosen), columns, chosen, d_chosen, temperature)
        gradient = kernels.logits_gradient(logits, columns, temperature)
        return gradient.scatter_(1, chosen, of_chosen.to(gradient.dtype))
    targets, sums, entropies, d_logprobs, d_entropies, d_totals = columns
    log_p = logits.float() if temperature == 1 else logits.float() / temperature
    log_p.sub_(sums[:, None])
    factor = (log_p + entropies[:, None]).mul_(d_entropies[:, None]).add_(d_totals[:, None])
    gradient = log_p.exp_().mul_(factor).neg_()
    gradient.scatter_add_(1, targets[:, None], d_logprobs[:, None])
    gradient.scatter_add_(1, chosen, d_chosen)
    return (gradient if temperature == 1 else gradient.div_(temperature)).to(logits.dtype)


def chosen_gradient(
    logits: torch.Tensor,
    columns: RowColumns,
    chosen: torch.Tensor,
    d_chosen: torch.Tensor,
    temperature: float,
) -> torch.Tensor:
    """Compute the gradient of the logits of chosen ids [C, k], in float32; an id that is there twice has the same in both places."""
    targets, sums, entropies, d_logprobs, d_entropies, d_totals = columns
    log_p = logits.float() / temperature - sums[:, None]
    factor = (log_p + entropies[:, None]) * d_entropies[:, None] + d_totals[:, None]
    gradient = (chosen == targets[:, None]) * d_logprobs[:, None] - log_p.exp() * factor
    for place in range(chosen.shape[1]):
        gradient += (chosen == chosen[:, place, None]) * d_chosen[:, place, None]
    return gradient / temperature
