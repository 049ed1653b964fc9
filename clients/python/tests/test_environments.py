"""Hosts environments as their users do, and speaks the protocol with them over a real WebSocket."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest

from retrace.environments import Result, serve_environment_async
from retrace.environments.adapt import adapt

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
websockets = pytest.importorskip("websockets.asyncio.client", reason="websockets is not installed")
InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus


class Client:
    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._last_id = 0

    async def ask(self, **request: Any) -> dict[str, Any]:
        self._last_id += 1
        await self._socket.send(json.dumps({"id": self._last_id, **request}))
        answer: dict[str, Any] = json.loads(await self._socket.recv())
        assert answer.pop("id") == self._last_id
        return answer

    async def reset(self, episode: str = "a", **fields: Any) -> dict[str, Any]:
        request = {"task": {"split": "train"}, "seed": 7, "member": 0, "options": {}, **fields}
        return await self.ask(type="reset", episode=episode, **request)

    async def step(self, action: str, episode: str = "a") -> dict[str, Any]:
        return await self.ask(type="step", episode=episode, action=action)


@asynccontextmanager
async def hosted(environment: Any, **options: Any) -> AsyncIterator[tuple[Client, str]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = asyncio.ensure_future(serve_environment_async(environment, port=port, **options))
    url = f"127.0.0.1:{port}"
    try:
        while True:
            with suppress(httpx.TransportError):
                async with httpx.AsyncClient() as http:
                    assert (await http.get(f"http://{url}/health")).json() == {"status": "ok"}
                    break
            await asyncio.sleep(0.01)
        async with websockets.connect(f"ws://{url}/ws") as connection:
            yield Client(connection), url
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


def lake(**options: Any) -> Any:
    return gymnasium.make("FrozenLake-v1", **options)


def test_a_gymnasium_environment_says_hello_and_plays_as_itself() -> None:
    async def play() -> None:
        async with hosted(lambda: lake(is_slippery=False)) as (client, _):
            hello = await client.ask(type="hello", protocol=1)
            assert (hello["name"], hello["maxSteps"], hello["actions"]) == (
                "FrozenLake-v1",
                100,
                ["0", "1", "2", "3"],
            )
            first = await client.reset()
            assert first == {
                "type": "observation",
                "observation": {"text": "0", "anchor": None, "legalActions": ["0", "1", "2", "3"]},
            }
            for action in ["2", "2", "1", "1", "1", "2"]:
                result = (await client.step(action))["result"]
            assert (result["observation"]["text"], result["reward"], result["terminated"]) == (
                "15",
                1.0,
                True,
            )
            over = await client.step("2")
            assert (over["type"], over["code"]) == ("error", "EPISODE_UNKNOWN")

    asyncio.run(play())


def test_equal_seeds_and_members_give_equal_episodes_and_other_members_other_luck() -> None:
    async def play() -> None:
        async with hosted(lambda: lake(is_slippery=True)) as (client, _):

            async def trace(member: int) -> list[str]:
                await client.reset(member=member)
                texts = []
                for _ in range(20):
                    result = (await client.step("2"))["result"]
                    texts.append(result["observation"]["text"])
                    if result["terminated"]:
                        break
                return texts

            traces = [await trace(member) for member in (0, 0, 1, 1, 2, 3)]
            assert traces[0] == traces[1]
            assert traces[2] == traces[3]
            assert len({tuple(texts) for texts in traces}) > 1

    asyncio.run(play())


def test_an_action_that_is_none_costs_the_turn() -> None:
    async def play() -> None:
        async with hosted(lake) as (client, _):
            await client.reset()
            result = (await client.step("jump"))["result"]
            assert (result["actionValid"], result["parsedAction"], result["terminated"]) == (
                False,
                None,
                False,
            )
            assert result["observation"]["text"] == "0"

    asyncio.run(play())


class Countdown:
    """Counts down in words, asynchronously, from a number in the task."""

    name, description, max_steps, num_tasks = "countdown", "Counts down", 9, 50
    families, offers_anchors, actions = ("small",), True, None

    def make(self) -> "Countdown":
        return Countdown()

    async def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        self.left = task["index"]
        return Result(f"{self.left} left", None, anchor=str(self.left))

    async def step(self, action: str) -> Result:
        await asyncio.sleep(10 if action == "sleep" else 0)
        if action == "nan":
            return Result("", float("nan"))
        self.left -= 1
        return Result(
            f"{self.left} left", -1.0, terminated=self.left == 0, success=True, anchor=str(self.left)
        )

    def close(self) -> None:
        pass


def test_several_episodes_share_a_connection_and_a_slow_one_delays_no_other() -> None:
    async def play() -> None:
        async with hosted(Countdown(), time_limit_s=0.3) as (client, _):
            for episode in "ab":
                await client.reset(episode, task={"index": 2})
            slow = client._socket.send(
                json.dumps({"id": 99, "type": "step", "episode": "a", "action": "sleep"})
            )
            await slow
            quick = await client.step("go", "b")
            assert quick["result"]["observation"] == {"text": "1 left", "anchor": "1", "legalActions": None}
            late = json.loads(await client._socket.recv())
            assert (late["id"], late["code"]) == (99, "TIMEOUT")
            assert (await client.step("go", "a"))["code"] == "EPISODE_UNKNOWN"
            assert (await client.step("go", "b"))["result"]["success"] is True

    asyncio.run(play())


def test_what_breaks_the_protocol_is_refused_with_its_rule() -> None:
    async def play() -> None:
        async with hosted(Countdown(), max_episodes=1) as (client, _):
            refused: list[tuple[dict[str, Any], str]] = [
                ({"type": "hello", "protocol": 2}, "UNSUPPORTED_PROTOCOL"),
                ({"type": "dance", "episode": "a"}, "INVALID_MESSAGE"),
                ({"type": "step", "episode": "a", "action": "go"}, "EPISODE_UNKNOWN"),
                ({"type": "reset", "episode": "a", "task": None, "seed": 1}, "INVALID_TASK"),
            ]
            for request, code in refused:
                assert (await client.ask(**request))["code"] == code
            await client.reset(task={"index": 3})
            assert (await client.reset("b", task={"index": 3}))["code"] == "CAPACITY_REACHED"
            assert (await client.step("nan"))["code"] == "ENVIRONMENT_FAILED"
            assert (await client.ask(type="close", episode="a")) == {"type": "closed"}
            assert (await client.reset("b", task={"index": 3}))["type"] == "observation"

    asyncio.run(play())


def test_web_pages_and_foreign_names_are_refused_unless_they_are_allowed() -> None:
    async def play() -> None:
        allowed = ["env.example", "http://localhost:3000"]
        async with hosted(Countdown(), allowed_hosts=allowed) as (_, url), httpx.AsyncClient() as http:

            async def code_of(path: str = "/ws", **headers: str) -> str:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                answer = await http.get(f"http://{url}{path}", headers=named)
                return str(answer.json()["code"]) if answer.status_code == 403 else str(answer.status_code)

            assert await code_of(host="evil.example") == "HOST_NOT_ALLOWED"
            assert await code_of(sec_fetch_site="cross-site") == "ORIGIN_NOT_ALLOWED"
            assert await code_of("/health", sec_fetch_site="cross-site") == "ORIGIN_NOT_ALLOWED"
            assert await code_of("/health", host="probed.example") == "200"
            assert await code_of("/any", host="env.example") == "404"
            for origin, is_open in (("http://evil.example", False), ("http://localhost:3000", True)):
                headers = {"Origin": origin}
                connecting = websockets.connect(f"ws://{url}/ws", additional_headers=headers)
                if is_open:
                    await (await connecting).close()
                else:
                    with pytest.raises(InvalidStatus, match="403"):
                        await connecting

    asyncio.run(play())


def test_something_that_is_no_environment_is_refused() -> None:
    with pytest.raises(TypeError, match="int cannot be hosted"):
        adapt(7)


class Counter:
    """An environment with the methods of Gymnasium, which counts to three."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.count = 0
        return "0", {}

    def step(self, action: str) -> Any:
        self.count += 1
        return str(self.count), 1.0, self.count == 3, False, {}

    def close(self) -> None:
        pass


def test_a_class_is_a_way_to_make_instances() -> None:
    async def check() -> None:
        async with hosted(Counter, name="counter") as (client, _):
            for episode in ("a", "b"):
                answer = await client.reset(episode)
                assert answer["observation"]["text"] == "0"
            await client.step("x", "a")
            # Each episode has an instance of its own.
            assert (await client.step("x", "b"))["result"]["observation"]["text"] == "1"

    asyncio.run(check())


def test_a_class_that_needs_arguments_is_refused_with_what_to_give() -> None:
    class Sized(Counter):
        def __init__(self, size: int) -> None:
            self.size = size

    with pytest.raises(
        TypeError, match=r"the class .*Sized can't be made without arguments .*lambda: .*Sized\(…\)"
    ):
        adapt(Sized)
