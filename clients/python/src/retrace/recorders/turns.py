"""Splits the one long response of a rollout into the turns that it was made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from retrace.records import Tokens


@dataclass(frozen=True, slots=True)
class Turns:
    """The tokens of each turn, and those that followed the last sampled one."""

    steps: list[Tokens]
    final_ids: list[int]


def split_turns(
    prompt_ids: Sequence[int],
    response_ids: Sequence[int],
    response_mask: Sequence[int],
    logprobs: Sequence[float] | None = None,
) -> Turns:
    """Split a rollout at the ends of what the policy sampled.

    `response_mask` is 1 where the policy sampled the token and 0 where a tool or user gave it; `logprobs` are as long,
    and count only where the mask is 1. A turn is what was given and then what was sampled; the first one has the prompt.

    Raises ValueError for lists of different lengths.
    """
    if len(response_mask) != len(response_ids):
        raise ValueError(f"response_mask has {len(response_mask)} values for {len(response_ids)} tokens")
    if logprobs is not None and len(logprobs) != len(response_ids):
        raise ValueError(f"logprobs has {len(logprobs)} values for {len(response_ids)} tokens")
    ids = [*map(int, prompt_ids), *map(int, response_ids)]
    mask = [0] * len(prompt_ids) + [int(bool(value)) for value in response_mask]
    padded = None if logprobs is None else [None] * len(prompt_ids) + list(logprobs)
    ends = [at + 1 for at in range(len(ids)) if mask[at] and (at + 1 == len(ids) or not mask[at + 1])]
    steps, start = [], 0
    for end in ends:
        known = None
        if padded is not None:
            known = [padded[at] if mask[at] else None for at in range(start, end)]
        steps.append(Tokens(ids=ids[start:end], mask=mask[start:end], logprobs=known, kept_prefix=start))
        start = end
    return Turns(steps, ids[start:])
