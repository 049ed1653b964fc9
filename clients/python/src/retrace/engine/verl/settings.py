"""verl's configurations of a model, its engine and its optimizer, from what `open` was asked for."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch

from ..errors import EngineError, invalid
from ..options import OpenOptions, OptimizerOptions, Shape

STRATEGY = "fsdp2"
"""verl's name of the engine: the one whose optimizer is torch's, on parameters with Hugging Face's names."""
FIELD = "open.verl"
# Fields of verl's engine that change how it computes; all others follow from those of the call, or from the tokens.
FREE = (
    *(
        "fsdp_size",
        "reshard_after_forward",
        "forward_prefetch",
        "wrap_policy",
        "ulysses_sequence_parallel_size",
    ),
    *("entropy_from_logits_with_chunking", "entropy_from_logits_chunk_size", "entropy_checkpointing"),
    *("use_torch_compile", "use_no_sync_for_gradient_accumulation", "pad_to_length", "pad_to_length_bucket"),
    *("seed", "full_determinism"),
)
PADDING = "absent where sequences are padded: packing needs a GPU, flash-attn and bfloat16"


def backend_name() -> str:
    """The package with its version, and the engine; raises `UNSUPPORTED` without the package."""
    if find_spec("verl") is None:
        advice = (
            "pip install 'clients/python[verl]' in a checkout of Retrace, or set engine.backend to \"native\""
        )
        raise EngineError("UNSUPPORTED", f"this Python has no package verl: {advice}", FIELD)
    return f"verl {version('verl')} {STRATEGY}"


def engine_settings(options: OpenOptions, given: Mapping[str, Any], num_ranks: int) -> Any:
    """verl's configuration of an engine; raises `INVALID_REQUEST` for a field or a value that it can't have here."""
    kind = load_verl().FSDPEngineConfig
    known = {field.name: field for field in dataclasses.fields(kind)}
    for name, value in given.items():
        if name not in FREE:
            raise invalid(f"{FIELD}.{name}", value, f"one of {', '.join(FREE)}")
        default = known[name].default
        if isinstance(default, (bool, int, float, str)) and type(value) is not type(default):
            raise invalid(f"{FIELD}.{name}", value, f"of the type of its default, {default!r}")
    size, parallel = given.get("fsdp_size", -1), given.get("ulysses_sequence_parallel_size", 1)
    if size != -1 and (size < 1 or num_ranks % size):
        raise invalid(
            f"{FIELD}.fsdp_size", size, f"-1, or a number that divides that of the ranks, {num_ranks}"
        )
    if parallel != 1:
        where = f"{FIELD}.ulysses_sequence_parallel_size"
        if not can_pack(options):
            raise invalid(where, parallel, PADDING)
        if parallel < 1 or num_ranks % parallel or options.shape.num_heads % parallel:
            raise invalid(where, parallel, "a number that divides those of the ranks and of the heads")
    on_gpu = torch.cuda.is_available()
    computes = "bf16" if options.is_bfloat16 else "fp32"
    fields = {
        "strategy": STRATEGY,
        "model_dtype": "fp32",
        "mixed_precision": {"param_dtype": computes, "reduce_dtype": "fp32"},
        "param_offload": options.offload and on_gpu,
        "optimizer_offload": options.offload and on_gpu,
        "use_torch_compile": on_gpu,
        # Else every rank holds the gradient of the whole model between two micro-batches.
        "use_no_sync_for_gradient_accumulation": False,
        **given,
    }
    return kind(**fields)


def optimizer_settings(options: OptimizerOptions) -> Any:
    """verl's configuration of AdamW; rates and the limit of norms come with each step."""
    return load_verl().FSDPOptimizerConfig(
        lr=0.0,
        betas=(options.beta1, options.beta2),
        weight_decay=options.weight_decay,
        override_optimizer_config={"eps": options.epsilon},
    )


def load_verl() -> Any:
    """The module of verl's configurations, once verl has a platform to compute on."""
    on_gpu = torch.cuda.is_available()
    with warnings.catch_warnings():
        # It warns of each engine whose package is not installed.
        warnings.simplefilter("ignore")
        try:
            if not on_gpu:
                from .processor import register_engines
            from verl.workers import config
            from verl.workers.engine import EngineRegistry
        except Exception as error:
            text = f"verl can't be imported here ({type(error).__name__}: {error})"
            raise EngineError("UNSUPPORTED", text, FIELD) from error
    if not on_gpu:
        register_engines(EngineRegistry)
    return config


def make_engine(options: OpenOptions, settings: Any, optimizer: Any, directory: str) -> Any:
    """Make verl's engine, as yet without weights, of a Hugging Face directory."""
    from verl.trainer.config import CheckpointConfig
    from verl.workers.config import HFModelConfig
    from verl.workers.engine import EngineRegistry

    packs = can_pack(options)
    model = HFModelConfig(
        path=directory,
        load_tokenizer=False,
        override_config={"attn_implementation": "flash_attention_2" if packs else "sdpa"},
        enable_gradient_checkpointing=options.recompute_layers,
        use_remove_padding=packs,
    )
    return EngineRegistry.new(
        model_type="language_model",
        backend=STRATEGY,
        model_config=model,
        engine_config=settings,
        optimizer_config=optimizer,
        checkpoint_config=CheckpointConfig(),
    )


def can_pack(options: OpenOptions) -> bool:
    """Whether sequences are packed one after the other, which flash-attn does, in 16 bits only; else they are padded."""
    return options.is_bfloat16 and torch.cuda.is_available() and find_spec("flash_attn") is not None


def hugging_face_config(shape: Shape) -> dict[str, Any]:
    """The config.json of a shape: Qwen3 has norms of queries and keys, Qwen2 biases of attention, Llama neither."""
    kind = "qwen3" if shape.query_key_norm else "qwen2" if shape.attention_bias else "llama"
    name = {"qwen3": "Qwen3ForCausalLM", "qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}[kind]
    return {
        "model_type": kind,
        "architectures": [name],
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "num_hidden_layers": shape.num_layers,
        "num_attention_heads": shape.num_heads,
        "num_key_value_heads": shape.num_key_value_heads,
        "head_dim": shape.head_dim,
        "intermediate_size": shape.intermediate_size,
        "max_position_embeddings": shape.max_positions,
        "rope_theta": shape.rope_theta,
        "rope_parameters": {"rope_theta": shape.rope_theta, **rope_scaling(shape.rope_scaling)},
        "rms_norm_eps": shape.rms_norm_eps,
        "tie_word_embeddings": shape.tie_word_embeddings,
        "attention_bias": False,
        "hidden_act": "silu",
        "torch_dtype": "float32",
    }


HUGGING_FACE_NAMES = {
    "type": "rope_type",
    "originalMaxPositions": "original_max_position_embeddings",
    "lowFrequencyFactor": "low_freq_factor",
    "highFrequencyFactor": "high_freq_factor",
    "attentionFactor": "attention_factor",
    "betaFast": "beta_fast",
    "betaSlow": "beta_slow",
}


def rope_scaling(scaling: Mapping[str, Any] | None) -> dict[str, Any]:
    """Hugging Face's fields of a `RopeScaling`."""
    if scaling is None:
        return {"rope_type": "default"}
    return {HUGGING_FACE_NAMES.get(name, name): value for name, value in scaling.items()}
