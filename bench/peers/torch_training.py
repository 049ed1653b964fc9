"""Training steps of transformers on torch, one a line of standard input: the peer of ../training-worker.mjs, which says what is asked and answered."""

import json
import pathlib
import sys
import time

import torch
from transformers import AutoModelForCausalLM

LEARNING_RATE, CLIP, ENTROPY_COEFFICIENT = 1e-4, 0.2, 0.01

# The stubs that stand in for CUDA's libraries (cuda_stubs.py) have nothing to answer with.
torch.cuda.is_current_stream_capturing = lambda: False

job = json.loads(sys.argv[1])
torch.set_num_threads(job["numThreads"])
directory = pathlib.Path(job["directory"])
sequences = json.loads((directory / f"{job['batch']}.json").read_text())["sequences"]
longest = max(len(s["tokenIds"]) for s in sequences)


def column(name, dtype):
    return torch.tensor([s[name] + [0] * (longest - len(s["tokenIds"])) for s in sequences], dtype=dtype)


token_ids = column("tokenIds", torch.long)
advantages = column("advantages", torch.float32)[:, 1:]
proximal = column("proximalLogprobs", torch.float32)[:, 1:]
lengths = torch.tensor([len(s["tokenIds"]) for s in sequences])
attended = (torch.arange(longest) < lengths[:, None]).long()
trained = attended[:, 1:].float()
is_ragged = bool((lengths < longest).any())

model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).train()
groups = [
    dict(params=[p for p in model.parameters() if p.dim() > 1], weight_decay=0.01),
    dict(params=[p for p in model.parameters() if p.dim() == 1], weight_decay=0.0),
]
optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, fused=True)


def loss_of(logits):
    targets = token_ids[:, 1:]
    if job["loss"] == "crossEntropy":
        losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        return (losses * trained.flatten()).sum() / trained.sum()
    logprobs = torch.log_softmax(logits, -1)
    chosen = logprobs.gather(-1, targets[..., None]).squeeze(-1)
    entropy = -(logprobs.exp() * logprobs).sum(-1)
    ratio = torch.exp(chosen - proximal)
    clipped = torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
    losses = torch.maximum(-advantages * ratio, -advantages * clipped) - ENTROPY_COEFFICIENT * entropy
    return (losses * trained).sum() / trained.sum()


def step():
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=job["bf16"]):
        logits = model(token_ids, attention_mask=attended if is_ragged else None, use_cache=False).logits
    loss = loss_of(logits[:, :-1].float())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def answer(value):
    print(json.dumps(value), flush=True)


answer(dict(reason=f"torch {torch.__version__}", numParameters=sum(p.numel() for p in model.parameters())))
for line in sys.stdin:
    if line.strip() != "step":
        break
    start = time.perf_counter()
    loss = step()
    answer(dict(ms=1000 * (time.perf_counter() - start), loss=loss))
status = pathlib.Path("/proc/self/status").read_text().splitlines()
answer(dict(peakMiB=next(int(l.split()[1]) / 1024 for l in status if l.startswith("VmHWM"))))
