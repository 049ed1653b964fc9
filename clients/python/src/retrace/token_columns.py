"""The fields of the tokens of a step, as the schemas of records have them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMAS: dict[str, Mapping[str, Any]] = json.loads(
    (Path(__file__).parent / "record_schemas.json").read_text()
)
"""Schemas of records and of requests about runs, as the API's document has them."""

TOKEN_FIELDS: dict[str, Any] = SCHEMAS["step"]["properties"]["tokens"]["properties"]
"""The fields of `tokens`, with their schemas."""

_ITEMS = {name: schema.get("items", {}) for name, schema in TOKEN_FIELDS.items()}

REAL_COLUMNS = tuple(name for name, items in _ITEMS.items() if items.get("type") == "number")
"""Columns of one number a token, None where it is unknown."""

LIST_COLUMNS = tuple(
    name
    for name, items in _ITEMS.items()
    if items.get("type") == "integer" and items.get("minimum") == 0 and TOKEN_FIELDS[name].get("nullable")
)
"""Columns of several integers a token, which an earlier server may not know, and which no update of Retrace reads."""
