import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrace import ContextDelta, TokenContext, append_to_context

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "append-to-context.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_append_to_context_gives_the_delta_that_all_clients_give(vector: dict[str, Any]) -> None:
    delta = append_to_context(vector["context"], vector["prompt"], vector["completion"])
    assert delta == ContextDelta(vector["keptPrefix"], vector["ids"], vector["mask"])


def test_deltas_of_random_calls_rebuild_each_prompt_and_completion() -> None:
    source = random.Random(7)
    context: list[int] = []
    for _ in range(500):
        prompt = context[: source.randint(0, len(context))] if source.random() < 0.3 else list(context)
        prompt += [source.randint(0, 3) for _ in range(source.randint(0, 5))]
        completion = [source.randint(0, 3) for _ in range(source.randint(0, 5))]
        delta = append_to_context(context, prompt, completion)
        assert context[: delta.kept_prefix] + delta.ids == prompt + completion
        kept = delta.kept_prefix
        # No longer prefix would do.
        assert kept in (len(context), len(prompt)) or context[kept] != prompt[kept]
        assert delta.mask == [0] * (len(prompt) - kept) + [1] * len(completion)
        context = prompt + completion if len(prompt) < 60 else []


def test_token_context_gives_logprobs_to_sampled_tokens_only() -> None:
    context = TokenContext()
    context.append([1, 2], [3], logprobs=[-0.5])
    tokens = context.append([1, 2, 3, 4], [5, 6], logprobs=[-0.1, None], versions=[7, 8])
    assert tokens.kept_prefix == 3
    assert tokens.ids == [4, 5, 6]
    assert tokens.mask == [0, 1, 1]
    assert tokens.logprobs == [None, -0.1, None]
    assert tokens.versions == [-1, 7, 8]


def test_token_context_refuses_logprobs_of_another_length() -> None:
    with pytest.raises(ValueError, match="logprobs has 1 values, but the completion has 2 tokens"):
        TokenContext().append([1], [2, 3], logprobs=[-0.5])


def test_token_context_keeps_the_experts_of_the_tokens_that_a_call_appended() -> None:
    context = TokenContext()
    assert context.append([1, 2], [3], routed_experts=[10, 11, 20, 21, 30, 31]).routed_experts == [
        10,
        11,
        20,
        21,
        30,
        31,
    ]
    assert context.append([1, 2, 3, 4], [5], routed_experts=[1, 2, 3, 4, 5]).routed_experts == [4, 5]
    assert context.append([1], []).routed_experts is None
    with pytest.raises(
        ValueError, match="routed_experts has 3 values; must be a multiple of the 2 tokens of the call"
    ):
        context.append([1], [2], routed_experts=[1, 2, 3])


def test_token_context_stays_as_it_was_after_a_refusal() -> None:
    context = TokenContext()
    context.append([1, 2], [3])
    with pytest.raises(ValueError, match="versions has 1 values, but the completion has 2 tokens"):
        context.append([1, 2, 3, 4], [5, 6], versions=[7])
    assert context.append([1, 2, 3, 4], [5]).kept_prefix == 3
    with pytest.raises(TypeError):
        context.append([9], [5], versions=[None])  # type: ignore[list-item]
    assert context.append([1, 2, 3, 4, 5], [6]).kept_prefix == 5


def test_token_context_takes_experts_as_an_array_and_refuses_those_that_are_not_flat() -> None:
    context = TokenContext()
    experts = np.array([[10, 11], [20, 21], [30, 31]])
    flat: Any = experts.reshape(-1)
    assert context.append([1, 2], [3], routed_experts=flat).routed_experts == [10, 11, 20, 21, 30, 31]
    empty: Any = np.array([], dtype=np.int32)
    assert context.append([1, 2, 3], [4], routed_experts=empty).routed_experts is None
    nested: Any
    for nested in (experts, experts.tolist()):
        with pytest.raises(ValueError, match="routed_experts has lists in it; must be flat, token by token"):
            context.append([9], [1, 2], routed_experts=nested)
    assert context.append([1, 2, 3, 4], [5]).kept_prefix == 4
