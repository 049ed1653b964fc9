"""Causal attention over the sequences of a flat pack.

Legend: N tokens of the pack · R rows and L columns of a bucket · H query heads · K key/value heads · D head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

# A sequence joins a bucket of padded rows while it has at least this share of the longest one's tokens.
SMALLEST_FILL = 0.8


@dataclass(frozen=True)
class Bucket:
    """Sequences of similar length, padded to the longest."""

    num_rows: int
    cells: torch.Tensor | None
    """[R·L] tokens of the pack, N for padding; None if they are the pack, in order."""


@dataclass(frozen=True)
class Packed:
    """Sequences for the kernel that takes them one after the other, without padding."""

    offsets: torch.Tensor
    longest: int


@dataclass(frozen=True)
class Padded:
    """Sequences in buckets of padded rows."""

    buckets: list[Bucket]
    order: torch.Tensor | None
    """[N] the place of each token among the cells of all buckets; None if they are the pack, in order."""


def plan_attention(lengths: Sequence[int], device: torch.device, dtype: torch.dtype) -> Packed | Padded:
    """Describe the sequences of a pack to attention; every layer uses the same plan."""
    if device.type == "cuda" and dtype in (torch.bfloat16, torch.float16):
        ends = torch.tensor([0, *lengths]).cumsum(0)
        return Packed(ends.to(device, torch.int32, non_blocking=True), max(lengths))
    return _pad(lengths, device)


def _pad(lengths: Sequence[int], device: torch.device) -> Padded:
    if len(set(lengths)) == 1:
        return Padded([Bucket(len(lengths), None)], None)
    sizes = torch.tensor(lengths)
    starts = sizes.cumsum(0) - sizes
    num_tokens = int(sizes.sum())
    order = torch.empty(num_tokens, dtype=torch.long)
    buckets: list[Bucket] = []
    by_length = sorted(range(len(lengths)), key=lambda s: -lengths[s])
    num_cells = 0
    while by_length:
        longest = lengths[by_length[0]]
        rows = [s for s in by_length if lengths[s] >= SMALLEST_FILL * longest]
        by_length = by_length[len(rows) :]
        columns = torch.arange(longest)
        cells = starts[rows, None] + columns
        is_token = columns < sizes[rows, None]
        places = num_cells + torch.arange(cells.numel()).view(cells.shape)
        order[cells[is_token]] = places[is_token]
        cells[~is_token] = num_tokens
        buckets.append(Bucket(len(rows), cells.flatten().to(device)))
        num_cells += cells.numel()
    return Padded(buckets, order.to(device))


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Packed | Padded) -> torch.Tensor:
    """Compute softmax(q·kᵀ/√D)·v for q [N, H, D], k and v [N, K, D], each query over its own sequence up to itself: [N, H·D]."""
    if isinstance(plan, Packed):
        return _attend_packed(q, k, v, plan)
    rows = [_attend_bucket(q, k, v, bucket) for bucket in plan.buckets]
    joined = rows[0] if len(rows) == 1 else torch.cat(rows)
    return joined if plan.order is None else joined.index_select(0, plan.order)


def _attend_packed(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, plan: Packed) -> torch.Tensor:
    from torch.nn.attention.varlen import varlen_attn

    longest = plan.longest
    q, k, v = InFixedOrder.apply(False, q, k, v)
    out = varlen_attn(q, k, v, plan.offsets, plan.offsets, longest, longest, window_size=(-1, 0))
    return InFixedOrder.apply(True, out)[0].flatten(1)


class InFixedOrder(torch.autograd.Function):
    """Passes tensors on; from its backward on, gradients are added in a fixed order, or again in any.

    Two of them enclose the kernel whose gradient would else have other bits each time. For the other operations, which have one order
    anyway, the fixed order of all would take a sixth of the time (0.5 B parameters on an H200).
    """

    @staticmethod
    def forward(ctx: Any, begins: bool, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the tensors."""
        ctx.begins = begins
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        """Return the gradients, after the order was chosen."""
        torch.use_deterministic_algorithms(ctx.begins)
        return None, *gradients


def _attend_bucket(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bucket: Bucket) -> torch.Tensor:
    # Padding is behind the tokens of a row, where causal attention never looks.
    q, k, v = (_rows(x, bucket) for x in (q, k, v))
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    out = scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).flatten(2).flatten(0, 1)


def _rows(x: torch.Tensor, bucket: Bucket) -> torch.Tensor:
    """Bring heads [N, H, D] into padded rows [R, H, L, D]."""
    if bucket.cells is not None:
        x = torch.cat((x, x.new_zeros(1, *x.shape[1:]))).index_select(0, bucket.cells)
    return x.unflatten(0, (bucket.num_rows, -1)).transpose(1, 2)
