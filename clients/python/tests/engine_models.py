"""Models for tests of the torch worker: those of transformers that libs/policy is tested with, and small random ones."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from engine_client import FLOATS, EngineClient

GOLDEN = Path(__file__).parents[3] / "test" / "golden" / "policy" / "models"
MODELS = ("qwen2", "qwen2.5", "qwen3", "llama", "mistral")

TINY: dict[str, Any] = {
    "vocabSize": 97,
    "hiddenSize": 32,
    "numLayers": 2,
    "numHeads": 4,
    "numKeyValueHeads": 2,
    "headDim": 8,
    "intermediateSize": 48,
    "ropeTheta": 10_000,
    "rmsNormEps": 1e-6,
    "tieWordEmbeddings": False,
    "attentionBias": True,
    "maxPositions": 64,
    "valueHead": True,
}


def golden_shape(name: str, **changes: Any) -> dict[str, Any]:
    """The shape that `parseHuggingFaceConfig` reads from the config of a golden model."""
    config = json.loads((GOLDEN / name / "config.json").read_text())
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    heads = config["num_attention_heads"]
    shape = {
        "vocabSize": config["vocab_size"],
        "hiddenSize": config["hidden_size"],
        "numLayers": config["num_hidden_layers"],
        "numHeads": heads,
        "numKeyValueHeads": config["num_key_value_heads"],
        "headDim": config.get("head_dim") or config["hidden_size"] // heads,
        "intermediateSize": config["intermediate_size"],
        "ropeTheta": rope.get("rope_theta") or config["rope_theta"],
        "rmsNormEps": config["rms_norm_eps"],
        "tieWordEmbeddings": config["tie_word_embeddings"],
        "attentionBias": config["model_type"] == "qwen2",
        "queryKeyNorm": config["model_type"] == "qwen3",
        "maxPositions": config["max_position_embeddings"],
        "valueHead": False,
        **changes,
    }
    if rope.get("rope_type") == "llama3":
        shape["ropeScaling"] = {
            "type": "llama3",
            "factor": rope["factor"],
            "lowFrequencyFactor": rope["low_freq_factor"],
            "highFrequencyFactor": rope["high_freq_factor"],
            "originalMaxPositions": rope["original_max_position_embeddings"],
        }
    if rope.get("rope_type") == "yarn":
        shape["ropeScaling"] = {
            "type": "yarn",
            "factor": rope["factor"],
            "originalMaxPositions": rope["original_max_position_embeddings"],
            "attentionFactor": 0.1 * math.log(rope["factor"]) + 1,
            "betaFast": 32,
            "betaSlow": 1,
            "truncate": True,
        }
    return shape


@dataclass(frozen=True)
class Batch:
    """Sequences, and a derivative of each output of their wanted tokens."""

    tokens: list[list[int]]
    mask: list[list[int]]
    derivatives: dict[str, FLOATS]

    def loss(self, columns: dict[str, FLOATS]) -> float:
        """Σ derivative·output, whose gradient `backward` accumulates."""
        pairs = {"dLogprob": "logprob", "dEntropy": "entropy", "dValue": "value"}
        sums = [
            np.dot(values.astype(float), columns[pairs[name]]) for name, values in self.derivatives.items()
        ]
        return float(sum(sums))


def random_batch(seed: int, vocab_size: int, lengths: tuple[int, ...] = (9, 5, 17, 1, 0, 12)) -> Batch:
    """Ragged sequences, about half of whose tokens are wanted."""
    random = np.random.default_rng(seed)
    tokens = [random.integers(0, vocab_size, length).tolist() for length in lengths]
    mask = [random.integers(0, 2, length).tolist() for length in lengths]
    num_rows = sum(sum(row[1:]) for row in mask)
    derivatives = {
        name: (random.normal(size=num_rows) / num_rows).astype(np.float32)
        for name in ("dLogprob", "dEntropy", "dValue")
    }
    return Batch(tokens, mask, derivatives)


def random_weights(client: EngineClient, opened: Any, path: Path, seed: int = 0) -> Path:
    """Write weights for the parameters that the engine asked for: norms near 1, the rest small."""
    from safetensors.numpy import save_file

    random = np.random.default_rng(seed)
    tensors = {}
    for parameter in opened["trainedParameters"]:
        shape = parameter["shape"]
        values = random.normal(size=shape) / np.sqrt(shape[-1])
        tensors[parameter["name"]] = (values if len(shape) > 1 else 1 + 0.1 * values).astype(np.float32)
    save_file(tensors, path)
    return path


def read_tensors(path: Path) -> dict[str, FLOATS]:
    # NumPy has no bfloat16.
    from safetensors.torch import load_file

    return {name: tensor.float().numpy() for name, tensor in load_file(path).items()}


def joined(tensors: dict[str, FLOATS], prefix: str = "") -> FLOATS:
    """All tensors with a prefix, end to end."""
    values: FLOATS = np.concatenate(
        [tensors[name].ravel() for name in sorted(tensors) if name.startswith(prefix)]
    )
    return values
