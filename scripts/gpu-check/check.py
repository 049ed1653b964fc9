"""Checks the torch engine on a GPU, or at small sizes without one; writes gpu-check.json after each part."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import torch
from engine_client import EngineClient, Worker, running
from models import (
    HALF_BILLION,
    LORA,
    ONE_AND_A_HALF_BILLION,
    SMALLEST,
    TINY,
    PpoBatch,
    ppo_batch,
    ppo_derivatives,
    shape_of,
    write_weights,
)
from plain import KINDS, PlainLoop
from reference import ADAMW, Reference
from report import render
from retrace.engine.checkpoints import ModelDirectory
from safetensors.torch import load_file

ON_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
if not ON_GPU:
    # torch over stub libraries has no such function.
    torch.cuda.is_current_stream_capturing = lambda: False


class Check:
    """The figures so far, and a worker that all parts share."""

    def __init__(self, out: Path, directory: Path, worker: Worker):
        self.out, self.directory, self.worker = out, directory, worker
        self.started = time.time()
        self.engine = EngineClient(worker.url)
        self.figures: list[dict[str, Any]] = []
        self.failed: list[str] = []

    def record(self, name: str, value: float, unit: str = "", at_most: float | None = None) -> None:
        """Keep a figure; one over its limit fails the check."""
        fails = at_most is not None and not value <= at_most
        figure = {"name": name, "value": float(f"{value:.4g}"), "unit": unit}
        if at_most is not None:
            figure["atMost"] = at_most
        self.figures.append(figure)
        print(f"{'FAILED ' if fails else ''}{name}: {value:.4g} {unit}{'' if at_most is None else f' (at most {at_most:g})'}")
        if fails:
            self.failed.append(name)

    def write(self) -> None:
        """Write what there is, in case that the time runs out."""
        device = torch.cuda.get_device_name() if ON_GPU else platform.processor() or platform.machine()
        commit = Path(__file__).parent / "commit"
        found = {
            "title": "Torch engine on a GPU" if ON_GPU else "Torch engine, the GPU check at small sizes without a GPU",
            "device": device,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "date": datetime.fromtimestamp(self.started, timezone.utc).isoformat(timespec="seconds"),
            "seconds": round(time.time() - self.started),
            "commit": commit.read_text().strip() if commit.is_file() else "",
            "failed": self.failed,
            "figures": self.figures,
        }
        (self.out / "gpu-check.json").write_text(json.dumps(found, indent=2))
        (self.out / "gpu-check.md").write_text(render(found))

    def open(self, shape: dict[str, Any], weights: Path, **changes: Any) -> None:
        """Open a model with these trained weights."""
        self.engine.open(shape, optimizer=ADAMW, **changes)
        self.engine.load(weights)

    def update(self, batch: PpoBatch, behavior: Any, rate: float = 1e-6) -> tuple[float, float, float]:
        """One PPO step through the wire: seconds, loss and norm."""
        start = time.perf_counter()
        columns = self.engine.forward(batch.tokens, batch.mask, graph="update")
        loss, derivatives = ppo_derivatives(columns, batch, behavior)
        self.engine.backward("update", **derivatives)
        step = self.engine.step(rate, maxGradientNorm=1.0)
        return time.perf_counter() - start, loss, step["gradientNorm"]

    def first_logprobs(self, batch: PpoBatch) -> Any:
        """Logprobs under the weights as they are."""
        return self.engine.forward(batch.tokens, batch.mask)["logprob"].astype(np.float64)


def relative(actual: Any, expected: Any) -> float:
    """‖actual − expected‖ / ‖expected‖."""
    return float(np.linalg.norm(np.asarray(actual) - np.asarray(expected)) / np.linalg.norm(np.asarray(expected)))


# Parts


def ceilings(check: Check) -> None:
    """How fast this device copies and multiplies."""
    size, numel = (8192, 2**30) if ON_GPU else (512, 2**22)
    a, b = (torch.randn(size, size, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    source = torch.randint(0, 2**30, (numel,), device=DEVICE, dtype=torch.int32)
    target = torch.empty_like(source)
    for name, work, make, unit in (
        ("copy, read and written", 2 * source.nbytes, lambda: target.copy_(source), "TB/s"),
        (f"bf16 product of {size} x {size}", 2 * size**3, lambda: torch.mm(a, b), "TFLOP/s"),
    ):
        times = []
        for _ in range(13):
            synchronize()
            start = time.perf_counter()
            make()
            synchronize()
            times.append(time.perf_counter() - start)
        check.record(name, work / statistics.median(times[3:]) / 1e12, unit)


def parity(check: Check) -> None:
    """Three PPO steps of a tiny Qwen2 against float64 on the processor: full and with adapters, float32 and bfloat16."""
    batch = ppo_batch([37, 5, 64, 21, 64, 2, 50], TINY["vocabSize"])
    base = check.directory / "tiny-base"
    base.mkdir(exist_ok=True)
    (base / "config.json").write_text("{}")
    for kind, shape in (("full", TINY), ("LoRA", {**TINY, "lora": {**LORA, "rank": 4, "alpha": 8}})):
        weights = write_weights(shape, check.directory / f"tiny-{kind}.safetensors")
        frozen: dict[str, Any] = {}
        changes: dict[str, Any] = {}
        if kind == "LoRA":
            frozen = load_file(write_weights(shape, base / "model.safetensors", frozen=True, seed=1))
            changes["model"] = {"directory": str(base), "fingerprint": ModelDirectory(str(base)).fingerprint()}
        reference = Reference(shape, load_file(weights), frozen)
        with torch.no_grad():
            columns = dict(zip(("logprob", "entropy", "value"), reference.evaluate(batch), strict=True))
        expected = {name: column.numpy() for name, column in columns.items()}
        behavior = expected["logprob"] + batch.noise
        steps = [reference.step(batch, behavior, 1e-3, 1.0) for _ in range(3)]
        for precision, offload, limit in (("float32", False, 1e-3), ("bfloat16", False, 1e-2), ("float32", True, 1e-3)):
            check.open(shape, weights, precision=precision, offload=offload, **changes)
            name = f"{kind}, {precision}{', offloaded' if offload else ''}"
            outputs = check.engine.forward(batch.tokens, batch.mask)
            for column, values in expected.items():
                check.record(f"{name}: {column}, relative error", relative(outputs[column], values), "", limit)
            found = [check.update(batch, behavior, 1e-3)[1:] for _ in steps]
            losses, norms = (
                [abs(actual[i] / wanted[i] - 1) for actual, wanted in zip(found, steps, strict=True)] for i in (0, 1)
            )
            check.record(f"{name}: worst loss of 3 steps, relative error", max(losses), "", limit)
            # A norm of bfloat16 gradients has the noise of all layers.
            of_norm = limit if precision == "float32" else 5e-2
            check.record(f"{name}: worst gradient norm of 3 steps, relative error", max(norms), "", of_norm)
            saved = load_file(check.engine.save(check.directory)["weights"])
            if precision == "float32":
                errors = [relative(saved[n], w.detach()) for n, w in reference.trained.items()]
                check.record(f"{name}: worst parameter after 3 steps, relative error", max(errors), "", limit)
            start = load_file(weights)
            moved, wanted = (
                np.concatenate([(w[n].detach().double() - start[n].double()).flatten().numpy() for n in start])
                for w in (saved, reference.trained)
            )
            cosine = float(np.dot(moved, wanted) / np.linalg.norm(moved) / np.linalg.norm(wanted))
            check.record(f"{name}: 1 - cosine of the movement of all weights", 1 - cosine, "", limit)


def round_trips(check: Check) -> None:
    """Forward with graph and backward of a model that computes almost nothing."""
    weights = write_weights(SMALLEST, check.directory / "smallest.safetensors")
    check.open(SMALLEST, weights, precision="bfloat16" if ON_GPU else "float32")
    for tokens in (1024, 16_384, 262_144) if ON_GPU else (1024, 4096):
        batch = ppo_batch([512] * (tokens // 512), SMALLEST["vocabSize"])
        times: dict[str, list[float]] = {"forward": [], "backward": []}
        inside = []
        for i in range(8):
            before = check.engine.get("metrics")["forwardSeconds"]
            start = time.perf_counter()
            columns = check.engine.forward(batch.tokens, batch.mask, graph=f"{i}")
            times["forward"].append(time.perf_counter() - start)
            inside.append(check.engine.get("metrics")["forwardSeconds"] - before)
            _, derivatives = ppo_derivatives(columns, batch, batch.noise - 4)
            start = time.perf_counter()
            check.engine.backward(f"{i}", **derivatives)
            times["backward"].append(time.perf_counter() - start)
        for name, seconds in times.items():
            check.record(f"{name} call of {tokens} tokens", 1e3 * statistics.median(seconds[3:]), "ms")
        wire = [call - engine for call, engine in zip(times["forward"], inside, strict=True)]
        check.record(f"forward call of {tokens} tokens, outside of the engine", 1e3 * statistics.median(wire[3:]), "ms")
    check.engine.post("discard", numbered=True)


def half_billion(check: Check) -> None:
    """A full PPO step of 0.5 B parameters beside plain torch loops, one after the other in turn."""
    shape = HALF_BILLION if ON_GPU else shape_of(2, 64, 4, 2, 96, 256)
    weights = write_weights(shape, check.directory / "half-billion.safetensors")
    lengths = [1024] * (16 if has_much_memory() else 8) if ON_GPU else [32] * 4
    batch = ppo_batch(lengths, shape["vocabSize"])
    check.open(shape, weights, precision="bfloat16", maxTokensPerMicroBatch=batch.num_tokens)
    behavior = check.first_logprobs(batch) + batch.noise
    numbers = f"{'0.5 B' if ON_GPU else 'tiny'}, full, {batch.num_tokens} tokens"
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    losses: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for kind in KINDS:
        reset_memory()
        loop = PlainLoop(shape, weights, kind, DEVICE)
        loop.put(batch)
        check.open(shape, weights, precision="bfloat16", maxTokensPerMicroBatch=batch.num_tokens)
        worker_seconds, worker_losses = [], []
        for _ in range(25 if ON_GPU else 3):
            seconds[kind].append(loop.update(batch, behavior))
            losses[kind].append(loop.figures[0])
            taken, loss, _ = check.update(batch, behavior)
            worker_seconds.append(taken)
            worker_losses.append(loss)
        warm = 5 if ON_GPU else 1
        ours, theirs = statistics.median(worker_seconds[warm:]), statistics.median(seconds[kind][warm:])
        pairs = [p / w for p, w in zip(seconds[kind][warm:], worker_seconds[warm:], strict=True)]
        check.record(f"{numbers}: worker beside {kind}", batch.num_tokens / ours, "tokens/s")
        check.record(f"{numbers}: plain torch, {kind}", batch.num_tokens / theirs, "tokens/s")
        check.record(f"{numbers}: speed of the worker over plain torch, {kind}, median of pairs", statistics.median(pairs), "x")
        memory = check.engine.get("metrics")["peakMemoryBytes"]
        check.record(f"{numbers}: peak memory of the worker", memory / 2**30, "GiB")
        if ON_GPU:
            check.record(f"{numbers}: peak memory of plain torch, {kind}", torch.cuda.max_memory_allocated() / 2**30, "GiB")
        pieces = check.engine.get("metrics")
        for piece in ("forwardSeconds", "backwardSeconds", "stepSeconds"):
            check.record(f"{numbers}: {piece} of an update, beside {kind}", 1e3 * pieces[piece] / len(worker_seconds), "ms")
        first = abs(losses[kind][0] / worker_losses[0] - 1)
        check.record(f"{numbers}: first loss, relative difference to {kind}", first, "", 1e-2)
        last = abs(losses[kind][-1] / worker_losses[-1] - 1)
        # Autocast keeps norms and the residual stream in float32, so it sees steps that bfloat16 rounds away.
        limit = 5e-2 if kind == "fsdp2" else None
        check.record(f"{numbers}: loss after {len(worker_losses)} steps, relative difference to {kind}", last, "", limit)
        del loop
        reset_memory()


def half_billion_lora(check: Check) -> None:
    """A LoRA step of 0.5 B parameters beside plain torch with peft."""
    shape = {**(HALF_BILLION if ON_GPU else shape_of(2, 64, 4, 2, 96, 256)), "lora": LORA}
    base = check.directory / "half-billion-base"
    base.mkdir(exist_ok=True)
    (base / "config.json").write_text("{}")
    frozen = write_weights(shape, base / "model.safetensors", frozen=True)
    weights = write_weights(shape, check.directory / "adapters.safetensors")
    model = {"directory": str(base), "fingerprint": ModelDirectory(str(base)).fingerprint()}
    batch = ppo_batch([1024] * (16 if has_much_memory() else 8) if ON_GPU else [32] * 4, shape["vocabSize"])
    reset_memory()
    loop = PlainLoop(shape, frozen, "autocast", DEVICE)
    loop.put(batch)
    check.open(shape, weights, precision="bfloat16", maxTokensPerMicroBatch=batch.num_tokens, model=model)
    behavior = check.first_logprobs(batch) + batch.noise
    pairs = [(loop.update(batch, behavior), check.update(batch, behavior)[0]) for _ in range(20 if ON_GPU else 3)]
    timed = pairs[5 if ON_GPU else 1 :]
    size = f"{'0.5 B' if ON_GPU else 'tiny'}, LoRA r {LORA['rank']}, {batch.num_tokens} tokens"
    for i, name in enumerate(("plain torch with peft", "worker")):
        check.record(f"{size}: {name}", batch.num_tokens / statistics.median(pair[i] for pair in timed), "tokens/s")
    ratio = statistics.median(plain / worker for plain, worker in timed)
    check.record(f"{size}: speed of the worker over plain torch with peft, median of pairs", ratio, "x")
    memory = check.engine.get("metrics")["peakMemoryBytes"] / 2**30
    check.record(f"{size}: peak memory of the worker", memory, "GiB")
    if ON_GPU:
        plain = torch.cuda.max_memory_allocated() / 2**30
        check.record(f"{size}: peak memory of plain torch with peft", plain, "GiB")
        check.record(f"{size}: memory of the worker over plain torch with peft", memory / plain, "x", 1.1)


def large(check: Check) -> None:
    """1.5 B parameters: full with recomputed layers, and LoRA."""
    shape = ONE_AND_A_HALF_BILLION if ON_GPU else shape_of(2, 64, 4, 2, 96, 256)
    batch = ppo_batch([1024] * 16 if ON_GPU else [32] * 4, shape["vocabSize"])
    base = check.directory / "large-base"
    base.mkdir(exist_ok=True)
    (base / "config.json").write_text("{}")
    size = "1.5 B" if ON_GPU else "tiny"
    for kind in ("full, recomputed layers", "LoRA r 32"):
        of_kind, changes = shape, {"recomputeLayers": True}
        if kind.startswith("LoRA"):
            of_kind = {**shape, "lora": LORA}
            write_weights(of_kind, base / "model.safetensors", frozen=True)
            changes = {"model": {"directory": str(base), "fingerprint": ModelDirectory(str(base)).fingerprint()}}
        weights = write_weights(of_kind, check.directory / "large.safetensors")
        start = time.perf_counter()
        check.open(of_kind, weights, precision="bfloat16", maxTokensPerMicroBatch=batch.num_tokens, **changes)
        check.record(f"{size}, {kind}: open and load", time.perf_counter() - start, "s")
        behavior = check.first_logprobs(batch) + batch.noise
        times = [check.update(batch, behavior)[0] for _ in range(11 if ON_GPU else 3)]
        check.record(f"{size}, {kind}", batch.num_tokens / statistics.median(times[-8:]), "tokens/s")
        check.record(f"{size}, {kind}: peak memory", check.engine.get("metrics")["peakMemoryBytes"] / 2**30, "GiB")
        start = time.perf_counter()
        files = check.engine.save(check.directory, "weights")
        taken = time.perf_counter() - start
        check.record(f"{size}, {kind}: save weights of {files['weights'].stat().st_size / 2**30:.3g} GiB", taken, "s")
        files["weights"].unlink()


def killed(check: Check) -> None:
    """A worker that is killed with a graph in its hands is replaced from the last saved state, with the same bits."""
    shape = HALF_BILLION if ON_GPU else TINY
    weights = write_weights(shape, check.directory / "killed.safetensors")
    batch = ppo_batch([512] * 8 if ON_GPU else [32] * 4, shape["vocabSize"])
    size = "0.5 B" if ON_GPU else "tiny"
    check.open(shape, weights, precision="bfloat16")
    behavior = check.first_logprobs(batch) + batch.noise
    check.update(batch, behavior, 1e-4)
    start = time.perf_counter()
    saved = check.engine.save(check.directory)
    check.record(f"{size}: save weights and moments", time.perf_counter() - start, "s")
    check.update(batch, behavior, 1e-4)
    expected = check.engine.save(check.directory)
    check.engine.forward(batch.tokens, batch.mask, graph="lost")
    check.worker.kill()
    start = time.perf_counter()
    check.worker = Worker(check.directory)
    check.engine = EngineClient(check.worker.url)
    check.record("start of another worker", time.perf_counter() - start, "s")
    check.engine.open(shape, optimizer=ADAMW, precision="bfloat16")
    start = time.perf_counter()
    check.engine.load(saved["weights"], saved["optimizer"])
    check.record(f"{size}: load weights and moments", time.perf_counter() - start, "s")
    for name, files in (("saved again", saved), ("after the update that was made again", expected)):
        if files is expected:
            check.update(batch, behavior, 1e-4)
        found = check.engine.save(check.directory)
        different = sum(found[key].read_bytes() != path.read_bytes() for key, path in files.items())
        check.record(f"{size}: files that differ, {name}", different, "", 0)
        for path in found.values():
            path.unlink()


PARTS: dict[str, Callable[[Check], None]] = {
    "ceilings": ceilings,
    "parity": parity,
    "round-trips": round_trips,
    "half-billion": half_billion,
    "half-billion-lora": half_billion_lora,
    "large": large,
    "killed": killed,
}


def synchronize() -> None:
    """Wait for the GPU."""
    if ON_GPU:
        torch.cuda.synchronize()


def has_much_memory() -> bool:
    """Whether plain torch and the worker fit beside each other with 16,384 tokens a pass."""
    return ON_GPU and torch.cuda.get_device_properties(0).total_memory > 100 * 2**30


def reset_memory() -> None:
    """Free what nothing uses, and measure memory from here on."""
    gc.collect()
    if ON_GPU:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def main() -> int:
    """Run the parts; returns 1 if a limit is broken or a part fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(Path(name)) as worker:
        check = Check(arguments.out, Path(name), worker)
        try:
            print(json.dumps(check.engine.get("engine")))
            for part in arguments.parts or PARTS:
                start = time.perf_counter()
                try:
                    PARTS[part](check)
                except Exception as error:
                    traceback.print_exc()
                    print(check.worker.log.read_text()[-3000:])
                    check.failed.append(f"{part}: {error}")
                check.record(f"part {part}", time.perf_counter() - start, "s")
                check.write()
        finally:
            if check.worker is not worker:
                check.worker.close()
    print("failed: " + "; ".join(check.failed) if check.failed else "all within their limits")
    return 1 if check.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
