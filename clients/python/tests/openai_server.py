"""Answers OpenAI's Responses and Chat Completions routes with scripted turns; `openai.types` checks each answer."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


class Turn:
    """What the model says: a text, or calls of tools by name with their arguments.

    With `prompt_ids` and `sampled`, ids with their logprobs, chat completions have the fields that vLLM adds.
    """

    def __init__(
        self,
        text: str | None = None,
        calls: dict[str, dict[str, Any]] | None = None,
        *,
        prompt_ids: list[int] | None = None,
        sampled: list[tuple[int, float]] | None = None,
    ) -> None:
        self.text = text
        self.calls = list((calls or {}).items())
        self.prompt_ids = prompt_ids
        self.sampled = sampled or []


class OpenAIServer:
    """Gives the scripted turns one by one, to whichever route asks."""

    def __init__(self, turns: list[Turn]) -> None:
        self.requests: list[dict[str, Any]] = []
        self._turns = list(turns)
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = owner.answer(self.path, request)
                streamed = bool(request.get("stream"))
                body = (_stream(answer) if streamed else json.dumps(answer)).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if streamed else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            turn = self._turns.pop(0)
        if path.endswith("/responses"):
            answer = _response(number, turn, request)
            return Response.model_validate(answer).model_dump(mode="json")
        completion = _completion(number, turn, request)
        return ChatCompletion.model_validate(completion).model_dump(mode="json", exclude_none=True)


def _completion(number: int, turn: Turn, request: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {
            "id": f"call_{number}_{at}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for at, (name, given) in enumerate(turn.calls)
    ]
    message = {"role": "assistant", "content": turn.text, "tool_calls": calls or None}
    finish = "tool_calls" if calls else "stop"
    choice = {"index": 0, "finish_reason": finish, "logprobs": None, "message": message}
    tokens = {}
    if turn.prompt_ids is not None:
        content: list[dict[str, Any]] = [
            {"token": f"token_id:{token}", "logprob": logprob, "bytes": None, "top_logprobs": []}
            for token, logprob in turn.sampled
        ]
        choice |= {"logprobs": {"content": content}, "token_ids": [token for token, _ in turn.sampled]}
        tokens = {"prompt_token_ids": turn.prompt_ids}
    return {
        **tokens,
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": 10 * number, "completion_tokens": number, "total_tokens": 11 * number},
    }


def _response(number: int, turn: Turn, request: dict[str, Any]) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{at}",
            "call_id": f"call_{number}_{at}",
            "name": name,
            "arguments": json.dumps(given),
            "status": "completed",
        }
        for at, (name, given) in enumerate(turn.calls)
    ]
    if turn.text is not None:
        text = {"type": "output_text", "text": turn.text, "annotations": []}
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output.append({**message, "content": [text]})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": request["model"],
        "instructions": request.get("instructions"),
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": request.get("tools", []),
        "temperature": request.get("temperature", 1.0),
        "top_p": 1.0,
        "usage": {
            "input_tokens": 10 * number,
            "input_tokens_details": {"cached_tokens": number, "cache_write_tokens": 0},
            "output_tokens": number,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 11 * number,
        },
    }


def _stream(answer: dict[str, Any]) -> str:
    """Give an answer as server-sent events, its text and arguments in two pieces."""
    if answer["object"] == "response":
        events = (json.dumps(event) for event in _response_events(answer))
        return "".join(f"data: {event}\n\n" for event in events)
    chunks = (json.dumps(chunk) for chunk in _chunks(answer))
    return "".join(f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"])


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _chunks(completion: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (choice,) = completion["choices"]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    deltas += [{"content": piece} for piece in _halves(message.get("content") or "") if piece]
    for at, call in enumerate(message.get("tool_calls") or []):
        name, (first, second) = call["function"]["name"], _halves(call["function"]["arguments"])
        opening = {"index": at, "id": call["id"], "type": "function"}
        deltas.append({"tool_calls": [{**opening, "function": {"name": name, "arguments": first}}]})
        deltas.append({"tool_calls": [{"index": at, "function": {"arguments": second}}]})
    common = {name: completion[name] for name in ("id", "created", "model")}
    common["object"] = "chat.completion.chunk"
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}])
    for part in choices:
        yield _checked(ChatCompletionChunk.model_validate({**common, "choices": part}))
    yield _checked(
        ChatCompletionChunk.model_validate({**common, "choices": [], "usage": completion["usage"]})
    )


def _response_events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    events.append({"type": "response.created", "response": started})
    for at, item in enumerate(response["output"]):
        place = {"output_index": at, "item_id": item["id"]}
        if item["type"] == "message":
            opening = {**item, "status": "in_progress", "content": []}
            (part,) = item["content"]
            pieces = [
                {"type": "response.output_text.delta", "delta": piece, "content_index": 0, "logprobs": []}
                for piece in _halves(part["text"])
            ]
        else:
            opening = {**item, "status": "in_progress", "arguments": ""}
            pieces = [
                {"type": "response.function_call_arguments.delta", "delta": piece}
                for piece in _halves(item["arguments"])
            ]
        events.append({"type": "response.output_item.added", "output_index": at, "item": opening})
        events += [{**piece, **place} for piece in pieces]
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": "response.completed", "response": response})
    for number, event in enumerate(events):
        yield _checked(_EVENT.validate_python({**event, "sequence_number": number}))


def _checked(parsed: Any) -> dict[str, Any]:
    """Give what `openai.types` has read as JSON again."""
    given: dict[str, Any] = parsed.model_dump(mode="json", exclude_none=True)
    return given
