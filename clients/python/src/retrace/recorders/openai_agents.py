"""Records agents of the OpenAI Agents SDK: https://github.com/openai/openai-agents-python, tried with 0.24.0.

from agents import add_trace_processor
add_trace_processor(RetraceProcessor(run))
"""

import functools
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Concatenate, ParamSpec

from agents.tracing import Span, Trace, TracingProcessor
from agents.tracing.span_data import AgentSpanData, FunctionSpanData, GenerationSpanData, ResponseSpanData

from retrace.episode import Episode
from retrace.recorders.openai_items import messages_of_input, messages_of_output
from retrace.records import Message, Sampling, Usage
from retrace.run import Run

logger = logging.getLogger("retrace")
P = ParamSpec("P")


class _Conversation:
    """An episode, and the messages that it has so far."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.messages: list[Message] = []
        self.tools: list[Any] = []
        self.tool_output: str | None = None
        self.problem: str | None = None

    def added(self, prompt: Sequence[Message], *, is_delta: bool) -> tuple[list[Message], int | None]:
        """Return what a prompt adds to the conversation, and how many messages of it it kept; None when it kept all.

        A prompt with other instructions, as after a handoff, keeps none. `is_delta` tells that the provider holds what
        came before, so that the prompt is only what is new.
        """
        if is_delta:
            self.messages = [*self.messages, *prompt]
            return list(prompt), None
        kept = 0
        while kept < min(len(prompt), len(self.messages)) and _same(prompt[kept], self.messages[kept]):
            kept += 1
        is_rewritten = kept < len(self.messages)
        self.messages = list(prompt)
        return list(prompt[kept:]), kept if is_rewritten else None

    def new_tools(self, response: Any) -> list[Any] | None:
        """Return the tools that a call of the Responses API offered, where they are others than before."""
        if response is None:
            return None
        tools = [tool.model_dump(mode="json", exclude_none=True) for tool in response.tools or []]
        before, self.tools = self.tools, tools
        return None if tools == before else tools

    def end(self) -> None:
        if self.problem is None:
            self.episode.end(final_observation=self.tool_output)
        elif "max turns" in self.problem.lower():
            self.episode.end("truncated", detail=self.problem)
        else:
            self.episode.end("abandoned", detail=self.problem)


def _never_fails(
    method: Callable[Concatenate["RetraceProcessor", P], None],
) -> Callable[Concatenate["RetraceProcessor", P], None]:
    @functools.wraps(method)
    def guarded(self: "RetraceProcessor", /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with self._lock:
                method(self, *args, **kwargs)
        except Exception:
            logger.warning("Retrace could not record a trace of an agent", exc_info=True)

    return guarded


class RetraceProcessor(TracingProcessor):
    """Makes an episode of each trace and a step of each call of a model.

    An agent that another one calls as a tool gets an episode of its own, whose parent is the caller's; a handoff goes on
    in the same one. Works with the Responses API and with chat completions.
    """

    def __init__(self, run: Run) -> None:
        """Record into `run`."""
        self._run = run
        self._lock = threading.Lock()
        self._traces: dict[str, _Conversation] = {}
        self._spans: dict[str, _Conversation] = {}
        self._agents: dict[str, bool] = {}

    @_never_fails
    def on_trace_start(self, trace: Trace) -> None:
        """Start the episode."""
        exported = trace.export() or {}
        fields = {"groupId": exported.get("group_id"), **(exported.get("metadata") or {})}
        known = {name: value for name, value in fields.items() if value is not None}
        episode = self._run.episode(agent=trace.name, external_id=trace.trace_id, metadata=known or None)
        self._traces[trace.trace_id] = _Conversation(episode)

    @_never_fails
    def on_trace_end(self, trace: Trace) -> None:
        """End the episode."""
        conversation = self._traces.pop(trace.trace_id, None)
        if conversation is not None:
            conversation.end()

    @_never_fails
    def on_span_start(self, span: Span[Any]) -> None:
        """Note whose span it is; an agent within an agent gets an episode of its own."""
        conversation = self._spans.get(span.parent_id or "") or self._traces.get(span.trace_id)
        if conversation is None:
            return
        within_agent = self._agents.get(span.parent_id or "", False)
        is_agent = isinstance(span.span_data, AgentSpanData)
        if is_agent and within_agent:
            parent = conversation.episode
            conversation = _Conversation(
                self._run.episode(
                    agent=span.span_data.name, parent_episode=parent.id, external_id=span.span_id
                )
            )
        self._spans[span.span_id] = conversation
        self._agents[span.span_id] = within_agent or is_agent

    @_never_fails
    def on_span_end(self, span: Span[Any]) -> None:
        """Record the call of a model as a step."""
        conversation = self._spans.pop(span.span_id, None)
        self._agents.pop(span.span_id, None)
        if conversation is None:
            return
        data = span.span_data
        if isinstance(data, GenerationSpanData):
            output = messages_of_output(data.output or [])
            self._step(
                span, conversation, messages_of_input(list(data.input or [])), output, data.model_config or {}
            )
        elif isinstance(data, ResponseSpanData) and (data.response is not None or span.error):
            self._response_step(span, conversation)
        elif isinstance(data, FunctionSpanData):
            conversation.tool_output = None if data.output is None else str(data.output)
        if span.error:
            conversation.problem = span.error["message"]
        if isinstance(data, AgentSpanData) and conversation is not self._traces.get(span.trace_id):
            parent = self._spans.get(span.parent_id or "")
            if parent is not conversation:
                conversation.end()

    def shutdown(self) -> None:
        """Send what waits."""
        self.force_flush()

    def force_flush(self) -> None:
        """Send what waits."""
        self._run.flush()

    def _response_step(self, span: Span[ResponseSpanData], conversation: _Conversation) -> None:
        """Record a call of the Responses API; one that failed has no response, and its prompt where the SDK gives it."""
        response = span.span_data.response
        prompt = messages_of_input(span.span_data.input or [])
        if response is None:
            self._step(span, conversation, prompt, None, {})
            return
        system = (
            [{"role": "system", "content": response.instructions}]
            if isinstance(response.instructions, str)
            else []
        )
        output = messages_of_output([item.model_dump() for item in response.output])
        settings = {"temperature": response.temperature, "top_p": response.top_p}
        self._step(span, conversation, [*system, *prompt], output, settings)

    def _step(
        self,
        span: Span[Any],
        conversation: _Conversation,
        messages: Sequence[Message],
        output: Message | None,
        settings: Mapping[str, Any],
    ) -> None:
        data = span.span_data
        temperature = settings.get("temperature")
        response = data.response if isinstance(data, ResponseSpanData) else None
        held = getattr(response, "previous_response_id", None) or getattr(response, "conversation", None)
        # Of a call that failed the SDK gives no prompt: nothing is known to be new.
        added, kept = conversation.added(messages, is_delta=held is not None or not messages)
        tools = conversation.new_tools(response)
        info = {
            **({} if kept is None else {"keptMessages": kept}),
            **({} if tools is None else {"toolDefinitions": tools}),
            **({} if span.error is None else {"error": {"message": span.error["message"]}}),
        }
        conversation.episode.step(
            messages={"input": added, "output": output},
            info=info or None,
            usage=_usage(data.usage),
            model=data.model if isinstance(data, GenerationSpanData) else getattr(response, "model", None),
            sampling=None if temperature is None else Sampling(temperature, top_p=settings.get("top_p")),
            generation_ms=_milliseconds(span.started_at, span.ended_at),
            untrainable=None if output else "the call failed",
        )
        conversation.messages = [*conversation.messages, *([output] if output else [])]
        conversation.tool_output = None
        conversation.problem = None


def _same(left: Message, right: Message) -> bool:
    """Compare what was said: a message that comes back as input has lost its reasoning."""
    return all(
        left.get(field) == right.get(field) for field in ("role", "content", "tool_calls", "tool_call_id")
    )


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage or usage.get("input_tokens") is None:
        return None
    return Usage(
        input_tokens=usage["input_tokens"],
        output_tokens=usage.get("output_tokens"),
        cached_input_tokens=(usage.get("input_tokens_details") or {}).get("cached_tokens"),
        reasoning_tokens=(usage.get("output_tokens_details") or {}).get("reasoning_tokens"),
    )


def _milliseconds(started_at: str | None, ended_at: str | None) -> float | None:
    if started_at is None or ended_at is None:
        return None
    return (datetime.fromisoformat(ended_at) - datetime.fromisoformat(started_at)).total_seconds() * 1000
