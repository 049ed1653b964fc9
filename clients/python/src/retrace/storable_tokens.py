"""Makes the tokens of a step storable."""

from collections.abc import Mapping
from typing import Any

from retrace.plain_values import plain
from retrace.storable_json import Changes
from retrace.token_columns import LIST_COLUMNS, REAL_COLUMNS, TOKEN_FIELDS

NO_TOKENS: dict[str, Any] = {"ids": [], "mask": [], "keptPrefix": 0}
"""In place of tokens that can't be stored: the context is empty after them, so no later step can go on from what is missing."""

_MAX_INT32 = 2**31 - 1
_MAX_TOKENS = 4_194_304
# Values are stored as float32.
_MAX_REAL = 3.4e38
# Retrace takes logprobs and entropies that a rounding error puts on the wrong side of 0.
_TOLERANCE = 0.0009


def storable_tokens(value: Any, step: Any, changes: Changes) -> dict[str, Any]:
    """Return tokens that Retrace takes: a value that is impossible becomes unknown, and so does a column of another length.

    Without usable ids and mask there are no tokens. `step` is the number of the step.
    """
    given = value if isinstance(value, Mapping) else {}
    ids, mask = _row(given.get("ids"), 0, _MAX_INT32), _row(given.get("mask"), 0, 1)
    kept, versions = plain(given.get("keptPrefix")), given.get("versions")
    if (
        ids is None
        or mask is None
        or len(mask) != len(ids)
        or len(ids) > _MAX_TOKENS
        or any(mask[t] < mask[t - 1] for t in range(1, len(mask)))
        or (kept is not None and _row([kept], 0, 0 if step == 0 else 2**53 - 1) is None)
    ):
        changes.note("tokens", "they were left out, as they are impossible")
        return NO_TOKENS
    tokens: dict[str, Any] = {"ids": ids, "mask": mask}
    if kept is not None:
        tokens["keptPrefix"] = int(kept)
    for name in REAL_COLUMNS:
        column = _column(given.get(name), mask, name, changes)
        if column is not None:
            tokens[name] = column
    if versions is not None:
        row = _row(versions, -1, _MAX_INT32)
        if row is not None and len(row) == len(ids):
            tokens["versions"] = row
        else:
            changes.note("tokens.versions", "they were left out, as they are impossible")
    for name in LIST_COLUMNS:
        if given.get(name) is None:
            continue
        row = _row(given[name], 0, _MAX_INT32)
        if row == []:
            continue
        if row is not None and _is_multiple(len(row), len(ids)):
            tokens[name] = row
        else:
            changes.note(f"tokens.{name}", "they were left out, as they are impossible")
    if any(name not in TOKEN_FIELDS for name in given):
        changes.note("tokens", "an unknown field was left out")
    return tokens


def _column(given: Any, mask: list[int], name: str, changes: Changes) -> list[float | None] | None:
    """Return a column of values of sampled tokens; the others have none."""
    column = plain(given)
    if column is None:
        return None
    if not isinstance(column, list | tuple) or len(column) != len(mask):
        changes.note(f"tokens.{name}", "they were left out, as they are impossible")
        return None
    low, high = (-_TOLERANCE, _MAX_REAL) if name == "entropies" else (-_MAX_REAL, _TOLERANCE)
    values = [plain(item) for item in column]
    fine = [
        item
        if isinstance(item, int | float)
        and not isinstance(item, bool)
        and (low <= item <= high if sampled else item == 0)
        else None
        for item, sampled in zip(values, mask, strict=True)
    ]
    if any(item is None and value is not None for item, value in zip(fine, values, strict=True)):
        changes.note(f"tokens.{name}[]", "an impossible value was left out")
    return fine


def _is_multiple(length: int, num_tokens: int) -> bool:
    """Return whether a list can have as many elements for each token."""
    return num_tokens > 0 and length <= _MAX_TOKENS and length % num_tokens == 0


def _row(given: Any, low: int, high: int) -> list[int] | None:
    """Return a list of integers from `low` to `high`; None for anything else."""
    row = plain(given)
    if not isinstance(row, list | tuple):
        return None
    if all(type(item) is int and low <= item <= high for item in row):
        return list(row)
    values = [plain(item) for item in row]
    if not all(
        isinstance(item, int | float)
        and not isinstance(item, bool)
        and low <= item <= high
        and item == int(item)
        for item in values
    ):
        return None
    return [int(item) for item in values]
