"""Records what TRL's GRPOTrainer samples: https://github.com/huggingface/trl, tried with 1.16.0.

Texts and rewards, by the public interface of reward functions:

    trainer = GRPOTrainer(model, reward_funcs=recorded_rewards(run, [is_short, is_right]), …)

Tokens and logprobs too, by a trainer that records (it overrides two private methods of the trainer):

    class Trainer(RecordedCompletions, GRPOTrainer): ...
    trainer = Trainer(model, reward_funcs=[is_short, is_right], …)
    trainer.retrace_run = run
"""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

from retrace.episode import Episode
from retrace.ids import uuid7
from retrace.recorders.turns import Turns, split_turns
from retrace.records import Messages, Sampling
from retrace.run import Run

RewardFunction = Callable[..., Any]


def recorded_rewards(run: Run, functions: Sequence[RewardFunction]) -> list[RewardFunction]:
    """Wrap all reward functions of a trainer: each completion becomes an episode of one step.

    Each function gives a reward by its own name. Equal prompts that follow each other are a group. Tokens are not
    recorded, since reward functions don't see those of the prompt. A reward of None or NaN is missing.
    """
    batches = _Batches(run, len(functions))
    return [batches.wrap(function) for function in functions]


class _Batches:
    """The episodes of each batch, from the first reward function that sees it to the last."""

    def __init__(self, run: Run, num_functions: int) -> None:
        self._run = run
        self._num_functions = num_functions
        self._open: dict[int, tuple[Any, list[str], int]] = {}

    def wrap(self, function: RewardFunction) -> RewardFunction:
        name = getattr(function, "__name__", type(function).__name__)

        @functools.wraps(function)
        def record(*args: Any, prompts: Any, completions: Any, **kwargs: Any) -> Any:
            rewards = function(*args, prompts=prompts, completions=completions, **kwargs)
            self._record(name, prompts, completions, rewards, kwargs)
            return rewards

        @functools.wraps(function)
        async def record_async(*args: Any, prompts: Any, completions: Any, **kwargs: Any) -> Any:
            rewards = await function(*args, prompts=prompts, completions=completions, **kwargs)
            self._record(name, prompts, completions, rewards, kwargs)
            return rewards

        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - objects with an async __call__ count too
        )
        return record_async if is_async else record

    def _record(
        self, name: str, prompts: Any, completions: Any, rewards: Any, kwargs: dict[str, Any]
    ) -> None:
        # One list of completions goes to all functions, so its identity names the batch while it is kept here.
        key = id(completions)
        kept, episodes, count = self._open.get(key) or (
            completions,
            self._start(prompts, completions, kwargs),
            0,
        )
        for episode, reward in zip(episodes, rewards, strict=False):
            if reward is not None and not math.isnan(reward):
                self._run.reward(episode, name, float(reward), source="trl")
        if count + 1 < self._num_functions:
            self._open[key] = (kept, episodes, count + 1)
        else:
            self._open.pop(key, None)

    def _start(self, prompts: Any, completions: Any, kwargs: dict[str, Any]) -> list[str]:
        state = kwargs.get("trainer_state")
        episodes = []
        for place, completion in zip(groups_of(prompts), completions, strict=True):
            prompt = prompts[place.row]
            episode = start_episode(self._run, place, prompt, state)
            episode.step(**step_texts(prompt, completion), terminated=True)
            episode.end()
            episodes.append(episode.id)
        return episodes


class GroupPlace:
    """Where a row of a batch is in its group."""

    def __init__(self, row: int, group_id: str, group_member: int) -> None:
        self.row = row
        self.group_id = group_id
        self.group_member = group_member
        self.group_size = 0


def groups_of(prompts: Sequence[Any]) -> list[GroupPlace]:
    """Tell for each row its group: equal prompts that follow each other."""
    places: list[GroupPlace] = []
    group: list[GroupPlace] = []
    for row, prompt in enumerate(prompts):
        if row == 0 or prompt != prompts[row - 1]:
            group = []
        group.append(GroupPlace(row, group[0].group_id if group else uuid7(), len(group)))
        places.append(group[-1])
        for member in group:
            member.group_size = len(group)
    return places


def start_episode(run: Run, place: GroupPlace, prompt: Any, state: Any) -> Episode:
    """Start the episode of one completion; `state` is the trainer's."""
    return run.episode(
        group_id=place.group_id,
        group_size=place.group_size,
        group_member=place.group_member,
        environment="trl",
        task={"prompt": prompt},
        metadata=None if state is None else {"globalStep": int(state.global_step)},
    )


def step_texts(prompt: Any, completion: Any) -> dict[str, Any]:
    """Return the fields of a step for TRL's two forms: texts, and lists of chat messages."""
    if isinstance(prompt, str) or isinstance(completion, str):
        return {"observation": prompt, "action": completion}
    *earlier, last = completion or [None]
    messages: Messages = {"input": [*prompt, *earlier], "output": last}
    return {"messages": messages}


class RecordedCompletions:
    """Put before GRPOTrainer among the bases of a class, it records each completion with its tokens.

    A completion with tool calls has a step for each turn. Logprobs are those of the sampling engine where TRL keeps them
    (vLLM), else those that the trainer evaluated, else missing: then the steps are not trainable.
    """

    retrace_run: Run
    _retrace_scored: tuple[Any, Any, Any]

    def _calculate_rewards(
        self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any
    ) -> Any:
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)  # type: ignore[misc]
        self._retrace_scored = (prompts, completions, rewards)
        return rewards

    def _generate_and_score_completions(self, inputs: Any) -> Any:
        output = super()._generate_and_score_completions(inputs)  # type: ignore[misc]
        prompts, completions, rewards = self._retrace_scored
        # Rewards are gathered from all processes; the rows of this one follow those of the lower ranks.
        trainer: Any = self
        first = trainer.accelerator.process_index * len(prompts)
        for place in groups_of(prompts):
            named = _named(trainer.reward_func_names, rewards[first + place.row].tolist())
            turns = _turns_of(output, place.row)
            self._retrace_record(place, prompts[place.row], completions[place.row], named, turns)
        return output

    def _retrace_record(
        self,
        place: GroupPlace,
        prompt: Any,
        completion: Any,
        named: dict[str, float | None],
        turns: Turns,
    ) -> None:
        trainer: Any = self
        args = trainer.args
        sampling = Sampling(
            temperature=args.temperature,
            top_k=args.top_k,
            top_p=args.top_p,
            max_new_tokens=args.max_completion_length,
        )
        weights = trainer.reward_weights.tolist()
        known = [
            weight * value for weight, value in zip(weights, named.values(), strict=True) if value is not None
        ]
        tools = _definitions_of(getattr(trainer, "tools", None) or ())
        episode = start_episode(self.retrace_run, place, prompt, trainer.state)
        for number, tokens in enumerate(turns.steps):
            is_last = number == len(turns.steps) - 1
            episode.step(
                # The texts of earlier turns are in the messages of the last one.
                **(step_texts(prompt, completion) if is_last else {}),
                tokens=tokens,
                sampling=sampling,
                logprob_mode=None if tokens.logprobs is None else "processed",
                reward=sum(known) if is_last and known else None,
                rewards=named if is_last else None,
                terminated=True if is_last else None,
                info={"toolDefinitions": tools} if tools and number == 0 else None,
            )
        episode.end(final_token_ids=turns.final_ids or None)


def _definitions_of(tools: Sequence[Any]) -> list[Any]:
    """Return the definitions of tools as the prompt has them: functions are described by transformers."""
    return [_definition_of(tool) if callable(tool) else tool for tool in tools]


def _definition_of(function: Callable[..., Any]) -> Any:
    from transformers.utils import get_json_schema

    return get_json_schema(function)


def _turns_of(output: Any, row: int) -> Turns:
    """Read one row of the tensors of a batch: the prompt is padded on the left, the completion on the right."""
    logprobs = output.get("sampling_per_token_logps", output.get("old_per_token_logps"))
    mask = output.get("tool_mask", output["completion_mask"])
    length = int(output["completion_mask"][row].sum())
    return split_turns(
        output["prompt_ids"][row][output["prompt_mask"][row].bool()].tolist(),
        output["completion_ids"][row][:length].tolist(),
        mask[row][:length].tolist(),
        None if logprobs is None else logprobs[row][:length].tolist(),
    )


def _named(names: Sequence[str], values: Sequence[float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in zip(names, values, strict=True)}
