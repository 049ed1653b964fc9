"""A small client of the torch worker: it starts one, and speaks the wire as the trainer does."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SOURCES = Path(__file__).parent.parent / "src"
TOKEN = "correct horse battery staple"
FLOATS = NDArray[np.float32]


class Worker:
    """A worker of one or more ranks that this process started."""

    def __init__(
        self,
        directory: Path,
        ranks: int = 1,
        environment: Mapping[str, str] | None = None,
        program: str | None = None,
    ):
        """Start it as its users do, or by the text of another Python program, whose argument is the file of the token."""
        token = directory / "token"
        token.write_text(TOKEN)
        command = [sys.executable, "-m", "retrace.engine", "--token-file", str(token), "--follow-stdin"]
        if ranks > 1:
            launcher = [
                sys.executable,
                "-m",
                "torch.distributed.run",
                "--standalone",
                "--nproc-per-node",
                str(ranks),
            ]
            command = [*launcher, *command[1:]]
        if program is not None:
            command = [sys.executable, "-c", program, str(token)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(directory / "stderr").open("ab"),
            env={**os.environ, "PYTHONPATH": str(SOURCES), "OMP_NUM_THREADS": "1", **(environment or {})},
        )
        self.log = directory / "stderr"
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(b"{"):
                self.url = json.loads(line)["url"]
                return
        raise RuntimeError(f"the worker did not start:\n{self.log.read_text()[-4000:]}")

    def rank_processes(self) -> list[int]:
        """Process ids of the ranks that torchrun started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(child) for child in children.split()]

    def kill(self) -> None:
        """End it at once, as a machine that fails does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def close(self) -> int:
        """Close its standard input, and wait until it has ended; returns its exit code."""
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class RefusedError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, error: dict[str, Any]):
        super().__init__(f"{status} {error['code']}: {error['message']}")
        self.status, self.code, self.field = status, error["code"], error.get("field")


class EngineClient:
    """The trainer's side of the wire."""

    def __init__(self, url: str, token: str = TOKEN, timeout: float = 300):
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=timeout)
        self.instance = ""
        self.number = 0

    def get(self, name: str) -> Any:
        return self._checked(self.http.get(f"/v1/{name}")).json()

    def post(
        self,
        name: str,
        body: object = None,
        *,
        numbered: bool = False,
        query: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Make a call; `number` counts those that are numbered."""
        if numbered:
            self.number += 1
        return self.send(name, body, number=self.number if numbered else None, query=query)

    def send(
        self, name: str, body: object, *, number: int | None = None, query: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """Send a call with this number."""
        headers = {} if number is None else {"Retrace-Call": str(number)}
        if name != "open":
            headers["Retrace-Instance"] = self.instance
        content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        return self._checked(
            self.http.post(f"/v1/{name}", content=content, headers=headers, params=dict(query or {}))
        )

    def open(self, shape: Mapping[str, Any], **changes: Any) -> Any:
        """Make an instance; `changes` are of the body that `open_body` makes."""
        self.number = 1
        answer = self.send("open", open_body(shape, **changes), number=1).json()
        self.instance = answer["instance"]
        return answer

    def load(self, weights: Path, optimizer: Path | None = None) -> None:
        body = {"weights": str(weights), "optimizer": None if optimizer is None else str(optimizer)}
        self.post("load", body, numbered=True)

    def forward(
        self,
        tokens: Sequence[Sequence[int]],
        mask: Sequence[Sequence[int]],
        *,
        graph: str | None = None,
        chosen: NDArray[np.int32] | None = None,
        **query: Any,
    ) -> dict[str, NDArray[Any]]:
        """Evaluate tokens, and a row of chosen ids for each that is wanted; a graph's name keeps it."""
        kept = {"keepGraph": 1, "graph": graph} if graph is not None else {}
        asked = {} if chosen is None else {"topIds": chosen.shape[1]}
        body = encode(tokens, mask, chosen)
        answer = self.post("forward", body, numbered=graph is not None, query={**query, **kept, **asked})
        return decode(answer.content)

    def ends(self, tokens: Sequence[Sequence[int]]) -> FLOATS:
        return decode(self.post("ends", encode(tokens)).content)["value"]

    def backward(self, graph: str, **derivatives: FLOATS) -> None:
        body = encode_columns(derivatives)
        self.post("backward", body, numbered=True, query={"graph": graph})

    def step(self, learning_rate: float, **options: Any) -> Any:
        body = {"learningRate": learning_rate, "maxGradientNorm": None, "skipNormAbove": None, **options}
        return self.post("step", body, numbered=True).json()

    def save(
        self, directory: Path, what: str = "state", metadata: Mapping[str, str] | None = None
    ) -> dict[str, Path]:
        found = self.saved(directory, what, metadata=metadata or {}).items()
        return {key: directory / saved["files"][0]["file"] for key, saved in found}

    def saved(self, directory: Path | None, what: str = "state", **request: Any) -> dict[str, Any]:
        """Save weights, and for `state` the optimizer, until they are durable; returns the answers."""
        place = {} if directory is None else {"directory": str(directory)}
        found = {}
        for key in ("weights", "optimizer") if what == "state" else (what,):
            texts = request.get("metadata", {}) if key == "weights" else {}
            body = {**place, **request, "what": key, "metadata": texts}
            found[key] = self.post("save", body).json()
        self.post("sync")
        return found

    def save_shards(self, directory: Path, metadata: Mapping[str, str]) -> dict[str, Path]:
        """Save with each rank's rows in files of its own, and write their indexes as the trainer does."""
        indexes = {}
        for key, saved in self.saved(directory, metadata=metadata, sharded=True).items():
            for shard in saved["files"]:
                content = (directory / shard["file"]).read_bytes()
                assert (hashlib.sha256(content).hexdigest(), len(content)) == (
                    shard["sha256"],
                    shard["sizeBytes"],
                )
                (directory / shard["file"]).rename(directory / f"{shard['sha256']}.safetensors")
            listed = ",".join(f"{shard['sha256']}:{shard['sizeBytes']}" for shard in saved["files"])
            header = json.dumps({"__metadata__": {**saved["texts"], "retraceShards": listed}}).encode()
            indexes[key] = directory / f"{key}-index.safetensors"
            indexes[key].write_bytes(struct.pack("<Q", len(header)) + header)
        return indexes

    def _checked(self, answer: httpx.Response) -> httpx.Response:
        if answer.status_code != 200:
            raise RefusedError(answer.status_code, answer.json()["error"])
        return answer


def open_body(shape: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The body of `open` with the trainer's usual settings."""
    model = {"shape": shape, **changes.pop("model", {})}
    optimizer = {"beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weightDecay": 0.1, "separateCritic": False}
    optimizer.update(changes.pop("optimizer", {}))
    body = {
        "nonce": str(uuid.uuid4()),
        "model": model,
        "lora": shape.get("lora"),
        "valueHead": shape["valueHead"],
        "valueTrunk": shape.get("valueTrunk"),
        "precision": "float32",
        "recomputeLayers": False,
        "offload": False,
        "maxTokensPerMicroBatch": 512,
        "optimizer": optimizer,
    }
    return {**body, **changes}


def encode(
    tokens: Sequence[Sequence[int]],
    mask: Sequence[Sequence[int]] | None = None,
    chosen: NDArray[np.int32] | None = None,
) -> bytes:
    """Sequences as an Arrow stream."""
    columns = {"tokens": list_array(tokens, np.int32)}
    if mask is not None:
        columns["mask"] = list_array(mask, np.uint8)
    if mask is not None and chosen is not None:
        ends = np.cumsum([sum(row[1:]) for row in mask])[:-1]
        rows = [part.ravel().tolist() for part in np.split(chosen, ends)]
        columns["topIds"] = list_array(rows, np.int32)
    return stream(pa.record_batch(columns))


def list_array(rows: Sequence[Sequence[int]], kind: Any) -> pa.Array:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int32)
    values = np.concatenate([np.asarray(row, kind) for row in rows]) if rows else np.empty(0, kind)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))


def encode_columns(columns: Mapping[str, FLOATS]) -> bytes:
    return stream(pa.record_batch({name: numbers(values) for name, values in columns.items()}))


def numbers(values: FLOATS) -> pa.Array:
    flat = pa.array(values.ravel(), pa.float32())
    return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def stream(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def decode(body: bytes) -> dict[str, NDArray[Any]]:
    """Columns [M], and [M, k] for lists of a fixed size."""
    table = pa.ipc.open_stream(body).read_all()
    found = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_fixed_size_list(column.type):
            found[name] = column.flatten().to_numpy().reshape(-1, column.type.list_size)
        else:
            found[name] = column.to_numpy()
    return found


@contextlib.contextmanager
def running(
    directory: Path, ranks: int = 1, environment: Mapping[str, str] | None = None
) -> Iterator[Worker]:
    """A worker that is ended afterwards, whatever happens."""
    worker = Worker(directory, ranks, environment)
    try:
        yield worker
    finally:
        if worker.process.poll() is None:
            worker.close()
