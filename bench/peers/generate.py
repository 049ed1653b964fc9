"""Serves `generate` of transformers on a model directory, for bench/policy-generation.bench.mjs.

    python generate.py <directory>

Reads one JSON request a line, {"prompts": [[id, …], …], "newTokens": n, "sample": bool}, all prompts of one length, and writes one JSON
answer a line, {"seconds": s, "tokens": [[id, …], …]}; the first line tells the versions and the number of threads.
"""

import json
import sys
import time

import torch
import transformers
from transformers import AutoModelForCausalLM

torch.set_num_threads(2)
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()


def answer(value):
    print(json.dumps(value), flush=True)


answer({"torch": torch.__version__, "transformers": transformers.__version__, "threads": torch.get_num_threads()})
for line in sys.stdin:
    request = json.loads(line)
    ids = torch.tensor(request["prompts"])
    sampling = dict(do_sample=True, temperature=1.0, top_k=0, top_p=1.0) if request["sample"] else dict(do_sample=False)
    start = time.perf_counter()
    with torch.inference_mode():
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=request["newTokens"],
            min_new_tokens=request["newTokens"],
            pad_token_id=0,
            **sampling,
        )
    answer({"seconds": time.perf_counter() - start, "tokens": out[:, ids.shape[1] :].tolist()})
