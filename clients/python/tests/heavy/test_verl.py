"""The real `verl` package: its single-turn agent loop and its batches. The sampling engine, which needs a GPU, is played here."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from faulty_server import FaultyServer

from retrace import Retrace, Run, Sampling
from retrace.recorders.verl import RecordedAgentLoop, record_agent_loop_output, record_scores, sampling_of

pytest.importorskip("verl", reason="verl is not installed")
import numpy as np
import torch
from omegaconf import OmegaConf
from tiny_model import make_tokenizer
from verl import DataProto
from verl.experimental.agent_loop.agent_loop import (
    AgentLoopMetrics,
    AgentLoopOutput,
    DictConfigWrap,
)
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput


def steps_of(server: FaultyServer) -> list[dict[str, Any]]:
    return [record for record in server.records if record["type"] == "step"]


def test_the_turns_of_an_agent_loop_become_steps(checked_server: FaultyServer, client: Retrace) -> None:
    output = AgentLoopOutput(
        prompt_ids=[1, 2],
        response_ids=[3, 4, 50, 51, 5, 52],
        response_mask=[1, 1, 0, 0, 1, 0],
        response_logprobs=[-0.5, -1.0, 0.0, 0.0, -1.5, 0.0],
        reward_score=0.75,
        num_turns=4,
        metrics=AgentLoopMetrics(),
    )
    episode = record_agent_loop_output(client.start_run("verl"), output, sampling=Sampling(temperature=1.0))
    assert client.flush()
    first, second = steps_of(checked_server)
    assert first["tokens"] == {
        "ids": [1, 2, 3, 4],
        "mask": [0, 0, 1, 1],
        "logprobs": [None, None, -0.5, -1.0],
        "keptPrefix": 0,
    }
    assert (second["tokens"]["ids"], second["tokens"]["mask"]) == ([50, 51, 5], [0, 0, 1])
    assert (second["tokens"]["keptPrefix"], second["tokens"]["logprobs"]) == (4, [None, None, -1.5])
    assert ("reward" in first, second["reward"], second["terminated"]) == (False, 0.75, True)
    assert first["logprobMode"] == "processed"
    end = checked_server.records[-1]
    assert (end["episode"], end["finalTokens"]) == (episode.id, {"ids": [52]})


def test_sampling_of_reads_what_verl_turns_off_and_greedy() -> None:
    params = {"temperature": 0.5, "top_p": 0.9, "top_k": -1, "logprobs": True}
    assert sampling_of(params) == Sampling(temperature=0.5, top_k=0, top_p=0.9, greedy=False)
    assert sampling_of({"temperature": 0}).greedy is True


class PlayedEngine:
    """Stands where verl's inference server is."""

    def __init__(self, tokens: list[int]) -> None:
        self.tokens = tokens
        self.prompts: list[list[int]] = []

    async def generate(self, *, prompt_ids: list[int], **_: Any) -> TokenOutput:
        self.prompts.append(list(prompt_ids))
        return TokenOutput(token_ids=self.tokens, log_probs=[-0.5] * len(self.tokens))


def test_a_recorded_agent_loop_of_verl_records_what_it_returns_and_its_scores(
    checked_server: FaultyServer, client: Retrace
) -> None:
    run = client.start_run("verl")

    class RecordedSingleTurn(RecordedAgentLoop, SingleTurnAgentLoop):
        def retrace_run(self) -> Run:
            return run

    tokenizer = make_tokenizer()
    rollout = {"prompt_length": 64, "response_length": 16}
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}, "data": {}})
    engine = PlayedEngine(tokenizer.encode("5"))

    async def play() -> AgentLoopOutput:
        loop = RecordedSingleTurn(
            trainer_config=DictConfigWrap(config=config),
            server_manager=engine,
            tokenizer=tokenizer,
            processor=None,
            dataset_cls=RLHFDataset,
            data_config=DictConfigWrap(config=config.data),
        )
        params = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "logprobs": True}
        prompt = np.array([{"role": "user", "content": "2 + 3?"}], dtype=object)
        fields = {
            "raw_prompt": prompt,
            "data_source": "sums",
            "extra_info": {"split": "train"},
            "index": np.int64(7),
        }
        return await loop.run(params, uid="group", **fields)

    output = asyncio.run(play())
    batch = DataProto.from_dict(
        tensors={"rm_scores": torch.tensor([[0.0, 0.25, 0.5]])},
        non_tensors={"retrace_episode": np.array([output.extra_fields["retrace_episode"]], dtype=object)},
    )
    record_scores(run, batch)
    assert client.flush()
    start, step, end, reward = checked_server.records
    assert (start["groupId"], start["environment"], start["split"]) == ("group", "sums", "train")
    assert start["task"] == {"prompt": [{"role": "user", "content": "2 + 3?"}], "index": 7}
    assert (
        step["tokens"]["ids"] == engine.prompts[0] + engine.tokens == output.prompt_ids + output.response_ids
    )
    assert sum(step["tokens"]["mask"]) == len(engine.tokens)
    assert step["observation"] == tokenizer.decode(output.prompt_ids)
    assert step["action"] == "5"
    assert end["type"] == "end"
    assert (reward["name"], reward["value"], reward["episode"]) == ("score", 0.75, start["episode"])


def test_a_loop_outside_of_a_trainer_needs_only_the_fields_that_are_read() -> None:
    empty = SimpleNamespace(prompt_ids=[1], response_ids=[], response_mask=[1], response_logprobs=None)
    with pytest.raises(ValueError, match="response_mask has 1 values for 0 tokens"):
        record_agent_loop_output(None, empty)  # type: ignore[arg-type]
