"""Against a real Retrace, which `npm run test:python` starts with its embedded store."""

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from retrace import AsyncRetrace, Messages, Retrace, RetraceError, Sampling, Tokens, Usage, uuid7

pytestmark = pytest.mark.server
WITHIN_S = 20.0


def rows_of(
    client: Retrace, query: str, *, until: Callable[[list[dict[str, Any]]], bool] = bool
) -> list[dict[str, Any]]:
    """Ask until the store has what the log has: it is written within moments."""
    deadline = time.monotonic() + WITHIN_S
    while True:
        rows: list[dict[str, Any]] = client.sql(query).to_pylist()
        if until(rows) or time.monotonic() > deadline:
            return rows
        time.sleep(0.1)


def test_what_was_recorded_is_what_sql_shows(retrace: Retrace) -> None:
    messages: Messages = {
        "input": [{"role": "user", "content": "2 + 2?"}],
        "output": {"role": "assistant", "content": "4"},
    }
    with (
        retrace.start_run("python", environment="sums", tags=["test"]) as run,
        run.episode(task={"goal": 4}, environment_seed=7, tags=["easy"], metadata={"user_id": 1}) as episode,
    ):
        episode.step(
            messages=messages,
            tokens=episode.context.append([1, 2], [3], logprobs=[-0.25]),
            sampling=Sampling(temperature=1.0),
            usage=Usage(input_tokens=2, output_tokens=1, cost_usd=0.5),
            model="tiny",
            rewards={"exact": 1.0, "style": None},
            reward=1.0,
        )
        episode.step(observation="and 3 + 3?", action="6", info={"at": [1]}, anchor="s1")
        episode.end(success=True, final_observation="right")
    assert retrace.flush()
    assert retrace.delivery.refused == 0, (retrace.spool_directory / "refused.ndjson").read_text()

    mine = f"run_id = '{run.id}'"
    (told,) = rows_of(retrace, f"SELECT * FROM episodes WHERE {mine} AND sealed")
    assert (told["episode_id"], told["environment"], told["environment_seed"]) == (episode.id, "sums", 7)
    assert (told["tags"], json.loads(told["metadata"])) == (["easy"], {"user_id": 1})
    assert (told["return"], told["success"], told["num_steps"], told["end_reason"]) == (
        1.0,
        True,
        2,
        "terminated",
    )
    assert told["final_observation"] == "right"
    first, second = rows_of(
        retrace, f"SELECT * FROM steps WHERE {mine} ORDER BY step", until=lambda rows: len(rows) == 2
    )
    assert json.loads(first["messages"]) == messages
    assert (first["token_ids"], first["action_mask"]) == ([1, 2, 3], [0, 0, 1])
    assert first["token_logprobs"][2] == -0.25
    assert (first["input_tokens"], first["cost_usd"], first["reasoning_tokens"]) == (2, 0.5, None)
    assert first["untrainable"] == ""
    assert (second["observation"], second["action"], second["reward"]) == ("and 3 + 3?", "6", None)
    assert second["untrainable"] == "no token ids"
    (ended,) = rows_of(retrace, f"SELECT kind, end_reason FROM runs WHERE {mine} AND end_reason IS NOT NULL")
    assert ended == {"kind": "recorded", "end_reason": "finished"}


def test_rewards_and_annotations_may_come_after_the_end_and_again(retrace: Retrace) -> None:
    run = retrace.start_run("python")
    with run.episode() as episode:
        episode.step(action="a")
    run.end()
    for value in (1.0, 0.25):
        retrace.reward(run.id, episode.id, "user", value, source="ann", rationale=f"it is {value}")
    retrace.reward(run, episode.id, "judge", 1.0)
    retrace.reward(run, episode.id, "judge", None)
    retrace.annotate(run, episode.id, tags=["reviewed"])
    assert retrace.flush()
    assert retrace.delivery.refused == 0
    query = f"SELECT name, value, source, rationale FROM current_rewards WHERE run_id = '{run.id}'"
    wanted = [{"name": "user", "value": 0.25, "source": "ann", "rationale": "it is 0.25"}]
    assert rows_of(retrace, query, until=lambda rows: rows == wanted) == wanted
    tags = f"SELECT tags FROM episodes WHERE episode_id = '{episode.id}'"
    assert rows_of(retrace, tags, until=lambda rows: rows == [{"tags": ["reviewed"]}]) == [
        {"tags": ["reviewed"]}
    ]


def test_records_that_are_sent_again_count_as_duplicates(retrace: Retrace, tmp_path: Path) -> None:
    run_id, episode_id = uuid7(), uuid7()
    for start in range(2):
        with Retrace(retrace.url, spool_directory=tmp_path / str(start)) as client:
            run = client.start_run("twice", id=run_id)
            episode = run.episode(id=episode_id, occurred_at=1_000_000)
            episode.step(action="a", occurred_at=2_000_000)
            episode.end(occurred_at=3_000_000)
            assert client.flush()
            assert client.delivery.refused == 0
            assert client.delivery.duplicates == (3 if start else 0)


def test_a_step_that_can_not_be_stored_is_stored_poorer_and_its_episode_goes_on(retrace: Retrace) -> None:
    run = retrace.start_run("python")
    episode = run.episode()
    episode.step(action="cut \ud83d", tokens=Tokens(ids=[1, 2], mask=[1]))
    # Only the server knows that there are not so many tokens in the context.
    episode.step(action="b", tokens=Tokens(ids=[3], mask=[1], kept_prefix=9))
    episode.step(action="c")
    episode.end(success=True)
    assert retrace.flush()
    delivery = retrace.delivery
    assert (delivery.refused, delivery.poorer_episodes, delivery.broken_episodes) == (0, 1, 0)
    assert any("tokens.keptPrefix" in reason for reason in delivery.damaged[0].reasons)
    rows = rows_of(
        retrace,
        f"SELECT action, untrainable LIKE '%made storable%' AS poorer, end_reason FROM steps "
        f"JOIN episodes USING (run_id, episode_id) WHERE run_id = '{run.id}' ORDER BY step",
    )
    assert [(row["action"], bool(row["poorer"]), row["end_reason"]) for row in rows] == [
        ("cut \ufffd", True, "terminated"),
        ("b", True, "terminated"),
        ("c", False, "terminated"),
    ]


def test_records_of_a_deleted_episode_are_left_out_and_no_copy_is_kept(retrace: Retrace) -> None:
    run = retrace.start_run("python")
    deleted, kept = run.episode(), run.episode()
    deleted.step(action="a")
    assert retrace.flush()
    rows_of(retrace, f"SELECT step FROM steps WHERE run_id = '{run.id}'")
    answer = httpx.delete(f"{retrace.url}/api/runs/{run.id}/episodes/{deleted.id}", timeout=60)
    assert answer.status_code == 200, answer.text
    deleted.step(action="never to be seen")
    kept.step(action="b")
    deleted.end()
    kept.end()
    assert retrace.flush()
    assert retrace.delivery.refused == 2
    assert not (retrace.spool_directory / "refused.ndjson").exists()
    rows = rows_of(retrace, f"SELECT episode_id FROM episodes WHERE run_id = '{run.id}' AND sealed")
    assert rows == [{"episode_id": kept.id}]


RECORD_FOR_EVER = textwrap.dedent("""
    import sys
    from retrace import Retrace
    client = Retrace(sys.argv[1], spool_directory=sys.argv[2])
    episode = client.start_run("killed", id=sys.argv[3]).episode(id=sys.argv[4])
    for number in range(1_000_000):
        episode.step(action="a" * 300)
        print(number, client.delivery.accepted, flush=True)
""")


def test_after_kill_9_each_step_is_stored_once(retrace: Retrace, tmp_path: Path) -> None:
    run_id, episode_id = uuid7(), uuid7()
    directory = tmp_path / "killed"
    arguments = [sys.executable, "-c", RECORD_FOR_EVER, retrace.url, str(directory), run_id, episode_id]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    written = accepted = 0
    while accepted < 500:
        written, accepted = map(int, child.stdout.readline().split())
    child.send_signal(signal.SIGKILL)
    whole = [line for line in child.stdout.read().split("\n")[:-1] if line]
    child.wait()
    if whole:
        written = int(whole[-1].split()[0])
    with Retrace(retrace.url, spool_directory=directory) as client:
        assert client.flush()
        assert client.delivery.refused == 0
    # Every step whose call returned, and at most the one that was being made.
    query = f"SELECT count() AS n, uniqExact(step) AS steps, max(step) AS last FROM steps WHERE run_id = '{run_id}'"
    (counted,) = rows_of(retrace, query, until=lambda rows: rows[0]["n"] > written)
    assert counted["n"] == counted["steps"] == counted["last"] + 1
    assert counted["n"] - 1 in (written, written + 1)


def test_batches_are_the_memory_of_the_answer(retrace: Retrace) -> None:
    run = retrace.start_run("python")
    for number in range(5):
        with run.episode(split="test" if number == 4 else "train") as episode:
            for step in range(number):
                episode.step(
                    tokens=episode.context.append([*range(step)], [step], logprobs=[-1.0]), reward=step
                )
    assert retrace.flush()
    sealed = f"SELECT episode_id FROM episodes WHERE run_id = '{run.id}' AND sealed"
    assert len(rows_of(retrace, sealed, until=lambda rows: len(rows) == 5)) == 5
    batches = list(retrace.batches(run, episodes=3, where="split = 'train'"))
    assert [len(batch) for batch in batches] == [3, 1]
    batch = batches[0]
    assert batch.step_offsets.tolist() == [0, 0, 1, 3]
    assert [batch.token_ids[step].tolist() for step in range(3)] == [[0], [0], [1]]
    assert batch.logprobs.values.tolist() == [-1.0] * 3
    lists = batch.steps["token_ids"].chunk(0)
    assert batch.token_ids.values.__array_interface__["data"][0] == lists.values.buffers()[1].address


def test_a_refused_query_and_a_result_with_more_rows_than_asked_for_are_errors(retrace: Retrace) -> None:
    with pytest.raises(RetraceError) as refused:
        retrace.sql("SELECT count() FROM nothing")
    assert refused.value.code == "SQL_REFUSED"
    with pytest.raises(RetraceError, match="more than 2 rows"):
        retrace.sql("SELECT arrayJoin(range(3))", max_rows=2)
    assert retrace.sql("SELECT arrayJoin(range(3)) AS n", max_rows=3)["n"].to_pylist() == [0, 1, 2]


def test_sql_reads_what_was_known_at_a_moment(retrace: Retrace) -> None:
    run = retrace.start_run("python")
    episodes = f"SELECT count() AS n FROM episodes WHERE run_id = '{run.id}'"
    with run.episode() as episode:
        episode.step(observation="a", action="b")
    assert retrace.flush()
    rows_of(retrace, episodes, until=lambda rows: rows[0]["n"] == 1)
    time.sleep(0.01)
    moment = datetime.now(UTC)
    time.sleep(0.01)
    run.episode().end()
    assert retrace.flush()
    assert rows_of(retrace, episodes, until=lambda rows: rows[0]["n"] == 2) == [{"n": 2}]
    for as_of in (moment, moment.isoformat(), moment.replace(tzinfo=None)):
        assert retrace.sql(episodes, as_of=as_of).to_pylist() == [{"n": 1}]
    with pytest.raises(RetraceError, match="asOf must be a date"):
        retrace.sql(episodes, as_of="yesterday")


def test_tables_become_frames_of_pandas_and_polars(retrace: Retrace) -> None:
    table = retrace.sql("SELECT 1 AS a, [1, 2] AS b, 'text' AS c")
    assert isinstance(table, pa.Table)
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["c"].tolist() == ["text"]
    assert polars.from_arrow(table).to_dict(as_series=False) == {"a": [1], "b": [[1, 2]], "c": ["text"]}


def test_the_client_for_event_loops_records_and_reads(retrace: Retrace, tmp_path: Path) -> None:
    async def record() -> list[int]:
        async with AsyncRetrace(retrace.url, spool_directory=tmp_path / "async") as client:
            async with client.start_run("python") as run, run.episode() as episode:
                episode.step(action="a")
            assert await client.flush()
            for _ in range(100):
                batches = [batch async for batch in client.batches(run)]
                if batches:
                    break
                await asyncio.sleep(0.1)
            table = await client.sql("SELECT 1 AS one")
            return [len(batches[0]), table["one"][0].as_py()]

    assert asyncio.run(record()) == [1, 1]
