"""Asks a Retrace for a batch, and prints how long it took to have it in torch: read_batch.py URL RUN GROUPS."""

import json
import sys
import tempfile
import time

import pyarrow as pa
import torch
from retrace import Retrace, TrainingBatch

url, run, groups = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tempfile.TemporaryDirectory() as spool, Retrace(url, spool_directory=spool) as client:
    seconds, views = [], []
    for seed in range(3):
        started = time.perf_counter()
        batch = client.training_batch(run, groups=groups, seed=seed)
        tensors = batch.torch()
        seconds.append(time.perf_counter() - started)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.table.schema) as writer:
            writer.write_table(batch.table)
        received = sink.getvalue()
        started = time.perf_counter()
        tensors = TrainingBatch.of(pa.ipc.open_stream(received).read_all()).torch()
        views.append(time.perf_counter() - started)
        assert tensors["advantages"].dtype == torch.float32
print(json.dumps({"seconds": min(seconds), "viewSeconds": min(views)}))
