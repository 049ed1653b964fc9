"""The background sender: takes records from the agent at once, and brings them to Retrace when it can."""

import logging
import os
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from retrace.connection import Connection, Stopped
from retrace.damaged import DamagedEpisodes, is_broken_without
from retrace.delivery import Courier, Delivery, encode_line
from retrace.spool import Spool
from retrace.storable import json_text, storable_entry

logger = logging.getLogger("retrace")

MAX_BATCH_BYTES = 4 * 1024**2
MAX_BATCH_RECORDS = 2_000
# The first record after a pause waits this long for others, so that an agent's step costs no request of its own.
GATHERING_S = 0.05
FIRST_WARNING_INTERVAL_S = 10.0


@dataclass(frozen=True, slots=True)
class SenderOptions:
    """Where records go and how many may wait."""

    url: str
    headers: Mapping[str, str]
    spool_directory: Path
    spool_max_bytes: int
    memory_max_bytes: int
    timeout_s: float


class Sender:
    """Never raises and never waits for Retrace, except in `flush` and `close`. Safe for threads and forks."""

    def __init__(self, options: SenderOptions) -> None:
        self._options = options
        self._begin()
        if self._spool.pending_bytes > 0:
            self._start_thread()

    def put(self, run_id: str, kind: str, fields: Mapping[str, Any]) -> None:
        """Take the start of a run, a record of it, or its end. What can't be kept is counted as dropped."""
        line, reason, changes = None, "", []
        try:
            stored = storable_entry(kind, fields)
            changes = stored.changes
            reason = f"nothing of it can be stored: {'; '.join(changes)}"
            if stored.content is not None:
                line = encode_line(run_id, kind, json_text(stored.content).encode())
        except Exception as error:
            reason = f"it has no JSON form: {error}"
        if os.getpid() != self._pid:
            self._after_fork()
        with self._changed:
            if changes:
                self._note(run_id, fields, changes, broken_off=False)
            if line is not None and self._spool.append(line):
                self._put_bytes += len(line)
                self._start_thread()
                self._changed.notify_all()
                return
            if line is not None:
                reason = f"{self._spool.pending_bytes} bytes wait, and there is no room for more"
                if fields.get("type") == "end":
                    self._owed_ends.append(line)
            self._count(dropped=1)
            self._note(run_id, fields, [reason], broken_off=is_broken_without(fields.get("type")))
            self._warn(f"a record was dropped: {reason}")

    def flush(self, timeout_s: float) -> bool:
        """Wait until all records so far are acknowledged or refused; return False if that took too long."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            target = self._put_bytes
            self._hurried += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(
                    lambda: self._settled_bytes >= target, max(0.0, deadline - time.monotonic())
                )
            finally:
                self._hurried -= 1

    def close(self, timeout_s: float) -> bool:
        """Flush, stop, and leave what still waits in the spool; return False if something does."""
        if os.getpid() != self._pid:
            return True
        flushed = self.flush(timeout_s)
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        thread = self._thread
        if thread is not None and thread.is_alive():
            thread.join(max(1.0, timeout_s))
        with self._changed:
            # A request that still hangs ends with the process; its records stay in the spool.
            if thread is None or not thread.is_alive():
                self._spool.close()
        self._warn_of_damage()
        return flushed

    def _warn_of_damage(self) -> None:
        delivery = self.delivery
        if not delivery.damaged:
            return
        names = ", ".join(f"{at.episode} of run {at.run} ({at.outcome})" for at in delivery.damaged)
        counts = f"{delivery.poorer_episodes} episodes are stored poorer, and {delivery.broken_episodes} were broken off"
        logger.warning("Retrace: %s: %s", counts, names)

    @property
    def delivery(self) -> Delivery:
        """What became of the records so far."""
        with self._changed:
            return replace(
                self._delivery,
                pending_bytes=self._spool.pending_bytes,
                poorer_episodes=self._damaged.poorer,
                broken_episodes=self._damaged.broken_off,
                damaged=self._damaged.newest,
            )

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition(threading.RLock())
        self._spool = Spool(
            self._options.spool_directory,
            max_bytes=self._options.spool_max_bytes,
            memory_max_bytes=self._options.memory_max_bytes,
        )
        # Positions in everything that was ever put, for `flush`; what an earlier process left counts too.
        self._put_bytes = self._spool.pending_bytes
        self._settled_bytes = 0
        self._hurried = 0
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._delivery = Delivery()
        self._damaged = DamagedEpisodes()
        # Ends of episodes that found no room: without them, the episodes would stay open for ever.
        self._owed_ends: list[bytes] = []
        self._warned_at = -float("inf")
        self._warning_interval_s = FIRST_WARNING_INTERVAL_S

    def _after_fork(self) -> None:
        """Start again in a child process: the thread, its locks and its files belong to the parent."""
        self._spool.abandon()
        self._begin()

    def _start_thread(self) -> None:
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._run, name="retrace-sender", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        connection = Connection(
            self._options.url,
            self._options.headers,
            timeout_s=self._options.timeout_s,
            pause=self._pause,
            report=self._report,
        )
        courier = Courier(
            connection, self._options.spool_directory / "refused.ndjson", self._count, self._note
        )
        try:
            while self._wait_for_records():
                self._deliver_chunk(courier)
        except Stopped:
            pass
        finally:
            connection.close()

    def _deliver_chunk(self, courier: Courier) -> None:
        try:
            with self._changed:
                before = self._spool.pending_bytes
                chunk = self._spool.read(MAX_BATCH_BYTES, MAX_BATCH_RECORDS)
                self._settled_bytes += before - self._spool.pending_bytes  # A torn line was skipped.
            courier.deliver(chunk.lines)
            with self._changed:
                self._spool.remove(chunk)
                self._settled_bytes += chunk.size_bytes
                while self._owed_ends and self._spool.append(self._owed_ends[0]):
                    self._put_bytes += len(self._owed_ends.pop(0))
                self._changed.notify_all()
        except Stopped:
            raise
        except Exception as error:  # The agent goes on whatever happens here; the records stay.
            self._report(f"{type(error).__name__}: {error}")
            if self._pause(random.uniform(1, 5)):
                raise Stopped from error

    def _wait_for_records(self) -> bool:
        """Wait for something to send; return False when it is time to stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or self._spool.pending_bytes > 0)
            if self._spool.pending_bytes < MAX_BATCH_BYTES:
                self._changed.wait_for(lambda: self._stopping or self._hurried > 0, GATHERING_S)
            return not self._stopping

    def _pause(self, seconds: float) -> bool:
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._stopping, seconds))

    def _count(self, **added: int) -> None:
        with self._changed:
            sums = {name: getattr(self._delivery, name) + number for name, number in added.items()}
            self._delivery = replace(self._delivery, **sums)

    def _note(self, run_id: str, record: Mapping[str, Any], reasons: list[str], *, broken_off: bool) -> None:
        """Note that a record's episode is poorer, or broken off."""
        episode = record.get("episode")
        with self._changed:
            if isinstance(episode, str):
                self._damaged.note(run_id, episode, reasons, broken_off=broken_off)
        self._warn(f"episode {episode} is not stored as it was recorded: {'; '.join(reasons)}")

    def _report(self, problem: str) -> None:
        with self._changed:
            self._delivery = replace(self._delivery, last_problem=problem)
        self._warn(f"records wait in {self._options.spool_directory}: {problem}")

    def _warn(self, message: str) -> None:
        """Log a warning, at most one in an interval that doubles each time: an outage must not fill the agent's log."""
        now = time.monotonic()
        if now - self._warned_at >= self._warning_interval_s:
            self._warning_interval_s = min(2 * self._warning_interval_s, 3600)
            self._warned_at = now
            logger.warning("Retrace: %s", message)
