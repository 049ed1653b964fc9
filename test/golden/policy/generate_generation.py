"""Golden values of generation, from transformers and from a server of vLLM.

    python generate_generation.py                       # writes sampling.json and generation.json beside itself
    python generate_generation.py --vllm URL NAME       # and asks a server that serves `vllm_model` as NAME: vllm.json

Made with torch 2.13.0, transformers 5.23.0 and vLLM 0.32.0 (CPU, float32).

sampling.json: what the logits warpers of transformers leave of a row of logits. generation.json: greedy tokens of `generate`, and their log
probabilities, for the models of generate_models.py. vllm.json: the answers of vLLM for the model that `vllm_model` writes; its head
width is one that vLLM can serve.
"""

import json
import pathlib
import sys
import urllib.request

import torch
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM
from transformers.generation import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

HERE = pathlib.Path(__file__).parent
SEED = 20260102
MODELS = ["qwen2", "qwen2.5", "qwen3", "llama", "mistral"]
PROMPTS = [[1, 17, 30, 31, 22, 22, 7, 9, 26, 12, 3, 4], [5, 6, 7, 8, 9, 10, 11, 12, 13], [2, 29]]
NUM_NEW = 12
VLLM_PROMPTS = [[1, 17, 300, 511, 42, 42, 7, 99, 256, 128, 3, 64], [5, 6, 7, 8, 9], [7] * 40]


def sampling_golden():
    torch.manual_seed(SEED)
    logits = 2 * torch.randn(40)
    cases = []
    for temperature, top_k, top_p in [(0.7, 0, 1.0), (1.0, 5, 1.0), (1.5, 0, 0.9), (0.5, 0, 0.3), (2.0, 12, 0.6), (1.0, 1, 0.5)]:
        scores = TemperatureLogitsWarper(temperature)(None, logits[None])
        if top_k > 0:
            scores = TopKLogitsWarper(top_k)(None, scores)
        if top_p < 1:
            scores = TopPLogitsWarper(top_p)(None, scores)
        logprobs = torch.log_softmax(scores[0], -1).tolist()
        kept = [None if value == float("-inf") else value for value in logprobs]
        cases.append(dict(temperature=temperature, topK=top_k, topP=top_p, logprobs=kept))
    return dict(seed=SEED, vocabSize=40, logits=logits.tolist(), cases=cases)


def greedy(model, prompt):
    ids = torch.tensor([prompt])
    out = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NUM_NEW,
        do_sample=False,
        pad_token_id=0,
        output_logits=True,
        return_dict_in_generate=True,
    )
    tokens = out.sequences[0, len(prompt) :]
    logprobs = torch.log_softmax(torch.cat(out.logits), -1).gather(1, tokens[:, None]).flatten()
    return dict(prompt=prompt, tokens=tokens.tolist(), logprobs=logprobs.tolist())


def generation_golden():
    models = {}
    for name in MODELS:
        model = AutoModelForCausalLM.from_pretrained(HERE / "models" / name, dtype=torch.float32, attn_implementation="eager")
        models[name] = [greedy(model.eval(), prompt) for prompt in PROMPTS]
    return dict(models=models)


def vllm_model(directory):
    torch.manual_seed(SEED)
    config = Qwen2Config(
        vocab_size=512,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=1e6),
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=None,
    )
    model = Qwen2ForCausalLM(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.1)
            elif "norm" in name:
                parameter.copy_(1 + 0.1 * torch.randn_like(parameter))
            else:
                parameter.normal_(0, 0.15)
    model.to(torch.bfloat16).save_pretrained(directory)


def ask(url, name, prompt):
    body = dict(
        model=name, prompt=prompt, max_tokens=NUM_NEW, temperature=0, logprobs=0, return_token_ids=True, ignore_eos=True
    )
    request = urllib.request.Request(
        url + "/v1/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        choice = json.load(response)["choices"][0]
    return dict(prompt=prompt, tokens=choice["token_ids"], logprobs=choice["logprobs"]["token_logprobs"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--vllm"]:
        url, name = sys.argv[2:]
        answers = [ask(url, name, prompt) for prompt in VLLM_PROMPTS]
        (HERE / "vllm.json").write_text(json.dumps(dict(answers=answers), indent=1) + "\n")
    else:
        (HERE / "sampling.json").write_text(json.dumps(sampling_golden()) + "\n")
        (HERE / "generation.json").write_text(json.dumps(generation_golden(), indent=1) + "\n")
        if not (HERE / "models" / "vllm").exists():
            vllm_model(HERE / "models" / "vllm")
