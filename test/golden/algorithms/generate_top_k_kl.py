"""Goldens of the KL over a teacher's k likeliest tokens and one bucket for the others, by torch autograd. Writes top-k-kl.json.

The gradient is by the logits of the whole vocabulary, so it goes through the softmax and the probability of the bucket."""

import numpy as np
import torch

from batches import SEED, write

NUM_PLACES, VOCAB_SIZE = 6, 11


def buckets(logprobs, ids):
    """Probabilities of the chosen ids, then of all others together."""
    chosen = logprobs.exp().gather(1, ids)
    return torch.cat([chosen, 1 - chosen.sum(1, keepdim=True)], 1)


def case(objective, top_k, logits, teacher):
    logits = logits.clone().requires_grad_(True)
    teacher_top, ids = teacher.log_softmax(1).topk(top_k, 1)
    p, q = buckets(logits.log_softmax(1), ids), buckets(teacher.log_softmax(1), ids)
    if top_k == VOCAB_SIZE:
        p, q = p[:, :-1], q[:, :-1]
    kl = (q * (q.log() - p.log()) if objective == "forwardKl" else p * (p.log() - q.log())).sum(1)
    kl.sum().backward()
    rows = lambda x: [[float(v) for v in row] for row in x]
    return {
        "objective": objective,
        "topK": top_k,
        "ids": rows(ids),
        "logprobs": rows(logits.detach().log_softmax(1)),
        "teacherLogprobs": rows(teacher_top),
        "values": [float(v) for v in kl.detach()],
        "logitGradients": rows(logits.grad),
    }


if __name__ == "__main__":
    random = np.random.default_rng(SEED)
    logits, teacher = (torch.from_numpy(random.normal(size=(NUM_PLACES, VOCAB_SIZE)) * 1.5) for _ in range(2))
    # The last place agrees with its teacher.
    logits[-1] = teacher[-1]
    cases = [case(o, k, logits, teacher) for o in ("forwardKl", "reverseKl") for k in (1, 3, VOCAB_SIZE)]
    write("top-k-kl.json", "generate_top_k_kl.py", 1e-5, {"cases": cases}, ("torch", "numpy"))
