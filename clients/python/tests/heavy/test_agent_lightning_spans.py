"""Spans of the real agent-lightning 0.3: its AgentOps tracer on the real OpenAI client, its store and its rewards."""

import asyncio
import os
from pathlib import Path

import pytest
from sums_dialog import PROMPTS, check_steps, import_rows, rewards_of, serve_sums

from retrace import Retrace

# LiteLLM, which it imports, otherwise looks for a list of prices on the web.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["AGENTOPS_LOGGING_TO_FILE"] = "false"
pytest.importorskip("agentlightning", reason="agent-lightning is not installed")
import agentlightning as agl
from openai import AsyncOpenAI

pytestmark = pytest.mark.skipif(not hasattr(agl, "emit_reward"), reason="agent-lightning 1.0 has no spans")

NUM_SPANS = 5
WITHIN_S = 30.0


async def traced_rollout() -> list[str]:
    """Return the spans of a rollout with two calls and their rewards, as JSON, from agent-lightning's own store."""
    server = serve_sums()
    store = agl.InMemoryLightningStore()
    tracer = agl.AgentOpsTracer()
    tracer.init()
    tracer.init_worker(0, store)
    rollout = await store.start_rollout(input={"sum": [2, 3]})
    place = {"rollout_id": rollout.rollout_id, "attempt_id": rollout.attempt.attempt_id}
    client = AsyncOpenAI(base_url=server.url, api_key="any", max_retries=0)
    async with tracer.trace_context("sums", **place):
        await client.chat.completions.create(model="gpt-test", messages=PROMPTS[0], temperature=0.5)
        agl.emit_reward(0.25)
        await client.chat.completions.create(model="gpt-test", messages=PROMPTS[1], temperature=0.5)
        agl.emit_reward({"right": 1.0, "style": 0.5}, primary_key="right")
    spans = []
    for _ in range(int(WITHIN_S * 10)):
        spans = await store.query_spans(rollout.rollout_id)
        if len(spans) == NUM_SPANS:
            break
        await asyncio.sleep(0.1)
    server.close()
    return [span.model_dump_json() for span in spans]


def test_its_spans_become_steps_with_tokens_logprobs_and_rewards(retrace: Retrace, tmp_path: Path) -> None:
    spans = asyncio.run(traced_rollout())
    assert len(spans) == NUM_SPANS
    report, steps = import_rows(retrace, spans, tmp_path / "spans.jsonl")
    assert (report["format"], report["numEpisodes"], report["skipped"]) == ("agent-lightning", 1, [])
    check_steps(steps)
    assert [(step["reward"], step["model"], step["temperature"]) for step in steps] == [
        (0.25, "gpt-test", 0.5),
        (1.0, "gpt-test", 0.5),
    ]
    assert rewards_of(retrace, report["runId"]) == [(None, "style", 0.5)]
