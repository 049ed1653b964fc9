import json

import numpy as np
import pyarrow as pa
import pytest

from retrace import Retrace, RetraceError, Sampling, Tokens, TrainingBatch
from retrace.training_batch import batch_body

FLOATS = pa.list_(pa.float32())
BYTES = pa.list_(pa.uint8())


def make_batch(**columns: pa.Array) -> TrainingBatch:
    """Two sequences: one with a turn of the environment between two of the policy, and one of which a token does not count."""
    table = pa.table(
        {
            "episode_id": ["a", "b"],
            "group_id": ["g", "g"],
            "sequence": pa.array([0, 0], pa.int32()),
            "copies": pa.array([1, 2], pa.int32()),
            "reward": [1.0, float("nan")],
            "token_ids": pa.array([[1, 2, 3, 4, 5], [6, 7, 8]], pa.list_(pa.int32())),
            "policy_versions": pa.array([[3] * 5, [3] * 3], pa.list_(pa.int32())),
            "action_mask": pa.array([[0, 0, 1, 0, 1], [0, 1, 1]], BYTES),
            "loss_mask": pa.array([[0, 0, 1, 0, 1], [0, 1, 0]], BYTES),
            "behavior_logprobs": pa.array([[0, 0, -0.5, 0, -1], [0, -2, -3]], FLOATS),
            "advantages": pa.array([[0, 0, 1, 0, 2], [0, -1, -4]], FLOATS),
            "token_rewards": pa.array([[0, 0, 0, 0, 1], [0, 0, 0]], FLOATS),
            **columns,
        }
    )
    return TrainingBatch.of(table.replace_schema_metadata({"retrace": json.dumps({"updateNumber": 4})}))


def address(values: np.ndarray) -> int:
    return int(values.__array_interface__["data"][0])


def test_columns_are_the_memory_of_the_table() -> None:
    batch = make_batch()
    assert len(batch) == 2
    assert batch.info == {"updateNumber": 4}
    assert batch.advantages[1].tolist() == [0, -1, -4]
    assert batch.returns is None
    assert "returns" not in batch.columns
    for name, column in batch.columns.items():
        assert address(column.values) == batch.table[name].chunk(0).values.buffers()[1].address
    np.testing.assert_array_equal(batch.rewards, [1.0, np.nan])


def test_a_request_has_only_what_was_asked_for() -> None:
    assert batch_body(3, None, None, None, None, None, (), None) == {"updateNumber": 3}
    changed = batch_body(None, "num_steps > 1", 2, "random", 0, 0.7, ["loss.clipLow=0.1"], "liked")
    assert changed == {
        "where": "num_steps > 1",
        "groups": 2,
        "order": "random",
        "seed": 0,
        "temperature": 0.7,
        "set": ["loss.clipLow=0.1"],
        "rewardVersion": "liked",
    }


def test_torch_has_flat_tensors_on_the_same_memory() -> None:
    pytest.importorskip("torch", reason="torch is not installed; npm run test:long has it")
    batch = make_batch()
    tensors = batch.torch()
    assert tensors["offsets"].tolist() == [0, 5, 8]
    assert tensors["token_ids"].data_ptr() == batch.table["token_ids"].chunk(0).values.buffers()[1].address
    assert tensors["advantages"].tolist() == [0, 0, 1, 0, 2, 0, -1, -4]


def test_padded_rows_have_prompts_on_the_left_and_responses_on_the_right() -> None:
    pytest.importorskip("torch", reason="torch is not installed; npm run test:long has it")
    padded = {name: values.tolist() for name, values in make_batch().padded(99).items()}
    assert padded["row"] == [0, 1, 1]
    assert padded["prompt_ids"] == [[1, 2], [99, 6], [99, 6]]
    assert padded["prompt_mask"] == [[1, 1], [0, 1], [0, 1]]
    assert padded["response_ids"] == [[3, 4, 5], [7, 8, 99], [7, 8, 99]]
    assert padded["response_attention"] == [[1, 1, 1], [1, 1, 0], [1, 1, 0]]
    assert padded["response_mask"] == [[1, 0, 1], [1, 0, 0], [1, 0, 0]]
    assert padded["advantages"] == [[1, 0, 2], [-1, 0, 0], [-1, 0, 0]]
    assert padded["behavior_logprobs"] == [[-0.5, 0, -1], [-2, 0, 0], [-2, 0, 0]]
    # What means something at a token that does not count is kept: the reward on the last one.
    assert padded["action_mask"] == [[1, 0, 1], [1, 1, 0], [1, 1, 0]]
    assert padded["policy_versions"] == [[3, 3, 3], [3, 3, -1], [3, 3, -1]]


def test_sequences_of_which_nothing_counts_are_no_rows() -> None:
    pytest.importorskip("torch", reason="torch is not installed; npm run test:long has it")
    batch = make_batch(loss_mask=pa.array([[0, 0, 1, 0, 0], [0, 0, 0]], BYTES))
    assert batch.padded(0)["row"].tolist() == [0]
    assert make_batch(copies=pa.array([0, 0], pa.int32())).padded(0)["response_ids"].shape == (0, 0)


def test_a_recorded_run_gives_batches_with_advantages(retrace: Retrace) -> None:
    rewards = {"x": [1.0, 0.0], "y": [0.5, 0.25]}
    with retrace.start_run("batches") as run:
        for group, members in rewards.items():
            for member, reward in enumerate(members):
                with run.episode(task={}, group_id=group) as episode:
                    tokens = Tokens(ids=[1, 2, 3 + member], mask=[0, 0, 1], logprobs=[None, None, -0.5])
                    episode.step(
                        observation="a",
                        action="b",
                        reward=reward,
                        tokens=tokens,
                        sampling=Sampling(temperature=1.0),
                    )
    assert retrace.flush()
    batch = None
    for _ in range(100):
        try:
            batch = retrace.training_batch(run, groups=8)
        except RetraceError as error:
            assert error.code in ("NO_EPISODES", "NOT_FOUND")  # noqa: PT017 - the store follows the log
        if batch is not None and len(batch) == 4:
            break
    assert batch is not None
    assert batch.info["estimator"] == "grpo"
    groups = np.array(batch.table["group_id"].to_pylist())
    for group in np.unique(groups):
        of_group = batch.rewards[groups == group]
        expected = (of_group - of_group.mean()) / (of_group.std(ddof=1) + 1e-6)
        given = [batch.advantages[row][2] for row in np.flatnonzero(groups == group).tolist()]
        np.testing.assert_allclose(given, expected, rtol=1e-4)
    with pytest.raises(RetraceError) as refused:
        retrace.training_batch(run, changes=["loss.clipLow=-1"])
    assert refused.value.code == "INVALID_REQUEST"
