"""Golden values of the transformer block, from transformers on torch (CPU, float32), and of the safetensors format.

    pip install torch transformers safetensors     # made with torch 2.13.0, transformers 5.23.0, safetensors 0.8.0
    python generate_golden.py                          # writes transformer.json and safetensors.json beside itself

Two models: Qwen2 (tied embeddings, attention bias) and Llama (own LM head, no bias, head_dim other than
hidden_size / num_attention_heads). Weights are larger than usual so that the logits are not flat.
"""

import base64
import json
import pathlib

import torch
from safetensors import torch as st
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

HERE = pathlib.Path(__file__).parent
SEED = 20260101
SEQUENCES = [[1, 17, 30, 31, 22, 22, 7, 9, 26, 12, 3, 4], [5, 6, 7, 8, 9, 10, 11, 12, 13], [2, 29]]

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


def flat(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().flatten().tolist()]


def golden(model):
    torch.manual_seed(SEED)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.1)
            elif "norm" in name:
                parameter.copy_(1 + 0.1 * torch.randn_like(parameter))
            else:
                parameter.normal_(0, 0.3)
    model.config._attn_implementation = "eager"
    model = model.float().eval()

    logprobs, greedy = [], []
    for sequence in SEQUENCES:
        ids = torch.tensor([sequence])
        lp = torch.log_softmax(model(ids).logits[0], -1)
        logprobs.append(flat(lp[:-1].gather(1, ids[0, 1:, None])))
        with torch.no_grad():
            out = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, pad_token_id=0
            )
        greedy.append(out[0, len(sequence) :].tolist())
    weights = {n: dict(shape=list(p.shape), data=flat(p)) for n, p in model.named_parameters()}
    loss = mean_cross_entropy(model)
    loss.backward()
    return dict(
        config=json.loads(model.config.to_json_string(use_diff=False)),
        weights=weights,
        logprobs=logprobs,
        greedy=greedy,
        meanCrossEntropy=loss.item(),
        gradients={n: dict(shape=list(p.grad.shape), data=flat(p.grad)) for n, p in model.named_parameters()},
        adamW=adamw_steps(model),
    )


def mean_cross_entropy(model):
    num_predicted = sum(len(s) - 1 for s in SEQUENCES)
    loss = torch.zeros(())
    for sequence in SEQUENCES:
        lp = torch.log_softmax(model(torch.tensor([sequence])).logits[0], -1)
        loss = loss - lp[:-1].gather(1, torch.tensor(sequence)[1:, None]).sum() / num_predicted
    return loss


def adamw_steps(model):
    """Three steps of torch.optim.AdamW with clipped gradients; weight decay on matrices alone."""
    options = dict(lr=0.02, betas=(0.9, 0.99), eps=1e-8)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [dict(params=matrices, weight_decay=0.1), dict(params=vectors, weight_decay=0.0)]
    optimizer = torch.optim.AdamW(groups, **options)
    losses, norms = [], []
    for _ in range(3):
        optimizer.zero_grad()
        loss = mean_cross_entropy(model)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.5).item())
        losses.append(loss.item())
        optimizer.step()
    kept = ["model.layers.0.self_attn.k_proj.weight", "model.layers.1.mlp.up_proj.weight", "model.norm.weight"]
    weights = {n: p for n, p in model.named_parameters() if n in kept}
    return dict(
        learningRate=0.02,
        beta1=0.9,
        beta2=0.99,
        epsilon=1e-8,
        weightDecay=0.1,
        maxGradientNorm=1.5,
        losses=losses,
        gradientNorms=norms,
        weights={n: dict(shape=list(p.shape), data=flat(p)) for n, p in weights.items()},
    )


def transformer_golden():
    qwen2 = Qwen2Config(**SHAPE, tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1e6))
    llama = LlamaConfig(
        **SHAPE, head_dim=6, tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=1e4)
    )
    torch.manual_seed(SEED)
    return dict(
        generator="test/golden/policy/generate_golden.py",
        seed=SEED,
        tolerances=dict(logprob=2e-5, relativeGradient=1e-4),
        sequences=SEQUENCES,
        models=dict(qwen2=golden(Qwen2ForCausalLM(qwen2)), llama=golden(LlamaForCausalLM(llama))),
    )


def safetensors_golden():
    """Files the Python library writes, and what it reads in a file that Retrace wrote (retrace.safetensors)."""
    values = torch.tensor([[0.0, -1.5, 3.0e-5], [65504.0, 1 / 3, -7.0]])
    written = {
        "float32": st.save(dict(a=values, b=torch.tensor([1.0, 2.0])), metadata=dict(step="7")),
        "float16": st.save(dict(a=values.half())),
        "bfloat16": st.save(dict(a=values.bfloat16())),
        "int64": st.save(dict(a=torch.tensor([1, 2]))),
    }
    expected = dict(float32=flat(values), float16=flat(values.half().float()), bfloat16=flat(values.bfloat16().float()))
    ours = (HERE / "retrace.safetensors").read_bytes()
    read = {n: dict(shape=list(t.shape), data=flat(t)) for n, t in st.load(ours).items()}
    return dict(
        generator="test/golden/policy/generate_golden.py",
        files={name: base64.b64encode(data).decode() for name, data in written.items()},
        expected=expected,
        readFromRetrace=read,
    )


if __name__ == "__main__":
    (HERE / "transformer.json").write_text(json.dumps(transformer_golden()) + "\n")
    (HERE / "safetensors.json").write_text(json.dumps(safetensors_golden()) + "\n")
