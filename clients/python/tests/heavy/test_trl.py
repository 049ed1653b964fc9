"""The real GRPOTrainer of TRL takes a step on this processor, with a tiny random model."""

import math
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FaultyServer

from retrace import Retrace
from retrace.recorders.trl import RecordedCompletions, groups_of, recorded_rewards

pytest.importorskip("trl", reason="TRL is not installed")
from datasets import Dataset
from tiny_model import make_model, make_tokenizer
from trl import GRPOConfig, GRPOTrainer

PROMPTS = [
    {"prompt": [{"role": "user", "content": "2 + 3?"}]},
    {"prompt": [{"role": "user", "content": "1 + 1?"}]},
]


def is_short(completions: list[Any], **_: Any) -> list[float]:
    return [1.0 - len(completion[0]["content"]) / 100 for completion in completions]


async def is_right(completions: list[Any], **_: Any) -> list[float | None]:
    return [None if place % 2 else 0.5 for place, _ in enumerate(completions)]


def train(directory: Path, rewards: list[Any], trainer_class: type = GRPOTrainer, run: Any = None) -> None:
    tokenizer = make_tokenizer()
    arguments = GRPOConfig(
        output_dir=str(directory),
        per_device_train_batch_size=4,
        num_generations=2,
        max_completion_length=6,
        max_steps=1,
        # Two updates a batch: then the trainer evaluates the logprobs of the policy that sampled.
        num_iterations=2,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = trainer_class(
        model=make_model(tokenizer),
        args=arguments,
        reward_funcs=rewards,
        train_dataset=Dataset.from_list(PROMPTS),
        processing_class=tokenizer,
    )
    if run is not None:
        trainer.retrace_run = run
    trainer.train()


def of_type(server: FaultyServer, kind: str) -> list[dict[str, Any]]:
    return [record for record in server.records if record["type"] == kind]


def test_recorded_rewards_give_each_completion_with_its_group_and_rewards(
    checked_server: FaultyServer, client: Retrace, tmp_path: Path
) -> None:
    with client.start_run("trl") as run:
        train(tmp_path, recorded_rewards(run, [is_short, is_right]))
    assert client.flush()
    episodes, steps, rewards = (of_type(checked_server, kind) for kind in ("episode", "step", "reward"))
    assert len(episodes) == len(steps) == 4
    assert sorted(episode["groupMember"] for episode in episodes) == [0, 0, 1, 1]
    assert len({episode["groupId"] for episode in episodes}) == 2
    assert {step["messages"]["input"][0]["content"] for step in steps} == {"2 + 3?", "1 + 1?"}
    by_name = {
        name: {reward["episode"]: reward["value"] for reward in rewards if reward["name"] == name}
        for name in ("is_short", "is_right")
    }
    assert len(by_name["is_right"]) == 2
    for step in steps:
        text = step["messages"]["output"]["content"]
        assert by_name["is_short"][step["episode"]] == pytest.approx(1 - len(text) / 100)


def test_a_recording_trainer_gives_tokens_logprobs_and_the_weighted_reward(
    checked_server: FaultyServer, client: Retrace, tmp_path: Path
) -> None:
    class Trainer(RecordedCompletions, GRPOTrainer):
        pass

    with client.start_run("trl") as run:
        train(tmp_path, [is_short, is_right], Trainer, run)
    assert client.flush()
    tokenizer = make_tokenizer()
    steps = of_type(checked_server, "step")
    assert len(steps) == 4
    for step in steps:
        tokens = step["tokens"]
        sampled = [token for token, mask in zip(tokens["ids"], tokens["mask"], strict=True) if mask]
        given = tokens["ids"][: len(tokens["ids"]) - len(sampled)]
        prompt = [{"role": "user", "content": step["messages"]["input"][0]["content"]}]
        assert tokenizer.decode(given) == tokenizer.apply_chat_template(
            prompt, tokenize=False, add_generation_prompt=True
        )
        assert tokenizer.decode(sampled, skip_special_tokens=True) == step["messages"]["output"]["content"]
        logprobs = tokens["logprobs"][len(given) :]
        # A random model is near uniform over its vocabulary.
        assert all(math.isclose(logprob, -math.log(len(tokenizer)), abs_tol=2) for logprob in logprobs)
        parts = step["rewards"]
        assert step["reward"] == pytest.approx(parts["is_short"] + (parts["is_right"] or 0))
        assert step["sampling"]["temperature"] == 1.0


def test_equal_prompts_that_follow_each_other_are_a_group() -> None:
    places = groups_of(["a", "a", "b", "a"])
    assert [(place.group_member, place.group_size) for place in places] == [(0, 2), (1, 2), (0, 1), (0, 1)]
    assert len({place.group_id for place in places}) == 3
