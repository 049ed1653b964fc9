"""The clients: `Retrace`, and `AsyncRetrace` for code that runs in an event loop."""

import asyncio
import atexit
import hashlib
import os
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
import pyarrow as pa

from retrace.batches import Batch, BatchQuery
from retrace.delivery import Delivery
from retrace.outside_update import (
    Checkpoint,
    RecordedUpdate,
    TrainedUpdate,
    policy_body,
    post_until_answered,
    record_update,
    require_sent,
)
from retrace.run import Run, start_run
from retrace.sender import Sender, SenderOptions
from retrace.sql import ARROW_STREAM, MAX_ROWS, read_table, sql_body, sql_params
from retrace.training_batch import Order, TrainingBatch, batch_body

DEFAULT_URL = "http://127.0.0.1:8787"
GIBIBYTE = 1024**3
MEBIBYTE = 1024**2


class _Recorder:
    """The recording half, which both clients share: nothing in it waits for Retrace or fails with it."""

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        spool_directory: str | os.PathLike[str] | None = None,
        spool_max_bytes: int = GIBIBYTE,
        memory_max_bytes: int = 64 * MEBIBYTE,
        timeout_s: float = 30.0,
        close_timeout_s: float = 5.0,
    ) -> None:
        """Connect to the Retrace at `url`, by default that of RETRACE_URL, or the one on this machine.

        `api_key`: by default that of RETRACE_API_KEY. `spool_directory`: where records wait until Retrace has them, by
        default a folder of RETRACE_SPOOL_DIRECTORY or ~/.cache/retrace/spool that belongs to the URL; it takes at most
        `spool_max_bytes`, and memory `memory_max_bytes` if the disk takes none. `timeout_s` bounds one request;
        `close_timeout_s` is how long the end of the process waits for records; the rest is sent at the next start.
        """
        self.url = (url or os.environ.get("RETRACE_URL") or DEFAULT_URL).rstrip("/")
        key = api_key or os.environ.get("RETRACE_API_KEY")
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._timeout_s = timeout_s
        self._close_timeout_s = close_timeout_s
        options = SenderOptions(
            url=self.url,
            headers=self._headers,
            spool_directory=Path(spool_directory) if spool_directory else _default_spool(self.url),
            spool_max_bytes=spool_max_bytes,
            memory_max_bytes=memory_max_bytes,
            timeout_s=timeout_s,
        )
        self.spool_directory = options.spool_directory
        self._sender = Sender(options)
        # Bound to the sender, not to the client, so that a client that nobody uses any more can go.
        self._finalize = weakref.finalize(self, self._sender.close, close_timeout_s)
        atexit.register(self._finalize)

    def start_run(
        self,
        name: str,
        *,
        id: str | None = None,
        environment: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Run:
        """Start a run of recorded episodes. `id` is a UUID of your own; the same id and content start one run once."""
        return start_run(self._sender, name, id=id, environment=environment, tags=tags, metadata=metadata)

    def run(self, run_id: str) -> Run:
        """Return a run that was started before, by this or another process."""
        return Run(self._sender, run_id)

    def reward(
        self,
        run: Run | str,
        episode: str,
        name: str,
        value: float | None,
        *,
        step: int | None = None,
        source: str = "caller",
        rationale: str | None = None,
        id: str | None = None,
    ) -> None:
        """Give a reward to an episode, now or days after it; the value None retracts it. See `Episode.reward`."""
        self._run(run).reward(episode, name, value, step=step, source=source, rationale=rationale, id=id)

    def annotate(
        self,
        run: Run | str,
        episode: str,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        source: str = "caller",
    ) -> None:
        """Replace the tags, the metadata, or both of an episode, now or days after it."""
        self._run(run).annotate(episode, tags=tags, metadata=metadata, source=source)

    @property
    def delivery(self) -> Delivery:
        """What became of the records so far: accepted, refused, waiting, and the last problem."""
        return self._sender.delivery

    def _run(self, run: Run | str) -> Run:
        return run if isinstance(run, Run) else self.run(run)


class Retrace(_Recorder):
    """Records runs, and reads them with SQL. Recording never waits for Retrace and never fails with it."""

    def flush(self, timeout_s: float = 30.0) -> bool:
        """Wait until Retrace has all records so far; return False if that took too long (they stay in the spool)."""
        return self._sender.flush(timeout_s)

    def sql(self, query: str, *, max_rows: int = MAX_ROWS, as_of: str | datetime | None = None) -> pa.Table:
        """Run one SELECT and return its rows: `.to_pandas()`, or `polars.from_arrow(table)`.

        `as_of` reads what was known then: a time (in UTC where it has no zone), the id of an event, or `RUN@N` for the
        commit of update N of a run.

        Raises RetraceError when Retrace refuses the query, or when the result has more than `max_rows` rows.
        """
        with self._http() as http:
            answer = http.post("/api/sql", params=sql_params(as_of), json=sql_body(query, max_rows))
            return read_table(answer, max_rows)

    def batches(self, run: Run | str, *, episodes: int = 64, where: str = "sealed") -> Iterator[Batch]:
        """Iterate over the episodes of a run with their steps, `episodes` at a time, oldest first.

        `where` is a condition in SQL on the view `episodes`.
        """
        query = BatchQuery(_id_of(run), episodes, where)
        with self._http() as http:
            while True:
                listed = read_table(http.post("/api/sql", json=sql_body(query.episodes(), MAX_ROWS)))
                if listed.num_rows == 0:
                    return
                steps = read_table(http.post("/api/sql", json=sql_body(query.steps(listed), MAX_ROWS)))
                yield Batch.of(listed, steps)

    def training_batch(
        self,
        run: Run | str,
        *,
        update: int | None = None,
        where: str | None = None,
        groups: int | None = None,
        order: Order | None = None,
        seed: int | None = None,
        temperature: float | None = None,
        changes: Sequence[str] = (),
        reward_version: str | None = None,
        timeout_s: float | None = None,
    ) -> TrainingBatch:
        """Return tokens with advantages, weights and logprobs, for a trainer that makes the gradients itself.

        Of the episodes of the committed `update`; without one, of `groups` (64) that are drawn from the run: in the `order`
        "random" (by `seed`, 0; another seed draws others) or "newest", among the training episodes that `where` takes, a condition
        in SQL on the view `episodes`. `temperature` is that of the sampling, of a recorded run (1). `changes` are other values of fields of
        the recipe, such as "advantage.options.lambda=0.9", and `reward_version` names stored scores that are the rewards.

        It takes seconds, and longer where the policy has to be asked; `timeout_s` bounds each wait for the server (default: not at all).
        Raises RetraceError where no such batch can be made, with the reason.
        """
        with self._http() as http:
            answer = http.post(
                f"/api/runs/{_id_of(run)}/batches",
                json=batch_body(update, where, groups, order, seed, temperature, changes, reward_version),
                timeout=timeout_s,
            )
            return TrainingBatch.of(read_table(answer))

    def publish_policy(
        self,
        run: Run | str,
        version: int,
        *,
        parent: int | None = None,
        weights: Checkpoint | None = None,
        location: str | None = None,
        model: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        """Publish a policy that no update of a recorded run made, such as version 0, which training starts from.

        `version`: must be the next of the run; one that is there already with the same content is published once.
        `parent`: the version that it was trained from. `weights` says what was saved, `location` where it is, `model` which
        model it is. Raises RetraceError.
        """
        require_sent(self.flush(timeout_s), timeout_s)
        body = policy_body(version, parent, weights, location, model)
        path = f"/api/runs/{_id_of(run)}/policies"
        post_until_answered(self.url, self._headers, path, body, timeout_s)

    def record_update(
        self, run: Run | str, update: TrainedUpdate, *, timeout_s: float = 60.0
    ) -> RecordedUpdate:
        """Record an update that a trainer of one's own made, in a recorded run, and publish the policy that it made.

        What was recorded before is sent first. Both wait for the server for `timeout_s`, and ask again while it does not
        answer. Where it stays unknown whether the update was recorded, recording the same object again records it once.
        Raises RetraceError where it is refused, with the reason.
        """
        require_sent(self.flush(timeout_s), timeout_s)
        return record_update(self.url, self._headers, _id_of(run), update, timeout_s)

    def close(self) -> Delivery:
        """Send what waits, for `close_timeout_s` at most, and stop; the rest is sent at the next start.

        Return what became of the records: `damaged` names the episodes that are stored poorer or were broken off.
        """
        self._finalize()
        return self.delivery

    def __enter__(self) -> "Retrace":
        """Return the client."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        self.close()

    def _http(self) -> httpx.Client:
        headers = {**self._headers, "accept": ARROW_STREAM}
        return httpx.Client(base_url=self.url, headers=headers, timeout=self._timeout_s)


class AsyncRetrace(_Recorder):
    """`Retrace` for an event loop: recording is the same plain calls, which return at once; the rest is awaited."""

    async def flush(self, timeout_s: float = 30.0) -> bool:
        """Wait until Retrace has all records so far; return False if that took too long (they stay in the spool)."""
        return await asyncio.to_thread(self._sender.flush, timeout_s)

    async def sql(
        self, query: str, *, max_rows: int = MAX_ROWS, as_of: str | datetime | None = None
    ) -> pa.Table:
        """Run one SELECT and return its rows; see `Retrace.sql`."""
        async with self._http() as http:
            answer = await http.post("/api/sql", params=sql_params(as_of), json=sql_body(query, max_rows))
            return read_table(answer, max_rows)

    async def batches(
        self, run: Run | str, *, episodes: int = 64, where: str = "sealed"
    ) -> AsyncIterator[Batch]:
        """Iterate over the episodes of a run with their steps; see `Retrace.batches`."""
        query = BatchQuery(_id_of(run), episodes, where)
        async with self._http() as http:
            while True:
                listed = read_table(await http.post("/api/sql", json=sql_body(query.episodes(), MAX_ROWS)))
                if listed.num_rows == 0:
                    return
                answer = await http.post("/api/sql", json=sql_body(query.steps(listed), MAX_ROWS))
                yield Batch.of(listed, read_table(answer))

    async def training_batch(
        self,
        run: Run | str,
        *,
        update: int | None = None,
        where: str | None = None,
        groups: int | None = None,
        order: Order | None = None,
        seed: int | None = None,
        temperature: float | None = None,
        changes: Sequence[str] = (),
        reward_version: str | None = None,
        timeout_s: float | None = None,
    ) -> TrainingBatch:
        """Return tokens with advantages, weights and logprobs; see `Retrace.training_batch`."""
        async with self._http() as http:
            answer = await http.post(
                f"/api/runs/{_id_of(run)}/batches",
                json=batch_body(update, where, groups, order, seed, temperature, changes, reward_version),
                timeout=timeout_s,
            )
            return TrainingBatch.of(read_table(answer))

    async def publish_policy(
        self,
        run: Run | str,
        version: int,
        *,
        parent: int | None = None,
        weights: Checkpoint | None = None,
        location: str | None = None,
        model: str | None = None,
        timeout_s: float = 60.0,
    ) -> None:
        """Publish a policy that no update of a recorded run made; see `Retrace.publish_policy`."""
        require_sent(await self.flush(timeout_s), timeout_s)
        body = policy_body(version, parent, weights, location, model)
        path = f"/api/runs/{_id_of(run)}/policies"
        await asyncio.to_thread(post_until_answered, self.url, self._headers, path, body, timeout_s)

    async def record_update(
        self, run: Run | str, update: TrainedUpdate, *, timeout_s: float = 60.0
    ) -> RecordedUpdate:
        """Record an update that a trainer of one's own made; see `Retrace.record_update`."""
        require_sent(await self.flush(timeout_s), timeout_s)
        return await asyncio.to_thread(record_update, self.url, self._headers, _id_of(run), update, timeout_s)

    async def close(self) -> Delivery:
        """Send what waits, for `close_timeout_s` at most, and stop; see `Retrace.close`."""
        await asyncio.to_thread(self._finalize)
        return self.delivery

    async def __aenter__(self) -> "AsyncRetrace":
        """Return the client."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        await self.close()

    def _http(self) -> httpx.AsyncClient:
        headers = {**self._headers, "accept": ARROW_STREAM}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=self._timeout_s)


def _id_of(run: Run | str) -> str:
    return run.id if isinstance(run, Run) else run


def _default_spool(url: str) -> Path:
    """Return the folder of this URL, so that records for one server never go to another."""
    root = os.environ.get("RETRACE_SPOOL_DIRECTORY")
    base = (
        Path(root)
        if root
        else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "retrace" / "spool"
    )
    host = httpx.URL(url).host.replace(":", "_")
    return base / f"{host}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"
