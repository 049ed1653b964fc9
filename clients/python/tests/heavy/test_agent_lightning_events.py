"""Events of the real agent-lightning 1.0: its server with its proxy, in front of a server of OpenAI's protocol."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import httpx
import pytest
from sums_dialog import PROMPTS, check_steps, import_rows, serve_sums

from retrace import Retrace

try:
    IS_INSTALLED = version("agentlightning").startswith("1.")
except PackageNotFoundError:
    IS_INSTALLED = False
pytestmark = pytest.mark.skipif(not IS_INSTALLED, reason="agent-lightning 1.0 is not installed")

WITHIN_S = 60.0


@pytest.fixture
def lightning(tmp_path: Path) -> Iterator[httpx.Client]:
    """Start its server as its documentation does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"hydra.run.dir={tmp_path}", "hydra.output_subdir=null", "default_proxy.model_name=gpt-test"]
    command = [sys.executable, "-m", "agentlightning.server", "host=127.0.0.1", f"port={port}", *options]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)
    try:
        for _ in range(int(WITHIN_S * 10)):
            try:
                client.get("/healthz").raise_for_status()
                break
            except httpx.HTTPError:
                assert server.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
        yield client
    finally:
        client.close()
        server.kill()
        server.wait()


def recorded_rollout(lightning: httpx.Client) -> list[str]:
    """Return the events of a rollout with two calls through its proxy and a reward after each."""
    openai = serve_sums()
    lightning.post("/api/models", json=[{"model": "gpt-test", "endpoint": openai.url, "version": 3}])
    lightning.post("/api/rollouts", json=[{"rollout_id": "r1", "input": {}}]).raise_for_status()
    for messages, reward in zip(PROMPTS, (0.25, 1.0), strict=True):
        answer = lightning.post(
            "/proxy/rollout/r1/attempt/0/mode/train/openai/v1/chat/completions",
            json={"model": "any", "messages": messages, "max_tokens": 8},
        )
        answer.raise_for_status()
        event = {"event_type": "reward", "data": {"value": reward, "source": "checker"}}
        lightning.post("/api/rollouts/r1/attempt/0/events", json=event).raise_for_status()
    openai.close()
    return [json.dumps(event) for event in lightning.get("/api/rollouts/r1/events").json()]


def test_its_events_become_steps_with_tokens_logprobs_versions_and_rewards(
    retrace: Retrace, lightning: httpx.Client, tmp_path: Path
) -> None:
    events = recorded_rollout(lightning)
    assert len(events) == 4
    report, steps = import_rows(retrace, events, tmp_path / "events.jsonl")
    assert (report["format"], report["numEpisodes"], report["skipped"]) == ("agent-lightning-events", 1, [])
    check_steps(steps)
    # Its proxy sets the temperature; the version is that of the model that was registered, also for tokens that it read.
    assert [(step["reward"], step["temperature"], step["max_new_tokens"]) for step in steps] == [
        (0.25, 1.0, 8),
        (1.0, 1.0, 8),
    ]
    assert [step["token_policy_versions"] for step in steps] == [[3] * 5, [3] * 2]
