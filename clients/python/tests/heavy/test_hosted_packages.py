"""The real verifiers, reasoning-gym, TextArena and GEM, hosted by their adapters."""

import asyncio
from typing import Any

import pytest

from retrace.environments.adapt import adapt


def test_a_task_set_of_verifiers_is_scored_by_its_own_rewards() -> None:
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed")

    class Data(vf.TaskData):  # type: ignore[name-defined]
        answer: str

    class Sum(vf.Task[Data]):  # type: ignore[name-defined]
        @vf.reward  # type: ignore[untyped-decorator]
        async def exact(self, trace: Any) -> float:
            return float(trace.last_reply.strip() == self.data.answer)

    class SumTaskset(vf.Taskset[Sum, vf.TasksetConfig]):  # type: ignore[name-defined]
        def load(self) -> Any:
            for number in range(5):
                yield Sum(Data(prompt=f"{number} + 2?", answer=str(number + 2)))

    adapter = adapt(SumTaskset(vf.TasksetConfig()))
    assert (adapter.name, adapter.num_tasks) == ("Sum", 5)
    episode: Any = adapter.make()
    assert episode.reset({"index": 4}, 1, 0, {}).text == "4 + 2?"
    right = asyncio.run(episode.step(" 6 "))
    assert (right.reward, right.success, right.terminated) == (1.0, True, True)
    episode.reset({"index": 3}, 1, 0, {})
    assert asyncio.run(episode.step("6")).reward == 0.0


def test_a_data_set_of_reasoning_gym_scores_its_own_answer() -> None:
    reasoning_gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")
    dataset = reasoning_gym.create_dataset("leg_counting", size=20, seed=1)
    adapter = adapt(dataset)
    episode: Any = adapter.make()
    assert episode.reset({"index": 3}, 1, 0, {}).text == dataset[3]["question"]
    assert episode.step(dataset[3]["answer"]).success is True


def test_a_game_of_textarena_is_played_to_its_end() -> None:
    textarena = pytest.importorskip("textarena", reason="TextArena is not installed")
    episode: Any = adapt(lambda: textarena.make("GuessTheNumber-v0")).make()
    assert "Guess The Number" in episode.reset({}, 4, 0, {}).text
    for guess in range(1, 21):
        result = episode.step(f"[{guess}]")
        if result.terminated or result.truncated:
            break
    assert guess <= 10, "its limit of turns"
    assert result.success == (result.reward > 0)


def test_a_game_of_gem_says_that_its_limit_of_turns_cut_it() -> None:
    gem = pytest.importorskip("gem", reason="GEM is not installed")
    adapter = adapt(lambda: gem.make("game:GuessTheNumber-v0-hard"))
    episode: Any = adapter.make()
    assert adapter.max_steps == 7
    assert "Guess The Number" in episode.reset({}, 4, 0, {}).text
    results = [episode.step(f"\\boxed{{{50 + guess}}}") for guess in range(7)]
    assert (results[-1].terminated, results[-1].truncated, results[-1].success) == (False, True, False)


def test_an_environment_of_skyrl_gym_is_made_of_a_row_and_played_over_its_turns() -> None:
    skyrl_gym = pytest.importorskip("skyrl_gym", reason="SkyRL-gym is not installed")

    rows = [
        {
            "prompt": [{"role": "user", "content": f"{number} + 2?"}],
            "reward_spec": {"ground_truth": str(number + 2)},
            "extra_info": {"max_turns": 3},
        }
        for number in range(4)
    ]
    adapter = adapt(lambda row: skyrl_gym.make("gsm8k_multi_turn", extras=row), rows=rows)
    assert (adapter.num_tasks, adapter.max_steps) == (4, 3)
    episode: Any = adapter.make()
    assert episode.reset({"index": 3}, 1, 0, {}).text == "3 + 2?"
    wrong = episode.step("#### 4")
    assert (wrong.reward, wrong.terminated) == (pytest.approx(0.2 / 3), False)
    assert "tentative numeric answer" in wrong.text
    right = episode.step("#### 5")
    assert (right.reward, right.terminated, right.success) == (1.0, True, True)
    assert right.info == {"metrics": {"steps": 2}}
