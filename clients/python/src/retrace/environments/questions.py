"""Data sets of reasoning-gym: one question, one answer."""

from collections.abc import Callable, Sequence
from typing import Any

from retrace.environments.hosted import InvalidTaskError, Result


class ReasoningGymAdapter:
    """A procedural data set; its entries are the tasks."""

    def __init__(
        self,
        dataset: Any,
        *,
        name: str | None = None,
        actions: Sequence[str] | None = None,
        success: Callable[[float, dict[str, Any]], bool] | None = None,
    ) -> None:
        self.dataset = dataset
        self.name = name or type(dataset).__name__.removesuffix("Dataset")
        self.description = (type(dataset).__doc__ or self.name).strip().split("\n")[0]
        self.max_steps = 1
        self.num_tasks = len(dataset)
        self.families = ()
        self.offers_anchors = False
        self.actions = actions
        self.success = success or (lambda score, _info: score >= 1)

    def make(self) -> "_Question":
        """Make an episode."""
        return _Question(self)


class _Question:
    def __init__(self, adapter: ReasoningGymAdapter) -> None:
        self._adapter = adapter
        self._entry: dict[str, Any] = {}

    def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        index = task.get("index")
        if not isinstance(index, int) or not 0 <= index < self._adapter.num_tasks:
            raise InvalidTaskError(f"index is {index!r}, must be 0 to {self._adapter.num_tasks - 1}")
        self._entry = self._adapter.dataset[index]
        return Result(self._entry["question"], None)

    def step(self, action: str) -> Result:
        score = float(self._adapter.dataset.score_answer(answer=action, entry=self._entry))
        success = self._adapter.success(score, {})
        return Result("", score, terminated=True, success=success, parsed_action=action)

    def close(self) -> None:
        pass
