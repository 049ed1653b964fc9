"""One run that is being recorded."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from retrace.episode import Episode, Records
from retrace.ids import uuid7
from retrace.records import RunEndReason, to_wire
from retrace.sender import Sender

# Parameters of `Run.episode` that are not fields of the record as they are.
_NOT_FIELDS = ("self", "id", "forked_from", "occurred_at")


class Run:
    """One run. Use it with `with` or `async with`, or call `end`; several processes may record into one run.

    Leaving `with` ends it as finished, as stopped on Ctrl-C, or as failed when another exception passes.
    """

    def __init__(self, sender: Sender, run_id: str) -> None:
        """Use `Retrace.start_run`, or `Retrace.run` for one that was started before."""
        self.id = run_id
        self.ended = False
        self._records = Records(sender, run_id)

    def episode(
        self,
        *,
        id: str | None = None,
        group_id: str | None = None,
        group_size: int | None = None,
        group_member: int | None = None,
        environment: str | None = None,
        task: Any = None,
        environment_seed: int | None = None,
        sampling_seed: int | None = None,
        split: str | None = None,
        agent: str | None = None,
        external_id: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        parent_episode: str | None = None,
        forked_from: tuple[str, int] | None = None,
        occurred_at: datetime | int | None = None,
    ) -> Episode:
        """Start an episode.

        Episodes of one group share their task and seed, and `group_member` counts them from 0. `parent_episode` is the
        episode of the agent that called this one; `forked_from` the episode and step that this one continues.
        """
        fields = {name: value for name, value in locals().items() if name not in _NOT_FIELDS}
        fork = None if forked_from is None else {"episode": forked_from[0], "step": forked_from[1]}
        episode = Episode(self._records, id or uuid7())
        self._records.put("episode", occurred_at, {"episode": episode.id, **fields, "forked_from": fork})
        return episode

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
    ) -> None:
        """Give a reward to an episode by its id; see `Episode.reward`."""
        self._records.reward(episode, name, value, step=step, source=source, rationale=rationale, id=id)

    def annotate(
        self,
        episode: str,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        source: str = "caller",
    ) -> None:
        """Replace tags or metadata of an episode by its id; see `Episode.annotate`."""
        self._records.annotate(episode, tags=tags, metadata=metadata, source=source)

    def end(self, reason: RunEndReason = "finished", *, detail: str | None = None) -> None:
        """End the run; a second end is ignored. Rewards and annotations may still come."""
        if not self.ended:
            self.ended = True
            self._records.sender.put(self.id, "end", to_wire({"reason": reason, "detail": detail}))

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Wait until Retrace has all records so far; return False if that took too long (they stay in the spool)."""
        return self._records.sender.flush(timeout_s)

    def __enter__(self) -> "Run":
        """Return the run."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run, unless it has ended."""
        if error is None:
            self.end()
        else:
            stopped = isinstance(error, KeyboardInterrupt | SystemExit)
            self.end("stopped" if stopped else "failed", detail=f"{type(error).__name__}: {error}")

    async def __aenter__(self) -> "Run":
        """Return the run."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the run, unless it has ended."""
        self.__exit__(kind, error, trace)


def start_run(
    sender: Sender,
    name: str,
    *,
    id: str | None,
    environment: str | None,
    tags: Sequence[str] | None,
    metadata: Mapping[str, Any] | None,
) -> Run:
    """Start a run of kind `recorded`, with an id of its own if `id` is None."""
    run_id = id or uuid7()
    fields = {"id": run_id, "name": name, "environment": environment, "tags": tags, "metadata": metadata}
    sender.put(run_id, "start", to_wire(fields))
    return Run(sender, run_id)
