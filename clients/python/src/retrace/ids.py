"""Ids that a client mints itself, so that a record that is sent twice is the same record."""

import secrets
import time
import uuid


def uuid7() -> str:
    """Make a UUID that sorts by its time of birth to within a microsecond (RFC 9562, version 7), in lower case."""
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = nanoseconds * 4096 // 1_000_000
    fields = [(milliseconds, 48), (7, 4), (fraction, 12), (0b10, 2), (secrets.randbits(62), 62)]
    value = 0
    for field, width in fields:
        value = value << width | field
    return str(uuid.UUID(int=value))


def now_microseconds() -> int:
    """Return the wall clock in microseconds since 1970."""
    return time.time_ns() // 1_000
