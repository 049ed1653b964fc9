"""Makes a record poorer that Retrace has refused, so that its episode goes on."""

import re
from collections.abc import Mapping
from typing import Any

from retrace.errors import Problem
from retrace.storable import poorest, storable_record, without_field
from retrace.storable_size import RECORD_LIMITS, SizeLimits
from retrace.token_columns import LIST_COLUMNS

# Codes of refusals for what is in a record, not for its place; "REFUSED": another server than Retrace refused it.
_OF_CONTENT = frozenset({"INVALID_REQUEST", "MALFORMED_BODY", "BODY_TOO_LARGE", "REFUSED"})
_TOO_LARGE = 413
# Below this size nothing is cut further.
_SMALL_BYTES = 4096


def poorer_record(record: Mapping[str, Any], problem: Problem, size_bytes: int) -> dict[str, Any] | None:
    """Return a record that was refused for its content without the field at fault, smaller, or, when neither is possible, with
    nothing but its place in the episode. An end whose steps are not all stored becomes one that says so.

    None when no poorer record helps.
    """
    reason = f"the server refused {problem.field or 'it'}: {problem.rule}"
    if problem.code == "STEP_OUT_OF_ORDER" and record.get("type") == "end":
        return poorest(record, [f"steps are missing: {problem.rule}"])
    if problem.code not in _OF_CONTENT or not record:
        return None
    too_large = problem.status == _TOO_LARGE or (problem.code == "INVALID_REQUEST" and problem.field == "")
    half = size_bytes // 2
    if too_large and half > _SMALL_BYTES:
        smaller = storable_record(record, SizeLimits(half, min(half, RECORD_LIMITS.event_bytes))).content
        if smaller is not None:
            return smaller
    tokens = record.get("tokens") or {}
    path = re.match(r"tokens\.(\w+)", problem.field or "", re.ASCII)
    if path and path[1] in LIST_COLUMNS and path[1] in tokens:
        return {**record, "tokens": {name: v for name, v in tokens.items() if name != path[1]}}
    field = re.match(r"\w*", problem.field or "", re.ASCII)
    return without_field(record, field[0] if field else "", reason) or poorest(record, [reason])
