"""Shapes, weights and batches of the GPU check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from retrace.engine.layout import parameter_specs
from retrace.engine.options import read_shape
from safetensors.torch import save_file

VALUE_COEFFICIENT, ENTROPY_COEFFICIENT, CLIP = 0.5, 0.01, 0.2
LORA = {"rank": 32, "alpha": 64, "targets": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]}


def shape_of(layers: int, hidden: int, heads: int, key_values: int, wide: int, vocab: int, **changes: Any) -> dict[str, Any]:
    """A shape of Qwen2, with a critic."""
    return {
        "vocabSize": vocab,
        "hiddenSize": hidden,
        "numLayers": layers,
        "numHeads": heads,
        "numKeyValueHeads": key_values,
        "headDim": hidden // heads,
        "intermediateSize": wide,
        "ropeTheta": 1e6,
        "rmsNormEps": 1e-6,
        "tieWordEmbeddings": True,
        "attentionBias": True,
        "maxPositions": 4096,
        "valueHead": True,
        **changes,
    }


# More than one block of the kernels' columns, and no multiple of it.
TINY = shape_of(3, 128, 4, 2, 192, 5003)
SMALLEST = shape_of(1, 64, 2, 1, 64, 64)
# Qwen2.5-0.5B and Qwen2.5-1.5B, by their config.json.
HALF_BILLION = shape_of(24, 896, 14, 2, 4864, 151_936)
ONE_AND_A_HALF_BILLION = shape_of(28, 1536, 12, 2, 8960, 151_936)


def hugging_face_config(shape: dict[str, Any]) -> Any:
    """The same shape for transformers."""
    from transformers import Qwen2Config

    return Qwen2Config(
        vocab_size=shape["vocabSize"],
        hidden_size=shape["hiddenSize"],
        intermediate_size=shape["intermediateSize"],
        num_hidden_layers=shape["numLayers"],
        num_attention_heads=shape["numHeads"],
        num_key_value_heads=shape["numKeyValueHeads"],
        max_position_embeddings=shape["maxPositions"],
        rms_norm_eps=shape["rmsNormEps"],
        rope_parameters={"rope_type": "default", "rope_theta": shape["ropeTheta"]},
        tie_word_embeddings=shape["tieWordEmbeddings"],
        use_cache=False,
        attn_implementation="sdpa",
    )


def write_weights(shape: dict[str, Any], path: Path, *, frozen: bool = False, seed: int = 0) -> Path:
    """Write random weights of the parameters that are trained, or of those that are frozen, in bfloat16."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator(device).manual_seed(seed)
    tensors = {}
    for spec in parameter_specs(read_shape(shape)):
        for part in spec.parts if spec.is_frozen == frozen else ():
            values = torch.randn(part.shape, generator=generator, device=device) * 0.02
            is_norm = len(part.shape) == 1 and "norm" in part.name
            tensors[part.name] = (values + 1 if is_norm else values).bfloat16().cpu()
    save_file(tensors, path)
    return path


@dataclass(frozen=True)
class PpoBatch:
    """Sequences of which the last half is trained, and what PPO knows of those tokens."""

    tokens: list[Any]
    mask: list[Any]
    advantages: Any
    returns: Any
    noise: Any
    """Behavior logprobs are those of the first evaluation plus this."""

    @property
    def num_tokens(self) -> int:
        """Of all sequences."""
        return sum(map(len, self.tokens))


def ppo_batch(lengths: list[int], vocab: int, seed: int = 7) -> PpoBatch:
    """Random tokens with random advantages."""
    random = np.random.default_rng(seed)
    tokens = [random.integers(0, vocab, n).astype(np.int32) for n in lengths]
    mask = [(np.arange(n) >= n // 2).astype(np.uint8) for n in lengths]
    rows = int(sum(row[1:].sum() for row in mask))
    columns = [random.normal(size=rows) for _ in range(3)]
    return PpoBatch(tokens, mask, columns[0], columns[1], 0.1 * columns[2])


def ppo_derivatives(columns: dict[str, Any], batch: PpoBatch, behavior: Any) -> tuple[float, dict[str, Any]]:
    """The mean loss of clipped PPO with a critic and an entropy bonus, and its derivatives by each output."""
    logprobs, values = columns["logprob"].astype(np.float64), columns["value"].astype(np.float64)
    weight = 1 / len(logprobs)
    ratio = np.exp(logprobs - behavior)
    plain, clipped = -batch.advantages * ratio, -batch.advantages * np.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy = np.maximum(plain, clipped)
    error = values - batch.returns
    loss = policy + VALUE_COEFFICIENT * error**2 - ENTROPY_COEFFICIENT * columns["entropy"]
    derivatives = {
        "dLogprob": np.where(plain >= clipped, plain, 0) * weight,
        "dEntropy": np.full(len(logprobs), -ENTROPY_COEFFICIENT * weight),
        "dValue": 2 * VALUE_COEFFICIENT * error * weight,
    }
    return float(loss.mean()), {name: column.astype(np.float32) for name, column in derivatives.items()}


def ppo_loss(logprobs: Any, entropies: Any, values: Any, batch: PpoBatch, behavior: Any) -> Any:
    """The same loss in torch, whose gradient autograd makes."""
    as_tensor = lambda column: torch.as_tensor(column, dtype=logprobs.dtype, device=logprobs.device)  # noqa: E731
    advantages, returns = as_tensor(batch.advantages), as_tensor(batch.returns)
    ratio = torch.exp(logprobs - as_tensor(behavior))
    policy = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - CLIP, 1 + CLIP))
    loss = policy + VALUE_COEFFICIENT * (values - returns) ** 2 - ENTROPY_COEFFICIENT * entropies
    return loss.mean()
