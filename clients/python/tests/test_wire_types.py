"""Compares what the client sends with the API's OpenAPI document, which the server's checks are made of."""

import dataclasses
import inspect
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrace import Retrace, Sampling, Tokens, Usage
from retrace.episode import Episode, Records
from retrace.records import EndReason, Messages, RunEndReason, to_wire
from retrace.run import Run

DOCUMENT = Path(__file__).parents[3] / "apps" / "api" / "openapi.json"
SCHEMAS: dict[str, Any] = json.loads(DOCUMENT.read_text())["components"]["schemas"]

# Fields that the client fills in by itself, and parameters that have another form than their field.
OWN_FIELDS = {"type", "episode", "step", "numSteps"}
FIELD_OF_PARAMETER = {"id": "episode", "finalTokenIds": "finalTokens"}


def parameters_of(function: Callable[..., Any]) -> set[str]:
    """Return the wire names of a method's parameters."""
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return set(to_wire(dict.fromkeys(names, 0)))


@pytest.mark.parametrize(
    ("schema", "function"),
    [
        ("EpisodeRecord", Run.episode),
        ("StepRecord", Episode.step),
        ("EndRecord", Episode.end),
    ],
)
def test_a_method_has_a_parameter_for_each_field_of_its_record(
    schema: str, function: Callable[..., Any]
) -> None:
    names = {FIELD_OF_PARAMETER.get(name, name) for name in parameters_of(function)}
    assert names | OWN_FIELDS >= set(SCHEMAS[schema]["properties"])
    assert names <= set(SCHEMAS[schema]["properties"])


@pytest.mark.parametrize(
    ("schema", "function"),
    [
        ("RewardRecord", Records.reward),
        ("AnnotationRecord", Records.annotate),
        ("StartRunRequest", Retrace.start_run),
        ("EndRunRequest", Run.end),
    ],
)
def test_a_method_has_the_fields_of_its_record_as_parameters(
    schema: str, function: Callable[..., Any]
) -> None:
    assert parameters_of(function) | {"type"} == set(SCHEMAS[schema]["properties"]) | {"type"}


@pytest.mark.parametrize(("field", "part"), [("tokens", Tokens), ("sampling", Sampling), ("usage", Usage)])
def test_a_part_of_a_step_has_the_fields_and_the_required_ones_of_its_schema(field: str, part: Any) -> None:
    schema = SCHEMAS["StepRecord"]["properties"][field]
    fields = dataclasses.fields(part)
    assert set(to_wire({item.name: 0 for item in fields})) == set(schema["properties"])
    required = [item.name for item in fields if item.default is dataclasses.MISSING]
    assert required == schema.get("required", [])


def test_messages_have_the_fields_of_their_schema() -> None:
    schema = SCHEMAS["StepRecord"]["properties"]["messages"]
    assert set(typing.get_type_hints(Messages)) == set(schema["properties"])


def test_reasons_are_the_words_of_their_schemas() -> None:
    assert list(typing.get_args(EndReason)) == SCHEMAS["EndRecord"]["properties"]["endReason"]["enum"]
    assert list(typing.get_args(RunEndReason)) == SCHEMAS["EndRunRequest"]["properties"]["reason"]["enum"]
