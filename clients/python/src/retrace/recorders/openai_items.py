"""Items of OpenAI's Responses API, and messages of chat completions, as chat messages."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from retrace.recorders.reasoning import is_reasoning_part, reasoning_of
from retrace.records import Message

_TEXTS = ("input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text")


def messages_of_input(items: Any) -> list[Message]:
    """Return the chat messages of what was given to a model."""
    if isinstance(items, str):
        return [{"role": "user", "content": items}]
    messages: list[dict[str, Any]] = []
    for item in items:
        fields = item if isinstance(item, Mapping) else item.model_dump()
        _add_item(messages, fields)
    return list(messages)


def messages_of_output(items: Sequence[Any]) -> Message | None:
    """Return the one message that a model gave, with its tool calls and reasoning; None when it gave none."""
    messages: list[dict[str, Any]] = []
    for item in items:
        # Streamed chat completions leave a whole response here.
        nested = item.get("output") if "role" not in item and item.get("object") == "response" else None
        for part in nested or [item]:
            _add_item(messages, part)
    if not messages:
        return None
    merged = messages[0]
    for message in messages[1:]:
        if message.get("content"):
            merged["content"] = (
                message["content"] if not merged["content"] else f"{merged['content']}\n{message['content']}"
            )
        merged.setdefault("tool_calls", []).extend(message.get("tool_calls", []))
    if not merged.get("tool_calls", True):
        del merged["tool_calls"]
    return merged


def _add_item(messages: list[dict[str, Any]], item: Mapping[str, Any]) -> None:
    """Add an item; the tool calls and the reasoning of one turn belong to one message of the assistant."""
    kind = item.get("type")
    if "role" in item and kind in (None, "message"):
        _add_message(messages, item)
    elif kind == "function_call":
        call = {"name": item["name"], "arguments": item["arguments"]}
        message = _assistant(messages)
        message.setdefault("tool_calls", []).append(
            {"id": item["call_id"], "type": "function", "function": call}
        )
    elif kind == "function_call_output":
        messages.append(
            {"role": "tool", "tool_call_id": item["call_id"], "content": _content(item["output"])}
        )
    elif kind == "reasoning":
        text = _content([*(item.get("content") or []), *(item.get("summary") or [])])
        if text:
            messages.append({"role": "assistant", "content": None, "reasoning_content": text})
    else:
        # A tool that the provider ran itself, such as a search.
        messages.append({"role": "tool", "name": str(kind), "content": json.dumps(dict(item), default=str)})


def _add_message(messages: list[dict[str, Any]], item: Mapping[str, Any]) -> None:
    optional = {name: item[name] for name in ("name", "tool_call_id") if item.get(name)}
    reasoning = reasoning_of(item)
    if reasoning:
        optional["reasoning_content"] = reasoning
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {name: call["function"][name] for name in ("name", "arguments")},
        }
        for call in item.get("tool_calls") or []
        if call.get("function")
    ]
    content = _content(_without_reasoning(item.get("content")) or item.get("refusal"))
    last = messages[-1] if messages else None
    if item["role"] == "assistant" and last is not None and _has_only_reasoning(last):
        last["content"] = content
        message = last
    else:
        message = {"role": item["role"], "content": content, **optional}
        messages.append(message)
    if calls:
        message["tool_calls"] = calls


def _without_reasoning(content: Any) -> Any:
    """Leave out parts whose text is the message's reasoning; encrypted ones stay."""
    if not isinstance(content, list):
        return content
    return [part for part in content if not (is_reasoning_part(part) and reasoning_of({"content": [part]}))]


def _assistant(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the assistant's message that a tool call belongs to: the last one, or a new one."""
    last = messages[-1] if messages else None
    if last is not None and last["role"] == "assistant":
        return last
    messages.append({"role": "assistant", "content": None})
    return messages[-1]


def _has_only_reasoning(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and message["content"] is None and "tool_calls" not in message


def _content(content: Any) -> Any:
    """Return text, or parts where there are images; parts of text alone are joined."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return json.dumps(content, default=str)
    parts = [_part(part) for part in content]
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind in _TEXTS:
        return {"type": "text", "text": part.get("text") or part.get("refusal") or ""}
    if kind in ("input_image", "image_url"):
        url = part.get("image_url")
        return {
            "type": "image_url",
            "image_url": url if isinstance(url, Mapping) else {"url": url or part.get("file_id")},
        }
    return {"type": "text", "text": json.dumps(dict(part), default=str)}
