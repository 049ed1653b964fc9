"""Records what LLM agents do in Retrace, and reads it again.

from retrace import Retrace

with Retrace() as client, client.start_run("my-agent") as run:
    with run.episode(task={"goal": "a plank"}) as episode:
        episode.step(observation="a log", action="saw it", reward=1.0)
"""

from retrace.batches import Batch, Ragged
from retrace.client import AsyncRetrace, Retrace
from retrace.context import ContextDelta, TokenContext, append_to_context
from retrace.damaged import DamagedEpisode
from retrace.delivery import Delivery
from retrace.environments import serve_environment, serve_environment_async
from retrace.episode import Episode
from retrace.errors import RetraceError
from retrace.ids import uuid7
from retrace.records import EndReason, Message, Messages, RunEndReason, Sampling, Tokens, Usage
from retrace.run import Run

__all__ = [
    "AsyncRetrace",
    "Batch",
    "ContextDelta",
    "DamagedEpisode",
    "Delivery",
    "EndReason",
    "Episode",
    "Message",
    "Messages",
    "Ragged",
    "Retrace",
    "RetraceError",
    "Run",
    "RunEndReason",
    "Sampling",
    "TokenContext",
    "Tokens",
    "Usage",
    "append_to_context",
    "serve_environment",
    "serve_environment_async",
    "uuid7",
]
