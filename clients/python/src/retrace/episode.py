"""One episode that is being recorded."""

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from retrace.context import TokenContext
from retrace.ids import now_microseconds, uuid7
from retrace.records import EndReason, Messages, Sampling, Tokens, Usage, to_microseconds, to_wire
from retrace.sender import Sender


class Records:
    """Puts the records of one run into the spool. Nothing here waits for Retrace or fails with it."""

    def __init__(self, sender: Sender, run_id: str) -> None:
        self.sender = sender
        self.run_id = run_id

    def put(self, kind: str, occurred_at: datetime | int | None, fields: Mapping[str, Any]) -> None:
        """Put a record of `kind`; fields that are None are left out."""
        at = to_microseconds(occurred_at)
        record = {"type": kind, **to_wire(fields), "occurredAt": now_microseconds() if at is None else at}
        self.sender.put(self.run_id, "record", record)

    def reward(
        self,
        episode: str,
        name: str,
        value: float | None,
        *,
        step: int | None = None,
        source: str = "caller",
        rationale: str | None = None,
        id: str | None = None,
        occurred_at: datetime | int | None = None,
    ) -> None:
        """Put a reward; the value None retracts an earlier one."""
        at = now_microseconds() if occurred_at is None else to_microseconds(occurred_at)
        optional = to_wire({"step": step, "rationale": rationale})
        record = {"type": "reward", "id": id or uuid7(), "episode": episode, "name": name, "value": value}
        self.sender.put(self.run_id, "record", {**record, "source": source, **optional, "occurredAt": at})

    def annotate(
        self,
        episode: str,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        source: str = "caller",
        id: str | None = None,
        occurred_at: datetime | int | None = None,
    ) -> None:
        """Put an annotation: tags and metadata replace the earlier ones, None leaves them."""
        fields = {
            "id": id or uuid7(),
            "episode": episode,
            "tags": tags,
            "metadata": metadata,
            "source": source,
        }
        self.put("annotation", occurred_at, fields)


class Episode:
    """One episode. Use it with `with` or `async with`, or call `end`; safe for threads.

    Leaving `with` ends it as terminated, or as abandoned when an exception passes; the exception goes on.
    """

    def __init__(self, records: Records, episode_id: str) -> None:
        """Use `Run.episode`, which also starts the episode."""
        self.id = episode_id
        self.context = TokenContext()
        """Computes token deltas, where whole prompts are known."""
        self.ended = False
        self.num_steps = 0
        self._context_tokens = 0
        self._records = records
        self._lock = threading.Lock()

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return self._records.run_id

    def step(
        self,
        *,
        observation: str | None = None,
        action: str | None = None,
        parsed_action: str | None = None,
        action_valid: bool | None = None,
        anchor: str | None = None,
        reward: float | None = None,
        rewards: Mapping[str, float | None] | None = None,
        terminated: bool | None = None,
        truncated: bool | None = None,
        info: Mapping[str, Any] | None = None,
        messages: Messages | None = None,
        usage: Usage | None = None,
        tokens: Tokens | None = None,
        sampling: Sampling | None = None,
        engine: str | None = None,
        model: str | None = None,
        tokenizer_hash: str | None = None,
        logprob_mode: str | None = None,
        generation_ms: float | None = None,
        environment_ms: float | None = None,
        untrainable: str | None = None,
        occurred_at: datetime | int | None = None,
    ) -> int:
        """Record the next step and return its number: 0, 1, 2 …

        `reward` is this step's reward and `rewards` its parts by name; both may also come later, see `reward`.
        `untrainable` says why no trainer should use the step. Times in milliseconds. What is None is stored as unknown.
        """
        fields = {name: value for name, value in locals().items() if name not in ("self", "occurred_at")}
        if messages is not None:
            fields["messages"] = {"input": list(messages.get("input", ())), "output": messages.get("output")}
        with self._lock:
            number = self.num_steps
            self.num_steps += 1
            if tokens is not None:
                fields["tokens"] = self._with_kept_prefix(tokens)
            self._records.put("step", occurred_at, {"episode": self.id, "step": number, **fields})
        return number

    def _with_kept_prefix(self, tokens: Tokens) -> Tokens:
        """Say which tokens a step keeps where it keeps all: Retrace lacks some if a step before it was not stored whole."""
        kept = self._context_tokens if tokens.kept_prefix is None else tokens.kept_prefix
        self._context_tokens = kept + len(tokens.ids)
        return dataclasses.replace(tokens, kept_prefix=kept)

    def reward(
        self,
        name: str,
        value: float | None,
        *,
        step: int | None = None,
        source: str = "caller",
        rationale: str | None = None,
        id: str | None = None,
    ) -> None:
        """Give a reward to the episode, or to one `step` of it; also after its end, and again to replace the value.

        The value None retracts it.
        """
        self._records.reward(self.id, name, value, step=step, source=source, rationale=rationale, id=id)

    def annotate(
        self,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        source: str = "caller",
    ) -> None:
        """Replace the tags, the metadata, or both; also after the end."""
        self._records.annotate(self.id, tags=tags, metadata=metadata, source=source)

    def end(
        self,
        end_reason: EndReason = "terminated",
        *,
        detail: str | None = None,
        success: bool | None = None,
        final_observation: str | None = None,
        final_token_ids: Sequence[int] | None = None,
        occurred_at: datetime | int | None = None,
    ) -> None:
        """End the episode; a second end is ignored.

        `final_observation` and `final_token_ids` are what followed the last action.
        """
        with self._lock:
            if self.ended:
                return
            self.ended = True
            fields: dict[str, Any] = {
                "episode": self.id,
                "end_reason": end_reason,
                "detail": detail,
                "success": success,
                "final_observation": final_observation,
                "final_tokens": None if final_token_ids is None else {"ids": final_token_ids},
                "num_steps": self.num_steps,
            }
            self._records.put("end", occurred_at, fields)

    def __enter__(self) -> "Episode":
        """Return the episode."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the episode, unless it has ended."""
        if error is None:
            self.end()
        else:
            self.end("abandoned", detail=f"{type(error).__name__}: {error}")

    async def __aenter__(self) -> "Episode":
        """Return the episode."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the episode, unless it has ended."""
        self.__exit__(kind, error, trace)
