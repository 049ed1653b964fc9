"""The real collector plays hosted environments; it starts and stops their servers."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

RETRACE = Path(__file__).parents[3] / "apps" / "cli" / "bin" / "retrace.mjs"
SOURCES = Path(__file__).parents[1] / "src"

LAKE = """
import sys
import gymnasium
from retrace import serve_environment

serve_environment(lambda: gymnasium.make("FrozenLake-v1"), port=int(sys.argv[1]))
"""

SUMS = """
import sys
import verifiers.v1 as vf
from retrace import serve_environment

class Data(vf.TaskData):
    answer: str

class Sum(vf.Task[Data]):
    @vf.reward
    async def exact(self, trace) -> float:
        return float(trace.last_reply.strip() == self.data.answer)

class SumTaskset(vf.Taskset[Sum, vf.TasksetConfig]):
    def load(self):
        for number in range(200):
            yield Sum(Data(prompt=f"{number % 3} + 2?", answer=str(number % 3 + 2)))

serve_environment(SumTaskset(vf.TasksetConfig()), port=int(sys.argv[1]), actions=["2", "3", "4"])
"""


def collect(directory: Path, program: str, *, episodes: int) -> dict[str, Any]:
    (directory / "host.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "host.py", "{port}"]
    server = {"protocol": "retrace", "command": command, "numServers": 2, "maxEpisodes": 8}
    server["recycleAfterEpisodes"] = 60
    (directory / "env.json").write_text(json.dumps({"name": "hosted", "server": server}))
    answer = subprocess.run(
        [
            *(
                "node",
                str(RETRACE),
                "collect",
                "--environment",
                str(directory / "env.json"),
                "--policy",
                "random",
            ),
            *("--episodes", str(episodes), "--data-dir", str(directory / "data"), "--json"),
        ],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert answer.stderr == ""
    told: dict[str, Any] = json.loads(answer.stdout)
    left = subprocess.run(["pgrep", "-f", "host.py [0-9]"], capture_output=True, text=True).stdout.split()
    directories = [os.path.realpath(f"/proc/{pid}/cwd") for pid in left if os.path.exists(f"/proc/{pid}")]
    assert str(directory) not in directories, "a server outlived its collector"
    return told


@pytest.mark.skipif(not os.environ.get("RETRACE_TEST_URL"), reason="skipped, because nothing was built")
def test_gymnasium_hosted_in_ten_lines_is_collected(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    assert collect(tmp_path, LAKE, episodes=200)["numEpisodes"] == 200


@pytest.mark.skipif(not os.environ.get("RETRACE_TEST_URL"), reason="skipped, because nothing was built")
def test_verifiers_hosted_in_ten_lines_is_collected(tmp_path: Path) -> None:
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed")
    told = collect(tmp_path, SUMS, episodes=200)
    assert told["numEpisodes"] == 200
    assert 0.2 < told["success"] < 0.5, "one answer in three is right"
