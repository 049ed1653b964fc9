"""Plain forms of Python's values: those that JSON has."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

_PLAIN = (str, bool, int, float, list, tuple, dict)


def plain(value: Any) -> Any:
    """Return a value as one that JSON has a form for; what is inside it may still be anything.

    NumPy, torch and Pydantic values become their plain ones, anything else that JSON has no form for its text.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    # torch.Tensor and numpy.ndarray, numpy.generic; pydantic.BaseModel.
    for method in ("tolist", "model_dump"):
        convert: Callable[[], Any] | None = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    return str(value)
