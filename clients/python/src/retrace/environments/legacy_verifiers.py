"""Environments of verifiers before its version 1, of one turn or several, which answer an agent with `env_response`."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from retrace.environments.hosted import InvalidTaskError, Result


class LegacyVerifiersAdapter:
    """An environment without tools; the rows of its data set are the tasks.

    verifiers runs an episode itself, around a client that it calls: here a client that waits for the agent's action. So its own stop
    conditions and rewards hold. An episode's reward comes at its end.
    """

    def __init__(
        self,
        env: Any,
        *,
        name: str | None = None,
        actions: Sequence[str] | None = None,
        success: Callable[[float, dict[str, Any]], bool] | None = None,
    ) -> None:
        kind = type(env).__name__
        if getattr(env, "tool_defs", None) or getattr(env, "oai_tools", None):
            raise TypeError(f"{kind} of verifiers has tools, which an agent that writes text cannot call")
        if env.requires_group_rollouts:
            raise TypeError(f"{kind} of verifiers has rewards of a group, which one episode cannot be given")
        self.env = env
        self.rows = env.get_dataset()
        self.name = name or str(getattr(env, "env_id", None) or kind)
        self.description = (type(env).__doc__ or self.name).strip().split("\n")[0]
        self.max_steps = env.max_turns if env.max_turns > 0 else None
        self.num_tasks = len(self.rows)
        self.families = ()
        self.offers_anchors = False
        self.actions = actions
        self.success = success or (lambda reward, _metrics: reward >= 1)

    def make(self) -> "_Rollout":
        """Make an episode."""
        return _Rollout(self)


class _Rollout:
    def __init__(self, adapter: LegacyVerifiersAdapter) -> None:
        self._adapter = adapter
        self._client: Any = None
        self._running: asyncio.Task[Any] | None = None
        self._shown = 0

    async def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        index = task.get("index")
        if not isinstance(index, int) or not 0 <= index < self._adapter.num_tasks:
            raise InvalidTaskError(f"index is {index!r}, must be 0 to {self._adapter.num_tasks - 1}")
        await self.close()
        self._client = _waiting_client()
        self._shown = 0
        rollout = self._adapter.env.rollout(dict(self._adapter.rows[index]), self._client, "retrace")
        self._running = asyncio.get_running_loop().create_task(rollout)
        if await self._next_prompt() is None:
            return await self._end("")
        return Result(self._text(), None)

    async def step(self, action: str) -> Result:
        self._client.answer(action)
        # The agent knows what it said.
        self._shown += 1
        if await self._next_prompt() is None:
            return await self._end(action)
        return Result(self._text(), 0.0, parsed_action=action)

    async def close(self) -> None:
        running, self._running = self._running, None
        if running is None or running.done():
            return
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await running

    async def _next_prompt(self) -> Any:
        """Wait until the agent is asked, or the rollout ends, which gives None."""
        asked = asyncio.ensure_future(self._client.asked.get())
        assert self._running is not None
        await asyncio.wait({asked, self._running}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return asked.result()
        asked.cancel()
        return None

    def _text(self) -> str:
        """Return the messages since the last action."""
        messages = self._client.prompt
        # A prompt that was not made by appending is shown as a whole.
        start = self._shown if self._shown < len(messages) else 0
        self._shown = len(messages)
        return _join(messages[start:])

    async def _end(self, action: str) -> Result:
        assert self._running is not None
        state = self._running.result()
        if state.get("error") is not None:
            raise RuntimeError(f"verifiers: {state['error']}")
        env = self._adapter.env
        await env.rubric.score_rollout(state)
        reward = float(state["reward"])
        metrics = {name: float(value) for name, value in (state["metrics"] or {}).items()}
        cut = state.get("stop_condition") in ("max_turns_reached", "timeout_reached")
        is_truncated = cut and env.max_turns != 1
        return Result(
            _join(state.get("final_env_response") or []),
            reward,
            terminated=not is_truncated,
            truncated=is_truncated,
            success=self._adapter.success(reward, metrics),
            parsed_action=action,
            info={"metrics": metrics, "stopCondition": state.get("stop_condition")},
        )


def _waiting_client() -> Any:
    """Return a client of verifiers that hands each prompt over and waits for its answer."""
    from verifiers.clients import Client
    from verifiers.types import Response, ResponseMessage

    class WaitingClient(Client):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(None)
            self.asked: asyncio.Queue[bool] = asyncio.Queue()
            self.prompt: list[Any] = []
            self._answer: asyncio.Future[str] | None = None

        def answer(self, text: str) -> None:
            assert self._answer is not None
            self._answer.set_result(text)

        async def get_response(self, prompt: Any, model: str, *_args: Any, **_options: Any) -> Any:
            self.prompt = list(prompt)
            self._answer = asyncio.get_running_loop().create_future()
            await self.asked.put(True)
            message = ResponseMessage(
                content=await self._answer, finish_reason="stop", is_truncated=False, tokens=None
            )
            return Response(id="", created=0, model=model, message=message)

        async def close(self) -> None:
            pass

        def setup_client(self, config: Any) -> Any:
            return config

        async def to_native_tool(self, tool: Any) -> Any:
            return tool

        async def to_native_prompt(self, messages: Any) -> Any:
            return messages, {}

        async def get_native_response(self, prompt: Any, *args: Any, **options: Any) -> Any:
            return await self.get_response(prompt, *args, **options)

        async def raise_from_native_response(self, response: Any) -> None:
            pass

        async def from_native_response(self, response: Any) -> Any:
            return response

    return WaitingClient()


def _join(messages: Any) -> str:
    """Return the texts of messages, which are objects, dictionaries, or one text."""
    if isinstance(messages, str):
        return messages
    texts = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else message.content
        if isinstance(content, str):
            texts.append(content)
        else:
            parts = [part if isinstance(part, dict) else part.model_dump() for part in content or []]
            texts.extend(str(part["text"]) for part in parts if part.get("type") == "text")
    return "\n\n".join(text for text in texts if text)
