"""The server: Retrace's protocol for environments over one WebSocket, with many episodes on each connection."""

import asyncio
import concurrent.futures
import http
import inspect
import json
import math
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from retrace.environments.adapt import adapt
from retrace.environments.hosted import HostedEnvironment, HostedEpisode, InvalidTaskError, Result
from retrace.environments.owner import end_with_owner
from retrace.environments.page_guard import PageGuard

PROTOCOL_VERSION = 1
MAX_MESSAGE_BYTES = 64 * 2**20


class _ProtocolError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Episode:
    """An instance and its state. One request at a time."""

    def __init__(self, hosted: HostedEpisode) -> None:
        self.hosted = hosted
        self.lock = asyncio.Lock()
        self.is_playing = False


class EnvironmentServer:
    """Answers the protocol's requests; `serve_environment` puts it on a port."""

    def __init__(self, environment: HostedEnvironment, *, max_episodes: int, time_limit_s: float) -> None:
        self.environment = environment
        self.max_episodes = max_episodes
        self.time_limit_s = time_limit_s
        self._num_episodes = 0
        self._threads = concurrent.futures.ThreadPoolExecutor(min(max_episodes, 64), "environment")

    async def connection(self, socket: Any) -> None:
        """Serve one connection until it is closed; then close its episodes."""
        episodes: dict[str, _Episode] = {}
        tasks: set[asyncio.Task[None]] = set()
        try:
            async for text in socket:
                task = asyncio.ensure_future(self._take(socket, episodes, text))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        finally:
            for task in tasks:
                task.cancel()
            for episode in list(episodes):
                await self._close(episodes, episode)

    async def _take(self, socket: Any, episodes: dict[str, _Episode], text: str | bytes) -> None:
        request: Any = None
        try:
            request = _read(text)
            answer = await self._answer(episodes, request)
        except _ProtocolError as error:
            answer = {"type": "error", "code": error.code, "message": str(error)}
        request_id = request.get("id") if isinstance(request, dict) else None
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            await socket.send(json.dumps({"id": request_id, **answer}))

    async def _answer(self, episodes: dict[str, _Episode], request: dict[str, Any]) -> dict[str, Any]:
        kind = request.get("type")
        if kind == "hello":
            return self._hello(request.get("protocol"))
        name = request.get("episode")
        if not isinstance(name, str):
            raise _ProtocolError("INVALID_MESSAGE", f"episode is {json.dumps(name)}, must be a text")
        if kind == "reset":
            return await self._reset(episodes, name, request)
        if kind == "step":
            return await self._step(episodes, name, request.get("action"))
        if kind == "close":
            await self._close(episodes, name)
            return {"type": "closed"}
        allowed = "hello, reset, step or close"
        raise _ProtocolError("INVALID_MESSAGE", f"type is {json.dumps(kind)}, must be {allowed}")

    def _hello(self, protocol: Any) -> dict[str, Any]:
        if protocol != PROTOCOL_VERSION:
            text = f"protocol is {json.dumps(protocol)}, this server speaks {PROTOCOL_VERSION}"
            raise _ProtocolError("UNSUPPORTED_PROTOCOL", text)
        hosted = self.environment
        return {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "name": hosted.name,
            "description": hosted.description,
            "maxSteps": hosted.max_steps,
            "numTasks": hosted.num_tasks,
            "families": list(hosted.families),
            "offersAnchors": hosted.offers_anchors,
            "actions": None if hosted.actions is None else list(hosted.actions),
        }

    async def _reset(
        self, episodes: dict[str, _Episode], name: str, request: dict[str, Any]
    ) -> dict[str, Any]:
        task, seed = request.get("task"), request.get("seed")
        member, options = request.get("member", 0), request.get("options") or {}
        if not isinstance(task, dict):
            raise _ProtocolError("INVALID_TASK", f"task is {json.dumps(task)}, must be an object")
        if not (isinstance(seed, int) and isinstance(member, int) and isinstance(options, dict)):
            raise _ProtocolError(
                "INVALID_MESSAGE", "seed and member must be whole numbers, options an object"
            )
        episode = episodes.get(name)
        if episode is None:
            if self._num_episodes >= self.max_episodes:
                text = f"{self._num_episodes} episodes are open, this server takes no more"
                raise _ProtocolError("CAPACITY_REACHED", text)
            self._num_episodes += 1
            episodes[name] = episode = _Episode(None)  # type: ignore[arg-type]
            try:
                episode.hosted = await self._call(self.environment.make)
            except BaseException:
                del episodes[name]
                self._num_episodes -= 1
                raise
        async with episode.lock:
            result = await self._ask(episodes, name, episode.hosted.reset, task, seed, member, options)
            episode.is_playing = True
        return {"type": "observation", "observation": result.observation()}

    async def _step(self, episodes: dict[str, _Episode], name: str, action: Any) -> dict[str, Any]:
        episode = episodes.get(name)
        if episode is None or not episode.is_playing:
            text = f"no episode {json.dumps(name)} is under way on this connection; reset it first"
            raise _ProtocolError("EPISODE_UNKNOWN", text)
        if not isinstance(action, str):
            raise _ProtocolError("INVALID_MESSAGE", f"action is {json.dumps(action)}, must be a text")
        async with episode.lock:
            result = await self._ask(episodes, name, episode.hosted.step, action)
            is_over = result.terminated or result.truncated
            episode.is_playing = not is_over
        return {"type": "result", "result": _result_fields(result, is_over)}

    async def _close(self, episodes: dict[str, _Episode], name: str) -> None:
        episode = episodes.pop(name, None)
        if episode is None:
            return
        self._num_episodes -= 1
        with suppress(Exception):
            await self._call(episode.hosted.close)

    async def _ask(
        self, episodes: dict[str, _Episode], name: str, method: Callable[..., Any], *args: Any
    ) -> Result:
        try:
            result = await asyncio.wait_for(self._call(method, *args), self.time_limit_s)
        except InvalidTaskError as error:
            raise _ProtocolError("INVALID_TASK", str(error)) from error
        except asyncio.TimeoutError as error:
            # The thread goes on; its instance is not used again.
            if episodes.pop(name, None) is not None:
                self._num_episodes -= 1
            text = f"the environment did not answer within {self.time_limit_s} s"
            raise _ProtocolError("TIMEOUT", text) from error
        except _ProtocolError:
            raise
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise _ProtocolError("ENVIRONMENT_FAILED", text) from error
        if not isinstance(result, Result):
            raise _ProtocolError("ENVIRONMENT_FAILED", f"answered {type(result).__name__}, must be a Result")
        return result

    async def _call(self, method: Callable[..., Any], *args: Any) -> Any:
        """Await a coroutine function; run any other function in a thread, so that a slow one delays no other episode."""
        if inspect.iscoroutinefunction(method):
            return await method(*args)
        return await asyncio.get_running_loop().run_in_executor(self._threads, method, *args)


async def serve_environment_async(
    environment: Any,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    max_episodes: int = 64,
    time_limit_s: float = 300.0,
    allowed_hosts: Sequence[str] = (),
    **adapter_options: Any,
) -> None:
    """Host an environment until the task is cancelled; see `serve_environment`."""
    try:
        from websockets.asyncio.server import serve
    except ImportError as error:
        raise ImportError(
            "hosting an environment needs websockets 13 or newer: pip install 'clients/python[environments]' in a checkout of Retrace"
        ) from error
    hosted = adapt(environment, **adapter_options)
    server = EnvironmentServer(hosted, max_episodes=max_episodes, time_limit_s=time_limit_s)

    guard = PageGuard(host, allowed_hosts)

    def answer_http(connection: Any, request: Any) -> Any:
        refusal = guard.refusal(request.path, request.headers.raw_items())
        if refusal is not None:
            told = {"type": "error", "code": refusal.code, "message": refusal.message}
            return connection.respond(http.HTTPStatus.FORBIDDEN, json.dumps(told) + "\n")
        if request.path == "/ws":
            return None
        if request.path == "/health":
            return connection.respond(http.HTTPStatus.OK, '{"status":"ok"}\n')
        return connection.respond(http.HTTPStatus.NOT_FOUND, "GET /health, or a WebSocket at /ws\n")

    options = {"process_request": answer_http, "max_size": MAX_MESSAGE_BYTES, "compression": None}
    async with serve(server.connection, host, port, **options):  # type: ignore[arg-type]
        print(f"serving {hosted.name} at http://{host}:{port}", flush=True)
        await asyncio.get_running_loop().create_future()


def serve_environment(environment: Any, **options: Any) -> None:
    """Host an environment for Retrace until SIGTERM or Ctrl-C, and where Retrace started it no longer than Retrace.

    `environment` is a function that makes an environment, or its class (so that episodes can be played at the same time),
    or an environment: of Gymnasium, GEM, TextArena, verifiers or reasoning-gym, anything with the methods `reset` and
    `step` of Gymnasium, or a `HostedEnvironment`. With `rows` it is a function that makes an environment of SkyRL-gym of a row.

    Binds the loopback interface on port 8000, unless `host` and `port` say otherwise; there is no authentication. Requests of web pages
    are refused, and those under a name that is not known to be of this host.

    Options: `max_episodes` (64) at a time, `time_limit_s` (300) of one reset or step, `allowed_hosts` (further names of this host, and
    origins such as "http://localhost:3000" whose pages may use the server), and of the adapters `name`, `max_steps`,
    `to_text(observation, info)`, `to_action(text)`, `success(reward, info)`.
    """

    end_with_owner()

    async def main() -> None:
        task = asyncio.current_task()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, lambda: task and task.cancel())
        await serve_environment_async(environment, **options)

    with suppress(asyncio.CancelledError):
        asyncio.run(main())


def _read(text: str | bytes) -> dict[str, Any]:
    try:
        request = json.loads(text)
    except ValueError as error:
        raise _ProtocolError("INVALID_MESSAGE", f"not JSON: {error}") from error
    if not isinstance(request, dict):
        raise _ProtocolError("INVALID_MESSAGE", "a message must be a JSON object")
    return request


def _result_fields(result: Result, is_over: bool) -> dict[str, Any]:
    reward = None if result.reward is None else float(result.reward)
    if reward is not None and not math.isfinite(reward):
        raise _ProtocolError("ENVIRONMENT_FAILED", f"the reward is {reward}, must be finite or None")
    return {
        "observation": result.observation(),
        "reward": reward,
        "rewardNames": [] if reward is None else ["environment"],
        "rewardValues": [] if reward is None else [reward],
        "terminated": result.terminated,
        "truncated": result.truncated and not result.terminated,
        "parsedAction": result.parsed_action,
        "actionValid": result.action_valid,
        "success": result.success if is_over else None,
        "info": result.info,
    }
