import hashlib
import math
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from faulty_server import Answer, FaultyServer
from test_training_batch import FLOATS, make_batch

from retrace import (
    Checkpoint,
    RecordedUpdate,
    Retrace,
    RetraceError,
    Sampling,
    Tokens,
    TrainedUpdate,
    TrainerEngine,
    TrainingBatch,
)
from retrace.outside_update import post_until_answered, trained_episodes

RUN = "01a21e04-a484-70d7-871d-855f599898b7"


def test_says_of_each_episode_what_was_trained_of_it() -> None:
    weights = pa.array([[0, 0, 0.5, 0, 1.0], [0, 0, 0]], FLOATS)
    batch = make_batch(
        importance_weights=weights, run_id=pa.array(["r", "s"]), episode_digest=pa.array(["1", "2"])
    )
    assert trained_episodes(batch) == [
        {
            **{"run": "r", "episode": "a", "digest": "1", "reward": 1.0, "times": 1, "numTokens": 2},
            "weight": 0.75,
            "advantage": {"mean": 1.5, "deviation": 0.5, "min": 1.0, "max": 2.0},
        },
        # A correction rejected its only token.
        {
            "run": "s",
            "episode": "b",
            "digest": "2",
            "reward": None,
            "times": 2,
            "numTokens": 0,
            "weight": None,
        },
    ]
    assert [episode["episode"] for episode in trained_episodes(batch, rows=[1, 1])] == ["b"]
    for rows in ([-1], [2], [True, False]):
        with pytest.raises(ValueError, match="must be numbers of rows, 0 to 1"):
            trained_episodes(batch, rows=rows)


def test_joins_the_sequences_of_an_episode() -> None:
    batch = make_batch(run_id=pa.array(["r", "r"]))
    table = batch.table.set_column(
        batch.table.schema.get_field_index("episode_id"), "episode_id", pa.array(["a", "a"])
    )
    [episode] = trained_episodes(TrainingBatch.of(table))
    assert (episode["numTokens"], episode["times"]) == (3, 2)
    assert episode["advantage"]["mean"] == pytest.approx((1 + 2 - 1) / 3)
    assert episode["digest"] is None


def test_starts_from_the_newest_policy_when_its_batch_was_drawn() -> None:
    batch = make_batch(run_id=pa.array([RUN, RUN]))
    drawn = TrainingBatch(
        **{**batch.__dict__, "info": {"runId": RUN, "policyVersionIn": 3, "rewardVersion": "v"}}
    )
    body = TrainedUpdate(drawn, TrainerEngine("trl", version="trl 1.16.0"), losses=[0.5, math.inf]).body(RUN)
    assert (body["policyVersionIn"], body["rewardVersion"], body["stepLosses"]) == (3, "v", [0.5, None])
    assert body["batch"] == drawn.info
    assert body["engine"] == {
        "kind": "trl",
        "version": "trl 1.16.0",
        "device": "",
        "numProcesses": 1,
        "precision": "",
    }
    assert {"weights", "updateNumber", "stepGradientNorms"}.isdisjoint(body)
    with pytest.raises(
        ValueError, match="policy_version_in is None; must be given where the batch is of another run"
    ):
        TrainedUpdate(drawn, "trl").body("another")


def test_names_a_file_and_a_folder_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.bin").write_bytes(b"two")
    (tmp_path / "sub" / "a.bin").write_bytes(b"one")
    assert Checkpoint.of(tmp_path / "b.bin") == Checkpoint(hashlib.sha256(b"two").hexdigest(), 3)
    listed = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for content, name in [(b"two", "b.bin"), (b"one", "sub/a.bin")]
    )
    assert Checkpoint.of(str(tmp_path)) == Checkpoint(hashlib.sha256(listed.encode()).hexdigest(), 6)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="must be a file, or a folder with files"):
        Checkpoint.of(tmp_path / "empty")


def test_is_sent_again_until_it_is_answered_with_the_same_id(client: Retrace, server: FaultyServer) -> None:
    answers = iter(
        [
            Answer(503, {"code": "STORE_UNAVAILABLE"}, {"retry-after": "0"}),
            Answer(429, {"code": "RATE_LIMITED"}),
            Answer(201, {"updateNumber": 2, "policyVersion": 5}),
        ]
    )
    server.decide = lambda _: next(answers)
    update = TrainedUpdate(make_batch(run_id=pa.array([RUN, RUN])), "own", policy_version_in=0)
    assert client.record_update(RUN, update) == RecordedUpdate(2, 5)
    sent = [request.body for request in server.requests]
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert update.id.encode() in sent[0]


def test_says_why_there_was_no_answer(server: FaultyServer) -> None:
    server.decide = lambda _: Answer(503, {"code": "STORE_UNAVAILABLE", "detail": "starting"})
    with pytest.raises(RetraceError, match="starting"):
        post_until_answered(server.url, {}, "/api/runs/x/policies", {}, 0.5)
    num_requests = len(server.requests)
    server.decide = lambda _: Answer(409, {"code": "UPDATE_CONFLICT", "detail": "the next is 4"})
    with pytest.raises(RetraceError, match="the next is 4"):
        post_until_answered(server.url, {}, "/api/runs/x/updates", {}, 60)
    assert len(server.requests) == num_requests + 1
    with pytest.raises(RetraceError, match="UNANSWERED"):
        post_until_answered("http://127.0.0.1:9", {}, "/api/runs/x/updates", {}, 0.2)


def shown_later(client: Retrace, query: str, num_rows: int) -> pa.Table:
    """Ask until the store, which follows the log, shows so many rows."""
    for _ in range(600):
        table = client.sql(query)
        if table.num_rows >= num_rows:
            return table
        time.sleep(0.05)
    raise AssertionError(f"the store never showed {num_rows} rows")


def batch_of_four(retrace: Retrace, run_id: str) -> TrainingBatch:
    """Ask until the store, which follows the log, has all four episodes."""
    for _ in range(200):
        with suppress(RetraceError):
            batch = retrace.training_batch(run_id)
            if len(batch) == 4:
                return batch
    raise AssertionError("the store never had the episodes")


def test_a_trainer_records_its_updates_beside_the_episodes(retrace: Retrace) -> None:
    run = retrace.start_run("trained outside")
    for member in range(4):
        with run.episode(task={}, group_id=f"g{member // 2}", group_size=2) as episode:
            tokens = Tokens(ids=[1, 2, 3], mask=[0, 0, 1], logprobs=[None, None, -0.5], versions=[-1, -1, 0])
            sampling = Sampling(temperature=1.0)
            episode.step(observation="a", action="b", reward=float(member), tokens=tokens, sampling=sampling)
    assert retrace.flush()
    retrace.publish_policy(run, 0, model="tiny")
    retrace.publish_policy(run, 0, model="tiny")
    batch = batch_of_four(retrace, run.id)
    update = TrainedUpdate(batch, "own", losses=[0.25], metrics={"train/loss": 0.25}, location="/somewhere")
    recorded = retrace.record_update(run, update)
    assert (recorded.update_number, recorded.policy_version) == (1, 1)
    assert retrace.record_update(run, update) == recorded
    shown = shown_later(
        retrace,
        f"SELECT episode_id, advantage_mean, times FROM update_inputs WHERE run_id = '{run.id}' ORDER BY place",
        num_rows=4,
    )
    assert shown["episode_id"].to_pylist() == batch.table["episode_id"].to_pylist()
    assert set(shown["times"].to_pylist()) == {1}
    np.testing.assert_allclose(
        shown["advantage_mean"].to_numpy(), [batch.advantages[row][2] for row in range(4)], 1e-5
    )
    newest = retrace.training_batch(run)
    assert newest.info["policyVersionIn"] == 1
    assert newest.info["updateNumber"] == 2
    with pytest.raises(RetraceError, match="UPDATE_CONFLICT"):
        retrace.record_update(run, TrainedUpdate(batch, "own", update_number=7))
    run.end()
