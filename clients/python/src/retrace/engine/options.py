"""What `open` is asked for: the model's shape (as `TransformerConfig` of libs/policy names its fields) and the optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import invalid, unsupported

LORA_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters: W acts as W + (alpha/rank)·B·A."""

    rank: int
    alpha: float
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Shape:
    """A decoder of RMSNorm, rotary positions, grouped-query attention and SwiGLU."""

    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    max_positions: int
    rope_theta: float
    rms_norm_eps: float
    tie_word_embeddings: bool
    attention_bias: bool
    query_key_norm: bool
    value_head: bool
    own_value_trunk: bool
    lora: Lora | None
    rope_scaling: Mapping[str, Any] | None


@dataclass(frozen=True)
class OptimizerOptions:
    """Settings of AdamW."""

    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    separate_critic: bool


@dataclass(frozen=True)
class OpenOptions:
    """All that an instance is made of, except its weights."""

    shape: Shape
    directory: str | None
    fingerprint: str | None
    is_bfloat16: bool
    recompute_layers: bool
    offload: bool
    max_tokens: int
    optimizer: OptimizerOptions
    verl: Mapping[str, Any] | None
    """Fields of the configuration of verl's engine; None: the worker's own engine."""


class Fields:
    """The fields of a JSON object; each is read once, and what is left over is refused."""

    def __init__(self, value: object, name: str):
        if not isinstance(value, Mapping):
            raise invalid(name, value, "an object")
        self._rest = dict(value)
        self._name = name

    def take(self, key: str, holds: Callable[[Any], bool], rule: str, default: Any = ...) -> Any:
        """Read a field that has this rule; without a default it must be there."""
        value = self._rest.pop(key, default)
        if value is default and default is not ...:
            return value
        if value is ... or not holds(value):
            raise invalid(f"{self._name}.{key}", None if value is ... else value, rule)
        return value

    def integer(self, key: str) -> int:
        """Read a positive whole number."""
        return int(self.take(key, lambda v: type(v) is int and v > 0, "a positive whole number"))

    def number(self, key: str, holds: Callable[[float], bool], rule: str) -> float:
        """Read a finite number that has this rule."""
        return float(self.take(key, lambda v: is_number(v) and holds(v), rule))

    def flag(self, key: str, default: Any = ...) -> bool:
        """Read true or false."""
        return bool(self.take(key, lambda v: isinstance(v, bool), "true or false", default))

    def text(self, key: str, default: Any = ...) -> Any:
        """Read a string that isn't empty."""
        return self.take(key, lambda v: isinstance(v, str) and v != "", "a string that is not empty", default)

    def anything(self, key: str) -> Any:
        """Read a field without a rule; None if it is absent."""
        return self._rest.pop(key, None)

    def finish(self) -> None:
        """Refuse fields that nothing has read."""
        for key, value in self._rest.items():
            raise invalid(f"{self._name}.{key}", value, "absent: the engine knows no such field")


def is_number(value: object) -> bool:
    """Whether a JSON value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def read_open(body: object) -> OpenOptions:
    """Check the body of `open`; raises `INVALID_REQUEST` or `UNSUPPORTED` with the first field that breaks its rule."""
    fields = Fields(body, "open")
    model = Fields(fields.anything("model"), "open.model")
    shape = read_shape(model.anything("shape"))
    directory, fingerprint = model.text("directory", None), model.text("fingerprint", None)
    model.finish()
    if shape.lora is not None and (directory is None or fingerprint is None):
        raise invalid(
            "open.model.directory", directory, "the directory of the frozen weights, with its fingerprint"
        )
    # They repeat what the shape says.
    for repeated in ("lora", "valueHead", "valueTrunk", "nonce"):
        fields.anything(repeated)
    precision = fields.text("precision")
    if precision not in ("float32", "bfloat16"):
        raise unsupported("open.precision", precision, "float32 or bfloat16")
    optimizer = Fields(fields.anything("optimizer"), "open.optimizer")
    options = OpenOptions(
        shape=shape,
        directory=directory,
        fingerprint=fingerprint,
        is_bfloat16=precision == "bfloat16",
        recompute_layers=fields.flag("recomputeLayers", False),
        offload=fields.flag("offload", False),
        max_tokens=fields.integer("maxTokensPerMicroBatch"),
        optimizer=OptimizerOptions(
            beta1=optimizer.number("beta1", lambda v: 0 <= v < 1, "in [0, 1)"),
            beta2=optimizer.number("beta2", lambda v: 0 <= v < 1, "in [0, 1)"),
            epsilon=optimizer.number("epsilon", lambda v: v > 0, "above 0"),
            weight_decay=optimizer.number("weightDecay", lambda v: v >= 0, "0 or more"),
            separate_critic=optimizer.flag("separateCritic", False),
        ),
        verl=fields.take("verl", lambda v: isinstance(v, dict), "an object", None),
    )
    optimizer.finish()
    fields.finish()
    return options


def read_shape(value: object) -> Shape:
    """Check a `TransformerConfig`."""
    fields = Fields(value, "open.model.shape")
    value_head = fields.flag("valueHead")
    trunk = fields.take("valueTrunk", lambda v: v in ("shared", "own"), "'shared' or 'own'", None)
    # Only the one who makes the first weights needs it.
    fields.anything("lmHeadInitializerStd")
    positive = lambda v: v > 0  # noqa: E731
    shape = Shape(
        vocab_size=fields.integer("vocabSize"),
        hidden_size=fields.integer("hiddenSize"),
        num_layers=fields.integer("numLayers"),
        num_heads=fields.integer("numHeads"),
        num_key_value_heads=fields.integer("numKeyValueHeads"),
        head_dim=fields.integer("headDim"),
        intermediate_size=fields.integer("intermediateSize"),
        max_positions=fields.integer("maxPositions"),
        rope_theta=fields.number("ropeTheta", positive, "a positive number"),
        rms_norm_eps=fields.number("rmsNormEps", positive, "a positive number"),
        tie_word_embeddings=fields.flag("tieWordEmbeddings"),
        attention_bias=fields.flag("attentionBias"),
        query_key_norm=fields.flag("queryKeyNorm", False),
        value_head=value_head,
        own_value_trunk=trunk == "own",
        lora=read_lora(fields.anything("lora")),
        rope_scaling=read_rope_scaling(fields.anything("ropeScaling")),
    )
    fields.finish()
    if shape.num_heads % shape.num_key_value_heads:
        raise invalid("open.model.shape.numHeads", shape.num_heads, "a multiple of numKeyValueHeads")
    if shape.head_dim % 2:
        raise invalid("open.model.shape.headDim", shape.head_dim, "even")
    if trunk is not None and not value_head:
        raise invalid("open.model.shape.valueTrunk", trunk, "absent when valueHead is false")
    return shape


ROPE_SCALINGS: dict[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor", "originalMaxPositions"),
    "llama3": ("factor", "lowFrequencyFactor", "highFrequencyFactor", "originalMaxPositions"),
    "yarn": ("factor", "originalMaxPositions", "attentionFactor", "betaFast", "betaSlow"),
}


def read_rope_scaling(value: object) -> Mapping[str, Any] | None:
    """Check a `RopeScaling`; None stays None."""
    if value is None:
        return None
    name = "open.model.shape.ropeScaling"
    fields = Fields(value, name)
    kind = fields.text("type")
    if kind not in ROPE_SCALINGS:
        raise unsupported(f"{name}.type", kind, ", ".join(ROPE_SCALINGS))
    numbers = {key: fields.number(key, lambda v: v > 0, "a positive number") for key in ROPE_SCALINGS[kind]}
    truncates = {"truncate": fields.flag("truncate")} if kind == "yarn" else {}
    fields.finish()
    return {"type": kind, **numbers, **truncates}


def read_lora(value: object) -> Lora | None:
    """Check a `LoraConfig`; None stays None."""
    if value is None:
        return None
    fields = Fields(value, "open.model.shape.lora")
    rank, alpha = fields.integer("rank"), fields.number("alpha", lambda v: v > 0, "a positive number")
    rule = f"a list of some of {', '.join(LORA_TARGETS)}"
    known = lambda v: isinstance(v, list) and len(v) > 0 and set(v) <= set(LORA_TARGETS)  # noqa: E731
    targets = fields.take("targets", known, rule)
    fields.finish()
    return Lora(rank, alpha, tuple(targets))
