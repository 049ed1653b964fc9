"""Records the traces of verifiers: https://github.com/PrimeIntellect-ai/verifiers, tried with 0.4.0 (its `verifiers.v1`).

episode = await env.run(task, …)
record_episode(run, episode)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrace.episode import Episode
from retrace.records import Message, Sampling, Tokens, Usage
from retrace.run import Run


def record_episode(run: Run, source: Any, **episode_fields: Any) -> list[Episode]:
    """Record each trace of a verifiers `Episode`: several agents give as many episodes."""
    group = source.group.id if source.group else None
    fields = {"environment": source.env.name or source.env.id or None, "group_id": group, **episode_fields}
    metadata = {"verifiersEpisode": source.id}
    return [record_trace(run, trace, metadata=metadata, **fields) for trace in source.traces]


def record_trace(run: Run, trace: Any, **episode_fields: Any) -> Episode:
    """Record a verifiers `Trace`: each message that the model sampled is a step.

    The step has the messages and tokens that its path in the message graph adds to that of the step before; a path that
    branches off keeps the prefix up to there. The last step has the trace's reward, and its parts by name.
    """
    fields = {
        "external_id": trace.id,
        "task": trace.task.data.model_dump(mode="json"),
        "agent": trace.agent.name,
        **episode_fields,
    }
    episode = run.episode(**fields)
    calls = {call.node: call for call in trace.calls if call.node is not None}
    sampled = [at for at, node in enumerate(trace.nodes) if node.sampled]
    untrainable = None if trace.agent.trainable else "the agent is not trained"
    path: list[int] = []
    for at in sampled:
        before, path = path, _path_to(trace.nodes, at)
        num_kept = _num_common(before, path)
        # Each node of a path is a message of the context.
        is_last = at == sampled[-1]
        call = calls.get(at)
        sampled_as = _sampled_as(call.sampling if call else None)
        info = {**({"keptMessages": num_kept} if num_kept < len(before) else {}), **sampled_as.info}
        added = [trace.nodes[node] for node in path[num_kept:]]
        episode.step(
            messages={
                "input": [_message(node.message) for node in added[:-1]],
                "output": _message(trace.nodes[at].message),
            },
            tokens=_tokens(added, [trace.nodes[node] for node in path[:num_kept]]),
            sampling=sampled_as.sampling,
            usage=_usage(call.usage) if call else None,
            model=call.model if call else None,
            info=info or None,
            generation_ms=call.time.duration * 1000 if call and call.time.end else None,
            reward=trace.reward if is_last and trace.rewards else None,
            rewards=_scores(trace) if is_last else None,
            terminated=True if is_last and trace.is_completed else None,
            untrainable=untrainable or sampled_as.untrainable,
            occurred_at=round(trace.nodes[at].timestamp * 1_000_000),
        )
    _end(episode, trace)
    return episode


def _end(episode: Episode, trace: Any) -> None:
    if trace.errors and not trace.ok:
        error = trace.errors[-1]
        episode.end("abandoned", detail=f"{error.type}: {error.message}")
    elif trace.is_timeout:
        episode.end("truncated", detail="a deadline expired")
    else:
        episode.end("terminated", detail=trace.stop_condition)


def _path_to(nodes: Sequence[Any], at: int | None) -> list[int]:
    path = []
    while at is not None:
        path.append(at)
        at = nodes[at].parent
    return path[::-1]


def _num_common(before: Sequence[int], path: Sequence[int]) -> int:
    for place, (left, right) in enumerate(zip(before, path, strict=False)):
        if left != right:
            return place
    return min(len(before), len(path))


def _tokens(added: Sequence[Any], kept: Sequence[Any]) -> Tokens | None:
    """Join the tokens of the nodes; only those of the last one were sampled in this step. None where none are known."""
    sampled = added[-1]
    if not sampled.token_ids:
        return None
    given = [token for node in added[:-1] for token in node.token_ids]
    values = iter(sampled.logprobs)
    known = [next(values, None) if is_sampled else None for is_sampled in sampled.mask]
    return Tokens(
        ids=[*given, *sampled.token_ids],
        mask=[0] * len(given) + [int(is_sampled) for is_sampled in sampled.mask],
        logprobs=[None] * len(given) + known if sampled.logprobs else None,
        kept_prefix=sum(len(node.token_ids) for node in kept),
    )


def _message(message: Any) -> Message:
    """Return a message in the shape of OpenAI's API, where a tool call has its name and arguments under `function`."""
    fields: dict[str, Any] = message.model_dump(mode="json", exclude_none=True, exclude={"provider_state"})
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in fields.pop("tool_calls", None) or []
    ]
    return {"content": None, **fields, **({"tool_calls": calls} if calls else {})}


@dataclass(frozen=True, slots=True)
class _SampledAs:
    """What is known of how a call was sampled."""

    sampling: Sampling | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    untrainable: str | None = None


_PARAMETERS = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
"""Parameters that change what is sampled. A server takes those that a call leaves out from the model's files."""


def _sampled_as(sampling: Any) -> _SampledAs:
    """Read how a call was sampled, as the proxy does: what nobody stated is unknown, and no update trains on it."""
    fields = sampling.model_dump() if sampling is not None else {}
    fields = {**fields, **(fields.get("extra_body") or {})}
    stated = {name: fields[name] for name in _PARAMETERS if fields.get(name) is not None}
    # The likeliest token is the same whatever cuts the others off.
    needed = ("temperature", "repetition_penalty") if stated.get("temperature") == 0 else _PARAMETERS
    unknown = [name for name in needed if name not in stated]
    if not stated or unknown == ["temperature"]:
        return _SampledAs(info={"statedSampling": stated} if stated else {})
    reason = f"{', '.join(unknown)} left to the server, which takes them from its model" if unknown else None
    if any(name in unknown for name in ("temperature", "top_p", "top_k")):
        return _SampledAs(info={"statedSampling": stated}, untrainable=reason)
    others = [name for name, off in (("min_p", 0), ("repetition_penalty", 1)) if stated.get(name, off) != off]
    known = Sampling(
        temperature=stated["temperature"],
        top_k=max(0, stated.get("top_k", 0)),
        top_p=stated.get("top_p"),
        greedy=True if stated["temperature"] == 0 else None,
        max_new_tokens=fields.get("max_completion_tokens") or fields.get("max_tokens"),
    )
    return _SampledAs(known, untrainable=f"sampled with {', '.join(others)}" if others else reason)


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.completion_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=usage.cost,
    )


def _scores(trace: Any) -> dict[str, float | None] | None:
    return {name: None if reward is None else reward.score for name, reward in trace.rewards.items()} or None
