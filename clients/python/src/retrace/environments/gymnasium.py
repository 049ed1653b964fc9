"""Environments with the interface of Gymnasium: its own, GEM's, and those of users."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from retrace.environments.hosted import Result

GEM_SUCCESS_REWARD = 1.0


class GymnasiumAdapter:
    """Describes an environment of Gymnasium's interface, and makes instances of it."""

    def __init__(
        self,
        sample: Any,
        factory: Callable[[], Any] | None,
        *,
        is_gem: bool = False,
        name: str | None = None,
        max_steps: int | None = None,
        actions: Sequence[str] | None = None,
        to_text: Callable[[Any, dict[str, Any]], str] | None = None,
        to_action: Callable[[str], Any] | None = None,
        success: Callable[[float, dict[str, Any]], bool | None] | None = None,
    ) -> None:
        spec = getattr(sample, "spec", None)
        self.name = name or str(getattr(spec, "id", None) or type(sample).__name__)
        self.description = (
            (type(getattr(sample, "unwrapped", sample)).__doc__ or self.name).strip().split("\n")[0]
        )
        self.max_steps = (
            max_steps or getattr(spec, "max_episode_steps", None) or getattr(sample, "max_turns", None)
        )
        self.num_tasks = None
        self.families: Sequence[str] = ()
        self.offers_anchors = False
        self.actions = list(actions) if actions else _action_names(sample)
        self.is_gem = is_gem
        self.to_text = to_text
        self.to_action = to_action
        self.success = success or (_gem_success if is_gem else _told_success)
        self._first: Any = sample
        self._factory = factory or _factory_of(sample)

    def make(self) -> "GymnasiumEpisode":
        """Make an instance; the first one is the sample that was looked at."""
        first, self._first = self._first, None
        return GymnasiumEpisode(self, first if first is not None else self._factory())


class GymnasiumEpisode:
    """One instance, whose actions and observations become text."""

    def __init__(self, adapter: GymnasiumAdapter, env: Any) -> None:
        self._adapter = adapter
        self._env = env
        self._last = Result("", None)

    def reset(self, task: dict[str, Any], seed: int, member: int, options: dict[str, Any]) -> Result:
        """Reset with the seed; the later chance of other members of a group comes from another generator."""
        given = {"seed": seed, **({"options": options} if options else {})}
        observation, info = self._env.reset(**given)
        if member > 0:
            self._reseed(seed, member)
        self._last = Result(self._text(observation, info), None, legal_actions=self._legal(info))
        return self._last

    def step(self, action: str) -> Result:
        """Take an action; one that is none of the environment's costs the turn and changes nothing."""
        try:
            chosen = self._action(action)
        except ValueError as error:
            info = {"invalidAction": str(error)}
            return Result(
                self._last.text, 0.0, action_valid=False, legal_actions=self._last.legal_actions, info=info
            )
        observation, reward, terminated, truncated, info = self._env.step(chosen)
        is_over = bool(terminated or truncated)
        if self._adapter.is_gem and truncated:
            # At its limit of turns GEM says both.
            terminated = False
        self._last = Result(
            text=self._text(observation, info),
            reward=float(reward),
            terminated=bool(terminated),
            truncated=bool(truncated),
            success=self._adapter.success(float(reward), info) if is_over else None,
            parsed_action=action.strip(),
            legal_actions=self._legal(info),
            info=_plain(info),
        )
        return self._last

    def close(self) -> None:
        """Close the instance."""
        if hasattr(self._env, "close"):
            self._env.close()

    def _reseed(self, seed: int, member: int) -> None:
        env = getattr(self._env, "unwrapped", self._env)
        if hasattr(env, "np_random"):
            import numpy as np

            env.np_random = np.random.default_rng([seed, member])

    def _text(self, observation: Any, info: dict[str, Any]) -> str:
        if self._adapter.to_text is not None:
            return self._adapter.to_text(observation, info)
        if isinstance(observation, str):
            return f"{info.get('prefix', '')}{observation}{info.get('suffix', '')}"
        if getattr(self._env, "render_mode", None) == "ansi":
            return str(self._env.render())
        return json.dumps(_plain(observation))

    def _legal(self, info: dict[str, Any]) -> list[str] | None:
        actions = self._adapter.actions
        mask = info.get("action_mask")
        if actions is None or mask is None:
            return None if actions is None else list(actions)
        return [action for action, is_legal in zip(actions, mask, strict=False) if is_legal]

    def _action(self, text: str) -> Any:
        if self._adapter.to_action is not None:
            return self._adapter.to_action(text)
        actions = self._adapter.actions
        if actions is not None:
            if text.strip() not in actions:
                raise ValueError(f"must be one of {', '.join(actions)}")
            start = int(getattr(getattr(self._env, "action_space", None), "start", 0))
            return start + list(actions).index(text.strip())
        space = getattr(self._env, "action_space", None)
        if space is None or type(space).__name__ == "Text":
            return text
        import numpy as np

        value = np.asarray(json.loads(text), dtype=getattr(space, "dtype", None))
        if not space.contains(value):
            raise ValueError(f"must be a value of {space}, as JSON")
        return value


def _action_names(env: Any) -> list[str] | None:
    space: Any = getattr(env, "action_space", None)
    if type(space).__name__ != "Discrete":
        return None
    start = int(getattr(space, "start", 0))
    return [str(start + place) for place in range(int(space.n))]


def _factory_of(sample: Any) -> Callable[[], Any]:
    if type(sample).__module__.split(".")[0] == "gymnasium" and getattr(sample, "spec", None) is not None:
        import gymnasium

        spec, mode = sample.spec, getattr(sample, "render_mode", None)
        return lambda: gymnasium.make(spec, render_mode=mode)
    return lambda: copy.deepcopy(sample)


def _told_success(_reward: float, info: dict[str, Any]) -> bool | None:
    told = info.get("success", info.get("is_success"))
    return None if told is None else bool(told)


def _gem_success(reward: float, info: dict[str, Any]) -> bool | None:
    told = _told_success(reward, info)
    return reward >= GEM_SUCCESS_REWARD if told is None else told


def _plain(value: Any) -> Any:
    """Return the value as JSON has it; NumPy's numbers and arrays become numbers and lists."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
