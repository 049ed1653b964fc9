"""A processor as a platform of verl, which has GPUs and NPUs only, so that a recipe can be tried without one.

Importing this registers it, before anything else of verl asks for its platform.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry


class Processor(PlatformBase):
    """What verl asks of a platform; of devices to choose there is one, and the allocator is the system's."""

    device_name = "cpu"
    vendor_name = "cpu"
    device_module: ModuleType = torch.cpu

    def is_available(self) -> bool:
        """It is always there."""
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        """It is always there."""
        return True

    def current_device(self) -> Any:
        """The device, which has no number."""
        return "cpu"

    def device_count(self) -> int:
        """There is one."""
        return 1

    def set_device(self, device_index: int) -> None:
        """There is one."""

    def synchronize(self, device_index: int | None = None) -> None:
        """Nothing runs beside the caller."""

    def manual_seed(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        """There are none."""

    def empty_cache(self) -> None:
        """There is none."""

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        """It has no such number."""
        return None, None

    def communication_backend_name(self) -> str:
        """As the worker's group has it."""
        return "gloo"

    def visible_devices_envvar(self) -> str:
        """There is none."""
        return ""

    def nvtx_range(self, msg: str) -> Any:
        """Mark nothing."""
        return nullcontext()

    def profiler_start(self) -> None:
        """There is none."""

    def profiler_stop(self) -> None:
        """There is none."""

    def ray_resource_name(self) -> str:
        """As Ray names it."""
        return "CPU"

    def ray_noset_envvars(self) -> list[str]:
        """There are none."""
        return []

    def is_ipc_supported(self) -> bool:
        """No memory of devices is shared."""
        return False

    def cudart(self) -> Any:
        """There is none."""
        return None


PlatformRegistry.register("cpu")(Processor)
os.environ["VERL_PLATFORM"] = "cpu"


def register_engines(registry: Any) -> None:
    """Register for the processor what verl registers for GPUs."""
    for model_type, strategies in registry._engines.items():
        for strategy, classes in strategies.items():
            if "cpu" not in classes and "cuda" in classes:
                registry.register(model_type, strategy, device="cpu")(classes["cuda"])
