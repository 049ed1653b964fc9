"""Brings spooled lines to Retrace, in order; sends what it refuses poorer, and sets aside what it never takes."""

import json
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from retrace.connection import Connection
from retrace.damaged import DamagedEpisode, is_broken_without
from retrace.errors import Problem, read_problem
from retrace.poorer import poorer_record
from retrace.records import encode_json

logger = logging.getLogger("retrace")

_LINE = re.compile(rb'\{"run":"([0-9a-f-]{36})","(start|record|end)":(\{.*\})\}\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of the records so far."""

    accepted: int = 0
    """Records that Retrace has in its log."""
    duplicates: int = 0
    """Those among them that it already had."""
    refused: int = 0
    """Records that it refused; they are in `refused.ndjson` in the spool directory, with the reason."""
    dropped: int = 0
    """Records for which the spool had no room, or of which nothing can be stored."""
    pending_bytes: int = 0
    """Size of the records that wait."""
    last_problem: str = ""
    """Why the newest request that failed did so."""
    poorer_episodes: int = 0
    """Episodes of which a record is stored without a part that Retrace does not take."""
    broken_episodes: int = 0
    """Episodes of which a record is missing."""
    damaged: tuple[DamagedEpisode, ...] = ()
    """The newest of both, with the reasons."""


def encode_line(run_id: str, kind: str, body: bytes) -> bytes:
    """Return the line of the spool for the start of a run, a record of it, or its end."""
    return b'{"run":"%s","%s":%s}\n' % (run_id.encode(), kind.encode(), body)


class Courier:
    """Delivers lines over one connection; used by one thread."""

    def __init__(
        self,
        connection: Connection,
        refused_path: Path,
        count: Callable[..., None],
        note: Callable[..., None],
    ) -> None:
        """Deliver over `connection`.

        `count` takes numbers to add to the fields of `Delivery`; `note` takes the run, the record, the reasons and whether
        its episode is broken off.
        """
        self._connection = connection
        self._refused_path = refused_path
        self._count = count
        self._note = note

    def deliver(self, lines: list[bytes]) -> None:
        """Send the lines. Returns when each of them was acknowledged or set aside.

        Raises Stopped when the client closes meanwhile; some lines may have been acknowledged then.
        """
        matches = []
        for line in lines:
            match = _LINE.fullmatch(line)
            if match:
                matches.append((match[1].decode(), match[2].decode(), match[3]))
            else:
                self._set_aside(
                    "", line, Problem(0, "LINE_DAMAGED", "the line of the spool is damaged", None, None, "")
                )
        for (run_id, kind), group in groupby(matches, key=lambda match: match[:2]):
            bodies = [body for _, _, body in group]
            if kind == "record":
                self._send_records(run_id, bodies)
            else:
                for body in bodies:
                    self._send_boundary(run_id, kind, body)

    def _send_boundary(self, run_id: str, kind: str, body: bytes) -> None:
        path = "/api/runs" if kind == "start" else f"/api/runs/{run_id}/end"
        while True:
            response = self._connection.post(path, body, "application/json")
            if response.is_success:
                self._count(accepted=1)
                return
            problem = _problem_of(read_problem(response), response.status_code)
            poorer = poorer_record(_parse(body), problem, len(body))
            if poorer is None:
                self._set_aside(run_id, body, problem)
                return
            logger.warning("Retrace took less of a run's %s: %s", kind, problem.detail)
            body = encode_json(poorer)

    def _send_records(self, run_id: str, records: list[bytes]) -> None:
        while records:
            path, body = f"/api/runs/{run_id}/records", b"\n".join(records) + b"\n"
            response = self._connection.post(path, body, "application/x-ndjson")
            if response.is_success:
                answer: dict[str, Any] = response.json()
                self._count(accepted=len(records), duplicates=int(answer.get("duplicates", 0)))
                return
            problem = _problem_of(read_problem(response), response.status_code)
            index = 0 if len(records) == 1 and problem.status != 404 else problem.index
            if index is None or not 0 <= index < len(records):
                self._send_halves(run_id, records, problem)
                return
            records = self._without_fault(run_id, records, index, problem)

    def _send_halves(self, run_id: str, records: list[bytes], problem: Problem) -> None:
        """Find the records at fault by halving: the batch was too large, or the answer names none."""
        if problem.status == 404:
            for record in records:
                self._set_aside(run_id, record, problem)
            return
        middle = len(records) // 2
        self._send_records(run_id, records[:middle])
        self._send_records(run_id, records[middle:])

    def _without_fault(self, run_id: str, records: list[bytes], index: int, problem: Problem) -> list[bytes]:
        """Replace the record at fault by a poorer one, so that its episode goes on, or set it aside."""
        refused = _parse(records[index])
        poorer = poorer_record(refused, problem, len(records[index]))
        if poorer is not None:
            self._note(run_id, refused, [f"Retrace refused a record: {problem.detail}"], broken_off=False)
            return [*records[:index], encode_json(poorer), *records[index + 1 :]]
        self._set_aside(run_id, records[index], problem)
        if problem.code != _DELETED:
            return records[:index] + records[index + 1 :]
        kept = records[:index]
        for record in records[index + 1 :]:
            if _parse(record).get("episode") == refused.get("episode"):
                self._set_aside(run_id, record, problem)
            else:
                kept.append(record)
        return kept

    def _set_aside(self, run_id: str, record: bytes, problem: Problem) -> None:
        self._count(refused=1)
        logger.warning("Retrace refused a record: %s (%s)", problem.detail, problem.code)
        if problem.code == _DELETED:
            # Somebody wanted it to be gone, so no copy is kept here.
            return
        refused = _parse(record)
        if problem.code not in _ELSEWHERE:
            broken_off = is_broken_without(refused.get("type"))
            self._note(run_id, refused, [problem.detail], broken_off=broken_off)
        entry = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "run": run_id,
            "status": problem.status,
            "code": problem.code,
            "detail": problem.detail,
            "record": record.decode(errors="replace"),
        }
        try:
            with self._refused_path.open("ab") as file:
                file.write(encode_json(entry) + b"\n")
        except OSError as error:
            logger.warning("the refused record could not be kept: %s", error)


_DELETED = "EPISODE_DELETED"
"""Code of the refusal of a record whose episode was deleted."""
_ELSEWHERE = frozenset({"STEP_CONFLICT", "REWARD_CONFLICT"})
"""Codes of refusals of a record whose place another one has."""


def _problem_of(problem: Problem | None, status: int) -> Problem:
    return problem or Problem(status, "REFUSED", f"the server answered HTTP {status}", None, None, "")


def _parse(record: bytes) -> dict[str, Any]:
    try:
        parsed: Any = json.loads(record)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
