"""Starts hosts as processes of their own, as users and Retrace do."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.importorskip("websockets.asyncio.client", reason="websockets is not installed")

SOURCES = Path(__file__).parents[1] / "src"
# The packages that recording needs; hosting needs none of them.
HOST = """
    import sys, time
    for name in ("pyarrow", "numpy", "httpx"):
        sys.modules[name] = None
    from retrace import serve_environment

    class Slow:
        def reset(self, seed=None, options=None):
            return "go", {}
        def step(self, action):
            time.sleep(600)

    serve_environment(lambda: Slow(), name="slow", port=int(sys.argv[1]))
"""


def start_host(owner: int | None) -> tuple["subprocess.Popen[bytes]", str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    if owner is not None:
        environment["RETRACE_SERVER_OWNER"] = str(owner)
    code = textwrap.dedent(HOST)
    process = subprocess.Popen([sys.executable, "-c", code, str(port)], env=environment)
    url = f"http://127.0.0.1:{port}"
    while True:
        assert process.poll() is None, "the host ended before it answered"
        try:
            assert httpx.get(f"{url}/health").json() == {"status": "ok"}
            return process, url
        except httpx.TransportError:
            time.sleep(0.02)


@pytest.fixture
def owner() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def test_a_host_needs_no_package_of_the_recorder() -> None:
    host, _ = start_host(owner=None)
    host.send_signal(signal.SIGTERM)
    assert host.wait(60) == 0


def test_a_host_ends_when_its_owner_is_killed(owner: "subprocess.Popen[bytes]") -> None:
    host, _ = start_host(owner.pid)
    owner.kill()
    owner.wait()
    assert host.wait(60) == 0


def test_a_host_in_the_middle_of_a_step_ends_when_its_owner_is_killed(
    owner: "subprocess.Popen[bytes]",
) -> None:
    from websockets.sync.client import connect

    host, url = start_host(owner.pid)
    with connect(url.replace("http", "ws") + "/ws") as connection:
        reset = '{"id": 1, "type": "reset", "episode": "a", "task": {"split": "train"}, "seed": 1}'
        connection.send(reset)
        assert '"go"' in str(connection.recv())
        connection.send('{"id": 2, "type": "step", "episode": "a", "action": "wait"}')
        owner.kill()
        owner.wait()
        assert host.wait(60) == 1
