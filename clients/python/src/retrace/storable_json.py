"""Makes texts and any JSON storable."""

import math
from typing import Any, TypeAlias

from retrace.plain_values import plain

Json: TypeAlias = None | bool | int | float | str | list[Any] | dict[str, Any]

# Depth at which Retrace takes no more lists and objects in a field of any JSON.
_MAX_DEPTH = 100
# Values in one field; more would not fit into a record.
_MAX_VALUES = 2**20
_MAX_NUMBER = 1.7976931348623157e308
_REFUSED_NAME = "__proto__"


class Changes:
    """Changes that made a record storable, in words: each once, however often it was made."""

    def __init__(self) -> None:
        self._noted: dict[str, None] = {}

    @property
    def list(self) -> list[str]:
        """The changes, in the order in which they were made first."""
        return [*self._noted]

    def note(self, path: str, change: str) -> None:
        """Note a change of a field, with `[]` for any element of a list, so that records differ in few words."""
        self._noted[f"{path}: {change}"] = None


def storable_text(text: str, changes: Changes, path: str) -> str:
    """Return a text whose lone halves of surrogate pairs are U+FFFD: UTF-8 has no bytes for them."""
    if text.isascii():
        return str(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        changes.note(path, "half a character was replaced")
        # Pairs of halves become one character, as in other languages.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str(text)


def storable_json(value: Any, changes: Changes, path: str, depth: int = 0) -> Json:
    """Return any value as JSON that Retrace takes.

    Texts are well-formed; a number that is not finite is null; names that are refused get another one; what is nested too deep,
    contains itself, or is no JSON becomes a text that says so. `depth` is that of the value in its field.
    """
    return _Repair(changes, path).repair(value, depth)


class _Repair:
    def __init__(self, changes: Changes, path: str) -> None:
        self._changes = changes
        self._path = path
        self._parents: set[int] = set()
        self._values = 0

    def repair(self, given: Any, depth: int) -> Json:
        value = plain(given)
        self._values += 1
        if self._values > _MAX_VALUES:
            return self._left_out("what goes beyond 1,048,576 values")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return storable_text(value, self._changes, self._path)
        if isinstance(value, int | float):
            # Retrace reads numbers as 64-bit floats.
            if math.isfinite(value) if isinstance(value, float) else abs(value) <= _MAX_NUMBER:
                return value
            self._changes.note(self._path, "a number that is not finite was left out")
            return None
        return self._nested(value, id(given), depth)

    def _nested(self, value: Any, key: int, depth: int) -> Json:
        if key in self._parents:
            return self._left_out("a value inside itself")
        if depth >= _MAX_DEPTH and len(value) > 0:
            return self._left_out("what is nested more than 100 deep")
        self._parents.add(key)
        try:
            if isinstance(value, dict):
                return self._object(value, depth)
            return [self.repair(item, depth + 1) for item in value]
        except Exception:
            # A property, or a conversion, of the caller's.
            return self._left_out("what could not be read")
        finally:
            self._parents.discard(key)

    def _object(self, value: dict[Any, Any], depth: int) -> Json:
        repaired: dict[str, Any] = {}
        for given, item in value.items():
            name = storable_text(str(given), self._changes, self._path)
            if name == _REFUSED_NAME:
                self._changes.note(self._path, "a name was replaced")
                name = "[__proto__]"
            while name in repaired:
                name += "_"
            repaired[name] = self.repair(item, depth + 1)
        return repaired

    def _left_out(self, part: str) -> str:
        self._changes.note(self._path, f"{part} was left out")
        return f"[left out: {part}]"
