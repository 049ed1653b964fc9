"""A guessing game on OpenEnv's own server: a number from 1 to 6 follows from the seed, and there are three guesses."""

import random
import sys
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class Guess(Action):
    number: int = Field(..., ge=1, le=6)


class Answer(Observation):
    text: str = ""
    success: bool = False


class GuessEnvironment(Environment):
    """Guess a number from 1 to 6 in three guesses."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(step_count=0)
        self._secret = 1

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_options: Any) -> Answer:
        self._state = State(episode_id=episode_id, step_count=0)
        self._secret = random.Random(seed).randint(1, 6)
        return Answer(text="Guess a number from 1 to 6.", done=False, reward=None)

    def step(self, action: Guess, timeout_s: float | None = None, **_options: Any) -> Answer:
        self._state.step_count += 1
        is_right = action.number == self._secret
        text = "Right." if is_right else "Too low." if action.number < self._secret else "Too high."
        is_over = is_right or self._state.step_count == 3
        return Answer(text=text, success=is_right, done=is_over, reward=float(is_right))

    @property
    def state(self) -> State:
        return self._state


app = create_app(GuessEnvironment, Guess, Answer, env_name="guess", max_concurrent_envs=8)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
