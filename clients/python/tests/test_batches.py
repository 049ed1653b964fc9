import numpy as np
import pyarrow as pa
import pytest

from retrace import Batch, Ragged
from retrace.batches import BatchQuery

EPISODES = pa.table({"episode_id": ["a", "b"], "num_steps": pa.array([2, 1], pa.uint64())})
STEPS = pa.table(
    {
        "episode_id": ["a", "a", "b"],
        "kept_prefix_tokens": pa.array([0, 3, 0], pa.uint64()),
        "reward": [None, 0.5, 1.0],
        "token_ids": pa.array([[1, 2, 3], [4], []], pa.list_(pa.int32())),
        "action_mask": pa.array([[0, 0, 1], [1], []], pa.list_(pa.uint8())),
        "token_logprobs": pa.array([[0, 0, -0.5], [-1.5], []], pa.list_(pa.float32())),
        "token_policy_versions": pa.array([[-1, -1, 7], [8], []], pa.list_(pa.int32())),
    }
)


def test_a_batch_has_the_lists_of_its_steps_as_flat_arrays() -> None:
    batch = Batch.of(EPISODES, STEPS)
    assert len(batch) == 2
    assert batch.step_offsets.tolist() == [0, 2, 3]
    assert [batch.token_ids[step].tolist() for step in range(3)] == [[1, 2, 3], [4], []]
    assert batch.action_mask[0].tolist() == [0, 0, 1]
    assert batch.logprobs[1].tolist() == [-1.5]
    assert batch.policy_versions[-2].tolist() == [8]
    assert batch.kept_prefix.tolist() == [0, 3, 0]
    np.testing.assert_array_equal(batch.rewards, [np.nan, 0.5, 1.0])


def address(values: np.ndarray) -> int:
    return int(values.__array_interface__["data"][0])


def test_flat_arrays_are_the_memory_of_the_arrow_table() -> None:
    batch = Batch.of(EPISODES, STEPS)
    for name, ragged in (("token_ids", batch.token_ids), ("token_logprobs", batch.logprobs)):
        lists = STEPS[name].chunk(0)
        assert address(ragged.values) == lists.values.buffers()[1].address
        assert address(ragged.offsets) == lists.buffers()[1].address
        assert address(ragged[1]) == address(ragged.values) + 3 * ragged.values.itemsize


def test_lists_of_a_slice_and_of_several_chunks_are_its_own() -> None:
    column = STEPS["token_ids"]
    assert [values.tolist() for values in map(Ragged.of(column.slice(1)).__getitem__, range(2))] == [[4], []]
    both = pa.chunked_array([*column.chunks, *column.slice(1).chunks])
    assert Ragged.of(both)[3].tolist() == [4]


def test_torch_shares_the_memory_too() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed; npm run test:long has it")
    batch = Batch.of(EPISODES, STEPS)
    values, offsets = batch.token_ids.torch()
    assert values.data_ptr() == STEPS["token_ids"].chunk(0).values.buffers()[1].address
    assert values.tolist() == [1, 2, 3, 4]
    assert offsets.dtype == torch.int32


def test_steps_that_the_store_does_not_have_yet_are_an_error() -> None:
    with pytest.raises(ValueError, match="2 steps for episodes of 3"):
        Batch.of(EPISODES, STEPS.slice(0, 2))


def test_a_run_id_that_is_no_uuid_never_reaches_the_store() -> None:
    with pytest.raises(ValueError, match="badly formed"):
        BatchQuery("' OR 1 = 1 --", 10, "1")
