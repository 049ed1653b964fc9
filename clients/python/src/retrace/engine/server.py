"""The HTTP server of rank 0. The wire: README.md of this folder."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import platform
import secrets
import signal
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from aiohttp import web

from .engine_base import ForwardOptions
from .errors import EngineError, invalid
from .options import Fields, OpenOptions, read_open
from .rank import Rank
from .wire import (
    ARROW,
    read_derivatives,
    read_sequences,
    read_step,
    read_wanted,
    write_applied,
    write_columns,
)

PROTOCOL = 4
MAX_BODY_BYTES = 2**32
MAX_COUNT_DIGITS = 9
# Calls that change the engine: they have a number, and are never made twice.
NUMBERED = {"open", "backward", "step", "discard", "load", "move-reference"}


@dataclass(frozen=True)
class Answer:
    """What is sent, and kept for a repetition of the call."""

    status: int
    content_type: str
    body: bytes

    @staticmethod
    def of(value: object, status: int = 200) -> Answer:
        """Arrow's bytes, or JSON."""
        if isinstance(value, bytes):
            return Answer(status, ARROW, value)
        return Answer(status, "application/json", json.dumps(value).encode())


@dataclass(frozen=True)
class Call:
    """A request that was read whole."""

    name: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def digest(self) -> str:
        """Tells a repetition from another call with the same number."""
        text = json.dumps([self.name, self.query]).encode()
        return hashlib.sha256(text + self.body).hexdigest()

    @property
    def is_numbered(self) -> bool:
        """Whether it is made at most once."""
        return self.name in NUMBERED or (self.name == "forward" and self.query.get("keepGraph") == "1")

    def json(self) -> Any:
        """The body of a call that has one."""
        try:
            return json.loads(self.body or b"{}")
        except ValueError as error:
            raise EngineError("INVALID_REQUEST", f"the body is not JSON: {error}") from error


class Server:
    """Answers calls one at a time, on one thread that owns the engine."""

    def __init__(self, rank: Rank, token: str, end: Callable[[int, str], None]):
        self._rank, self._token, self._end = rank, token, end
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._turn = asyncio.Lock()
        self._lost = asyncio.Event()
        self._options: OpenOptions | None = None
        self._instance: str | None = None
        self._opened_by = ""
        self._number = 0
        self._kept: tuple[str, Answer] | None = None

    def application(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_get("/v1/{name}", self._handle)
        app.router.add_post("/v1/{name}", self._handle)
        return app

    def lose(self) -> None:
        """Answer waiting calls: the group ends, and the thread may be stuck in a collective."""
        self._lost.set()

    async def close(self) -> None:
        """Let the other ranks end, if the thread is free."""
        if not self._turn.locked():
            await self._on_thread(self._rank.close_others)

    async def _handle(self, request: web.Request) -> web.Response:
        try:
            self._authorize(request)
            body = await request.read()
            headers = {key.lower(): value for key, value in request.headers.items()}
            call = Call(request.match_info["name"], dict(request.query), headers, body)
            if request.method == "GET":
                answer = await self._read(call.name)
            else:
                async with self._turn:
                    answer = await self._once(call)
        except EngineError as error:
            answer = Answer.of(error.body(), error.status)
        return web.Response(status=answer.status, body=answer.body, content_type=answer.content_type)

    def _authorize(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            raise EngineError(
                "UNAUTHORIZED", "the request needs the header Authorization: Bearer and the engine's token"
            )

    async def _read(self, name: str) -> Answer:
        if name == "engine":
            return Answer.of(self._describe())
        if name == "metrics":
            engine = self._rank.engine
            return Answer.of({} if engine is None else engine.metrics())
        raise EngineError("INVALID_REQUEST", f"no route for GET /v1/{name}")

    async def _once(self, call: Call) -> Answer:
        """Make a call, or return the kept answer of the same one."""
        if call.name not in CALLS:
            raise EngineError("INVALID_REQUEST", f"no route for POST /v1/{call.name}")
        if call.name == "close":
            self._end(0, "closed by its trainer")
            return Answer.of({})
        if call.name != "open" and (
            self._instance is None or call.headers.get("retrace-instance") != self._instance
        ):
            given = call.headers.get("retrace-instance")
            raise EngineError(
                "WRONG_INSTANCE", f"Retrace-Instance is {given}; this engine's is {self._instance}; open it"
            )
        if not call.is_numbered:
            return await self._make(call)
        number = self._number_of(call)
        if call.name == "open" and call.digest == self._opened_by and self._number > 1:
            raise EngineError(
                "WRONG_CALL", "this open was answered, and calls were made since", "Retrace-Call"
            )
        if (
            self._kept is not None
            and number == self._number
            and (call.name != "open" or call.digest == self._opened_by)
        ):
            digest, answer = self._kept
            if digest != call.digest:
                raise EngineError(
                    "WRONG_CALL", f"call {number} was another one; numbers are used once", "Retrace-Call"
                )
            return answer
        if call.name != "open" and number != self._number + 1:
            message = f"Retrace-Call is {number}; the last call was {self._number}, so it must be {self._number + 1}"
            raise EngineError("WRONG_CALL", message, "Retrace-Call")
        answer = await self._make(call)
        if call.name == "open" and answer.status != 200:
            return answer
        if call.name == "open":
            self._opened_by = call.digest
        self._number, self._kept = number, (call.digest, answer)
        return answer

    def _number_of(self, call: Call) -> int:
        text = call.headers.get("retrace-call", "")
        if not text.isdecimal() or (call.name == "open" and text != "1"):
            raise invalid("Retrace-Call", text, "1" if call.name == "open" else "a whole number")
        return int(text)

    async def _make(self, call: Call) -> Answer:
        """Make a call; an error of the call itself is an answer."""
        try:
            return Answer.of(await self._on_thread(lambda: CALLS[call.name](self, call)))
        except EngineError as error:
            return Answer.of(error.body(), error.status)

    async def _on_thread(self, make: Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._thread, lambda: self._guarded(make))
        lost = asyncio.ensure_future(self._lost.wait())
        waiting: set[asyncio.Future[Any]] = {work, lost}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise EngineError(
                "RANK_LOST", "the launcher ended the group, since a rank was lost; start it again"
            )
        lost.cancel()
        error, result = work.result()
        if error is None:
            return result
        if error.status >= 500 and self._rank.group.size > 1:
            # The other ranks may be in the middle of the call, so the group can't go on.
            self._end(1, error.message)
        raise error

    def _guarded(self, make: Callable[[], Any]) -> tuple[EngineError | None, Any]:
        try:
            return None, make()
        except EngineError as error:
            return error, None
        except Exception as error:
            traceback.print_exc()
            found = self._classified(error)
        self._rank.abandon()
        return found, None

    def _classified(self, error: Exception) -> EngineError:
        text = str(error).split("\n")[0]
        if isinstance(error, torch.OutOfMemoryError):
            advice = "lower maxTokensPerMicroBatch, or set recomputeLayers"
            return EngineError("OUT_OF_MEMORY", f"the GPU's memory is full ({text}); {advice}")
        is_lost = isinstance(error, dist.DistError) or "gloo" in text or "Connection" in text
        if self._rank.group.size > 1 and is_lost:
            return EngineError(
                "RANK_LOST", f"another rank of the engine is gone ({text}); start the group again"
            )
        return EngineError("INTERNAL", f"{type(error).__name__}: {text}")

    # Calls, on the engine's thread

    def open(self, call: Call) -> Any:
        """Make a new instance, which replaces the former."""
        options = read_open(call.json())
        self._rank.call("check", options=options)
        self._instance, self._kept, self._number = None, None, 0
        trained = self._rank.call("open", options=options)
        self._options = options
        self._instance = secrets.token_hex(16)
        assert self._rank.engine is not None
        tolerance = self._rank.engine.ratio_tolerance
        return {"instance": self._instance, "trainedParameters": trained, "ratioTolerance": tolerance}

    def forward(self, call: Call) -> Any:
        """Evaluate tokens, and keep the graph if asked to."""
        options = read_forward(call.query)
        sequences, wanted, chosen = read_wanted(call.body, options.num_chosen)
        columns = self._rank.call(
            "forward", sequences=sequences, wanted=wanted, chosen=chosen, options=options
        )
        if not wanted.any():
            columns = dict.fromkeys(self._column_names(options), np.empty(0, np.float32))
            width = options.num_chosen or options.top_k
            columns["topLogprob"] = np.empty((0, width), np.float32)
            columns["topId"] = np.empty((0, width), np.int32)
        return write_columns({name: columns[name] for name in self._column_names(options)})

    def _column_names(self, options: ForwardOptions) -> list[str]:
        assert self._options is not None
        has_values = self._options.shape.value_head and options.weights == "current"
        names = ["logprob", "entropy", *(["value"] if has_values else [])]
        if options.squares:
            names.append("squaredProbabilities")
        if options.top_k:
            names.append("topId")
        return [*names, "topLogprob"] if options.top_k or options.num_chosen else names

    def ends(self, call: Call) -> Any:
        """Evaluate the states after the last tokens."""
        sequences = read_sequences(call.body)
        return write_columns({"value": self._rank.call("ends", sequences=sequences)})

    def backward(self, call: Call) -> Any:
        """Add to the gradients."""
        name = call.query.get("graph", "")
        self._rank.call("backward", name=name, derivatives=read_derivatives(call.body))
        return {}

    def step(self, call: Call) -> Any:
        """Make an optimizer step."""
        return write_applied(self._rank.call("step", options=read_step(call.json())))

    def discard(self, call: Call) -> Any:
        """Drop graph and gradients."""
        self._rank.call("discard")
        return {}

    def save(self, call: Call) -> Any:
        """Write a file, or the shards of one; `sync` makes them durable."""
        fields = Fields(call.json(), "save")
        directory = fields.text("directory", None)
        what = fields.take("what", lambda v: v in ("weights", "optimizer"), "'weights' or 'optimizer'")
        is_texts = lambda v: isinstance(v, dict) and all(isinstance(text, str) for text in v.values())  # noqa: E731
        metadata = fields.take("metadata", is_texts, "an object of strings", {})
        sharded = fields.flag("sharded", False)
        fields.finish()
        return self._rank.call("save", directory=directory, what=what, metadata=metadata, sharded=sharded)

    def sync(self, _: Call) -> Any:
        """Wait until what was saved is durable."""
        self._rank.call("sync")
        return {}

    def load(self, call: Call) -> Any:
        """Return to files."""
        fields = Fields(call.json(), "load")
        weights, optimizer = fields.text("weights"), fields.text("optimizer", None)
        fields.finish()
        self._rank.call("load", weights=weights, optimizer=optimizer)
        return {}

    def reference(self, call: Call) -> Any:
        """Set the fixed reference."""
        fields = Fields(call.json(), "reference")
        path = fields.text("weights", None)
        fields.finish()
        self._rank.call("reference", path=path)
        return {}

    def move_reference(self, call: Call) -> Any:
        """Move the moving reference."""
        fields = Fields(call.json(), "move-reference")
        decay = fields.number("decay", lambda v: 0 <= v <= 1, "in [0, 1]")
        fields.finish()
        self._rank.call("move_reference", decay=decay)
        return {}

    def _describe(self) -> dict[str, Any]:
        group, engine = self._rank.group, self._rank.engine
        on_gpu = group.device.type == "cuda"
        found = {
            "protocol": PROTOCOL,
            "versions": {
                "python": platform.python_version(),
                "torch": torch.__version__,
                "retrace": retrace_version(),
            },
            "device": f"cuda:{torch.cuda.get_device_name(group.device)}" if on_gpu else "cpu",
            "worldSize": group.size,
            "backend": "native" if engine is None else engine.backend,
            "instance": self._instance,
        }
        if on_gpu:
            found["memoryBytes"] = torch.cuda.get_device_properties(group.device).total_memory
        return found


CALLS: dict[str, Callable[[Server, Call], Any]] = {
    "open": Server.open,
    "forward": Server.forward,
    "ends": Server.ends,
    "backward": Server.backward,
    "step": Server.step,
    "discard": Server.discard,
    "save": Server.save,
    "sync": Server.sync,
    "load": Server.load,
    "reference": Server.reference,
    "move-reference": Server.move_reference,
    "close": lambda _server, _call: {},
}


def read_forward(query: dict[str, str]) -> ForwardOptions:
    """Check the query of `forward`."""
    text = query.get("temperature", "1")
    try:
        temperature = float(text)
    except ValueError:
        temperature = float("nan")
    if not 0 < temperature < float("inf"):
        raise invalid("temperature", text, "a positive number")
    for flag in ("keepGraph", "squaredProbabilities"):
        if query.get(flag, "0") not in ("0", "1"):
            raise invalid(flag, query[flag], "0 or 1")
    weights = query.get("weights", "current")
    if weights not in ("current", "reference", "moving"):
        raise invalid("weights", weights, "current, reference or moving")
    keeps = query.get("keepGraph") == "1"
    if keeps and weights != "current":
        raise invalid("weights", weights, "current with keepGraph=1")
    if keeps and not query.get("graph"):
        raise invalid("graph", query.get("graph"), "the name of the graph with keepGraph=1")
    squares = query.get("squaredProbabilities") == "1"
    num_chosen, top_k = read_count(query, "topIds"), read_count(query, "topK")
    if top_k and (keeps or num_chosen):
        raise invalid("topK", top_k, "0 with keepGraph=1, and with topIds")
    graph = query["graph"] if keeps else None
    return ForwardOptions(temperature, squares, weights, graph, num_chosen, top_k)


def read_count(query: dict[str, str], name: str) -> int:
    """Check a whole number of a query, which is 0 where it is absent."""
    text = query.get(name, "0")
    if not text.isdecimal() or len(text) > MAX_COUNT_DIGITS:
        raise invalid(name, text, "a whole number")
    return int(text)


def retrace_version() -> str | None:
    """The version of the installed package; None where only its sources are on the path."""
    try:
        return version("retrace")
    except PackageNotFoundError:
        return None


async def serve(
    rank: Rank, host: str, port: int, token: str, watch: Callable[[Callable[[str], None]], None]
) -> int:
    """Serve until the trainer closes the engine, the launcher ends it or `watch` calls back; returns the exit code."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[int, str]] = loop.create_future()

    def end(code: int, reason: str) -> None:
        if not ended.done():
            ended.set_result((code, reason))

    server = Server(rank, token, end)
    runner = web.AppRunner(server.application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    bound = runner.addresses[0]
    print(json.dumps({"event": "ready", "url": f"http://{host}:{bound[1]}"}), flush=True)

    def end_soon(reason: str) -> None:
        loop.call_soon_threadsafe(end, 0, reason)

    def end_now() -> None:
        server.lose()
        end(128 + signal.SIGTERM, "ended by a signal")

    watch(end_soon)
    # In a thread of a Ray worker, Ray handles the signals.
    if threading.current_thread() is threading.main_thread():
        loop.add_signal_handler(signal.SIGTERM, end_now)
    code, reason = await ended
    print(f"engine: {reason}", file=sys.stderr, flush=True)
    await _soon(server.close() if code == 0 else asyncio.sleep(0))
    # Answers that are being sent arrive.
    await _soon(runner.cleanup())
    return code


async def _soon(work: Awaitable[None]) -> None:
    try:
        await asyncio.wait_for(work, 5)
    except asyncio.TimeoutError:
        print("engine: it did not end in time", file=sys.stderr, flush=True)
