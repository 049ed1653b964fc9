"""Answers OpenAI's Responses and Chat Completions routes with scripted turns; `openai.types` checks each answer."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai.types.chat import ChatCompletion
from openai.types.responses import Response


class Turn:
    """What the model says: a text, or calls of tools by name with their arguments."""

    def __init__(self, text: str | None = None, calls: dict[str, dict[str, Any]] | None = None) -> None:
        self.text = text
        self.calls = list((calls or {}).items())


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
                body = json.dumps(owner.answer(self.path, request)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
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
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": finish, "logprobs": None, "message": message}],
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
        "tools": [],
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
