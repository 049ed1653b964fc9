import os
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from faulty_server import FaultyServer

from retrace import Retrace


@pytest.fixture(autouse=True)
def no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep transformers from asking CUDA for its streams: torch may be a CUDA build over stub libraries."""
    torch = sys.modules.get("torch")
    if torch is not None and not torch.cuda.is_available():
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    server = FaultyServer()
    yield server
    server.close()


@pytest.fixture
def checked_server(server: FaultyServer) -> Iterator[FaultyServer]:
    """A server that keeps the records; at the end a real Retrace, if there is one, must take all of them too."""
    yield server
    url = os.environ.get("RETRACE_TEST_URL")
    for request in server.requests if url else []:
        headers = {"content-type": request.headers["content-type"]}
        answer = httpx.post(f"{url}{request.path}", content=request.body, headers=headers, timeout=30)
        assert answer.is_success, f"{request.path}: {answer.text}"


@pytest.fixture
def client(server: FaultyServer, tmp_path: Path) -> Iterator[Retrace]:
    client = Retrace(server.url, spool_directory=tmp_path / "spool", close_timeout_s=0.2)
    yield client
    client.close()


@pytest.fixture
def retrace(tmp_path: Path) -> Iterator[Retrace]:
    """A client of a real Retrace, which `scripts/test-python.mjs` starts."""
    url = os.environ.get("RETRACE_TEST_URL")
    if not url:
        pytest.skip("skipped, because RETRACE_TEST_URL names no server: npm run test:python starts one")
    client = Retrace(url, spool_directory=tmp_path / "spool")
    yield client
    client.close()
