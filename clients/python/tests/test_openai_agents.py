"""The real `openai-agents` package against a local server of OpenAI's protocol."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from faulty_server import FaultyServer

from retrace import Retrace

agents = pytest.importorskip("agents", reason="openai-agents is not installed")
from openai import AsyncOpenAI  # noqa: E402
from openai_server import OpenAIServer, Turn  # noqa: E402

from retrace.recorders.openai_agents import RetraceProcessor  # noqa: E402

MODELS = {
    "chat completions": agents.OpenAIChatCompletionsModel,
    "responses": agents.OpenAIResponsesModel,
}


@pytest.fixture(params=MODELS, ids=lambda name: name.replace(" ", "-"))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def recorded(checked_server: FaultyServer, client: Retrace) -> Iterator[RetraceProcessor]:
    processor = RetraceProcessor(client.start_run("agents"))
    agents.set_trace_processors([processor])
    yield processor
    agents.set_trace_processors([])


def model_on(openai: OpenAIServer, kind: str) -> Any:
    client = AsyncOpenAI(base_url=openai.url, api_key="any", max_retries=0)
    return MODELS[kind]("gpt-test", client)


def add_numbers(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


add = agents.function_tool(add_numbers, name_override="add")


def run_agent(agent: Any, text: str, streamed: bool, **options: Any) -> Any:
    if not streamed:
        return agents.Runner.run_sync(agent, text, **options)

    async def consume() -> Any:
        result = agents.Runner.run_streamed(agent, text, **options)
        async for _ in result.stream_events():
            pass
        return result

    return asyncio.run(consume())


def of_type(server: FaultyServer, kind: str) -> list[dict[str, Any]]:
    return [record for record in server.records if record["type"] == kind]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_agent_with_a_tool_becomes_an_episode_whose_steps_have_what_each_call_added(
    server: FaultyServer, recorded: RetraceProcessor, kind: str, streamed: bool
) -> None:
    openai = OpenAIServer([Turn(calls={"add": {"a": 2, "b": 3}}), Turn("It is 5.")])
    agent = agents.Agent(name="adder", instructions="Add.", tools=[add], model=model_on(openai, kind))
    result = run_agent(agent, "2 + 3?", streamed, run_config=agents.RunConfig(workflow_name="sums"))
    assert result.final_output == "It is 5."
    recorded.force_flush()
    call = {
        "id": "call_1_0",
        "type": "function",
        "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'},
    }
    first, second = of_type(server, "step")
    assert first["messages"]["input"] == [
        {"role": "system", "content": "Add."},
        {"role": "user", "content": "2 + 3?"},
    ]
    assert first["messages"]["output"] == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert second["messages"]["input"] == [{"role": "tool", "tool_call_id": "call_1_0", "content": "5"}]
    assert second["messages"]["output"] == {"role": "assistant", "content": "It is 5."}
    assert (first["usage"]["inputTokens"], first["usage"]["outputTokens"]) == (10, 1)
    assert (first["model"], second["step"]) == ("gpt-test", 1)
    assert first["generationMs"] > 0
    (episode,), (end,) = of_type(server, "episode"), of_type(server, "end")
    assert episode["agent"] == "sums"
    assert (end["endReason"], end["numSteps"]) == ("terminated", 2)
    # Nothing that the model was sent is missing: the deltas are the last request's conversation.
    sent = openai.requests[-1]["messages" if kind == "chat completions" else "input"]
    assert len(sent) == (4 if kind == "chat completions" else 3)
    openai.close()


def test_a_handoff_goes_on_in_the_episode_with_the_new_instructions(
    server: FaultyServer, recorded: RetraceProcessor, kind: str
) -> None:
    openai = OpenAIServer([Turn(calls={"transfer_to_poet": {}}), Turn("Roses.")])
    model = model_on(openai, kind)
    poet = agents.Agent(name="poet", instructions="Rhyme.", model=model)
    agent = agents.Agent(name="desk", instructions="Hand off.", handoffs=[poet], model=model)
    agents.Runner.run_sync(agent, "A poem")
    recorded.force_flush()
    assert len(of_type(server, "episode")) == 1
    first, second = of_type(server, "step")
    assert [message["role"] for message in first["messages"]["input"]] == ["system", "user"]
    # The new instructions are before all that was said, so the second prompt is another conversation.
    rewritten = second["messages"]["input"]
    assert [message["role"] for message in rewritten] == ["system", "user", "assistant", "tool"]
    assert (rewritten[0]["content"], second["info"]["keptMessages"]) == ("Rhyme.", 0)
    assert "keptMessages" not in first.get("info", {})


def test_an_agent_called_as_a_tool_gets_an_episode_with_its_callers_as_parent(
    server: FaultyServer, recorded: RetraceProcessor, kind: str
) -> None:
    openai = OpenAIServer([Turn(calls={"translate": {"input": "tree"}}), Turn("Baum"), Turn("It is Baum.")])
    model = model_on(openai, kind)
    translator = agents.Agent(name="translator", instructions="Translate.", model=model)
    tool = translator.as_tool("translate", "Translates a word.")
    agent = agents.Agent(name="guide", instructions="Use the tool.", tools=[tool], model=model)
    agents.Runner.run_sync(agent, "What is tree?")
    recorded.force_flush()
    guide, sub = of_type(server, "episode")
    assert (sub["agent"], sub["parentEpisode"]) == ("translator", guide["episode"])
    outputs = {
        episode["episode"]: [
            step["messages"]["output"]["content"]
            for step in of_type(server, "step")
            if step["episode"] == episode["episode"]
        ]
        for episode in (guide, sub)
    }
    assert outputs == {guide["episode"]: [None, "It is Baum."], sub["episode"]: ["Baum"]}
    assert [end["episode"] for end in of_type(server, "end")] == [sub["episode"], guide["episode"]]


def test_an_agent_that_runs_out_of_turns_ends_truncated(
    server: FaultyServer, recorded: RetraceProcessor, kind: str
) -> None:
    openai = OpenAIServer([Turn(calls={"add": {"a": 1, "b": 1}})])
    agent = agents.Agent(name="adder", tools=[add], model=model_on(openai, kind))
    with pytest.raises(agents.MaxTurnsExceeded):
        agents.Runner.run_sync(agent, "1 + 1?", max_turns=1)
    recorded.force_flush()
    (end,) = of_type(server, "end")
    assert (end["endReason"], end["detail"]) == ("truncated", "Max turns exceeded")


def test_a_call_that_fails_abandons_the_episode(
    server: FaultyServer, recorded: RetraceProcessor, kind: str
) -> None:
    client = AsyncOpenAI(base_url="http://127.0.0.1:9/v1", api_key="any", max_retries=0)
    agent = agents.Agent(name="adder", model=MODELS[kind]("gpt-test", client))
    with pytest.raises(Exception, match="Connection error"):
        agents.Runner.run_sync(agent, "1 + 1?")
    recorded.force_flush()
    (end,) = of_type(server, "end")
    assert (end["endReason"], end["numSteps"]) == ("abandoned", 1)
    (step,) = of_type(server, "step")
    assert (step["untrainable"], step["messages"]["output"]) == ("the call failed", None)
    assert step["info"]["error"]["message"]
    # A span of the Responses API that failed has no input.
    asked = [{"role": "user", "content": "1 + 1?"}]
    assert step["messages"]["input"] == (asked if kind == "chat completions" else [])


def test_tools_that_a_call_offered_are_recorded_where_they_change(
    server: FaultyServer, recorded: RetraceProcessor
) -> None:
    openai = OpenAIServer([Turn(calls={"add": {"a": 2, "b": 3}}), Turn("It is 5.")])
    agent = agents.Agent(name="adder", tools=[add], model=model_on(openai, "responses"))
    agents.Runner.run_sync(agent, "2 + 3?")
    recorded.force_flush()
    first, second = of_type(server, "step")
    (tool,) = first["info"]["toolDefinitions"]
    assert (tool["type"], tool["name"]) == ("function", "add")
    assert sorted(tool["parameters"]["properties"]) == ["a", "b"]
    assert "info" not in second
    openai.close()
