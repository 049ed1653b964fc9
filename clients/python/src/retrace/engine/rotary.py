"""Rotary positions (arXiv:2104.09864) and their stretched frequencies, as `rope-scaling.ts` of libs/policy computes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from .options import Shape


def rotary_tables(shape: Shape, length: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Tabulate cosine and sine of position times frequency: [length, headDim/2] each, float32."""
    frequencies, scale = rotary_frequencies(shape)
    positions = torch.arange(length, dtype=torch.float64, device=device)
    angles = torch.outer(positions, frequencies.to(device))
    return (angles.cos() * scale).float(), (angles.sin() * scale).float()


def rotary_frequencies(shape: Shape) -> tuple[torch.Tensor, float]:
    """Compute radians a position for each pair of a head, in float64, and the factor on cosine and sine."""
    exponents = torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim
    plain = shape.rope_theta**-exponents
    scaling = shape.rope_scaling
    if scaling is None or scaling["type"] == "dynamic":
        return plain, 1.0
    kind = scaling["type"]
    factor = float(scaling["factor"])
    if kind == "linear":
        return plain / factor, 1.0
    if kind == "llama3":
        return _llama3(plain, factor, scaling), 1.0
    share = _yarn_shares(shape, scaling)
    return plain * (share / factor + 1 - share), float(scaling["attentionFactor"])


def _llama3(plain: torch.Tensor, factor: float, scaling: Mapping[str, Any]) -> torch.Tensor:
    low, high = float(scaling["lowFrequencyFactor"]), float(scaling["highFrequencyFactor"])
    turns = plain * float(scaling["originalMaxPositions"]) / (2 * math.pi)
    smooth = (turns - low) / (high - low)
    between = (1 - smooth) * plain / factor + smooth * plain
    return torch.where(turns > high, plain, torch.where(turns < low, plain / factor, between))


def _yarn_shares(shape: Shape, scaling: Mapping[str, Any]) -> torch.Tensor:
    """The share of each pair that is divided by the factor: 0 for fast pairs, 1 for slow ones (arXiv:2309.00071)."""
    size, length = shape.head_dim, float(scaling["originalMaxPositions"])

    def pair_of(turns: float) -> float:
        return size * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(shape.rope_theta))

    first, last = pair_of(float(scaling["betaFast"])), pair_of(float(scaling["betaSlow"]))
    rounds = bool(scaling["truncate"])
    low = max(math.floor(first) if rounds else first, 0)
    high = min(math.ceil(last) if rounds else last, size - 1)
    width = 0.001 if low == high else high - low
    return ((torch.arange(size // 2, dtype=torch.float64) - low) / width).clamp(0, 1)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate heads [N, H, D] by the angles [N, 1, D/2] of their positions; row i pairs with row i + D/2, as in Hugging Face's weights."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
