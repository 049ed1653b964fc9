"""Triton kernels over the logits of a chunk: one pass each, in place of ten, on a GPU.

Legend: C rows · V vocabulary.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def _statistics(logits, targets, out, num_columns, num_rows, inverse_temperature, block: tl.constexpr):
    row = tl.program_id(0)
    start_of_row = logits + row.to(tl.int64) * num_columns
    columns = tl.arange(0, block)
    # Sums relative to the greatest so far, which start small enough to vanish.
    greatest = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    weighted, squares = total, total
    for start in range(0, num_columns, block):
        inside = start + columns < num_columns
        raw = tl.load(start_of_row + start + columns, mask=inside, other=-float("inf"))
        z = raw.to(tl.float32) * inverse_temperature
        found = tl.maximum(greatest, tl.max(z, 0))
        scale = tl.exp(greatest - found)
        e = tl.exp(z - found)
        total = total * scale + tl.sum(e, 0)
        weighted = weighted * scale + tl.sum(tl.where(inside, e * z, 0.0), 0)
        squares = squares * scale * scale + tl.sum(e * e, 0)
        greatest = found
    log_sum = greatest + tl.log(total)
    chosen = tl.load(start_of_row + tl.load(targets + row)).to(tl.float32) * inverse_temperature
    tl.store(out + row, chosen - log_sum)
    tl.store(out + num_rows + row, log_sum - weighted / total)
    tl.store(out + 2 * num_rows + row, log_sum)
    tl.store(out + 3 * num_rows + row, squares / (total * total))


@triton.jit
def _gradient(
    logits,
    targets,
    sums,
    entropies,
    d_logprobs,
    d_entropies,
    d_totals,
    num_columns,
    inverse_temperature,
    block: tl.constexpr,
):
    row = tl.program_id(0)
    columns = tl.program_id(1) * block + tl.arange(0, block)
    inside = columns < num_columns
    places = logits + row.to(tl.int64) * num_columns + columns
    d_logprob, d_entropy = tl.load(d_logprobs + row), tl.load(d_entropies + row)
    raw = tl.load(places, mask=inside, other=0.0)
    log_p = raw.to(tl.float32) * inverse_temperature - tl.load(sums + row)
    gradient = -tl.exp(log_p) * (tl.load(d_totals + row) + d_entropy * (log_p + tl.load(entropies + row)))
    gradient = tl.where(columns == tl.load(targets + row), gradient + d_logprob, gradient)
    tl.store(places, (gradient * inverse_temperature).to(raw.dtype), mask=inside)


def token_statistics(logits: torch.Tensor, targets: torch.Tensor, temperature: float) -> torch.Tensor:
    """Compute logprob, entropy, log Σ exp and Σ p² of each row of logits [C, V]: float32 [4, C]."""
    num_rows, num_columns = logits.shape
    out = torch.empty(4, num_rows, dtype=torch.float32, device=logits.device)
    _statistics[(num_rows,)](
        logits, targets, out, num_columns, num_rows, 1 / temperature, block=BLOCK, num_warps=8
    )
    return out


def logits_gradient(
    logits: torch.Tensor, columns: tuple[torch.Tensor, ...], temperature: float
) -> torch.Tensor:
    """Replace logits [C, V] by their gradient; the columns are those of `RowColumns`."""
    num_rows, num_columns = logits.shape
    grid = (num_rows, triton.cdiv(num_columns, BLOCK))
    _gradient[grid](logits, *columns, num_columns, 1 / temperature, block=BLOCK, num_warps=8)
    return logits
