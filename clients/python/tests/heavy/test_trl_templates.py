"""All chat templates of TRL render the tool calls of a data set that `retrace dataset create` makes, by transformers' own engine."""

import json
from pathlib import Path
from typing import Any

import pytest
from retrace_command import run_retrace

from retrace import Retrace, uuid7

trl = pytest.importorskip("trl", reason="skipped, because TRL is not installed")
from tiny_model import make_tokenizer  # noqa: E402

TEMPLATES = {
    path.stem: path.read_text()
    for path in sorted((Path(trl.__file__).parent / "chat_templates").glob("*.jinja"))
    # The others mark the tokens to train on, and render the same.
    if not path.stem.endswith("_training")
}
NUM_RENDERED = 27
"""Templates of TRL 1.16 that render calls whose arguments are an object, beside content that is empty."""
LEFT_OUT = {
    "deepseek_r1_distill": "it leaves out calls beside a content that is not null, which most others need",
    "deepseekv3": "it joins the arguments to a text, so they have to be one",
}
DESCRIPTION = "Looks up the weather"
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": DESCRIPTION,
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "a city"}}},
    },
}


@pytest.fixture
def row(retrace: Retrace) -> dict[str, Any]:
    """The row of an agent that called a tool, as `sft` exports it from what adapters and the proxy record."""
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it warm?"}]
    result = {"role": "tool", "content": "5 degrees", "tool_call_id": "c1"}
    with retrace.start_run("tools") as run, run.episode() as episode:
        output: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
        episode.step(messages={"input": asked, "output": output}, info={"toolDefinitions": [TOOL]})
        episode.step(messages={"input": [result], "output": {"role": "assistant", "content": "No."}})
        episode.end(success=True)
    assert retrace.flush()
    query = f"SELECT run_id, episode_id FROM episodes WHERE run_id = '{run.id}'"
    made = run_retrace("dataset", "create", f"tools-{uuid7()}", "--format", "sft", "--sql", query)
    (lines,) = (Path(made["path"]) / "data").glob("*.jsonl")
    exported: dict[str, Any] = json.loads(lines.read_text())
    return exported


def test_every_template_that_renders_calls_renders_those_of_a_data_set(row: dict[str, Any]) -> None:
    tokenizer = make_tokenizer()
    rendered = {}
    for name, template in TEMPLATES.items():
        if "tool_calls" in template and name not in LEFT_OUT:
            rendered[name] = tokenizer.apply_chat_template(
                row["messages"], tools=row["tools"], chat_template=template, tokenize=False
            )
    assert len(rendered) == NUM_RENDERED
    for name, text in rendered.items():
        # The only city is that of the call; arguments that were a text would be written with quotes that are escaped.
        assert text.count("Oslo") == 1, name
        assert '\\"city' not in text, name
        assert DESCRIPTION in text, name
        assert "5 degrees" in text, name
