"""How the recorder of verifiers records sampling; its traces themselves are tested in `heavy/test_verifiers.py`."""

from types import SimpleNamespace
from typing import Any

import pytest
from faulty_server import FaultyServer

from retrace import Retrace
from retrace.recorders.verifiers import record_trace

NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
LEFT = "left to the server, which takes them from its model"


class Dumped(SimpleNamespace):
    """An object with the method of Pydantic that is read here."""

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return dict(vars(self))


def trace_of(sampling: Any) -> Any:
    """A trace with one message, which the model sampled."""
    message = Dumped(role="assistant", content="5")
    node = SimpleNamespace(
        sampled=True, parent=None, token_ids=[1, 2], mask=[False, True], logprobs=[-0.5], timestamp=1.0
    )
    node.message = message
    call = SimpleNamespace(node=0, sampling=sampling, usage=None, model="m", time=SimpleNamespace(end=None))
    return SimpleNamespace(
        **{
            "id": "t",
            "task": SimpleNamespace(data=Dumped(prompt="2 + 3?")),
            "nodes": [node],
            "calls": [call],
        },
        **{"agent": SimpleNamespace(name="a", trainable=True), "rewards": {}, "errors": [], "ok": True},
        **{"is_completed": True, "is_timeout": False, "stop_condition": "answered", "reward": 0.0},
    )


@pytest.mark.parametrize(
    ("stated", "recorded", "info", "untrainable"),
    [
        (NEUTRAL, {"temperature": 1.0, "topK": 0, "topP": 1.0}, None, None),
        (
            {"temperature": 1.0, "max_tokens": 16},
            None,
            {"statedSampling": {"temperature": 1.0}},
            f"top_p, top_k, min_p, repetition_penalty {LEFT}",
        ),
        (
            {"temperature": 0.7, "top_p": 0.8, "extra_body": {"top_k": 20}},
            {"temperature": 0.7, "topK": 20, "topP": 0.8},
            None,
            f"min_p, repetition_penalty {LEFT}",
        ),
        (
            {**NEUTRAL, "repetition_penalty": 1.05},
            {"temperature": 1.0, "topK": 0, "topP": 1.0},
            None,
            "sampled with repetition_penalty",
        ),
        ({}, None, None, None),
    ],
)
def test_sampling_that_nobody_stated_is_unknown(
    server: FaultyServer,
    client: Retrace,
    stated: dict[str, Any],
    recorded: dict[str, Any] | None,
    info: dict[str, Any] | None,
    untrainable: str | None,
) -> None:
    record_trace(client.start_run("verifiers"), trace_of(Dumped(**stated)))
    assert client.flush()
    (step,) = [record for record in server.records if record["type"] == "step"]
    assert (step.get("sampling"), step.get("info"), step.get("untrainable")) == (recorded, info, untrainable)
