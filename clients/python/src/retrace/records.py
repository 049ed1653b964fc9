"""Wire records: the JSON that Retrace's ingest routes take, made from Python values."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict

from retrace.storable_json import Changes, storable_json

EndReason = Literal["terminated", "truncated", "abandoned"]
RunEndReason = Literal["finished", "stopped", "failed"]
Message = Mapping[str, Any]
"""A chat message as OpenAI's API has it: role, content, tool_calls, tool_call_id …"""


class Messages(TypedDict, total=False):
    """The chat messages that a step added to the conversation.

    `input`: those since the previous step's output, in order. `output`: the agent's own.
    """

    input: Sequence[Message]
    output: Message | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a step appended to the context: first those it observed, then those it sampled.

    All lists but `routed_experts` are as long as `ids`. `mask` is 1 where the policy sampled the token. `logprobs` are natural logarithms
    under the distribution that was sampled from, `raw_logprobs` those before temperature; None = unknown. `versions`
    are policy versions, -1 for no policy. `routed_experts`: the experts that a mixture-of-experts model sent each token to,
    as many for each (layers x top-k), one token after the other. `kept_prefix`: tokens of the context so far that the
    prompt kept (None = all).
    """

    ids: Sequence[int]
    mask: Sequence[int]
    logprobs: Sequence[float | None] | None = None
    raw_logprobs: Sequence[float | None] | None = None
    entropies: Sequence[float | None] | None = None
    versions: Sequence[int] | None = None
    kept_prefix: int | None = None
    routed_experts: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens were sampled; None = unknown. `top_k` 0 and `top_p` 1 are off."""

    temperature: float
    top_k: int | None = None
    top_p: float | None = None
    greedy: bool | None = None
    max_new_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model call consumed; None = unknown."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None


def to_wire(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Turn snake_case fields into those of the wire. A field that is None is left out: what is unknown is missing."""
    return {_camel(name): _field(value) for name, value in fields.items() if value is not None}


def encode_json(value: Any) -> bytes:
    """Encode a value as one line of JSON, as `storable_json` writes it.

    NaN and infinities become null. NumPy, torch and Pydantic values are written as their plain ones, anything else
    that JSON has no form for as its text.
    """
    return json.dumps(storable_json(value, Changes(), ""), ensure_ascii=False, separators=(",", ":")).encode()


def to_microseconds(time: datetime | int | None) -> int | None:
    """Return a time as microseconds since 1970; a datetime without a zone is local time."""
    return round(time.timestamp() * 1_000_000) if isinstance(time, datetime) else time


def _field(value: Any) -> Any:
    if isinstance(value, Tokens | Sampling | Usage):
        return to_wire({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
