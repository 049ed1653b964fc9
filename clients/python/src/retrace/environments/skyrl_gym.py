"""Text environments of SkyRL-gym: `init` takes a prompt, `step` the agent's text."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from retrace.environments.hosted import InvalidTaskError, Result


class SkyRlGymAdapter:
    """Environments that one function makes of a row; its rows are the tasks.

    SkyRL-gym makes an environment for each row of its data, such as
    `skyrl_gym.make("gsm8k", extras={"reward_spec": {"ground_truth": "4"}})`.
    `rows` has `prompt` (its messages) and whatever else `make` reads.
    """

    def __init__(
        self,
        make: Callable[[dict[str, Any]], Any],
        rows: Sequence[dict[str, Any]],
        *,
        name: str | None = None,
        actions: Sequence[str] | None = None,
        success: Callable[[float, dict[str, Any]], bool] | None = None,
    ) -> None:
        if not rows:
            raise ValueError("rows is empty, must have a row for each task")
        sample = make(copy.deepcopy(rows[0]))
        kind = type(getattr(sample, "unwrapped", sample))
        self.rows = rows
        self.name = name or kind.__name__
        self.description = (kind.__doc__ or self.name).strip().split("\n")[0]
        self.max_steps = int(sample.max_turns)
        self.num_tasks = len(rows)
        self.families = ()
        self.offers_anchors = False
        self.actions = actions
        self.success = success or (lambda reward, _metrics: reward >= 1)
        self.make_env = make

    def make(self) -> "_Conversation":
        """Make an episode."""
        return _Conversation(self)


class _Conversation:
    def __init__(self, adapter: SkyRlGymAdapter) -> None:
        self._adapter = adapter
        self._env: Any = None

    def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        index = task.get("index")
        if not isinstance(index, int) or not 0 <= index < self._adapter.num_tasks:
            raise InvalidTaskError(f"index is {index!r}, must be 0 to {self._adapter.num_tasks - 1}")
        self.close()
        row = copy.deepcopy(self._adapter.rows[index])
        self._env = self._adapter.make_env(row)
        messages, _metadata = self._env.init(row["prompt"])
        return Result(_join(messages), None)

    def step(self, action: str) -> Result:
        answer = self._env.step(action)
        reward = float(answer["reward"])
        is_over = bool(answer["done"])
        # The environment does not say whether its limit of turns ended it.
        metrics = dict(self._env.get_metrics()) if is_over else {}
        return Result(
            _join(answer["observations"]),
            reward,
            terminated=is_over,
            success=self._adapter.success(reward, metrics) if is_over else None,
            parsed_action=answer.get("postprocessed_action") or action,
            info={"metrics": metrics} if is_over else None,
        )

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            env.close()


def _join(messages: Sequence[dict[str, Any]]) -> str:
    return "\n\n".join(str(message["content"]) for message in messages)
