"""Golden values of the decoder, from transformers and peft on torch (CPU, float32).

    pip install torch transformers safetensors peft accelerate
    python generate_models.py [name …]     # writes models/<name>/ and rope.json beside itself

Made with torch 2.13.0, transformers 5.23.0, peft 0.21.2, safetensors 0.8.0.

Five tiny models, each as transformers saves it, in different number formats, one of them in several shards; beside each
a peft adapter, `golden.json` with its numbers and `golden.safetensors` with its tensors. Weights are larger than usual
so that the logits are not flat; they are rounded to the saved format before anything is computed.
"""

import json
import pathlib
import shutil
import sys

import torch
from peft import LoraConfig, get_peft_model
from safetensors import torch as st
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

HERE = pathlib.Path(__file__).parent
SEED = 20260101
SEQUENCES = [[1, 17, 30, 31, 22, 22, 7, 9, 26, 12, 3, 4], [5, 6, 7, 8, 9, 10, 11, 12, 13], [2, 29]]
NUM_NEW = 12

SHAPE = dict(
    vocab_size=32,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    bos_token_id=None,
    eos_token_id=None,
    pad_token_id=None,
)
YARN = dict(rope_type="yarn", rope_theta=1e6, factor=4.0, original_max_position_embeddings=16)
LLAMA3 = dict(
    rope_type="llama3",
    rope_theta=1e4,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=128,
)
DEFAULT = dict(rope_type="default", rope_theta=1e6)

MODELS = {
    "qwen2": (
        Qwen2ForCausalLM(Qwen2Config(**SHAPE, tie_word_embeddings=False, rope_parameters=YARN)),
        torch.float16,
        "1GB",
    ),
    "qwen2.5": (
        Qwen2ForCausalLM(Qwen2Config(**SHAPE, tie_word_embeddings=True, rope_parameters=DEFAULT)),
        torch.bfloat16,
        "1GB",
    ),
    "qwen3": (
        Qwen3ForCausalLM(Qwen3Config(**SHAPE, head_dim=8, tie_word_embeddings=False, rope_parameters=DEFAULT)),
        torch.bfloat16,
        "4KB",
    ),
    "llama": (
        LlamaForCausalLM(LlamaConfig(**SHAPE, head_dim=8, tie_word_embeddings=False, rope_parameters=LLAMA3)),
        torch.float32,
        "1GB",
    ),
    # A window of the longest context: every token sees all before it.
    "mistral": (
        MistralForCausalLM(
            MistralConfig(**SHAPE, head_dim=8, sliding_window=64, tie_word_embeddings=False, rope_parameters=DEFAULT)
        ),
        torch.bfloat16,
        "1GB",
    ),
}
LORA_TARGETS = {
    "qwen2": ["q_proj", "v_proj"],
    "qwen2.5": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "qwen3": ["q_proj", "k_proj", "o_proj", "up_proj"],
    "llama": ["gate_proj", "up_proj", "down_proj"],
    "mistral": ["q_proj", "v_proj", "down_proj"],
}
ADAMW = dict(learningRate=0.02, beta1=0.9, beta2=0.99, epsilon=1e-8, weightDecay=0.1, maxGradientNorm=1.5)
# With so large an epsilon a step doesn't hang on the sign of gradients that are almost zero.
ONE_STEP = dict(ADAMW, epsilon=1e-3)


def randomize(model, dtype):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.1)
            elif "norm" in name:
                parameter.copy_(1 + 0.1 * torch.randn_like(parameter))
            else:
                parameter.normal_(0, 0.3)
            parameter.copy_(parameter.to(dtype).float())


def logits_of(model, sequence):
    return model(torch.tensor([sequence])).logits[0]


def mean_cross_entropy(model):
    num_predicted = sum(len(s) - 1 for s in SEQUENCES)
    loss = torch.zeros(())
    for sequence in SEQUENCES:
        lp = torch.log_softmax(logits_of(model, sequence), -1)
        loss = loss - lp[:-1].gather(1, torch.tensor(sequence)[1:, None]).sum() / num_predicted
    return loss


def logprobs(model):
    rows = []
    for sequence in SEQUENCES:
        lp = torch.log_softmax(logits_of(model, sequence), -1)
        rows.append(lp[:-1].gather(1, torch.tensor(sequence)[1:, None]).flatten().tolist())
    return rows


def greedy(model):
    rows = []
    for sequence in SEQUENCES:
        ids = torch.tensor([sequence])
        with torch.no_grad():
            out = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=NUM_NEW, do_sample=False, pad_token_id=0
            )
        rows.append(out[0, len(sequence) :].tolist())
    return rows


def gradients(model):
    model.zero_grad()
    mean_cross_entropy(model).backward()
    return {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}


def adamw(model, num_steps, options):
    """torch.optim.AdamW with clipped gradients; weight decay on matrices alone. The model ends as it began."""
    trained = [p for p in model.parameters() if p.requires_grad]
    before = [p.detach().clone() for p in trained]
    groups = [
        dict(params=[p for p in trained if p.dim() > 1], weight_decay=options["weightDecay"]),
        dict(params=[p for p in trained if p.dim() == 1], weight_decay=0.0),
    ]
    optimizer = torch.optim.AdamW(
        groups, lr=options["learningRate"], betas=(options["beta1"], options["beta2"]), eps=options["epsilon"]
    )
    losses, norms = [], []
    for _ in range(num_steps):
        optimizer.zero_grad()
        loss = mean_cross_entropy(model)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(trained, options["maxGradientNorm"]).item())
        losses.append(loss.item())
        optimizer.step()
    after = {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}
    with torch.no_grad():
        for parameter, value in zip(trained, before):
            parameter.copy_(value)
    return dict(options, losses=losses, gradientNorms=norms), after


def adapter_name(name):
    """The name under which peft saves an adapter's tensor."""
    return name.replace(".default.", ".")


def lora_golden(model, name, directory):
    config = LoraConfig(r=3, lora_alpha=6, target_modules=LORA_TARGETS[name], task_type="CAUSAL_LM")
    adapted = get_peft_model(model, config)
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.normal_(0, 0.3)
    adapted.peft_config["default"].base_model_name_or_path = f"models/{name}"
    adapted.save_pretrained(directory)
    (directory / "README.md").unlink()
    for file in [*directory.parent.glob("*.safetensors"), *directory.glob("*.safetensors")]:
        file.chmod(0o644)
    values = dict(logprobs=logprobs(adapted), greedy=greedy(adapted))
    values["oneStep"], after = adamw(adapted, 1, ONE_STEP)
    tensors = {f"lora.gradient.{adapter_name(n)}": g for n, g in gradients(adapted).items()}
    tensors |= {f"lora.oneStep.{adapter_name(n)}": p for n, p in after.items()}
    merged = adapted.merge_and_unload()
    tensors["lora.mergedLogits"] = logits_of(merged, SEQUENCES[0])
    return values, tensors


def golden(name):
    model, dtype, max_shard_size = MODELS[name]
    torch.manual_seed(SEED)
    randomize(model, dtype)
    directory = HERE / "models" / name
    shutil.rmtree(directory, ignore_errors=True)
    model.to(dtype).save_pretrained(directory, max_shard_size=max_shard_size)
    # Read back, because the cast rounded the rotary frequencies, too.
    model = type(model).from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()

    values = dict(logprobs=logprobs(model), greedy=greedy(model))
    tensors = {"logits": logits_of(model, SEQUENCES[0])}
    tensors |= {f"gradient.{n}": g for n, g in gradients(model).items()}
    values["adamW"], after = adamw(model, 3, ADAMW)
    kept = ["model.layers.0.self_attn.k_proj.weight", "model.layers.1.mlp.up_proj.weight", "model.norm.weight"]
    tensors |= {f"adamW.{n}": after[n] for n in kept}
    values["oneStep"], after = adamw(model, 1, ONE_STEP)
    tensors |= {f"oneStep.{n}": p for n, p in after.items() if ".layers.0." not in n}
    values["lora"], lora_tensors = lora_golden(model, name, directory / "adapter")
    tensors |= lora_tensors

    st.save_file({n: t.detach().contiguous() for n, t in tensors.items()}, directory / "golden.safetensors")
    (directory / "golden.json").write_text(json.dumps(values, indent=1) + "\n")


def rope_golden():
    """Frequencies and factor of each kind of scaling, for the head width and theta of models that use it."""
    kinds = {
        "linear": dict(rope_type="linear", rope_theta=1e4, factor=4.0),
        "dynamic": dict(rope_type="dynamic", rope_theta=1e4, factor=2.0),
        "llama3": dict(LLAMA3, rope_theta=5e5, original_max_position_embeddings=8192),
        "yarn": dict(YARN, original_max_position_embeddings=32768),
        "yarn with its own factor": dict(YARN, attention_factor=1.3, beta_fast=16.0, beta_slow=2.0),
        "yarn without rounding": dict(YARN, truncate=False, original_max_position_embeddings=4096),
    }
    cases = {}
    for title, parameters in kinds.items():
        config = LlamaConfig(
            hidden_size=512, num_attention_heads=4, max_position_embeddings=2048, rope_parameters=dict(parameters)
        )
        frequencies, scale = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu")
        cases[title] = dict(
            parameters=parameters, headDim=128, maxPositions=2048, frequencies=frequencies.tolist(), scale=scale
        )
    return cases


if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        golden(name)
    shared = dict(
        generator="test/golden/policy/generate_models.py",
        seed=SEED,
        tolerances=dict(logprob=2e-5, relative=1e-4),
        sequences=SEQUENCES,
    )
    (HERE / "models" / "golden.json").write_text(json.dumps(shared) + "\n")
    (HERE / "rope.json").write_text(json.dumps(rope_golden()) + "\n")
