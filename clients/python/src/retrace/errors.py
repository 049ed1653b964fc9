"""What Retrace answers when it refuses something."""

from dataclasses import dataclass
from typing import Any

import httpx


class RetraceError(Exception):
    """A request that Retrace refused. Recording never raises it: see `Retrace.delivery`."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{detail} ({code}, HTTP {status})")
        self.status = status
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem+json answer: its code and text, and of the first record at fault its place in the batch, its field and the rule."""

    status: int
    code: str
    detail: str
    index: int | None
    field: str | None
    """Path of the field; None where no field is named, "" where the whole record is meant."""
    rule: str


def read_problem(response: httpx.Response) -> Problem | None:
    """Return the problem of an answer; None when something other than Retrace answered, such as a proxy."""
    try:
        body: Any = response.json()
    except ValueError:
        return None
    if not isinstance(body, dict) or not isinstance(body.get("code"), str):
        return None
    detail = body.get("detail") or body.get("title") or body["code"]
    errors = [error for error in body.get("errors") or [] if isinstance(error, dict)]
    index = next((error["index"] for error in errors if isinstance(error.get("index"), int)), None)
    fault = errors[0] if errors else {}
    field = fault.get("field") if isinstance(fault.get("field"), str) else None
    return Problem(
        response.status_code, body["code"], str(detail), index, field, str(fault.get("rule") or detail)
    )


def raise_for_problem(response: httpx.Response) -> None:
    """Raise RetraceError for an answer that is not a success."""
    if response.is_success:
        return
    problem = read_problem(response)
    if problem is None:
        text = f"{response.request.url} answered {response.status_code} {response.reason_phrase}"
        raise RetraceError(response.status_code, "UNEXPECTED_ANSWER", text)
    raise RetraceError(problem.status, problem.code, problem.detail)
