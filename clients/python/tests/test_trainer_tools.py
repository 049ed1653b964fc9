"""The tools that recorders of trainers record, without the trainers: those are in `heavy/`."""

from types import SimpleNamespace
from typing import Any

import pytest
from faulty_server import FaultyServer

from retrace import Retrace
from retrace.recorders.trl import GroupPlace, RecordedCompletions
from retrace.recorders.turns import split_turns
from retrace.recorders.verl import record_agent_loop_output

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "The first."},
                "b": {"type": "integer", "description": "The second."},
            },
            "required": ["a", "b"],
        },
    },
}


def add(a: int, b: int) -> None:
    """
    Add two numbers.

    Args:
        a: The first.
        b: The second.
    """


PROMPT_IDS, COMPLETION_IDS, MASK = [1, 2], [3, 50, 5], [1, 0, 1]


def infos_of(server: FaultyServer) -> list[Any]:
    return [record.get("info") for record in server.records if record["type"] == "step"]


@pytest.mark.parametrize(("tools", "info"), [([ADD], {"toolDefinitions": [ADD]}), ([], None)])
def test_the_tools_of_an_agent_loop_of_verl_are_in_the_first_step(
    checked_server: FaultyServer, client: Retrace, tools: list[Any], info: Any
) -> None:
    output = SimpleNamespace(
        prompt_ids=PROMPT_IDS,
        response_ids=COMPLETION_IDS,
        response_mask=MASK,
        response_logprobs=None,
        reward_score=1.0,
    )
    record_agent_loop_output(client.start_run("verl"), output, tools=tools)
    assert client.flush()
    assert infos_of(checked_server) == [info, None]


def record_with_trl(client: Retrace, **attributes: Any) -> None:
    trainer = RecordedCompletions()
    args = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "max_completion_length": 8}
    vars(trainer).update(
        args=SimpleNamespace(**args),
        reward_weights=SimpleNamespace(tolist=lambda: [1.0]),
        state=None,
        retrace_run=client.start_run("trl"),
        **attributes,
    )
    turns = split_turns(PROMPT_IDS, COMPLETION_IDS, MASK, None)
    prompt = [{"role": "user", "content": "2 + 3?"}]
    completion = [{"role": "assistant", "content": "5"}]
    trainer._retrace_record(GroupPlace(0, "group", 0), prompt, completion, {"right": 1.0}, turns)
    assert client.flush()


@pytest.mark.parametrize(
    ("attributes", "info"),
    [({"tools": [ADD]}, {"toolDefinitions": [ADD]}), ({"tools": None}, None), ({}, None)],
)
def test_the_tools_of_a_trainer_of_trl_are_in_the_first_step(
    checked_server: FaultyServer, client: Retrace, attributes: dict[str, Any], info: Any
) -> None:
    record_with_trl(client, **attributes)
    assert infos_of(checked_server) == [info, None]


def test_functions_are_described_as_in_the_prompt(checked_server: FaultyServer, client: Retrace) -> None:
    utils = pytest.importorskip("transformers.utils", reason="transformers is not installed")
    record_with_trl(client, tools=[add])
    # Chat templates get functions by this one.
    assert infos_of(checked_server) == [{"toolDefinitions": [utils.get_json_schema(add)]}, None]
