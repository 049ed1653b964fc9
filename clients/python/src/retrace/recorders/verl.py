"""Records the agent loops of verl: https://github.com/volcengine/verl, tried with 0.9.1.

Each trajectory becomes an episode, each turn of the model a step with its tokens and logprobs. In the module that
`rollout.agent.agent_loop_config_path` names, put the recorder before the loop that it records:

    @register("recorded_tool_agent")
    class RecordedToolAgent(RecordedAgentLoop, ToolAgentLoop):
        pass

Its workers read RETRACE_URL, RETRACE_API_KEY and RETRACE_RUN_ID, the id of a run that was started before. Scores that verl
computes after the loop are recorded in the trainer, with `record_scores(run, batch)`.
"""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retrace.client import Retrace
from retrace.episode import Episode
from retrace.recorders.turns import split_turns
from retrace.records import Sampling, Usage
from retrace.run import Run

EPISODE_FIELD = "retrace_episode"
"""Under this name the id of the episode travels in `AgentLoopOutput.extra_fields` and in the batch."""


def record_agent_loop_output(
    run: Run,
    output: Any,
    *,
    sampling: Sampling | None = None,
    decode: Callable[[Sequence[int]], str] | None = None,
    logprob_mode: str = "processed",
    tools: Sequence[Mapping[str, Any]] = (),
    **episode_fields: Any,
) -> Episode:
    """Record a finished `AgentLoopOutput`.

    `decode` turns token ids into text, such as `tokenizer.decode`; without it steps have no text. `sampling` is how the
    response was sampled. `logprob_mode` is `raw` when the engine gives logprobs from before the temperature; verl's
    default is `processed_logprobs`. `tools` are the definitions that the prompt had. `episode_fields` are those of
    `Run.episode`. A `reward_score` becomes the reward of the last step.
    """
    turns = split_turns(
        output.prompt_ids, output.response_ids, output.response_mask, output.response_logprobs or None
    )
    episode = run.episode(**episode_fields)
    for number, tokens in enumerate(turns.steps):
        is_last = number == len(turns.steps) - 1
        sampled = sum(tokens.mask)
        given = len(tokens.ids) - sampled
        has_logprobs = tokens.logprobs is not None
        episode.step(
            observation=decode(tokens.ids[:given]) if decode else None,
            action=decode(tokens.ids[given:]) if decode else None,
            reward=output.reward_score if is_last else None,
            terminated=True if is_last else None,
            tokens=tokens,
            sampling=sampling,
            usage=Usage(output_tokens=sampled),
            logprob_mode=logprob_mode if has_logprobs else None,
            info={"toolDefinitions": list(tools)} if tools and number == 0 else None,
        )
    final = decode(turns.final_ids) if decode and turns.final_ids else None
    episode.end(final_observation=final, final_token_ids=turns.final_ids or None)
    return episode


def sampling_of(params: Mapping[str, Any]) -> Sampling:
    """Read verl's `sampling_params`, where `top_k` -1 is off and temperature 0 is greedy."""
    temperature = float(params["temperature"])
    top_k = params.get("top_k")
    return Sampling(
        temperature=temperature if temperature > 0 else 1.0,
        top_k=None if top_k is None else max(0, int(top_k)),
        top_p=params.get("top_p"),
        greedy=temperature == 0,
    )


def record_scores(run: Run, batch: Any, *, name: str = "score", source: str = "verl") -> None:
    """Record the score of each episode of a `DataProto` that the trainer has scored: the sum over its tokens."""
    scores = batch.batch["token_level_scores" if "token_level_scores" in batch.batch else "rm_scores"]
    for episode, score in zip(
        batch.non_tensor_batch[EPISODE_FIELD], scores.sum(dim=-1).tolist(), strict=True
    ):
        run.reward(str(episode), name, score, source=source)


@functools.cache
def worker_run() -> Run:
    """Return the run that RETRACE_RUN_ID names, over one client for the process."""
    return Retrace().run(os.environ["RETRACE_RUN_ID"])


class RecordedAgentLoop:
    """Put before an agent loop of verl among the bases of a class, it records what `run` returns.

    Override `retrace_run` to name the run in another way than by RETRACE_RUN_ID.
    """

    tokenizer: Any

    def retrace_run(self) -> Run:
        """Return the run that takes the episodes."""
        return worker_run()

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> Any:
        """Run the agent loop, record its output, and give the output the episode's id."""
        output = await super().run(sampling_params, **kwargs)  # type: ignore[misc]
        extra = kwargs.get("extra_info")
        group = kwargs.get("uid")
        episode = record_agent_loop_output(
            self.retrace_run(),
            output,
            sampling=sampling_of(sampling_params),
            decode=self.tokenizer.decode,
            # Loops with tools keep them under this name: `ToolAgentLoop`, `SingleTurnAgentLoop`.
            tools=getattr(self, "tool_schemas", None) or (),
            environment=kwargs.get("data_source"),
            split=extra.get("split") if isinstance(extra, Mapping) else None,
            group_id=None if group is None else str(group),
            task={"prompt": list(kwargs["raw_prompt"]), "index": kwargs.get("index")},
        )
        output.extra_fields[EPISODE_FIELD] = episode.id
        return output
