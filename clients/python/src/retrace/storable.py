"""Makes records storable: whatever an agent recorded becomes what Retrace takes, as `clients/vectors` say for all clients.

Texts are well-formed, impossible values are left out, what is too large is cut with its length kept, and what is nested too deep or has
a name that is refused is replaced. A step that was changed is not trained on, and says why.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from retrace.plain_values import plain
from retrace.storable_json import Changes, Json, storable_json, storable_text
from retrace.storable_messages import storable_messages
from retrace.storable_size import RECORD_LIMITS, REQUEST_LIMITS, SizeLimits, cut_text, fit_size
from retrace.storable_tokens import NO_TOKENS, storable_tokens
from retrace.token_columns import SCHEMAS

Fields = dict[str, Any]
Schema = Mapping[str, Any]

IMPOSSIBLE: Any = object()
"""Says that a value can't be made to fit: it is to be left out."""

# Fields without which a record would be another one.
_KEPT = frozenset(
    [
        "type",
        "episode",
        "step",
        "id",
        "name",
        "value",
        "source",
        "occurredAt",
        "endReason",
        "detail",
        "numSteps",
        "reason",
        "untrainable",
    ]
)
# The least that a record consists of, by its type; that of the start of a run is "".
_LEAST = {
    "episode": {"type", "episode", "occurredAt"},
    "step": {"type", "episode", "step", "occurredAt", "tokens", "untrainable"},
    "end": {"type", "episode", "endReason", "detail", "occurredAt"},
    "": {"id", "name"},
}
_MADE_STORABLE = "made storable: "
_MAX_SHOWN_CHANGES = 10
_MAX_REASON_CHARACTERS = 1_000
_MAX_SAFE_INTEGER = 2**53 - 1
_MAX_NUMBER = 1.7976931348623157e308
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Storable:
    """A content that Retrace takes, and what had to be changed for that."""

    content: Fields | None
    """None: nothing of it can be stored."""
    changes: list[str]
    """Each change in words, such as `usage.inputTokens: an impossible value was left out`."""


def storable_entry(kind: str, fields: Mapping[str, Any]) -> Storable:
    """Make the start of a run, a record of it, or its end storable, as `storable_record` does with records."""
    if kind == "record":
        return storable_record(fields)
    return _storable(fields, "runStart" if kind == "start" else "runEnd", REQUEST_LIMITS)


def storable_record(record: Mapping[str, Any], limits: SizeLimits = RECORD_LIMITS) -> Storable:
    """Return a record that Retrace takes, whatever is in this one.

    A record that needs no change stays equal, also when it is made storable again. One that has no place in an episode
    without what is impossible in it has no content: a reward of a step -1.
    """
    return _storable(record, str(record.get("type")), limits)


def poorest(record: Mapping[str, Any], reasons: list[str]) -> Fields | None:
    """Return a record with nothing but its place in its episode: a step says why, an end abandons the episode.

    None for records without such a place, and for one that has nothing else already.
    """
    kind = record.get("type", "")
    if kind not in _LEAST or (set(record) <= _LEAST[kind] and _has_no_tokens(record)):
        return None
    at = {"occurredAt": record["occurredAt"]} if _is_integer(record.get("occurredAt"), 0) else {}
    why = "; ".join(reasons)[:_MAX_REASON_CHARACTERS]
    if kind == "step":
        step = {name: record.get(name) for name in ("type", "episode", "step")}
        return _with_reason({**step, **at, "tokens": NO_TOKENS}, [why])
    if kind == "end":
        return {
            "type": kind,
            "episode": record.get("episode"),
            "endReason": "abandoned",
            "detail": why,
            **at,
        }
    if kind == "episode":
        return {"type": kind, "episode": record.get("episode"), **at}
    return {"id": record.get("id"), "name": "unnamed"}


def without_field(record: Mapping[str, Any], field: str, reason: str) -> Fields | None:
    """Return a record without a field, where it can be without it; else None."""
    is_step = record.get("type") == "step"
    if record.get(field) is None or (field in _KEPT and field != "occurredAt"):
        return None
    if is_step and field == "tokens" and _has_no_tokens(record):
        return None
    others = {name: value for name, value in record.items() if name != field}
    if not is_step:
        return others
    return _with_reason({**others, "tokens": NO_TOKENS} if field == "tokens" else others, [reason])


def _storable(fields: Mapping[str, Any], kind: str, limits: SizeLimits) -> Storable:
    changes = Changes()
    fitted = _fit_kind(fields, kind, changes) if kind in SCHEMAS else IMPOSSIBLE
    if fitted is IMPOSSIBLE:
        return Storable(None, changes.list)
    without = {"tokens": NO_TOKENS} if kind == "step" else {}
    content = fit_size(fitted, limits, changes, kept=_KEPT, without=without)
    if kind == "step" and changes.list:
        content = _with_reason(content, changes.list)
    return Storable(content, changes.list)


def _fit_kind(fields: Mapping[str, Any], kind: str, changes: Changes) -> Any:
    step = fields.get("step")
    own: dict[str, Callable[[Any], Any]] = {}
    if kind == "step":
        own = {
            "messages": lambda value: _or_impossible(storable_messages(value, changes)),
            "tokens": partial(storable_tokens, step=step, changes=changes),
        }
    if kind == "reward" and _fit(step, SCHEMAS[kind]["properties"]["step"], changes, "step") is IMPOSSIBLE:
        # Without its step, it would reward the whole episode.
        changes.note("step", "an impossible value")
        return IMPOSSIBLE
    fitted = _fit_fields(fields, SCHEMAS[kind], changes, "", own)
    return fitted if fitted is IMPOSSIBLE else _with_rules(fitted, kind, changes)


def _or_impossible(value: Any) -> Any:
    return IMPOSSIBLE if value is None else value


def _with_rules(record: Fields, kind: str, changes: Changes) -> Fields:
    """Keep the rules between fields."""
    if kind == "episode" and (record.get("groupMember") or 0) >= (record.get("groupSize") or 1):
        changes.note("groupMember", "an impossible value was left out")
        # The group's size comes last, as in the other clients.
        group_size = {"groupSize": record["groupSize"]} if "groupSize" in record else {}
        others = {name: value for name, value in record.items() if name not in ("groupMember", "groupSize")}
        return {**others, **group_size}
    if kind == "end" and record.get("endReason") == "abandoned" and not record.get("detail"):
        changes.note("detail", "a reason was missing")
        return {**record, "detail": "no reason was given"}
    logprobs = (record.get("tokens") or {}).get("logprobs") or []
    if record.get("logprobMode") == "none" and any(value is not None for value in logprobs):
        changes.note("logprobMode", "an impossible value was left out")
        return {name: value for name, value in record.items() if name != "logprobMode"}
    return record


def _with_reason(step: Fields, changes: list[str]) -> Fields:
    """Return a step that says why it is not trained on."""
    more = len(changes) - _MAX_SHOWN_CHANGES
    shown = "; ".join(changes[:_MAX_SHOWN_CHANGES]) + (f"; {more} more" if more > 0 else "")
    given = step.get("untrainable")
    prefix = f"{given}; " if given else ""
    return {**step, "untrainable": f"{prefix}{_MADE_STORABLE}{shown}"}


def _has_no_tokens(record: Mapping[str, Any]) -> bool:
    tokens = record.get("tokens")
    return not (isinstance(tokens, Mapping) and tokens.get("ids"))


def _fit(given: Any, schema: Schema, changes: Changes, path: str) -> Any:
    """Return a value as Retrace takes it, or IMPOSSIBLE.

    What is no text where one is wanted becomes its JSON, long texts are cut, and fields with an impossible value, or that
    nobody knows, are left out.
    """
    value = plain(given)
    kind = schema.get("type")
    if value is None:
        return None if schema.get("nullable") or ("anyOf" not in schema and kind is None) else IMPOSSIBLE
    if "anyOf" in schema:
        return value if any(_is_time(value, one) for one in schema["anyOf"]) else IMPOSSIBLE
    if kind is None:
        return storable_json(value, changes, path)
    if kind == "string":
        return _fit_text(value, schema, changes, path)
    if kind in ("integer", "number"):
        return _fit_number(value, schema)
    if kind == "boolean":
        return value if isinstance(value, bool) else IMPOSSIBLE
    if kind == "array":
        return _fit_list(value, schema, changes, path)
    return _fit_fields(value, schema, changes, path) if isinstance(value, Mapping) else IMPOSSIBLE


def _is_time(value: Any, schema: Schema) -> bool:
    if schema["type"] != "string":
        return _is_integer(value, schema["minimum"], schema["maximum"])
    if not isinstance(value, str) or len(value) > schema["maxLength"] or not _DATE_TIME.fullmatch(value):
        return False
    try:
        # Python 3.10 reads fewer forms than the server; the day and the time are what can be wrong.
        datetime.strptime(value[:16].upper().replace("T", " "), "%Y-%m-%d %H:%M")
    except ValueError:
        return False
    return True


def _fit_text(value: Any, schema: Schema, changes: Changes, path: str) -> Any:
    if "enum" in schema:
        return value if value in schema["enum"] else IMPOSSIBLE
    if not isinstance(value, str):
        if "pattern" in schema:
            return IMPOSSIBLE
        changes.note(path, "what was no text was written as JSON")
        value = json_text(storable_json(value, changes, path))
    text = storable_text(value, changes, path)
    if len(text) < schema.get("minLength", 0):
        return IMPOSSIBLE
    if "pattern" in schema and not re.search(schema["pattern"], text):
        return IMPOSSIBLE
    longest = schema.get("maxLength")
    if longest is None or len(text) <= longest:
        return text
    changes.note(path, "it was cut")
    return cut_text(text, longest)


def _fit_number(value: Any, schema: Schema) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return IMPOSSIBLE
    if schema["type"] == "integer":
        if not _is_integer(value):
            return IMPOSSIBLE
        value = int(value)
    low, high = schema.get("minimum", -_MAX_NUMBER), schema.get("maximum", _MAX_NUMBER)
    return value if low <= value <= min(high, _MAX_NUMBER) else IMPOSSIBLE


def _is_integer(value: Any, low: int = -_MAX_SAFE_INTEGER, high: int = _MAX_SAFE_INTEGER) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bool(low <= value <= high and value == int(value))


def _fit_list(value: Any, schema: Schema, changes: Changes, path: str) -> Any:
    if not isinstance(value, list | tuple):
        return IMPOSSIBLE
    items = schema.get("items", {})
    fitted = [_fit(item, items, changes, f"{path}[]") for item in value]
    kept = [item for item in fitted if item is not IMPOSSIBLE]
    if items.get("type") != "string" and len(kept) < len(fitted):
        return IMPOSSIBLE
    longest = schema.get("maxItems", len(kept))
    if len(kept) < len(fitted) or len(kept) > longest:
        changes.note(path, "a part of the list was left out")
    return kept[:longest]


def _fit_fields(
    value: Mapping[str, Any],
    schema: Schema,
    changes: Changes,
    path: str,
    own: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Any:
    """Return the fields of an object as Retrace takes them; IMPOSSIBLE where a field that must be there can't be."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    fitted: Fields = {}
    for name, given in value.items():
        is_known = name in properties
        field = properties[name] if is_known else schema.get("additionalProperties", False)
        at = name if path == "" else f"{path}.{name}"
        if isinstance(field, bool):
            changes.note(path or "record", "an unknown field was left out")
            continue
        item = plain(given)
        fit = own[name](item) if own and name in own and item is not None else _fit(item, field, changes, at)
        key = name if is_known else _name(str(name), changes, path)
        if fit is not IMPOSSIBLE:
            fitted[key] = fit
        elif field.get("nullable") and (name in required or not is_known):
            fitted[key] = None
        if fit is IMPOSSIBLE and item is not None:
            changes.note(at if is_known else path, "an impossible value was left out")
    return fitted if all(name in fitted for name in required) else IMPOSSIBLE


def _name(given: str, changes: Changes, path: str) -> str:
    name = storable_text(given, changes, path)
    if name:
        return name
    changes.note(path, "a name was replaced")
    return "[no name]"


def json_text(value: Json) -> str:
    """Return JSON as JavaScript writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
