"""Makes records small enough."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from retrace.storable_json import Changes
from retrace.token_columns import LIST_COLUMNS, REAL_COLUMNS

_KIBIBYTE = 1024
_MEBIBYTE = _KIBIBYTE**2
# Room for the envelope of a record, as an event or in a request.
_MARGIN_BYTES = 64 * _KIBIBYTE
_LONGEST_TEXT_BYTES = 4 * _MEBIBYTE
_SHORTEST_CUT_BYTES = _KIBIBYTE
# An event has at most so many bytes for each byte of JSON: a token `0,` is stored with its mask, logprob and version.
_MAX_GROWTH = 4


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """Most that a record may take."""

    json_bytes: int
    """As JSON in a request."""
    event_bytes: int
    """As an event of the log."""


RECORD_LIMITS = SizeLimits(16 * _MEBIBYTE - _MARGIN_BYTES, 8 * _MEBIBYTE - _MARGIN_BYTES)
"""Retrace takes bodies of 16 MiB with records, and writes events of 8 MiB."""
REQUEST_LIMITS = SizeLimits(_MEBIBYTE - _MARGIN_BYTES, _MEBIBYTE - _MARGIN_BYTES)
"""Retrace takes bodies of 1 MiB at its other routes."""


def cut_text(text: str, max_bytes: int) -> str:
    """Cut the middle out of a text, so that at most `max_bytes` of UTF-8 are left, in which it says how long it was."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    note = f"[… {len(data)} bytes, cut …]"
    half = max(0, (max_bytes - len(note.encode())) // 2)
    # What is left of a character at the cut is ignored.
    head, tail = data[:half].decode(errors="ignore"), data[len(data) - half :].decode(errors="ignore")
    return f"{head}{note}{tail}"


def fit_size(
    record: Mapping[str, Any],
    limits: SizeLimits,
    changes: Changes,
    *,
    kept: frozenset[str],
    without: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a record that is small enough.

    Where its numbers and the beginnings of its texts are too much, the largest fields are left out; then its texts are cut to
    4 MiB, or half of that and so on. Fields in `kept` are never left out; `without` has the value of some that are.
    """
    rest = dict(record)
    if _fits(rest, limits):
        return rest
    least = _cut_fields(rest, _SHORTEST_CUT_BYTES)
    while not _fits(least, limits):
        names = [name for name in least if name not in kept and least[name] is not without.get(name, least)]
        if not names:
            return least
        largest = max(names, key=lambda name: _most_bytes(least[name]))
        # These columns go before all tokens do.
        column = next(
            (name for name in LIST_COLUMNS if largest == "tokens" and name in least["tokens"]), None
        )
        changes.note(f"tokens.{column}" if column else largest, "it was left out, as it is too large")
        for fields in (rest, least):
            if column:
                fields["tokens"] = {name: v for name, v in fields["tokens"].items() if name != column}
                continue
            del fields[largest]
            if largest in without:
                fields[largest] = without[largest]
    if _fits(rest, limits):
        return rest
    max_bytes = _LONGEST_TEXT_BYTES
    sizes = list(_text_sizes(rest))
    fixed = _record_bytes(rest) - sum(sizes)
    while fixed + sum(min(size, max_bytes) for size in sizes) > limits.event_bytes:
        max_bytes //= 2
    cut = _cut_fields(rest, max_bytes)
    while not _fits(cut, limits):
        max_bytes //= 2
        cut = _cut_fields(rest, max_bytes)
    for name in rest:
        if cut[name] is not rest[name]:
            changes.note(name, "it was cut")
    return cut


def _fits(record: Mapping[str, Any], limits: SizeLimits) -> bool:
    if _most_bytes(record) <= min(limits.json_bytes, limits.event_bytes):
        return True
    json_bytes = len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())
    if json_bytes > limits.json_bytes:
        return False
    return json_bytes * _MAX_GROWTH <= limits.event_bytes or _record_bytes(record) <= limits.event_bytes


def _most_bytes(value: Any) -> int:
    """Return more bytes than a value can take, found without looking into its texts: an escaped character takes six."""
    if isinstance(value, str):
        return 6 * len(value) + 5
    if isinstance(value, dict):
        return 5 + sum(6 * len(name) + 5 + _most_bytes(item) for name, item in value.items())
    if isinstance(value, list):
        return 5 + sum(_most_bytes(item) for item in value)
    return 25


def _record_bytes(record: Mapping[str, Any]) -> int:
    """Return the most bytes of a record as an event."""
    fields = {name: value for name, value in record.items() if name != "tokens"}
    return _value_bytes(fields) + _token_bytes(record.get("tokens") or {})


def _token_bytes(tokens: Mapping[str, Any]) -> int:
    """Return the most bytes of packed token columns. Those that a record lacks are stored too, as unknown."""
    columns = 3 + sum(name in tokens for name in REAL_COLUMNS if name != "logprobs")
    lists = sum(_integer_bytes(tokens.get(name, [])) for name in LIST_COLUMNS)
    return len(tokens.get("ids", [])) * (4 * columns + 1) + lists


def _integer_bytes(values: list[int]) -> int:
    """Return the bytes of packed integers: all take as many as the largest."""
    largest = max(values, default=0)
    return len(values) * (1 if largest < 2**8 else 2 if largest < 2**16 else 4)


def _value_bytes(value: Any) -> int:
    """Return the most bytes of a value in MessagePack."""
    if isinstance(value, str):
        return len(value.encode()) + 5
    if isinstance(value, dict):
        return 5 + sum(len(name.encode()) + 5 + _value_bytes(item) for name, item in value.items())
    if isinstance(value, list):
        return 5 + sum(map(_value_bytes, value))
    return 9


def _text_sizes(value: Any) -> Iterator[int]:
    if isinstance(value, str):
        yield len(value.encode())
    elif isinstance(value, dict):
        for item in value.values():
            yield from _text_sizes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _text_sizes(item)


def _cut_fields(record: Mapping[str, Any], max_bytes: int) -> dict[str, Any]:
    return {name: _cut_texts(value, max_bytes) for name, value in record.items()}


def _cut_texts(value: Any, max_bytes: int) -> Any:
    """Return the same with each text, and each name, of at most so many bytes; the same object where nothing is cut."""
    if isinstance(value, str):
        return value if len(value) * 4 <= max_bytes else cut_text(value, max_bytes)
    if isinstance(value, list):
        items = [_cut_texts(item, max_bytes) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        cut = {_cut_texts(name, max_bytes): _cut_texts(item, max_bytes) for name, item in value.items()}
        is_same = len(cut) == len(value) and all(name in cut and cut[name] is value[name] for name in value)
        return value if is_same else cut
    return value
