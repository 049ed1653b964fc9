"""The reasoning of chat messages, whichever field of a server carries it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Fields of a message that may carry reasoning; the first that has a text is taken."""
_TEXTS = ("text", "thinking", "reasoning", "reasoning_content", "summary", "content")
_PART = re.compile("(redacted_)?(thinking|reasoning)")
_MAX_NESTING = 6


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return the reasoning of a message, of a field or else of the parts of its content; "" where there is none."""
    for name in _FIELDS:
        text = _text(message.get(name))
        if text:
            return text
    content = message.get("content")
    return _text([part for part in content if is_reasoning_part(part)]) if isinstance(content, list) else ""


def is_reasoning_part(part: Any) -> bool:
    """Tell whether a part of a content is reasoning, which may be encrypted, and no part of what the message says."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return isinstance(kind, str) and _PART.match(kind) is not None


def _text(value: Any, nesting: int = 0) -> str:
    if isinstance(value, str):
        return value
    if nesting == _MAX_NESTING:
        return ""
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "".join(_text(item, nesting + 1) for item in value)
    if not isinstance(value, Mapping):
        return ""
    texts = (_text(value.get(name), nesting + 1) for name in _TEXTS)
    return next((text for text in texts if text), "")
