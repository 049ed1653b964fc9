"""Episodes as flat arrays, for NumPy and torch, without copies of what came over the wire."""

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    import torch

EPISODE_COLUMNS = (
    "episode_id, group_id, environment, split, agent, task, success, return, num_steps, num_tokens"
)
STEP_COLUMNS = "episode_id, step, reward, kept_prefix_tokens, token_ids, action_mask, token_logprobs, token_policy_versions"


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of different lengths in one flat array: list i is `values[offsets[i]:offsets[i + 1]]`."""

    values: npt.NDArray[Any]
    offsets: npt.NDArray[np.int32]

    @staticmethod
    def of(column: pa.ChunkedArray) -> "Ragged":
        """View a column of lists. One chunk is viewed without a copy; several are joined first."""
        lists = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        return Ragged(lists.values.to_numpy(zero_copy_only=True), lists.offsets.to_numpy(zero_copy_only=True))

    def __len__(self) -> int:
        """Return the number of lists."""
        return len(self.offsets) - 1

    def __getitem__(self, place: int) -> npt.NDArray[Any]:
        """Return one list, as a view."""
        if not -len(self) <= place < len(self):
            raise IndexError(f"list {place} of {len(self)}")
        place %= len(self)
        return self.values[self.offsets[place] : self.offsets[place + 1]]

    def torch(self) -> "tuple[torch.Tensor, torch.Tensor]":
        """Return values and offsets as tensors on the same memory; write to neither."""
        import torch

        # Through Arrow's own DLPack, since NumPy exports no read-only array.
        return torch.from_dlpack(pa.array(self.values)), torch.from_dlpack(pa.array(self.offsets))


@dataclass(frozen=True)
class Batch:
    """Some episodes of a run with all their steps, in the order of their ids.

    The steps of episode e are rows `step_offsets[e]` to `step_offsets[e + 1]` of `steps`, and entries of the ragged
    columns. A step has the tokens that it appended to the context, of which its prompt kept `kept_prefix` tokens.
    """

    episodes: pa.Table
    steps: pa.Table
    step_offsets: npt.NDArray[np.int64]
    token_ids: Ragged
    action_mask: Ragged
    logprobs: Ragged
    policy_versions: Ragged
    kept_prefix: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    """One a step; NaN where none was given."""

    @staticmethod
    def of(episodes: pa.Table, steps: pa.Table) -> "Batch":
        """Join the rows of both views, which are ordered by episode and step."""
        lengths = episodes["num_steps"].to_numpy().astype(np.int64)
        step_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        if step_offsets[-1] != steps.num_rows:
            raise ValueError(
                f"{steps.num_rows} steps for episodes of {step_offsets[-1]}: the store is still being written"
            )
        return Batch(
            episodes=episodes,
            steps=steps,
            step_offsets=step_offsets,
            token_ids=Ragged.of(steps["token_ids"]),
            action_mask=Ragged.of(steps["action_mask"]),
            logprobs=Ragged.of(steps["token_logprobs"]),
            policy_versions=Ragged.of(steps["token_policy_versions"]),
            kept_prefix=steps["kept_prefix_tokens"].to_numpy().astype(np.int64),
            rewards=steps["reward"].to_numpy().astype(np.float64),
        )

    def __len__(self) -> int:
        """Return the number of episodes."""
        return int(self.episodes.num_rows)


class BatchQuery:
    """The statements that read a run, some episodes at a time."""

    def __init__(self, run_id: str, num_episodes: int, where: str) -> None:
        """Read the run `run_id`, a UUID; `where` is a condition in SQL on the view `episodes`."""
        self._run_id = str(uuid.UUID(run_id))
        self._num_episodes = num_episodes
        self._where = where
        self._after = ""

    def episodes(self) -> str:
        """Return the statement for the next episodes."""
        return (
            f"SELECT {EPISODE_COLUMNS} FROM episodes WHERE run_id = '{self._run_id}' AND episode_id > '{self._after}'"
            f" AND sealed AND (\n{self._where}\n) ORDER BY episode_id LIMIT {self._num_episodes:d}"
        )

    def steps(self, listed: pa.Table) -> str:
        """Return the statement for the steps of the episodes that the last one listed."""
        ids = listed["episode_id"].to_pylist()
        self._after = ids[-1]
        names = ", ".join(f"'{episode_id}'" for episode_id in ids)
        return (
            f"SELECT {STEP_COLUMNS} FROM steps WHERE run_id = '{self._run_id}' AND episode_id IN ({names})"
            " ORDER BY episode_id, step"
        )
