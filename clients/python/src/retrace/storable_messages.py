"""Makes the chat messages of a step storable."""

import json
from collections.abc import Mapping
from typing import Any

from retrace.plain_values import plain
from retrace.storable_json import Changes, storable_json

# Retrace takes no longer image inline.
_MAX_INLINE_CHARACTERS = 4096
# A message is in a list in the messages of a step.
_MESSAGE_DEPTH = 2


def storable_messages(value: Any, changes: Changes) -> dict[str, Any] | None:
    """Return the messages of a step in the outline that Retrace takes, which is that of OpenAI's chat API.

    What is of another form is kept as text; an image inline becomes a text that says how large it was. None for what has
    no messages.
    """
    if not isinstance(value, Mapping):
        return None
    given, output = plain(value.get("input", [])), plain(value.get("output"))
    listed = given if isinstance(given, list | tuple) else [given]
    messages = {
        "input": [_Outline(changes, "messages.input").message(message) for message in listed],
        "output": None if output is None else _Outline(changes, "messages.output").message(output),
    }
    if any(name not in messages for name in value):
        changes.note("messages", "an unknown field was left out")
    return messages


class _Outline:
    def __init__(self, changes: Changes, path: str) -> None:
        self._changes = changes
        self._path = path

    def message(self, given: Any) -> dict[str, Any]:
        message = storable_json(given, self._changes, self._path, _MESSAGE_DEPTH)
        if not isinstance(message, dict):
            return {"role": "unknown", "content": self._as_text(message)}
        role = message.get("role")
        if not isinstance(role, str) or role == "":
            message["role"] = self._put("unknown")
        if "content" in message:
            message["content"] = self._content(message["content"])
        if "tool_calls" in message:
            message["tool_calls"] = self._calls(message["tool_calls"])
        call_id = message.get("tool_call_id")
        if call_id is not None and not isinstance(call_id, str):
            message["tool_call_id"] = self._as_text(call_id)
        return message

    def _content(self, content: Any) -> Any:
        if content is None or isinstance(content, str):
            return content
        return [self._part(part) for part in content] if isinstance(content, list) else self._as_text(content)

    def _part(self, part: Any) -> dict[str, Any]:
        if not isinstance(part, dict) or not isinstance(part.get("type"), str) or part["type"] == "":
            return {"type": "text", "text": self._as_text(part)}
        if "image_url" in part:
            image = part["image_url"]
            url = image.get("url") if isinstance(image, dict) else image
            if not _is_address(url):
                size = _utf16_units(url if isinstance(url, str) else _json_text(image))
                left_out = f"[image, {size} characters inline: not recorded]"
                shown: dict[str, Any] = self._put({"type": "text", "text": left_out})
                return shown
            if not isinstance(image, dict):
                part["image_url"] = self._put({"url": url})
        if "text" in part and not isinstance(part["text"], str):
            part["text"] = self._as_text(part["text"])
        return part

    def _calls(self, calls: Any) -> Any:
        if calls is None:
            return None
        listed = calls if isinstance(calls, list) else self._put([calls])
        return [self._call(call) for call in listed]

    def _call(self, call: Any) -> dict[str, Any]:
        if not isinstance(call, dict):
            return self._call({"function": {"name": "", "arguments": self._as_text(call)}})
        call_id = call.get("id")
        if not isinstance(call_id, str):
            call["id"] = self._put("" if call_id is None else self._as_text(call_id))
        if "type" in call and not isinstance(call["type"], str):
            call["type"] = self._as_text(call["type"])
        if "function" in call:
            call["function"] = self._called(call["function"])
        return call

    def _called(self, called: Any) -> dict[str, Any]:
        if not isinstance(called, dict):
            return {"name": "", "arguments": self._as_text(called)}
        for name in ("name", "arguments"):
            value = called.get(name)
            if not isinstance(value, str):
                called[name] = self._put(self._as_text(value) if name in called else "")
        return called

    def _as_text(self, value: Any) -> str:
        self._put(value)
        return value if isinstance(value, str) else _json_text(value)

    def _put(self, value: Any) -> Any:
        """Note that a value takes the place of one of another form."""
        self._changes.note(self._path, "a message was not in the form of a chat message")
        return value


def _is_address(url: Any) -> bool:
    if not isinstance(url, str) or url == "":
        return False
    return not (url.startswith("data:") and len(url) > _MAX_INLINE_CHARACTERS)


def _utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
