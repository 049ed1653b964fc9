"""A server with the ingest routes' statuses, whose answers a test chooses. What the real one does is in test_server.py."""

import gzip
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/problem+json"


@dataclass
class Request:
    path: str
    body: bytes
    headers: dict[str, str]
    at: float

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]


class FaultyServer:
    """Keeps what it accepted. `decide` may return a refusal; None accepts."""

    def __init__(
        self, port: int = 0, decide: Callable[[Request], Answer | None] = lambda request: None
    ) -> None:
        self.decide = decide
        self.requests: list[Request] = []
        self.records: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                packed = self.headers.get("content-encoding") == "gzip"
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(
                    self.path, gzip.decompress(raw) if packed else raw, headers, time.monotonic()
                )
                answer = owner.answer(request)
                body = json.dumps(answer.body).encode()
                self.send_response(answer.status)
                self.send_header("content-type", answer.content_type)
                self.send_header("content-length", str(len(body)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
        refusal = self.decide(request)
        if refusal is not None:
            return refusal
        if request.path.endswith("/records"):
            with self._lock:
                known = {json.dumps(record) for record in self.records}
                new = [record for record in request.records if json.dumps(record) not in known]
                self.records += new
            return Answer(
                200, {"accepted": len(request.records), "duplicates": len(request.records) - len(new)}
            )
        return Answer(201, {"runId": "any"})

    @property
    def steps(self) -> list[tuple[str, int]]:
        return [(record["episode"], record["step"]) for record in self.records if record["type"] == "step"]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def problem(status: int, code: str, index: int | None = None, **headers: str) -> Answer:
    errors = [] if index is None else [{"index": index, "field": "step", "value": None, "rule": "a rule"}]
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"code": code, "detail": f"a detail of {code}", "errors": errors}, named)
