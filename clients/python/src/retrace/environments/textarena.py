"""Games of TextArena for one player."""

import copy
from collections.abc import Callable
from typing import Any

from retrace.environments.hosted import Result


class TextArenaAdapter:
    """Describes a game, and makes instances of it."""

    def __init__(
        self,
        sample: Any,
        factory: Callable[[], Any] | None,
        *,
        name: str | None = None,
        max_steps: int | None = None,
        success: Callable[[float, dict[str, Any]], bool] | None = None,
    ) -> None:
        self.name = name or str(getattr(sample, "env_id", None) or type(sample).__name__)
        self.description = f"The game {self.name} of TextArena"
        self.max_steps = max_steps
        self.num_tasks = None
        self.families = ()
        self.offers_anchors = False
        self.actions = None
        self.success = success or (lambda reward, _info: reward > 0)
        self._factory = factory or (lambda: copy.deepcopy(sample))

    def make(self) -> "_Game":
        """Make an instance."""
        return _Game(self, self._factory())


class _Game:
    def __init__(self, adapter: TextArenaAdapter, env: Any) -> None:
        self._adapter = adapter
        self._env = env

    def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        self._env.reset(num_players=1, seed=seed)
        return Result(self._observe(), None)

    def step(self, action: str) -> Result:
        is_over, info = self._env.step(action=action)
        if not is_over:
            return Result(self._observe(), 0.0, parsed_action=action)
        rewards, game_info = self._env.close()
        reward = float(rewards[0])
        told = dict((game_info or {}).get(0, {}) if isinstance(game_info, dict) else {})
        success = self._adapter.success(reward, told)
        is_truncated = bool(told.get("turn_limit") and not success and "limit" in str(told.get("reason", "")))
        text = str(told.get("reason") or info.get("reason") or "")
        return Result(
            text,
            reward,
            terminated=not is_truncated,
            truncated=is_truncated,
            success=success,
            action_valid=not bool(told.get("invalid_move")),
            parsed_action=action,
        )

    def close(self) -> None:
        pass

    def _observe(self) -> str:
        """Return the messages since the last call: reading them empties the game's queue."""
        _player, observation = self._env.get_observation()
        if isinstance(observation, str):
            return observation
        return "\n".join(str(message[1]) for message in observation)
