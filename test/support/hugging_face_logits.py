"""Loads a model directory with transformers, and adapters with peft; prints as JSON, for each given token but the first, its
log probability and the entropy of the distribution that it comes from.

    python test/support/hugging_face_logits.py <directory> <token ids as JSON> [<directory of adapters>]
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
if len(sys.argv) > 3:
    from peft import PeftModel

    model = PeftModel.from_pretrained(model, sys.argv[3])
model.eval()
tokens = torch.tensor(json.loads(sys.argv[2]))
with torch.no_grad():
    logprobs = model(tokens[None]).logits[0, :-1].double().log_softmax(-1)
chosen = logprobs.gather(1, tokens[1:, None])[:, 0]
entropies = -(logprobs.exp() * logprobs).sum(-1)
print(json.dumps({"logprobs": chosen.tolist(), "entropies": entropies.tolist()}))
