import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faulty_server import Answer, FaultyServer, Request, problem

from retrace import Retrace, Tokens
from retrace.sender import MAX_BATCH_BYTES


def test_one_episode_arrives_in_order_with_its_run(server: FaultyServer, client: Retrace) -> None:
    with client.start_run("agent", tags=["pilot"]) as run, run.episode(task={"goal": 3}) as episode:
        assert episode.step(observation="o", action="a", reward=1.0) == 0
        assert episode.step(action="b") == 1
        episode.reward("user", 1, step=0)
        episode.annotate(tags=["good"])
    assert client.flush()
    paths = [request.path for request in server.requests]
    assert paths[0] == "/api/runs"
    assert paths[-1] == f"/api/runs/{run.id}/end"
    assert json.loads(server.requests[0].body) == {"id": run.id, "name": "agent", "tags": ["pilot"]}
    assert server.records[0].keys() == {"type", "episode", "task", "occurredAt"}
    kinds = [record["type"] for record in server.records]
    assert kinds == ["episode", "step", "step", "reward", "annotation", "end"]
    assert server.records[1].items() >= {"observation": "o", "action": "a", "reward": 1.0, "step": 0}.items()
    assert server.records[-1].items() >= {"endReason": "terminated", "numSteps": 2}.items()
    assert {record["episode"] for record in server.records} == {episode.id}
    assert client.delivery.accepted == 8
    assert client.delivery.pending_bytes == 0


def test_an_exception_abandons_the_episode_and_fails_the_run(server: FaultyServer, client: Retrace) -> None:
    def agent() -> None:
        with client.start_run("agent") as run, run.episode() as episode:
            episode.step(action="a")
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        agent()
    assert client.flush()
    end = server.records[-1]
    assert (end["endReason"], end["detail"]) == ("abandoned", "ZeroDivisionError: division by zero")
    assert json.loads(server.requests[-1].body)["reason"] == "failed"


def test_a_server_that_asks_to_wait_is_asked_again_no_sooner(server: FaultyServer, client: Retrace) -> None:
    refusals = [problem(429, "TOO_MANY", retry_after="1"), problem(503, "LOG_DOWN", retry_after="0.3")]
    server.decide = lambda request: refusals.pop(0) if refusals else None
    client.start_run("agent")
    assert client.flush(10)
    at = [request.at for request in server.requests]
    assert len(at) == 3
    assert 1.0 <= at[1] - at[0] < 2
    assert 0.3 <= at[2] - at[1] < 1
    assert len({request.body for request in server.requests}) == 1


def test_an_agent_neither_waits_nor_fails_while_the_server_is_away(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = Retrace(f"http://127.0.0.1:{port}", spool_directory=tmp_path, close_timeout_s=0.1)
    run = client.start_run("agent")
    episode = run.episode()
    slowest = 0.0
    for number in range(2_000):
        started = time.perf_counter()
        episode.step(observation=f"observation {number}", action="x" * 900)
        slowest = max(slowest, time.perf_counter() - started)
    assert slowest < 0.25
    assert not client.flush(0.2)
    assert client.delivery.pending_bytes > 2_000 * 900
    assert "ConnectError" in client.delivery.last_problem
    server = FaultyServer(port)
    assert client.flush(20)
    assert server.steps == [(episode.id, number) for number in range(2_000)]
    client.close()
    server.close()


def test_memory_stays_small_while_records_wait(tmp_path: Path) -> None:
    client = Retrace("http://127.0.0.1:9", spool_directory=tmp_path, close_timeout_s=0.1)
    episode = client.start_run("agent").episode()
    tracemalloc.start()
    for _ in range(20_000):
        episode.step(observation="o" * 1000)
    assert client.delivery.pending_bytes > 20_000_000
    client.close()
    # The next client finds more than a batch at once, and reads the largest batch that there is.
    successor = Retrace("http://127.0.0.1:9", spool_directory=tmp_path, close_timeout_s=0.1)
    deadline = time.monotonic() + 20
    while "ConnectError" not in successor.delivery.last_problem and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "ConnectError" in successor.delivery.last_problem
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * MAX_BATCH_BYTES
    successor.close()


def test_a_full_spool_drops_records_and_says_so(tmp_path: Path) -> None:
    client = Retrace(
        "http://127.0.0.1:9", spool_directory=tmp_path, spool_max_bytes=5_000, close_timeout_s=0.1
    )
    episode = client.start_run("agent").episode()
    for _ in range(100):
        episode.step(observation="o" * 1000)
    assert client.delivery.dropped >= 95
    assert client.delivery.pending_bytes <= 5_000
    client.close()


def refusing(
    code: str, status: int, fault: Callable[[dict[str, Any]], str | None]
) -> Callable[[Request], Answer | None]:
    """Return a decision that refuses the first record of which `fault` names a field."""

    def decide(request: Request) -> Answer | None:
        for index, record in enumerate(request.records if request.path.endswith("/records") else []):
            field = fault(record)
            if field is not None:
                error = {"index": index, "field": field, "rule": "must be fine"}
                return Answer(status, {"code": code, "detail": "no", "errors": [error]})
        return None

    return decide


def test_a_refused_step_is_sent_poorer_so_that_its_episode_goes_on(
    server: FaultyServer, client: Retrace
) -> None:
    def fault(record: dict[str, Any]) -> str | None:
        return "info.x" if "info" in record else "action" if record.get("action") == "bad" else None

    server.decide = refusing("INVALID_REQUEST", 422, fault)
    run = client.start_run("agent")
    episode = run.episode()
    episode.step(action="good")
    episode.step(action="bad", info={"x": 1}, reward=2.0)
    episode.step(action="later")
    episode.end()
    assert client.flush()
    assert server.steps == [(episode.id, 0), (episode.id, 1), (episode.id, 2)]
    poorer, end = server.records[2], server.records[-1]
    assert poorer["reward"] == 2.0
    assert poorer["untrainable"] == (
        "made storable: the server refused info.x: must be fine; made storable: the server refused action: must be fine"
    )
    assert end["numSteps"] == 3
    delivery = client.close()
    assert (delivery.refused, delivery.poorer_episodes, delivery.broken_episodes) == (0, 1, 0)
    assert [(at.run, at.episode, at.outcome) for at in delivery.damaged] == [(run.id, episode.id, "poorer")]


def test_an_episode_of_which_a_step_can_not_be_stored_is_abandoned(
    server: FaultyServer, client: Retrace
) -> None:
    steps = refusing("INVALID_REQUEST", 422, lambda record: "step" if record.get("step") else None)
    ends = refusing(
        "STEP_OUT_OF_ORDER", 409, lambda record: "numSteps" if record.get("numSteps") == 3 else None
    )
    server.decide = lambda request: steps(request) or ends(request)
    run = client.start_run("agent")
    broken, whole = run.episode(), run.episode()
    for action in "abc":
        broken.step(action=action)
    broken.reward("user", 1)
    broken.end(success=True)
    whole.step(action="good")
    whole.end()
    assert client.flush()
    assert server.steps == [(broken.id, 0), (whole.id, 0)]
    kinds = [record["type"] for record in server.records]
    assert kinds == ["episode", "episode", "step", "reward", "end", "step", "end"]
    assert (
        server.records[4].items()
        >= {
            "episode": broken.id,
            "endReason": "abandoned",
            "detail": "steps are missing: must be fine",
        }.items()
    )
    assert client.delivery.refused == 2
    assert client.delivery.damaged[0].outcome == "broken off"
    lines = (client.spool_directory / "refused.ndjson").read_text().splitlines()
    refused = [json.loads(line) for line in lines]
    assert [entry["code"] for entry in refused] == ["INVALID_REQUEST"] * 2
    assert json.loads(refused[0]["record"])["step"] == 1


def test_the_end_of_an_episode_that_found_no_room_is_sent_once_there_is_some(
    server: FaultyServer, tmp_path: Path
) -> None:
    server.decide = lambda request: Answer(503, {})
    client = Retrace(server.url, spool_directory=tmp_path, spool_max_bytes=2_000, close_timeout_s=0.1)
    episode = client.start_run("agent").episode()
    episode.step(action="x" * 1_000)
    for _ in range(10):
        episode.reward("r", 1)
    episode.end()
    assert client.delivery.damaged[0].outcome == "broken off"
    server.decide = lambda request: None
    deadline = time.monotonic() + 60
    while not any(record["type"] == "end" for record in server.records) and time.monotonic() < deadline:
        client.flush(1)
    assert server.records[-1]["type"] == "end"
    client.close()


def test_after_a_conflict_the_episode_goes_on(server: FaultyServer, client: Retrace) -> None:
    def decide(request: Request) -> Answer | None:
        for index, record in enumerate(request.records if request.path.endswith("/records") else []):
            if record.get("step") == 0:
                return problem(409, "STEP_CONFLICT", index)
        return None

    server.decide = decide
    episode = client.start_run("agent").episode()
    episode.step()
    episode.step()
    assert client.flush()
    assert server.steps == [(episode.id, 1)]


@pytest.mark.parametrize("answer", [Answer(413, {}), problem(422, "UNNAMED")], ids=["too large", "no index"])
def test_a_batch_is_halved_until_the_record_at_fault_is_alone(
    server: FaultyServer, client: Retrace, answer: Answer
) -> None:
    server.decide = lambda request: answer if b'"bad"' in request.body else None
    run = client.start_run("agent")
    for number in range(20):
        run.reward("an episode", "bad" if number == 7 else f"reward {number}", 1.0)
    assert client.flush()
    assert len(server.records) == 19
    assert client.delivery.refused == 1


@pytest.mark.parametrize(
    "answer",
    [
        problem(400, "INVALID_REQUEST"),
        Answer(400, "<html>", content_type="text/html"),
        problem(404, "NOT_FOUND"),
        problem(409, "RUN_ENDED"),
        problem(422, "INVALID_REQUEST"),
    ],
    ids=["400", "a proxy's 400", "404", "409", "422"],
)
def test_a_refused_request_is_never_made_again(server: FaultyServer, client: Retrace, answer: Answer) -> None:
    server.decide = lambda request: answer if request.path.endswith("/records") else None
    client.start_run("agent").reward("an episode", "thumbs", 1.0)
    assert client.flush()
    bodies = [request.body for request in server.requests if request.path.endswith("/records")]
    assert len(bodies) == len(set(bodies)) > 0
    assert client.delivery.refused == 1


@pytest.mark.parametrize(
    "answer",
    [
        problem(401, "KEY_UNKNOWN"),
        Answer(404, "<html>", content_type="text/html"),
        Answer(502, "bad gateway"),
    ],
    ids=["wrong key", "another server's 404", "a proxy's 502"],
)
def test_records_wait_while_the_answer_is_no_refusal_of_them(
    server: FaultyServer, client: Retrace, answer: Answer
) -> None:
    server.decide = lambda request: answer
    client.start_run("agent")
    assert not client.flush(0.5)
    assert client.delivery.refused == 0
    server.decide = lambda request: None
    assert client.flush(5)


def test_bodies_are_gzipped_and_carry_the_key(server: FaultyServer, tmp_path: Path) -> None:
    with Retrace(server.url, api_key="a key", spool_directory=tmp_path) as client:
        client.start_run("agent").reward("e", "r", 1, rationale="x" * 2_000)
    request = server.requests[-1]
    assert request.headers["content-encoding"] == "gzip"
    assert int(request.headers["content-length"]) < 1_000
    assert request.headers["authorization"] == "Bearer a key"


RECORD_FOR_EVER = textwrap.dedent("""
    import sys
    from retrace import Retrace
    client = Retrace(sys.argv[1], spool_directory=sys.argv[2])
    episode = client.start_run("agent").episode(id="the-episode")
    number = 0
    while True:
        episode.step(observation="o" * 500)
        number += 1
        print(number, flush=True)
""")


def test_steps_of_a_killed_process_arrive_at_the_next_start_each_once(
    server: FaultyServer, tmp_path: Path
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", RECORD_FOR_EVER, server.url, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    written = 0
    # Killed while it sends and writes.
    while len(server.requests) < 4 or written < 500:
        written = int(child.stdout.readline())
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read().split("\n")[:-1]
    child.wait()
    written = int(rest[-1]) if rest else written
    acknowledged = server.steps
    with Retrace(server.url, spool_directory=tmp_path) as client:
        assert client.flush()
    assert server.steps[: len(acknowledged)] == acknowledged
    # Every step whose call returned, and at most the one that was being made.
    assert len(server.steps) in (written, written + 1)
    assert server.steps == [("the-episode", number) for number in range(len(server.steps))]
    assert list(tmp_path.glob("py-*")) == []


def test_a_forked_child_records_through_a_sender_of_its_own(server: FaultyServer, client: Retrace) -> None:
    run = client.start_run("agent")
    run.episode(id="of-the-parent").step()
    pid = os.fork()
    if pid == 0:
        run.episode(id="of-the-child").step()
        os._exit(0 if client.flush(10) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert client.flush()
    assert sorted(server.steps) == [("of-the-child", 0), ("of-the-parent", 0)]


def test_a_child_forked_right_after_the_first_record_sends_its_own(
    server: FaultyServer, tmp_path: Path
) -> None:
    # In an interpreter of its own, where no earlier test has imported what a first request needs.
    script = textwrap.dedent(
        """
        import os, sys
        from retrace import Retrace

        client = Retrace(sys.argv[1], spool_directory=sys.argv[2])
        run = client.start_run("agent")
        run.episode(id="of-the-parent").step()
        pid = os.fork()
        if pid == 0:
            run.episode(id="of-the-child").step()
            os._exit(0 if client.flush(10) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert client.flush(10)
        """
    )
    # Several, since the child is forked at one moment of the sender's start.
    for index in range(5):
        arguments = [sys.executable, "-c", script, server.url, str(tmp_path / str(index))]
        subprocess.run(arguments, check=True, timeout=60)
    assert sorted(server.steps) == [("of-the-child", 0)] * 5 + [("of-the-parent", 0)] * 5


def test_steps_of_many_threads_are_numbered_in_the_order_that_they_arrive(
    server: FaultyServer, client: Retrace
) -> None:
    episode = client.start_run("agent").episode()

    def record() -> None:
        for _ in range(100):
            episode.step()

    threads = [threading.Thread(target=record) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.flush()
    assert server.steps == [(episode.id, number) for number in range(800)]


def test_the_end_of_the_process_sends_what_waits(server: FaultyServer, tmp_path: Path) -> None:
    program = (
        "import sys, retrace; retrace.Retrace(sys.argv[1], spool_directory=sys.argv[2]).start_run('agent')"
    )
    subprocess.run([sys.executable, "-c", program, server.url, str(tmp_path)], check=True)
    assert [request.path for request in server.requests] == ["/api/runs"]
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_contains_itself_is_stored_as_far_as_it_can_be(
    server: FaultyServer, client: Retrace
) -> None:
    info: dict[str, object] = {"x": 1}
    info["self"] = info
    client.start_run("agent").episode().step(info=info)
    assert client.flush()
    assert server.records[-1]["info"] == {"x": 1, "self": "[left out: a value inside itself]"}
    assert client.delivery.dropped == 0
    assert client.delivery.poorer_episodes == 1


def test_half_a_character_costs_an_episode_nothing_else(server: FaultyServer, client: Retrace) -> None:
    with client.start_run("agent") as run, run.episode() as episode:
        episode.step(observation="q", action="a0")
        episode.step(observation="cut \ud83d", action="a1")
        episode.step(observation="o2", action="a2")
    assert client.flush()
    assert server.steps == [(episode.id, number) for number in range(3)]
    assert server.records[2]["observation"] == "cut \ufffd"
    assert server.records[2]["untrainable"] == "made storable: observation: half a character was replaced"


def test_a_step_says_how_many_tokens_it_keeps(server: FaultyServer, client: Retrace) -> None:
    episode = client.start_run("agent").episode()
    episode.step(tokens=Tokens(ids=[1, 2], mask=[0, 1]))
    # Without its tokens, those of the next step must not go on from the first one's.
    episode.step(tokens=Tokens(ids=[2**31], mask=[1]))
    episode.step(tokens=Tokens(ids=[4], mask=[1]))
    assert client.flush()
    kept = [record["tokens"]["keptPrefix"] for record in server.records if record["type"] == "step"]
    assert kept == [0, 0, 3]
