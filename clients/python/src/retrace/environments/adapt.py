"""Chooses the adapter for an environment by the package that its class comes from. No package is imported for it."""

from collections.abc import Callable
from typing import Any

from retrace.environments.gymnasium import GymnasiumAdapter
from retrace.environments.hosted import HostedEnvironment
from retrace.environments.legacy_verifiers import LegacyVerifiersAdapter
from retrace.environments.questions import ReasoningGymAdapter
from retrace.environments.skyrl_gym import SkyRlGymAdapter
from retrace.environments.textarena import TextArenaAdapter
from retrace.environments.verifiers import VerifiersAdapter

_FIELDS = ("name", "description", "max_steps", "num_tasks", "families", "offers_anchors", "actions", "make")


def adapt(environment: Any, **options: Any) -> HostedEnvironment:
    """Return `environment` as one that can be hosted.

    Raises TypeError where no adapter fits, naming the class, or where an option is none of the adapter's.
    """
    hosted: HostedEnvironment = _adapter_of(environment, options)
    return hosted


def _adapter_of(environment: Any, options: dict[str, Any]) -> Any:
    if "rows" in options:
        return SkyRlGymAdapter(environment, **options)
    factory: Callable[[], Any] | None = None
    sample = environment
    is_instance = any(hasattr(environment, method) for method in ("step", "rollout", "make"))
    if isinstance(environment, type):
        factory = environment
        sample = _instance_of(environment)
    elif callable(environment) and not is_instance:
        factory = environment
        sample = environment()
    if all(hasattr(sample, field) for field in _FIELDS):
        return sample
    packages = {base.__module__.split(".")[0] for base in type(sample).__mro__}
    if "verifiers" in packages and hasattr(sample, "rollout"):
        return LegacyVerifiersAdapter(sample, **options)
    if "verifiers" in packages:
        return VerifiersAdapter(sample, **options)
    if "reasoning_gym" in packages:
        return ReasoningGymAdapter(sample, **options)
    if "textarena" in packages:
        return TextArenaAdapter(sample, factory, **options)
    if hasattr(sample, "reset") and hasattr(sample, "step"):
        return GymnasiumAdapter(sample, factory, is_gem="gem" in packages, **options)
    kind = f"{type(sample).__module__}.{type(sample).__qualname__}"
    raise TypeError(f"{kind} cannot be hosted; it must have reset and step, or be a HostedEnvironment")


def _instance_of(environment: type) -> Any:
    """Make an environment of a class, which takes no arguments."""
    try:
        return environment()
    except TypeError as error:
        name = environment.__qualname__
        rule = f"give a function that makes one, such as lambda: {name}(…)"
        raise TypeError(f"the class {name} can't be made without arguments ({error}); {rule}") from error
