"""Names, shapes and order of a model's parameters in checkpoint files.

Mirrors `parameter-layout.ts`, `adapter-layout.ts` and `buckets.ts` of libs/policy: either engine opens the other's files, and equal
weights give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .options import Shape

# A parameter of this many elements has its own bucket; a bucket with as many as the second takes no more.
LARGE_PARAMETER = 2**16
FULL_BUCKET = 2**20

ADAPTER_PREFIX = "base_model.model."
CRITIC_PREFIX = "critic."


@dataclass(frozen=True)
class Part:
    """A named tensor of a file."""

    name: str
    """In files: Hugging Face's, or peft's for adapters."""
    path: str
    """In the torch module."""
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Spec:
    """Parts that TensorFlow.js holds as one parameter, one after the other."""

    parts: tuple[Part, ...]
    is_frozen: bool = False
    is_of_critic: bool = False

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return sum(math.prod(part.shape) for part in self.parts)

    @property
    def decays(self) -> bool:
        """Whether weight decay applies: to matrices, not to norms and biases."""
        return len(self.parts[0].shape) > 1


def parameter_specs(shape: Shape) -> list[Spec]:
    """List all parameters of a model, frozen ones too, in the order of files."""
    trunk = list(_trunk(shape))
    base = list(trunk)
    if not shape.tie_word_embeddings:
        base.append(_plain(Part("lm_head.weight", "lm_head.weight", (shape.vocab_size, shape.hidden_size))))
    adapters = list(_adapters(shape, trunk))
    value_head = Part("value_head.weight", "value_head.weight", (1, shape.hidden_size))
    own = adapters if shape.lora else trunk
    return [
        *(Spec(spec.parts, is_frozen=shape.lora is not None) for spec in base),
        *([Spec((value_head,), is_of_critic=True)] if shape.value_head else []),
        *adapters,
        *([_critic(spec, shape.lora is not None) for spec in own] if shape.own_value_trunk else []),
    ]


def buckets(specs: list[Spec], separate_critic: bool) -> list[list[Spec]]:
    """Group trained parameters as the optimizer's file orders them."""
    grouped: list[list[Spec]] = []
    for of_critic in (False, True):
        members = [spec for spec in specs if (separate_critic and spec.is_of_critic) == of_critic]
        for decays in (True, False):
            grouped.extend(_fill([spec for spec in members if spec.decays == decays]))
    return grouped


def _fill(specs: list[Spec]) -> list[list[Spec]]:
    filled: list[list[Spec]] = []
    members: list[Spec] = []
    size = FULL_BUCKET
    for spec in specs:
        if spec.size >= LARGE_PARAMETER:
            filled.append([spec])
            continue
        if size >= FULL_BUCKET:
            members, size = [], 0
            filled.append(members)
        members.append(spec)
        size += spec.size
    return filled


def _trunk(shape: Shape) -> Iterator[Spec]:
    embedding = "model.embed_tokens.weight"
    yield _plain(Part(embedding, embedding, (shape.vocab_size, shape.hidden_size)))
    for layer in range(shape.num_layers):
        yield from _layer(shape, f"model.layers.{layer}")
    yield _plain(Part("model.norm.weight", "model.norm.weight", (shape.hidden_size,)))


def _layer(shape: Shape, prefix: str) -> Iterator[Spec]:
    hidden, wide = shape.hidden_size, shape.intermediate_size
    queries, keys = shape.num_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim
    attention = f"{prefix}.self_attn"

    def joined(block: str, rows: dict[str, int], suffix: str, *columns: int) -> Spec:
        names = [(f"{block}.{name}.{suffix}", size) for name, size in rows.items()]
        return Spec(tuple(Part(name, name, (size, *columns)) for name, size in names))

    def norm(name: str, size: int) -> Spec:
        return _plain(Part(f"{name}.weight", f"{name}.weight", (size,)))

    qkv = {"q_proj": queries, "k_proj": keys, "v_proj": keys}
    yield norm(f"{prefix}.input_layernorm", hidden)
    yield joined(attention, qkv, "weight", hidden)
    if shape.attention_bias:
        yield joined(attention, qkv, "bias")
    if shape.query_key_norm:
        yield norm(f"{attention}.q_norm", shape.head_dim)
        yield norm(f"{attention}.k_norm", shape.head_dim)
    yield joined(attention, {"o_proj": hidden}, "weight", queries)
    yield norm(f"{prefix}.post_attention_layernorm", hidden)
    yield joined(f"{prefix}.mlp", {"gate_proj": wide, "up_proj": wide}, "weight", hidden)
    yield joined(f"{prefix}.mlp", {"down_proj": hidden}, "weight", wide)


def _adapters(shape: Shape, specs: list[Spec]) -> Iterator[Spec]:
    if shape.lora is None:
        return
    rank = shape.lora.rank
    for spec in specs:
        targets = [
            (part.name.removesuffix(".weight"), part.shape)
            for part in spec.parts
            if part.name.endswith(".weight") and part.name.split(".")[-2] in shape.lora.targets
        ]
        if not targets:
            continue
        for matrix in ("lora_A", "lora_B"):
            yield Spec(
                tuple(
                    Part(
                        f"{ADAPTER_PREFIX}{name}.{matrix}.weight",
                        f"{name}.{matrix}",
                        (rank, columns) if matrix == "lora_A" else (rows, rank),
                    )
                    for name, (rows, columns) in targets
                )
            )


def _critic(spec: Spec, is_adapter: bool) -> Spec:
    # Adapters of a critic are beside the policy's, on the same frozen weights; another trunk is a module of its own.
    def path(part: Part) -> str:
        block, matrix = part.path.rsplit(".", 1)
        return f"{block}.critic_{matrix}" if is_adapter else f"critic.{part.path.removeprefix('model.')}"

    parts = tuple(Part(CRITIC_PREFIX + part.name, path(part), part.shape) for part in spec.parts)
    return Spec(parts, is_of_critic=True)


def _plain(part: Part) -> Spec:
    return Spec((part,))
