import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrace.errors import Problem
from retrace.poorer import poorer_record
from retrace.storable import storable_record

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "storable-records.json").read_text())


def written(value: Any) -> Any:
    """Return a value of a vector, in which long texts, lists and nestings are written short, as the README there says."""
    if isinstance(value, list):
        return [written(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$text" in value:
        return value["$text"] * value["$times"]
    if "$list" in value:
        return [written(value["$list"]) for _ in range(value["$times"])]
    if "$number" in value:
        return float(value["$number"].replace("Infinity", "inf"))
    if "$concat" in value:
        return "".join(map(written, value["$concat"]))
    if "$nested" in value:
        inner = value.get("$inner", 1)
        for _ in range(value["$nested"]):
            inner = {"a": inner}
        return inner
    return {name: written(item) for name, item in value.items()}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_record_is_made_storable_as_all_clients_do(vector: dict[str, Any]) -> None:
    made = storable_record(written(vector["record"]))
    assert made.changes == vector["changes"]
    # Not compared by `assert`, which takes minutes to show a difference in a text of megabytes.
    is_equal = made.content == written(vector["stored"])
    assert is_equal, vector["name"]


def anything(source: random.Random, depth: int = 0) -> Any:
    """Return any value."""
    kind = source.randrange(12 if depth < 4 else 8)
    if kind >= 8:
        items = [anything(source, depth + 1) for _ in range(source.randrange(4))]
        names = [
            "role",
            "content",
            "ids",
            "mask",
            "logprobs",
            "input",
            "output",
            "__proto__",
            "\ud83d",
            "temperature",
        ]
        return items if kind < 10 else {source.choice(names): item for item in items}
    choices = [
        None,
        True,
        -1,
        10**30,
        float("nan"),
        source.random(),
        "half \ud83d",
        np.array([1.5, np.nan]),
        object(),
    ]
    return source.choice(choices)


def test_anything_makes_a_step_that_stays_equal_when_it_is_made_storable_again() -> None:
    source = random.Random(5)
    fields = [
        "observation",
        "info",
        "messages",
        "tokens",
        "usage",
        "sampling",
        "rewards",
        "occurredAt",
        "other",
    ]
    for _ in range(500):
        given = {name: anything(source) for name in fields if source.random() < 0.5}
        made = storable_record({"type": "step", "episode": "e", "step": 3, **given})
        assert made.content is not None
        assert made.content["step"] == 3
        sent = json.loads(json.dumps(made.content))
        again = storable_record(sent)
        assert dataclasses.asdict(again) == {"content": sent, "changes": []}
        assert ("untrainable" in sent) == bool(made.changes)


def test_a_step_goes_without_the_experts_where_a_server_does_not_know_them() -> None:
    tokens = {"ids": [1], "mask": [1], "logprobs": [-1.0]}
    step = {"type": "step", "episode": "e", "step": 0, "tokens": {**tokens, "routedExperts": [3]}}
    problem = Problem(400, "INVALID_REQUEST", "", 0, "tokens.routedExperts", "must be absent")
    poorer = poorer_record(step, problem, 100)
    assert poorer == {**step, "tokens": tokens}
    assert poorer is not None
    poorest = poorer_record(poorer, problem, 100)
    assert poorest is not None
    assert poorest["tokens"]["ids"] == []
