import time
import uuid

from retrace import uuid7


def test_ids_are_lower_case_uuids_of_version_7_with_their_time() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7()
    parsed = uuid.UUID(made)
    assert str(parsed) == made
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert before <= parsed.int >> 80 <= time.time_ns() // 1_000_000


def test_ids_sort_by_their_time_within_a_millisecond() -> None:
    ids = []
    for _ in range(1_000):
        ids.append(uuid7())
        until = time.time_ns() + 1_000
        while time.time_ns() < until:
            pass
    assert ids == sorted(ids)
