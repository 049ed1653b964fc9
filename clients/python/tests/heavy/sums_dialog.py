"""Two calls of a model with their tokens, and what an import of them must show."""

import json
from pathlib import Path
from typing import Any

import pytest
from openai_server import OpenAIServer, Turn
from retrace_command import run_retrace

from retrace import Retrace

SYSTEM = {"role": "system", "content": "Add."}
FIRST = {"role": "user", "content": "2 + 3?"}
ANSWER = {"role": "assistant", "content": "5"}
SECOND = {"role": "user", "content": "3 + 3?"}
PROMPTS: list[list[Any]] = [[SYSTEM, FIRST], [SYSTEM, FIRST, ANSWER, SECOND]]


def serve_sums() -> OpenAIServer:
    return OpenAIServer(
        [
            Turn("5", prompt_ids=[1, 2, 3], sampled=[(5, -0.25), (9, -0.5)]),
            Turn("6", prompt_ids=[1, 2, 3, 5, 9, 4], sampled=[(6, -0.125)]),
        ]
    )


def import_rows(retrace: Retrace, rows: list[str], path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Import rows as a file, twice; return the report of the first time and the steps that SQL shows."""
    path.write_text("".join(f"{row}\n" for row in rows))
    report = run_retrace("import", str(path))
    again = run_retrace("import", str(path))
    assert again["numKnownRecords"] == again["numRecords"] == report["numRecords"]
    query = f"SELECT * FROM steps WHERE run_id = '{report['runId']}' ORDER BY step"
    return report, retrace.sql(query).to_pylist()


def check_steps(steps: list[dict[str, Any]]) -> None:
    one, two = steps
    assert json.loads(one["messages"]) == {"input": [SYSTEM, FIRST], "output": ANSWER}
    assert json.loads(two["messages"]) == {"input": [SECOND], "output": {"role": "assistant", "content": "6"}}
    assert (one["token_ids"], one["action_mask"]) == ([1, 2, 3, 5, 9], [0, 0, 0, 1, 1])
    assert (two["kept_prefix_tokens"], two["token_ids"], two["action_mask"]) == (5, [4, 6], [0, 1])
    assert one["token_logprobs"] == pytest.approx([0, 0, 0, -0.25, -0.5])
    assert two["token_logprobs"] == pytest.approx([0, -0.125])
    assert [(step["input_tokens"], step["output_tokens"]) for step in steps] == [(10, 1), (20, 2)]
    assert all(step["generation_ms"] > 0 for step in steps)


def rewards_of(retrace: Retrace, run_id: str) -> list[tuple[Any, ...]]:
    query = f"SELECT step, name, value FROM current_rewards WHERE run_id = '{run_id}'"
    return [(row["step"], row["name"], row["value"]) for row in retrace.sql(query).to_pylist()]
