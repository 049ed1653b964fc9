"""The torch worker makes each call once, refuses what it can't honour, and loses nothing on bad days."""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from engine_client import (
    SOURCES,
    EngineClient,
    RefusedError,
    Worker,
    encode,
    encode_columns,
    open_body,
    running,
)
from engine_models import TINY, Batch, random_batch, random_weights, read_tensors

from retrace.engine.errors import EngineError
from retrace.engine.on_ray import Starts, is_own_fault

for package in ("torch", "safetensors", "aiohttp"):
    pytest.importorskip(
        package, reason=f"skipped, because {package} is not installed: npm run test:engines installs it"
    )

BATCH = random_batch(1, TINY["vocabSize"])


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("worker")) as worker:
        yield worker.url


@pytest.fixture
def engine(worker: str, tmp_path: Path) -> EngineClient:
    engine = EngineClient(worker)
    engine.load(random_weights(engine, engine.open(TINY), tmp_path / "weights.safetensors"))
    return engine


def logprobs(engine: EngineClient, batch: Batch = BATCH) -> Any:
    return engine.forward(batch.tokens, batch.mask)["logprob"]


def accumulate(engine: EngineClient, batch: Batch = BATCH) -> None:
    engine.forward(batch.tokens, batch.mask, graph="g")
    engine.backward("g", **batch.derivatives)


def refusal(make: Any) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        make()
    return caught.value


def test_a_request_with_another_token_is_refused(worker: str) -> None:
    for token in ("x", "wrong"):
        error = refusal(lambda token=token: EngineClient(worker, token).get("engine"))
        assert (error.status, error.code) == (401, "UNAUTHORIZED")


def test_the_worker_describes_itself(engine: EngineClient) -> None:
    found = engine.get("engine")
    assert (found["protocol"], found["worldSize"], found["backend"]) == (4, 1, "native")
    assert found["instance"] == engine.instance
    logprobs(engine)
    metrics = engine.get("metrics")
    assert metrics["peakMemoryBytes"] > 0
    assert metrics["tokens"] == sum(map(len, BATCH.tokens))


def test_a_call_that_is_repeated_is_not_made_again(engine: EngineClient) -> None:
    accumulate(engine)
    body = {"learningRate": 1e-2, "maxGradientNorm": None, "skipNormAbove": None}
    engine.number += 1
    first = engine.send("step", body, number=engine.number)
    moved = logprobs(engine)
    assert engine.send("step", body, number=engine.number).content == first.content
    np.testing.assert_array_equal(logprobs(engine), moved)
    other = refusal(lambda: engine.send("step", {**body, "learningRate": 1}, number=engine.number))
    assert (other.status, other.code) == (409, "WRONG_CALL")


def test_a_repeated_backward_adds_its_gradient_once(engine: EngineClient) -> None:
    norms = []
    for times in (1, 3):
        engine.forward(BATCH.tokens, BATCH.mask, graph="g")
        engine.number += 1
        for _ in range(times):
            engine.send(
                "backward", encode_columns(BATCH.derivatives), number=engine.number, query={"graph": "g"}
            )
        norms.append(engine.step(0.0)["gradientNorm"])
    assert norms[1] == norms[0]


def test_a_call_that_was_refused_used_up_its_number(engine: EngineClient) -> None:
    body = encode_columns(BATCH.derivatives)
    engine.number += 1
    for _ in range(2):
        error = refusal(lambda: engine.send("backward", body, number=engine.number, query={"graph": "none"}))
        assert (error.status, error.code) == (409, "NO_GRAPH")
    accumulate(engine)


@pytest.mark.parametrize("ahead", [-1, 2])
def test_a_call_out_of_order_is_refused(engine: EngineClient, ahead: int) -> None:
    error = refusal(lambda: engine.send("discard", {}, number=engine.number + ahead))
    assert (error.status, error.code, error.field) == (409, "WRONG_CALL", "Retrace-Call")


def test_an_open_that_is_repeated_keeps_the_instance_and_another_replaces_it(worker: str) -> None:
    engine = EngineClient(worker)
    body = open_body(TINY)
    answers = [engine.send("open", body, number=1).json() for _ in range(2)]
    assert answers[0] == answers[1]
    engine.instance, engine.number = answers[0]["instance"], 1
    other = EngineClient(worker)
    other.open(TINY)
    error = refusal(lambda: engine.post("discard", numbered=True))
    assert (error.status, error.code) == (409, "WRONG_INSTANCE")
    other.post("discard", numbered=True)


def test_an_instance_without_weights_is_not_used(worker: str) -> None:
    engine = EngineClient(worker)
    engine.open(TINY)
    assert refusal(lambda: logprobs(engine)).code == "NOT_OPEN"


@pytest.mark.parametrize(
    ("field", "changes", "code"),
    [
        ("open.precision", {"precision": "float8"}, "UNSUPPORTED"),
        ("open.model.shape.headDim", {"model": {"shape": {**TINY, "headDim": 7}}}, "INVALID_REQUEST"),
        ("open.model.shape.hiddenSize", {"model": {"shape": {**TINY, "hiddenSize": 0}}}, "INVALID_REQUEST"),
        (
            "open.model.shape.slidingWindow",
            {"model": {"shape": {**TINY, "slidingWindow": 4}}},
            "INVALID_REQUEST",
        ),
        (
            "open.model.shape.ropeScaling.type",
            {"model": {"shape": {**TINY, "ropeScaling": {"type": "longrope"}}}},
            "UNSUPPORTED",
        ),
        (
            "open.model.shape.ropeScaling.factor",
            {"model": {"shape": {**TINY, "ropeScaling": {"type": "linear"}}}},
            "INVALID_REQUEST",
        ),
        ("open.optimizer.beta1", {"optimizer": {"beta1": 1}}, "INVALID_REQUEST"),
        ("open.shards", {"shards": 2}, "INVALID_REQUEST"),
        ("open.verl", {"verl": "fsdp2"}, "INVALID_REQUEST"),
        (
            "open.model.shape.valueHead",
            {"model": {"shape": {**TINY, "valueHead": True}}, "verl": {}},
            "UNSUPPORTED",
        ),
    ],
)
def test_an_open_names_the_field_that_it_can_not_honour(
    engine: EngineClient, field: str, changes: dict[str, Any], code: str
) -> None:
    before = logprobs(engine)
    error = refusal(lambda: engine.send("open", open_body(TINY, **changes), number=1))
    assert (error.code, error.field) == (code, field)
    np.testing.assert_array_equal(logprobs(engine), before)


def test_bad_tokens_are_refused_by_place_and_value(engine: EngineClient) -> None:
    too_long = [[1] * (TINY["maxPositions"] + 1)]
    for tokens, field in (([[1, 97]], "token 1"), ([[1, -1]], "token 1"), (too_long, "tokens[0]")):
        mask = [[1] * len(row) for row in tokens]
        error = refusal(lambda tokens=tokens, mask=mask: engine.forward(tokens, mask))
        assert (error.status, error.code, error.field) == (400, "INVALID_REQUEST", field)
    uneven = encode([[1, 2, 3]], [[1, 1]])
    assert refusal(lambda: engine.post("forward", uneven)).field == "mask"
    assert refusal(lambda: engine.post("forward", encode([[1, 2]]))).field == "mask"
    assert refusal(lambda: engine.post("forward", b"not arrow")).code == "INVALID_REQUEST"


def test_nothing_wanted_gives_columns_without_rows_and_no_gradient(engine: EngineClient) -> None:
    columns = engine.forward([[1, 2], []], [[1, 0], []], graph="g")
    assert {name: len(column) for name, column in columns.items()} == {"logprob": 0, "entropy": 0, "value": 0}
    engine.backward("g", dLogprob=np.empty(0, np.float32))
    assert engine.step(1e-3) == {"isApplied": True, "gradientNorm": 0, "criticGradientNorm": None}


def test_a_graph_serves_one_backward_of_its_own_rows(engine: EngineClient) -> None:
    engine.forward(BATCH.tokens, BATCH.mask, graph="g")
    error = refusal(lambda: engine.backward("g", dLogprob=np.zeros(1, np.float32)))
    assert (error.code, error.field) == ("INVALID_REQUEST", "logprob")
    logprobs(engine)
    engine.backward("g", **BATCH.derivatives)
    assert refusal(lambda: engine.backward("g", **BATCH.derivatives)).code == "NO_GRAPH"
    for drop in ("discard", "step"):
        engine.forward(BATCH.tokens, BATCH.mask, graph="g")
        engine.post(drop, {"learningRate": 0} if drop == "step" else {}, numbered=True)
        assert refusal(lambda: engine.backward("g", **BATCH.derivatives)).code == "NO_GRAPH"


def test_a_derivative_that_is_not_finite_is_refused(engine: EngineClient) -> None:
    engine.forward(BATCH.tokens, BATCH.mask, graph="g")
    bad = BATCH.derivatives["dLogprob"].copy()
    bad[3] = np.nan
    assert refusal(lambda: engine.backward("g", dLogprob=bad)).field == "dLogprob[3]"


def test_a_step_whose_norm_is_over_the_limit_is_not_made(engine: EngineClient, tmp_path: Path) -> None:
    accumulate(engine)
    engine.step(1e-2)
    before = engine.save(tmp_path)
    accumulate(engine)
    skipped = engine.step(1e-2, skipNormAbove=1e-9)
    assert skipped["isApplied"] is False
    assert skipped["gradientNorm"] > 1e-9
    assert engine.step(1e-2)["gradientNorm"] == 0
    after = engine.save(tmp_path)
    for key, path in before.items():
        assert path.read_bytes() == after[key].read_bytes()


def test_a_norm_that_is_not_finite_changes_nothing(engine: EngineClient, tmp_path: Path) -> None:
    before = engine.save(tmp_path)
    huge = {name: values * np.float32(1e38) for name, values in BATCH.derivatives.items()}
    for limit in (None, 1.0):
        for graph in ("a", "b", "c"):
            engine.forward(BATCH.tokens, BATCH.mask, graph=graph)
            engine.backward(graph, **huge)
        if limit is None:
            error = refusal(lambda: engine.step(1e-2))
            assert (error.status, error.code) == (422, "NOT_FINITE")
        else:
            assert engine.step(1e-2, skipNormAbove=limit)["isApplied"] is False
        assert engine.step(1e-2)["gradientNorm"] == 0
    after = engine.save(tmp_path)
    assert before["weights"].read_bytes() == after["weights"].read_bytes()
    assert before["optimizer"].read_bytes() == after["optimizer"].read_bytes()


def test_a_saved_state_that_is_loaded_again_goes_on_with_the_same_bits(
    engine: EngineClient, tmp_path: Path
) -> None:
    accumulate(engine)
    engine.step(1e-2)
    saved = engine.save(tmp_path, metadata={"config": "{}", "tokenizerHash": "é"})
    accumulate(engine)
    engine.step(1e-2)
    expected = engine.save(tmp_path)
    engine.open(TINY)
    engine.load(saved["weights"], saved["optimizer"])
    accumulate(engine)
    engine.step(1e-2)
    actual = engine.save(tmp_path)
    assert actual["weights"].read_bytes() == expected["weights"].read_bytes()
    assert actual["optimizer"].read_bytes() == expected["optimizer"].read_bytes()


def test_files_that_can_not_be_used_change_nothing(engine: EngineClient, tmp_path: Path) -> None:
    accumulate(engine)
    engine.step(1e-2)
    saved = engine.save(tmp_path)
    before = logprobs(engine)
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(saved["optimizer"].read_bytes()[:-8])
    not_finite = tmp_path / "nan.safetensors"
    tensors = read_tensors(saved["weights"])
    tensors["model.norm.weight"][0] = np.inf
    from safetensors.numpy import save_file

    save_file(tensors, not_finite)
    files = [
        (saved["weights"], cut),
        (saved["weights"], tmp_path / "none"),
        (not_finite, saved["optimizer"]),
        (saved["optimizer"], saved["optimizer"]),
    ]
    for weights, optimizer in files:
        error = refusal(lambda weights=weights, optimizer=optimizer: engine.load(weights, optimizer))
        assert error.code == "FILE_DAMAGED"
    np.testing.assert_array_equal(logprobs(engine), before)
    assert refusal(lambda: engine.save(tmp_path / "none")).field == "directory"


def test_a_file_that_the_disk_refuses_is_reported_by_every_sync(tmp_path: Path) -> None:
    program = """
import errno, os, sys
from retrace.engine import __main__ as main
def refuse(descriptor):
    raise OSError(errno.ENOSPC, "no space")
os.fsync = refuse
sys.argv = ["engine", "--token-file", sys.argv[1], "--follow-stdin"]
sys.exit(main.main())
"""
    worker = Worker(tmp_path, program=program)
    try:
        engine = opened(worker, tmp_path)
        written = engine.post("save", {"directory": str(tmp_path), "what": "weights"}).json()["files"][0]
        # Others can read it, but the trainer may not commit it.
        content = (tmp_path / written["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == written["sha256"]
        for _ in range(2):
            error = refusal(lambda: engine.post("sync"))
            assert (error.status, error.code) == (500, "INTERNAL")
            assert "no space" in str(error)
    finally:
        worker.close()


def test_a_file_that_the_disk_refuses_in_its_middle_is_removed(tmp_path: Path) -> None:
    directory = tmp_path / "saved"
    directory.mkdir()
    with running(tmp_path) as worker:
        engine = opened(worker, tmp_path)
        unlimited = resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE)
        # More than the buffer of a file, so that a write of the thread is cut.
        resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, (10_000, unlimited[1]))
        error = refusal(lambda: engine.save(directory))
        assert (error.status, error.code) == (500, "INTERNAL")
        assert "could not be written" in str(error)
        assert list(directory.iterdir()) == []
        resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert engine.save(directory)["weights"].stat().st_size > 10_000


def test_a_file_whose_tensor_can_not_be_had_is_removed(tmp_path: Path) -> None:
    from retrace.engine.writing import write_tensors

    def fail() -> Any:
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        write_tensors(tmp_path / "weights", [("a", (2,), fail)], {}, is_writer=True)
    assert list(tmp_path.iterdir()) == []


def test_adapters_on_another_base_are_refused(worker: str, tmp_path: Path) -> None:
    engine = EngineClient(worker)
    opened = engine.open({**TINY, "valueHead": False})
    random_weights(engine, opened, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    shape = {**TINY, "lora": {"rank": 2, "alpha": 4, "targets": ["q_proj"]}}
    body = open_body(shape, model={"directory": str(tmp_path), "fingerprint": "0" * 64})
    error = refusal(lambda: engine.send("open", body, number=1))
    assert (error.code, error.field) == ("FILE_DAMAGED", "open.model.fingerprint")


# Processes


def opened(worker: Worker, directory: Path) -> EngineClient:
    engine = EngineClient(worker.url)
    engine.load(random_weights(engine, engine.open(TINY), directory / "weights.safetensors"))
    return engine


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def wait_until_ended(pids: list[int]) -> None:
    deadline = time.monotonic() + 60
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, f"processes {pids} are still there"
        time.sleep(0.05)


def call_for_ever(engine: EngineClient) -> None:
    while True:
        logprobs(engine)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_is_killed_ends_the_group_with_a_sentence(tmp_path: Path, victim: int) -> None:
    with running(tmp_path, 2) as worker:
        engine = opened(worker, tmp_path)
        ranks = worker.rank_processes()
        assert len(ranks) == 2
        os.kill(ranks[victim], signal.SIGKILL)
        with pytest.raises((RefusedError, httpx.TransportError)) as caught:
            call_for_ever(engine)
        if isinstance(caught.value, RefusedError):
            assert caught.value.code == "RANK_LOST"
        worker.process.wait(60)
        wait_until_ended(ranks)


def test_a_worker_ends_with_its_standard_input_and_leaves_no_rank(tmp_path: Path) -> None:
    with running(tmp_path, 2) as worker:
        opened(worker, tmp_path)
        ranks = worker.rank_processes()
        assert worker.close() == 0
        wait_until_ended(ranks)


def test_a_worker_that_is_closed_ends_all_ranks(tmp_path: Path) -> None:
    with running(tmp_path, 2) as worker:
        engine = opened(worker, tmp_path)
        ranks = worker.rank_processes()
        engine.post("close")
        assert worker.process.wait(60) == 0
        wait_until_ended(ranks)


# As a worker of Ray Train does: in a thread, after it has opened the process group.
IN_A_THREAD = """
import sys, threading
import torch.distributed as dist
from retrace.engine.group import Group
from retrace.engine.on_ray import serve_rank
from retrace.engine.rank import Rank

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
settings = {"host": "127.0.0.1", "port": 0, "token_file": sys.argv[1]}
thread = threading.Thread(target=lambda: serve_rank(Rank(Group()), settings, lambda: None))
thread.start()
thread.join()
"""


def test_a_rank_works_in_a_thread_and_in_a_process_group_that_its_launcher_opened(tmp_path: Path) -> None:
    alone = {"RANK": "0", "WORLD_SIZE": "1", "GLOO_SOCKET_IFNAME": "lo"}
    worker = Worker(tmp_path, environment=alone, program=IN_A_THREAD)
    try:
        engine = opened(worker, tmp_path)
        accumulate(engine)
        engine.step(1e-2)
        assert engine.get("engine")["worldSize"] == 1
        engine.post("close")
        assert worker.process.wait(60) == 0
    finally:
        worker.kill()


def test_a_cluster_starts_no_ranks_without_a_token(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for name, fault in (("empty", "is empty; it must hold the token"), ("missing", "No such file")):
        command = [sys.executable, "-m", "retrace.engine.on_ray", "--token-file", str(tmp_path / name)]
        environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 2
        assert fault in ended.stderr


def test_failed_starts_of_a_rank_in_a_row_are_given_up_and_others_are_not() -> None:
    starts = Starts()
    for rank in (0, 1, 0, 1):
        starts.failed(rank, "a")
    starts.succeeded()
    for rank in (0, 1, 1, 0):
        starts.failed(rank, "b")
    assert starts.given_up() is None
    starts.failed(1, "its node has no torch")
    starts.failed(0, "another rank is gone")
    assert starts.given_up() == "rank 1: its node has no torch"


def test_a_state_of_two_ranks_goes_on_with_one(tmp_path: Path) -> None:
    saved, weights = {}, []
    for ranks in (2, 1):
        with running(tmp_path, ranks) as worker:
            engine = opened(worker, tmp_path)
            if ranks == 2:
                accumulate(engine)
                engine.step(1e-2)
                saved = engine.save(tmp_path)
            engine.load(saved["weights"], saved["optimizer"])
            again = engine.save(tmp_path)
            assert all(again[key].read_bytes() == saved[key].read_bytes() for key in saved)
            accumulate(engine)
            engine.step(1e-2)
            weights.append(read_tensors(engine.save(tmp_path)["weights"]))
    for name, values in weights[0].items():
        np.testing.assert_allclose(weights[1][name], values, atol=1e-5)


def test_shards_of_two_ranks_hold_what_one_file_holds(tmp_path: Path) -> None:
    whole, indexes = {}, {}
    for ranks in (2, 1):
        with running(tmp_path, ranks) as worker:
            engine = opened(worker, tmp_path)
            if ranks == 2:
                accumulate(engine)
                engine.step(1e-2)
                whole = engine.save(tmp_path, metadata={"config": "{}"})
                indexes = engine.save_shards(tmp_path, metadata={"config": "{}"})
            engine.load(indexes["weights"], indexes["optimizer"])
            named = engine.saved(None, metadata={"config": "{}"})
            assert (
                named["weights"]["files"][0]["sha256"]
                == hashlib.sha256(whole["weights"].read_bytes()).hexdigest()
            )
            again = engine.save(tmp_path, metadata={"config": "{}"})
            assert all(again[key].read_bytes() == whole[key].read_bytes() for key in whole)
            shard = max(tmp_path.glob("?" * 64 + ".safetensors"), key=lambda path: path.stat().st_size)
            shard.rename(tmp_path / "away")
            with pytest.raises(RefusedError, match="FILE_DAMAGED"):
                engine.load(indexes["weights"], indexes["optimizer"])
            (tmp_path / "away").rename(shard)


def test_a_worker_that_was_killed_in_mid_update_is_replaced_from_its_last_state(tmp_path: Path) -> None:
    with running(tmp_path) as worker:
        engine = opened(worker, tmp_path)
        accumulate(engine)
        engine.step(1e-2)
        saved = engine.save(tmp_path)
        before = logprobs(engine)
        engine.forward(BATCH.tokens, BATCH.mask, graph="g")
        worker.kill()
    with running(tmp_path) as worker:
        engine.http = EngineClient(worker.url).http
        assert refusal(lambda: engine.backward("g", **BATCH.derivatives)).code == "WRONG_INSTANCE"
        engine = opened(worker, tmp_path)
        engine.load(saved["weights"], saved["optimizer"])
        np.testing.assert_array_equal(logprobs(engine), before)


@pytest.mark.parametrize(("given", "found"), [(None, "passive"), ("active", "active")])
def test_threads_of_a_worker_sleep_while_they_wait_unless_its_starter_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str | None, found: str
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_WAIT_POLICY", given)
    script = tmp_path / "worker.py"
    script.write_text(PRINTS_WAIT_POLICY)
    token = tmp_path / "token"
    token.write_text("a token")
    command = [sys.executable, str(script), "--token-file", str(token)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.strip() == found


# Ends a worker where it imports torch, and prints what torch would find.
PRINTS_WAIT_POLICY = """
import os, sys
from importlib.abc import MetaPathFinder
from retrace.engine.__main__ import main

class Watch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("OMP_WAIT_POLICY"), flush=True)
            os._exit(0)

assert "torch" not in sys.modules
sys.meta_path.insert(0, Watch())
main()
"""


def test_a_rank_that_lost_rank_0_did_not_fail_itself() -> None:
    assert not is_own_fault(EngineError("RANK_LOST", "rank 0 of the engine is gone; start again"))
    for error in (EngineError("INVALID_REQUEST", "a"), OSError("address already in use")):
        assert is_own_fault(error)
