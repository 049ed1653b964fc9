"""The transformer: the block of Qwen2, Qwen3, Llama and Mistral, over flat packs of sequences.

Legend: N tokens · M of them read · h hidden size · H query heads · K key/value heads · D head width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import embedding, linear, rms_norm, silu
from torch.utils.checkpoint import checkpoint

from .attention import Packed, Padded, attend, plan_attention
from .distribution import likeliest_ids, token_distribution
from .layout import Part, parameter_specs
from .options import Shape
from .rotary import rotary_tables, rotate


@dataclass(frozen=True)
class Pack:
    """Sequences one after the other, on the device."""

    tokens: torch.Tensor
    """[N]"""
    reads: torch.Tensor
    """[M] tokens after which the distribution or the value is wanted."""
    targets: torch.Tensor
    """[M] the token that follows each."""
    cos: torch.Tensor
    sin: torch.Tensor
    """[N, 1, D/2]"""
    plan: Packed | Padded
    chosen: torch.Tensor
    """[M, k] ids whose logprobs are wanted beside those of the targets."""


@dataclass(frozen=True)
class Wanted:
    """Which outputs of a pass are wanted."""

    temperature: float = 1.0
    logprobs: bool = True
    values: bool = False
    squares: bool = False
    top_k: int = 0
    """How many of the likeliest ids."""


class RotaryCache:
    """Tables of cosine and sine that grow by doubling."""

    def __init__(self, shape: Shape, device: torch.device, dtype: torch.dtype):
        self._shape, self._device, self._dtype = shape, device, dtype
        self._tables: tuple[torch.Tensor, torch.Tensor] | None = None

    def at(self, positions: torch.Tensor, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of given positions [N], all below `longest`: [N, 1, D/2] each."""
        if self._tables is None or len(self._tables[0]) < longest:
            length = min(self._shape.max_positions, max(64, 2 * longest))
            cos, sin = rotary_tables(self._shape, max(length, longest), self._device)
            self._tables = cos.to(self._dtype), sin.to(self._dtype)
        cos, sin = self._tables
        return cos[positions][:, None], sin[positions][:, None]


def make_pack(
    sequences: Sequence[torch.Tensor],
    reads: torch.Tensor,
    targets: torch.Tensor,
    rotary: RotaryCache,
    chosen: torch.Tensor,
    dtype: torch.dtype,
) -> Pack:
    """Put sequences of at least one token on the device of the chosen ids."""
    device = chosen.device
    lengths = [len(tokens) for tokens in sequences]
    tokens = torch.cat([*sequences]).to(device, torch.long)
    positions = torch.cat([torch.arange(length) for length in lengths]).to(device)
    cos, sin = rotary.at(positions, max(lengths))
    plan = plan_attention(lengths, device, dtype)
    return Pack(tokens, reads.to(device), targets.to(device, torch.long), cos, sin, plan, chosen)


class Projection(nn.Module):
    """x·(W + s·B·A)ᵀ + bias; the critic may have adapters of its own on the same W."""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor, of_critic: bool = False) -> torch.Tensor:
        """Project [N, in] to [N, out]."""
        base = linear(x, self.weight, getattr(self, "bias", None))
        prefix = "critic_lora" if of_critic else "lora"
        down = getattr(self, f"{prefix}_A", None)
        if down is None:
            return base
        return base + linear(linear(x, down) * self.scale, getattr(self, f"{prefix}_B"))


class Norm(nn.Module):
    """RMSNorm over the last dimension."""

    def __init__(self, epsilon: float):
        super().__init__()
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x / √(mean x² + ε) · weight."""
        return rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class Attention(nn.Module):
    """Grouped-query attention with rotary positions."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads = (shape.num_heads, shape.num_key_value_heads, shape.num_key_value_heads)
        self.head_dim = shape.head_dim
        scale = lora_scale(shape)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (Projection(scale) for _ in range(4))
        self.q_norm: Norm | None = Norm(shape.rms_norm_eps) if shape.query_key_norm else None
        self.k_norm: Norm | None = Norm(shape.rms_norm_eps) if shape.query_key_norm else None

    def forward(self, x: torch.Tensor, pack: Pack, of_critic: bool) -> torch.Tensor:
        """Attend within each sequence: [N, h] to [N, h]."""
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (
            projection(x, of_critic).view(-1, heads, self.head_dim)
            for projection, heads in zip(projections, self.heads, strict=True)
        )
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = rotate(q, pack.cos, pack.sin), rotate(k, pack.cos, pack.sin)
        return self.o_proj(attend(q, k, v, pack.plan), of_critic)


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (Projection(lora_scale(shape)) for _ in range(3))

    def forward(self, x: torch.Tensor, of_critic: bool) -> torch.Tensor:
        """down(silu(gate(x)) · up(x))."""
        return self.down_proj(silu(self.gate_proj(x, of_critic)) * self.up_proj(x, of_critic), of_critic)


class Layer(nn.Module):
    """A decoder layer, which may keep only its input and compute itself again for the gradient."""

    def __init__(self, shape: Shape, recompute: bool):
        super().__init__()
        self.recompute = recompute
        self.input_layernorm = Norm(shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Norm(shape.rms_norm_eps)
        self.mlp = FeedForward(shape)

    def forward(self, x: torch.Tensor, pack: Pack, of_critic: bool) -> torch.Tensor:
        """[N, h] to [N, h]."""
        if self.recompute and torch.is_grad_enabled():
            return checkpoint(self.run, x, pack, of_critic, use_reentrant=False)
        return self.run(x, pack, of_critic)

    def run(self, x: torch.Tensor, pack: Pack, of_critic: bool) -> torch.Tensor:
        """Attention and feed-forward, both added to the residual stream."""
        x = x + self.self_attn(self.input_layernorm(x), pack, of_critic)
        return x + self.mlp(self.post_attention_layernorm(x), of_critic)


class Trunk(nn.Module):
    """Embedding, layers and the last norm."""

    def __init__(self, shape: Shape, recompute: bool):
        super().__init__()
        self.embed_tokens = nn.Module()
        self.layers = nn.ModuleList([Layer(shape, recompute) for _ in range(shape.num_layers)])
        self.norm = Norm(shape.rms_norm_eps)

    def forward(self, pack: Pack, of_critic: bool = False) -> torch.Tensor:
        """Hidden states after the last norm at the tokens that are read: [M, h]."""
        x = embedding(pack.tokens, self.embed_tokens.weight)
        for layer in self.layers:
            x = layer(x, pack, of_critic)
        return self.norm(x.index_select(0, pack.reads))


class ValueHead(nn.Module):
    """One number a state, in float32: values need more digits than bfloat16 has, and small steps too."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[M, h] to [M]."""
        return (states.float() * self.weight).sum(-1)


class Policy(nn.Module):
    """A policy with its critic. Parameters are registered by `parameter_specs`, on the meta device: they have no values yet."""

    def __init__(self, shape: Shape, recompute: bool, frozen_dtype: torch.dtype):
        super().__init__()
        self.shape = shape
        self.model = Trunk(shape, recompute)
        # With adapters the critic's trunk is the same frozen one.
        has_own = shape.own_value_trunk and shape.lora is None
        self.critic = Trunk(shape, recompute) if has_own else None
        self.lm_head, self.value_head = nn.Module(), ValueHead()
        for spec in parameter_specs(shape):
            for part in spec.parts:
                self._register(part, frozen_dtype if spec.is_frozen else torch.float32, spec.is_frozen)

    def _register(self, part: Part, dtype: torch.dtype, is_frozen: bool) -> None:
        block, name = part.path.rsplit(".", 1)
        values = torch.empty(part.shape, dtype=dtype, device="meta")
        parameter = nn.Parameter(values, requires_grad=not is_frozen)
        self.get_submodule(block).register_parameter(name, parameter)

    def forward(self, pack: Pack, wanted: Wanted) -> dict[str, torch.Tensor]:
        """Columns [M]: `logprob` and `entropy` of the targets, `value` of the states that they were chosen in.

        And [M, k]: `topLogprob` of the chosen ids, or of the likeliest, which are `topId`.
        """
        shares_trunk = wanted.values and not self.shape.own_value_trunk
        hidden = self.model(pack) if wanted.logprobs or shares_trunk else None
        columns: dict[str, torch.Tensor] = {}
        if wanted.logprobs:
            tied = self.shape.tie_word_embeddings
            head = self.model.embed_tokens.weight if tied else self.lm_head.weight
            logprobs, entropies, squares, of_chosen = token_distribution(
                hidden, head, pack.targets, wanted.temperature, pack.chosen
            )
            columns = {"logprob": logprobs, "entropy": entropies}
            if pack.chosen.shape[1]:
                columns["topLogprob"] = of_chosen
            if wanted.top_k:
                top = likeliest_ids(hidden, head, wanted.top_k, wanted.temperature)
                columns["topId"], columns["topLogprob"] = top
            if wanted.squares:
                columns["squaredProbabilities"] = squares
        if wanted.values:
            columns["value"] = self._values(pack, hidden)
        return columns

    def _values(self, pack: Pack, hidden: torch.Tensor | None) -> torch.Tensor:
        states = hidden
        if self.shape.own_value_trunk:
            states = self.model(pack, of_critic=True) if self.critic is None else self.critic(pack)
        return self.value_head(states)


def lora_scale(shape: Shape) -> float:
    """alpha/rank."""
    return shape.lora.alpha / shape.lora.rank if shape.lora else 1.0
