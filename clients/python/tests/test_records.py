import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest

from retrace import Sampling, Tokens, Usage
from retrace.records import encode_json, to_microseconds, to_wire


def test_fields_get_their_wire_names_and_unknown_ones_are_left_out() -> None:
    fields = {
        "group_size": 4,
        "action_valid": False,
        "anchor": None,
        "tokens": Tokens(ids=[1, 2], mask=[0, 1], raw_logprobs=[None, -1.5], kept_prefix=0),
        "sampling": Sampling(temperature=1.0, max_new_tokens=16),
        "usage": Usage(input_tokens=3),
        "metadata": {"user_id": 7},
    }
    assert to_wire(fields) == {
        "groupSize": 4,
        "actionValid": False,
        "tokens": {"ids": [1, 2], "mask": [0, 1], "rawLogprobs": [None, -1.5], "keptPrefix": 0},
        "sampling": {"temperature": 1.0, "maxNewTokens": 16},
        "usage": {"inputTokens": 3},
        # The caller's own keys stay as they are.
        "metadata": {"user_id": 7},
    }


@dataclass
class Point:
    x: float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"reward": float("nan"), "deep": [float("inf"), 1.5]}, {"reward": None, "deep": [None, 1.5]}),
        (np.array([1, 2], np.int64), [1, 2]),
        (np.array([1.5, np.nan], np.float32), [1.5, None]),
        (np.float32(0.5), 0.5),
        ({1: "a"}, {"1": "a"}),
        ({(1, 2): "pair"}, {"(1, 2)": "pair"}),
        (Point(float("nan")), {"x": None}),
        ({3, 1}, ["1", "3"]),
        (datetime(2026, 11, 23, tzinfo=timezone.utc), "2026-11-23T00:00:00+00:00"),
        ("half of 😀: \ud83d", "half of 😀: \ufffd"),
        ("line one\nline two\r", "line one\nline two\r"),
    ],
)
def test_values_of_python_become_one_line_of_json(value: Any, expected: Any) -> None:
    encoded = encode_json(value)
    assert b"\n" not in encoded
    assert b"\r" not in encoded
    assert json.loads(encoded) == expected


def test_an_object_without_a_json_form_is_written_as_its_text() -> None:
    assert json.loads(encode_json({"model": object}))["model"] == "<class 'object'>"


def test_times_are_microseconds_of_utc() -> None:
    assert to_microseconds(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=timezone.utc)) == 1_000_005
    assert to_microseconds(12) == 12
    assert to_microseconds(None) is None
