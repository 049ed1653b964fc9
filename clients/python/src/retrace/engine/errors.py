"""Errors that the worker answers with."""

from __future__ import annotations

from typing import Any

STATUS = {
    "UNAUTHORIZED": 401,
    "INVALID_REQUEST": 400,
    "UNSUPPORTED": 422,
    "NOT_OPEN": 409,
    "WRONG_INSTANCE": 409,
    "WRONG_CALL": 409,
    "NO_GRAPH": 409,
    "NOT_FINITE": 422,
    "FILE_DAMAGED": 422,
    "OUT_OF_MEMORY": 503,
    "RANK_LOST": 503,
    "INTERNAL": 500,
}


class EngineError(Exception):
    """An answer other than success; below status 500 nothing has changed."""

    def __init__(self, code: str, message: str, field: str | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields, since errors of other ranks come to rank 0."""
        return EngineError, (self.code, self.message, self.field)

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return STATUS[self.code]

    def body(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.field is not None:
            error["field"] = self.field
        if self.status == 503:
            error["retriable"] = True
        return {"error": error}


def invalid(field: str, value: object, rule: str) -> EngineError:
    """A value that the caller must change."""
    return EngineError("INVALID_REQUEST", f"{field} is {value!r}; it must be {rule}", field)


def unsupported(field: str, value: object, rule: str) -> EngineError:
    """A value that this engine can't honour."""
    return EngineError("UNSUPPORTED", f"{field} is {value!r}; the torch engine needs {rule}", field)
