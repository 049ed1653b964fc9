"""Records what LLM agents do in Retrace, and reads it again.

from retrace import Retrace

with Retrace() as client, client.start_run("my-agent") as run:
    with run.episode(task={"goal": "a plank"}) as episode:
        episode.step(observation="a log", action="saw it", reward=1.0)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrace.batches import Batch, Ragged
    from retrace.client import AsyncRetrace, Retrace
    from retrace.context import ContextDelta, TokenContext, append_to_context
    from retrace.damaged import DamagedEpisode
    from retrace.delivery import Delivery
    from retrace.environments import serve_environment, serve_environment_async
    from retrace.episode import Episode
    from retrace.errors import RetraceError
    from retrace.ids import uuid7
    from retrace.outside_update import Checkpoint, RecordedUpdate, TrainedUpdate, TrainerEngine
    from retrace.records import EndReason, Message, Messages, RunEndReason, Sampling, Tokens, Usage
    from retrace.run import Run
    from retrace.training_batch import TrainingBatch

__all__ = [
    "AsyncRetrace",
    "Batch",
    "Checkpoint",
    "ContextDelta",
    "DamagedEpisode",
    "Delivery",
    "EndReason",
    "Episode",
    "Message",
    "Messages",
    "Ragged",
    "RecordedUpdate",
    "Retrace",
    "RetraceError",
    "Run",
    "RunEndReason",
    "Sampling",
    "TokenContext",
    "Tokens",
    "TrainedUpdate",
    "TrainerEngine",
    "TrainingBatch",
    "Usage",
    "append_to_context",
    "serve_environment",
    "serve_environment_async",
    "uuid7",
]

# Where each name is. It is imported when it is asked for, so that hosting an environment needs no pyarrow, and recording no websockets.
_MODULES = {
    "AsyncRetrace": "retrace.client",
    "Batch": "retrace.batches",
    "Checkpoint": "retrace.outside_update",
    "ContextDelta": "retrace.context",
    "DamagedEpisode": "retrace.damaged",
    "Delivery": "retrace.delivery",
    "EndReason": "retrace.records",
    "Episode": "retrace.episode",
    "Message": "retrace.records",
    "Messages": "retrace.records",
    "Ragged": "retrace.batches",
    "RecordedUpdate": "retrace.outside_update",
    "Retrace": "retrace.client",
    "RetraceError": "retrace.errors",
    "Run": "retrace.run",
    "RunEndReason": "retrace.records",
    "Sampling": "retrace.records",
    "TokenContext": "retrace.context",
    "Tokens": "retrace.records",
    "TrainedUpdate": "retrace.outside_update",
    "TrainerEngine": "retrace.outside_update",
    "TrainingBatch": "retrace.training_batch",
    "Usage": "retrace.records",
    "append_to_context": "retrace.context",
    "serve_environment": "retrace.environments",
    "serve_environment_async": "retrace.environments",
    "uuid7": "retrace.ids",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'retrace' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
