"""The port between the server and an environment: implement it where no adapter fits."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class InvalidTaskError(ValueError):
    """A task that the environment cannot be reset with."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to an action. None means missing or unknown, never zero."""

    text: str
    reward: float | None
    terminated: bool = False
    truncated: bool = False
    success: bool | None = None
    """Whether the episode succeeded; read at its end only."""
    action_valid: bool = True
    parsed_action: str | None = None
    legal_actions: Sequence[str] | None = None
    anchor: str | None = None
    info: Any = None

    def observation(self) -> dict[str, Any]:
        """Return the agent's view, in the protocol's fields."""
        legal = None if self.legal_actions is None else list(self.legal_actions)
        return {"text": self.text, "anchor": self.anchor, "legalActions": legal}


class HostedEpisode(Protocol):
    """One running environment. Its methods may be coroutines; others run in a thread."""

    def reset(
        self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]
    ) -> Result | Awaitable[Result]:
        """Start an episode. Equal tasks and seeds start equally; later chance depends on `member` too."""

    def step(self, action: str) -> Result | Awaitable[Result]:
        """Act; `action` is the text of the agent."""

    def close(self) -> Awaitable[None] | None:
        """Free what the episode holds."""


class HostedEnvironment(Protocol):
    """An environment that can be hosted: its description, and a way to make instances."""

    name: str
    description: str
    max_steps: int | None
    """Most actions of an episode; None without a limit of its own."""
    num_tasks: int | None
    """Number of tasks; a task is `{"index": i}`. None: tasks are made from a seed, and are `{"split": "train"}`."""
    families: Sequence[str]
    """Kinds of tasks, of which each task has one as `family`."""
    offers_anchors: bool
    actions: Sequence[str] | None
    """All actions, where there is a list."""

    def make(self) -> HostedEpisode:
        """Make an instance, which plays one episode at a time."""
