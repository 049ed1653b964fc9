"""OpenAI's Agents SDK, unmodified, with `retrace proxy` between it and a local server of OpenAI's protocol."""

import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrace import Retrace

agents = pytest.importorskip("agents", reason="openai-agents is not installed")
from openai import AsyncOpenAI  # noqa: E402
from openai_server import OpenAIServer, Turn  # noqa: E402
from test_openai_agents import MODELS, add, run_agent  # noqa: E402
from test_server import rows_of  # noqa: E402

pytestmark = pytest.mark.server

COMMAND = Path(__file__).parents[3] / "apps" / "cli" / "bin" / "retrace.mjs"


class Proxy:
    """A running `retrace proxy`."""

    def __init__(self, upstream: str, state: Path) -> None:
        url = os.environ["RETRACE_TEST_URL"]
        addresses = ["--upstream", upstream, "--retrace", url, "--port", "0"]
        self._process = subprocess.Popen(
            [
                "node",
                str(COMMAND),
                "proxy",
                *addresses,
                "--run",
                f"agents {uuid.uuid4()}",
                "--state",
                str(state),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"at (http://\S+/v1), run", line):
                self.url = found[1]
                return
        raise RuntimeError("the proxy ended before it listened")

    def stop(self) -> None:
        """End it as a user does: it sends what it has recorded first."""
        self._process.terminate()
        assert self._process.wait(timeout=30) == 0


@pytest.fixture
def openai() -> OpenAIServer:
    return OpenAIServer([Turn(calls={"add": {"a": 2, "b": 3}}), Turn("It is 5.")])


@pytest.fixture
def proxy(retrace: Retrace, openai: OpenAIServer, tmp_path: Path) -> Iterator[Proxy]:
    proxy = Proxy(openai.url, tmp_path / "proxy")
    yield proxy
    proxy.stop()


def steps_of(retrace: Retrace, name: str) -> list[dict[str, Any]]:
    query = (
        "SELECT step, observation, action, model, untrainable FROM steps JOIN episodes USING (run_id, episode_id)"
        f" WHERE external_id = '{name}' ORDER BY step"
    )
    return rows_of(retrace, query, until=lambda rows: len(rows) == 2)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_sql_shows_what_the_agent_got(
    retrace: Retrace, proxy: Proxy, openai: OpenAIServer, kind: str, streamed: bool
) -> None:
    name = f"python-{uuid.uuid4()}"
    client = AsyncOpenAI(base_url=proxy.url.replace("/v1", f"/e/{name}/v1"), api_key="any", max_retries=0)
    agents.set_tracing_disabled(True)
    agent = agents.Agent(
        name="adder", instructions="Add.", tools=[add], model=MODELS[kind]("gpt-test", client)
    )
    result = run_agent(agent, "2 + 3?", streamed)
    assert result.final_output == "It is 5."
    assert len(openai.requests) == 2
    proxy.stop()

    first, second = steps_of(retrace, name)
    assert (first["step"], second["step"]) == (0, 1)
    assert "2 + 3?" in first["observation"]
    assert "Add." in first["observation"]
    assert "add" in first["action"]
    assert '{"a": 2, "b": 3}' in first["action"]
    assert second["observation"].strip().endswith("5")
    assert second["action"] == "It is 5."
    assert {step["model"] for step in (first, second)} == {"gpt-test"}
    assert all(step["untrainable"] for step in (first, second)), "the server gives no token ids"
