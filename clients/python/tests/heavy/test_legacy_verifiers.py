"""verifiers before its rewrite, hosted: its own rollout, stop conditions and rewards around the agent that Retrace plays."""

import asyncio
from typing import Any

import pytest

from retrace.environments.adapt import adapt

vf = pytest.importorskip("verifiers", reason="verifiers is not installed")
if not hasattr(vf, "MultiTurnEnv"):
    pytest.skip("verifiers is not one with env_response", allow_module_level=True)


class GuessEnv(vf.MultiTurnEnv):  # type: ignore[name-defined]
    """Guess a number."""

    async def env_response(self, messages: Any, state: Any, **_kwargs: Any) -> Any:
        guess, number = int(messages[-1].content), int(state["answer"])
        if guess == number:
            state["final_env_response"] = [{"role": "user", "content": "Right."}]
            return state["final_env_response"]
        return [{"role": "user", "content": "Too low." if guess < number else "Too high."}]


async def found(completion: Any, answer: str, **_kwargs: Any) -> float:
    said = [message for message in completion if message.role == "assistant"]
    return float(said[-1].content == answer) / len(said)


def make_env(max_turns: int = 3) -> Any:
    from datasets import Dataset

    rows = [{"question": f"A number below 10, please ({n}).", "answer": str(n)} for n in range(10)]
    rubric = vf.Rubric(funcs=[found])
    return GuessEnv(
        dataset=Dataset.from_list(rows), system_prompt="Guess.", rubric=rubric, max_turns=max_turns
    )


def test_an_environment_of_several_turns_is_played_to_its_end() -> None:
    async def play() -> None:
        adapter = adapt(make_env(), success=lambda reward, _metrics: reward > 0)
        assert (adapter.name, adapter.num_tasks, adapter.max_steps) == ("GuessEnv", 10, 3)
        episode: Any = adapter.make()
        first = await episode.reset({"index": 4}, 1, 0, {})
        assert first.text == "Guess.\n\nA number below 10, please (4)."
        low = await episode.step("3")
        assert (low.text, low.reward, low.terminated) == ("Too low.", 0.0, False)
        assert (await episode.step("5")).text == "Too high."
        # The answer of the third turn is the last: verifiers stops before it responds.
        right = await episode.step("4")
        assert (right.reward, right.success, right.truncated) == (pytest.approx(1 / 3), True, True)
        assert right.info["stopCondition"] == "max_turns_reached"
        again = await episode.reset({"index": 7}, 1, 0, {})
        assert again.text.endswith("(7).")
        right = await episode.step("7")
        assert (right.text, right.reward, right.terminated) == ("Right.", 1.0, True)
        await episode.reset({"index": 1}, 1, 0, {})
        await episode.close()

    asyncio.run(play())


def test_an_environment_that_fails_fails_the_step() -> None:
    async def play() -> None:
        episode: Any = adapt(make_env()).make()
        await episode.reset({"index": 4}, 1, 0, {})
        with pytest.raises(ValueError, match="invalid literal"):
            await episode.step("four")
        assert (await episode.reset({"index": 2}, 1, 0, {})).text.endswith("(2).")
        await episode.close()

    asyncio.run(play())


def test_an_environment_of_one_turn_is_a_question() -> None:
    async def play() -> None:
        from datasets import Dataset

        rows = Dataset.from_list([{"question": "2 + 2?", "answer": "4"}])
        episode: Any = adapt(vf.SingleTurnEnv(dataset=rows, rubric=vf.Rubric(funcs=[found]))).make()
        await episode.reset({"index": 0}, 1, 0, {})
        result = await episode.step("4")
        assert (result.reward, result.terminated, result.success) == (1.0, True, True)

    asyncio.run(play())


def test_tools_are_refused() -> None:
    from datasets import Dataset

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    rows = Dataset.from_list([{"question": "2 + 2?", "answer": "4"}])
    env = vf.ToolEnv(tools=[add], dataset=rows, rubric=vf.Rubric(funcs=[found]))
    with pytest.raises(TypeError, match="ToolEnv of verifiers has tools"):
        adapt(env)
