"""Token deltas: a step stores only the tokens that it appended to the context."""

from collections.abc import Sequence
from dataclasses import dataclass

from retrace.records import Tokens


@dataclass(frozen=True, slots=True)
class ContextDelta:
    """What one call of a model appended to the context.

    `ids` are the new tokens of the prompt and then those of the completion; `mask` is 1 where the model sampled the
    token, and as long as `ids`. `kept_prefix` says how many tokens of the context so far the prompt kept.
    """

    kept_prefix: int
    ids: list[int]
    mask: list[int]


def append_to_context(
    context: Sequence[int], prompt: Sequence[int], completion: Sequence[int]
) -> ContextDelta:
    """Compute what a call with `prompt` and `completion` appended to `context`.

    The kept prefix is the longest common prefix of context and prompt. Each of the three may be empty. The next
    context is `prompt` followed by `completion`.
    """
    kept = _common_prefix(context, prompt)
    added = len(prompt) - kept
    return ContextDelta(kept, [*prompt[kept:], *completion], [0] * added + [1] * len(completion))


def _common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the length of the longest common prefix, by bisection: comparing slices of lists runs in C."""
    low, high = 0, min(len(left), len(right))
    if list(left[:high]) == list(right[:high]):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if list(left[low:middle]) == list(right[low:middle]):
            low = middle
        else:
            high = middle
    return low


class TokenContext:
    """The tokens of a conversation so far, for callers that know the whole prompt of each call."""

    def __init__(self) -> None:
        self._ids: list[int] = []

    def append(
        self,
        prompt: Sequence[int],
        completion: Sequence[int],
        *,
        logprobs: Sequence[float | None] | None = None,
        raw_logprobs: Sequence[float | None] | None = None,
        versions: Sequence[int] | None = None,
        routed_experts: Sequence[int] | None = None,
    ) -> Tokens:
        """Return the tokens of the step that made this call, and remember its context for the next one.

        `logprobs`, `raw_logprobs` and `versions` belong to `completion` and are as long; tokens of the prompt get none.
        `routed_experts` are those of all tokens of prompt and completion, as many for each; those of the kept prefix
        are left out.

        Raises ValueError when one of them has another length, or `routed_experts` is not flat. The context then stays as
        it was.
        """
        delta = append_to_context(self._ids, prompt, completion)
        observed = len(delta.ids) - len(completion)
        sampled = _padded("logprobs", logprobs, observed, len(completion))
        sampled_raw = _padded("raw_logprobs", raw_logprobs, observed, len(completion))
        if versions is not None and len(versions) != len(completion):
            raise ValueError(_other_length("versions", len(versions), len(completion)))
        sampled_by = None if versions is None else [-1] * observed + [int(version) for version in versions]
        experts = _experts(routed_experts, delta.kept_prefix, len(prompt) + len(completion))
        # Last, so that the context stays as it was after a refusal.
        self._ids = [*prompt, *completion]
        return Tokens(
            ids=delta.ids,
            mask=delta.mask,
            kept_prefix=delta.kept_prefix,
            logprobs=sampled,
            raw_logprobs=sampled_raw,
            routed_experts=experts,
            versions=sampled_by,
        )


def _padded(
    name: str, values: Sequence[float | None] | None, observed: int, expected: int
) -> list[float | None] | None:
    if values is None:
        return None
    if len(values) != expected:
        raise ValueError(_other_length(name, len(values), expected))
    return [None] * observed + list(values)


def _other_length(name: str, length: int, expected: int) -> str:
    return f"{name} has {length} values, but the completion has {expected} tokens"


def _experts(values: Sequence[int] | None, kept: int, num_tokens: int) -> list[int] | None:
    """Return the experts of the tokens after the kept prefix; None where there are none."""
    if values is None or len(values) == 0:
        return None
    if hasattr(values[0], "__len__"):
        raise ValueError("routed_experts has lists in it; must be flat, token by token")
    if num_tokens == 0 or len(values) % num_tokens != 0:
        raise ValueError(
            f"routed_experts has {len(values)} values; must be a multiple of the {num_tokens} tokens of the call"
        )
    per_token = len(values) // num_tokens
    return [int(expert) for expert in values[kept * per_token :]] or None
