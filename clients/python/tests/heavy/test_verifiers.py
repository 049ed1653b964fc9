"""The real `verifiers` package: its own graph builder commits the turns, whose tokens and texts are given here."""

from typing import Any

import pytest
from faulty_server import FaultyServer

from retrace import Retrace
from retrace.recorders.verifiers import record_episode, record_trace

vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")
from verifiers.v1.graph import prepare_turn  # noqa: E402
from verifiers.v1.types import (  # noqa: E402
    AssistantMessage,
    Response,
    SystemMessage,
    ToolCall,
    ToolMessage,
    TurnTokens,
    Usage,
    UserMessage,
)

SYSTEM, QUESTION = SystemMessage(content="Be brief."), UserMessage(content="2 + 3?")
CALL = AssistantMessage(
    tool_calls=[ToolCall(id="c1", name="add", arguments='{"a":2}')], reasoning_content="Add."
)
RESULT = ToolMessage(tool_call_id="c1", content="5")


def new_trace() -> Any:
    data = vf.WireTaskData(idx=3, prompt="2 + 3?", answer="5")
    agent = vf.AgentInfo(config=vf.trace.WireAgentConfig(), name="solver")
    return vf.WireTrace(task=vf.TraceTask(type="Sum", data=data), agent=agent)


def commit(
    trace: Any, prompt: list[Any], message: Any, tokens: TurnTokens | None, usage: Usage | None = None
) -> int:
    turn = prepare_turn(trace, prompt)
    answer = Response(
        id="r", created=1, model="tiny", message=message, finish_reason="stop", usage=usage, tokens=tokens
    )
    node: int = turn.commit(answer)
    sampling = vf.types.Sampling(temperature=1.0, max_tokens=16)
    trace.calls.append(vf.ModelCall(node=node, model="tiny", sampling=sampling, usage=usage))
    return node


def turn_tokens(prompt: list[int], spans: list[tuple[int, int]], completion: list[int]) -> TurnTokens:
    logprobs = [-0.25] * len(completion)
    return TurnTokens(
        prompt_ids=prompt, completion_ids=completion, completion_logprobs=logprobs, message_spans=spans
    )


def steps_of(server: FaultyServer) -> list[dict[str, Any]]:
    return [record for record in server.records if record["type"] == "step"]


def test_a_trace_with_a_tool_call_becomes_steps_of_what_each_turn_added(
    checked_server: FaultyServer, client: Retrace
) -> None:
    trace = new_trace()
    first = turn_tokens([1, 2, 3, 4], [(0, 2), (2, 3)], [5, 6])
    commit(
        trace,
        [SYSTEM, QUESTION],
        CALL,
        first,
        Usage(prompt_tokens=3, completion_tokens=2, cached_input_tokens=1),
    )
    whole = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    commit(
        trace,
        [SYSTEM, QUESTION, CALL, RESULT],
        AssistantMessage(content="5"),
        turn_tokens(whole, [(0, 2), (2, 3), (4, 6), (6, 8)], [10]),
    )
    trace.rewards = {"exact": vf.Reward(score=1.0, weight=2.0), "style": None}
    trace.is_completed = trace.ok = True
    trace.stop_condition = "answered"
    run = client.start_run("verifiers")
    record_trace(run, trace)
    assert client.flush()
    one, two = steps_of(checked_server)
    assert one["tokens"]["ids"] + two["tokens"]["ids"] == trace.branches[0].token_ids
    assert one["tokens"]["mask"] + two["tokens"]["mask"] == [
        int(bit) for bit in trace.branches[0].sampled_mask
    ]
    assert (two["tokens"]["keptPrefix"], two["tokens"]["logprobs"]) == (6, [None, None, None, -0.25])
    assert [message["role"] for message in one["messages"]["input"]] == ["system", "user"]
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":2}'}}
    assert one["messages"]["output"]["tool_calls"] == [call]
    assert one["messages"]["output"]["reasoning_content"] == "Add."
    assert [message["role"] for message in two["messages"]["input"]] == ["tool"]
    assert (one["usage"]["inputTokens"], one["usage"]["cachedInputTokens"]) == (4, 1)
    assert ("reward" in one, two["reward"], two["rewards"]) == (False, 2.0, {"exact": 1.0, "style": None})
    end = checked_server.records[-1]
    assert (end["endReason"], end["detail"]) == ("terminated", "answered")


def test_a_branch_keeps_the_prefix_up_to_where_it_left(checked_server: FaultyServer, client: Retrace) -> None:
    trace = new_trace()
    commit(
        trace,
        [SYSTEM, QUESTION],
        AssistantMessage(content="4"),
        turn_tokens([1, 2, 3], [(0, 2), (2, 3)], [4]),
    )
    other = UserMessage(content="3 + 3?")
    commit(
        trace, [SYSTEM, other], AssistantMessage(content="6"), turn_tokens([1, 2, 7], [(0, 2), (2, 3)], [8])
    )
    record_trace(client.start_run("verifiers"), trace)
    assert client.flush()
    _, branch = steps_of(checked_server)
    assert (branch["tokens"]["keptPrefix"], branch["tokens"]["ids"], branch["tokens"]["mask"]) == (
        2,
        [7, 8],
        [0, 1],
    )
    assert branch["messages"]["input"] == [{"role": "user", "content": "3 + 3?"}]


def test_an_episode_of_several_agents_that_failed_is_recorded_without_inventing_tokens(
    checked_server: FaultyServer, client: Retrace
) -> None:
    trace, failed = new_trace(), new_trace()
    commit(trace, [QUESTION], AssistantMessage(content="5"), None)
    failed.errors = [vf.Error(type="ProviderError", message="no answer")]
    group = vf.GroupInfo(id="g1")
    episode = vf.WireEpisode(task=trace.task, group=group, env=vf.EnvInfo(id="sums"), traces=[trace, failed])
    record_episode(client.start_run("verifiers"), episode)
    assert client.flush()
    starts = [record for record in checked_server.records if record["type"] == "episode"]
    assert [start["groupId"] for start in starts] == ["g1", "g1"]
    (step,) = steps_of(checked_server)
    assert "tokens" not in step
    ends = [record for record in checked_server.records if record["type"] == "end"]
    assert [(end["endReason"], end.get("detail")) for end in ends] == [
        ("terminated", None),
        ("abandoned", "ProviderError: no answer"),
    ]
