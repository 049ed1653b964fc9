import json
from pathlib import Path
from typing import Any

import pytest

from retrace.recorders.openai_items import messages_of_input, messages_of_output
from retrace.recorders.reasoning import reasoning_of

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "reasoning.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_reasoning_of_a_message_is_that_of_the_vectors(vector: dict[str, Any]) -> None:
    message = {"role": "assistant", **vector["message"]}
    assert reasoning_of(message) == vector["reasoning"]
    if not vector["reasoning"]:
        return
    expected = {"role": "assistant", "content": "4", "reasoning_content": vector["reasoning"]}
    assert messages_of_input([message]) == [expected]
    assert messages_of_output([message]) == expected


def test_reasoning_before_a_message_of_the_responses_api_is_kept_with_it() -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "two and two"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]},
    ]
    expected = {"role": "assistant", "content": "4", "reasoning_content": "two and two"}
    assert messages_of_output(items) == expected
