"""PPO steps of a plain torch loop (`scripts/gpu-check/plain.py`), one a line of standard input: the peer of ../engine-step-worker.mjs."""

import json
import os
import pathlib
import sys
import time

import numpy as np
import torch

# Over stub libraries torch has nothing to answer with.
torch.cuda.is_current_stream_capturing = lambda: False

root = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(root / "scripts" / "gpu-check"), str(root / "clients" / "python" / "src")]
from models import PpoBatch, shape_of  # noqa: E402
from plain import PlainLoop  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

job = json.loads(sys.argv[1])
torch.set_num_threads(job["numThreads"])
sequences = json.loads(pathlib.Path(job["batch"]).read_text())
length = len(sequences[0]["tokenIds"])
mask = (np.arange(length) >= length // 2).astype(np.uint8)


def column(name):
    return np.concatenate([sequence[name] for sequence in sequences])


batch = PpoBatch(
    [np.asarray(sequence["tokenIds"], np.int32) for sequence in sequences],
    [mask] * len(sequences),
    column("advantages"),
    column("returns"),
    column("noise"),
)
loop = PlainLoop({**shape_of(*job["shape"]), "lora": job.get("lora")}, job["weights"], job["kind"], torch.device("cpu"))
with torch.no_grad():
    loop.policy.value_head.weight.copy_(load_file(job["trained"])["value_head.weight"])
loop.put(batch)
with torch.no_grad():
    behavior = loop.evaluate()[0].double().numpy() + batch.noise


def answer(value):
    print(json.dumps(value), flush=True)


answer(dict(pid=os.getpid()))
for line in sys.stdin:
    if line.strip() != "step":
        break
    start = time.perf_counter()
    loop.update(batch, behavior)
    answer(dict(ms=1000 * (time.perf_counter() - start), loss=loop.figures[0]))
answer(dict(ended=True))
