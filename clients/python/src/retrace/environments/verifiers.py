"""Task sets of verifiers' version 1: one prompt, one answer, scored by the task's own rewards."""

from collections.abc import Callable, Sequence
from typing import Any

from retrace.environments.hosted import InvalidTaskError, Result


class VerifiersAdapter:
    """A task set without tools. verifiers runs environments with tools or several turns itself, around an agent that it calls."""

    def __init__(
        self,
        taskset: Any,
        *,
        name: str | None = None,
        actions: Sequence[str] | None = None,
        success: Callable[[float, dict[str, Any]], bool] | None = None,
    ) -> None:
        kind = type(taskset).__name__
        if not hasattr(taskset, "load") or not taskset.bounded:
            raise TypeError(
                f"{kind} of verifiers cannot be hosted; it must be a Taskset of a limited number of tasks"
            )
        self.tasks = list(taskset)
        if not self.tasks:
            raise TypeError(f"{kind} of verifiers has no tasks")
        if type(taskset).toolsets(taskset.config) or type(self.tasks[0]).toolsets(self.tasks[0].config):
            raise TypeError(f"{kind} of verifiers has tools, which verifiers itself must run")
        self.name = name or kind.removesuffix("Taskset") or kind
        self.description = (type(taskset).__doc__ or self.name).strip().split("\n")[0]
        self.max_steps = 1
        self.num_tasks = len(self.tasks)
        self.families = ()
        self.offers_anchors = False
        self.actions = actions
        self.success = success or (lambda reward, _metrics: reward >= 1)

    def make(self) -> "_Prompt":
        """Make an episode."""
        return _Prompt(self)


class _Prompt:
    def __init__(self, adapter: VerifiersAdapter) -> None:
        self._adapter = adapter
        self._task: Any = None

    def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        index = task.get("index")
        if not isinstance(index, int) or not 0 <= index < self._adapter.num_tasks:
            raise InvalidTaskError(f"index is {index!r}, must be 0 to {self._adapter.num_tasks - 1}")
        self._task = self._adapter.tasks[index]
        data = self._task.data
        return Result("\n\n".join(text for text in (data.system_prompt, data.prompt_text) if text), None)

    async def step(self, action: str) -> Result:
        trace = _trace_of(self._task, action)
        await self._task.score(trace)
        reward = float(trace.reward)
        metrics = {name: float(value) for name, value in trace.metrics.items()}
        success = self._adapter.success(reward, metrics)
        return Result(
            "", reward, terminated=True, success=success, parsed_action=action, info={"metrics": metrics}
        )

    def close(self) -> None:
        pass


def _trace_of(task: Any, answer: str) -> Any:
    """Return the trace of one turn, as verifiers' own graph has it."""
    import verifiers.v1 as vf
    from verifiers.v1.graph import prepare_turn
    from verifiers.v1.types import AssistantMessage, Response, SystemMessage, UserMessage

    data = task.data
    agent = vf.AgentInfo(config=vf.trace.WireAgentConfig(), name="solver")
    trace: Any = vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=data), agent=agent)
    system = [SystemMessage(content=data.system_prompt)] if data.system_prompt else []
    turn = prepare_turn(trace, [*system, UserMessage(content=data.prompt_text)])
    message = AssistantMessage(content=answer)
    turn.commit(
        Response(id="", created=0, model="", message=message, finish_reason="stop", usage=None, tokens=None)
    )
    return trace
