"""The ranks of one worker: rank 0 serves, the others get its calls by broadcast."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from .errors import EngineError

# Between two calls the trainer collects episodes, for hours if need be; a rank that dies closes its connections, which is seen at once.
IDLE_TIMEOUT = timedelta(days=365)
# Longest collective inside of one call.
CALL_TIMEOUT = timedelta(minutes=30)


class Group:
    """Communication among the ranks. Every method must be called by all ranks, in the same order."""

    rank: int
    size: int
    device: torch.device
    mesh: DeviceMesh

    def __init__(self) -> None:
        has_cuda = torch.cuda.is_available()
        self.rank, self.size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        self.device = (
            torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if has_cuda else torch.device("cpu")
        )
        if has_cuda:
            torch.cuda.set_device(self.device)
        backend = "cpu:gloo,cuda:nccl" if has_cuda else "gloo"
        if dist.is_initialized():
            # Ray Train has opened it.
            pass
        elif "RANK" in os.environ:
            dist.init_process_group(backend, timeout=CALL_TIMEOUT)
        else:
            # It speaks to nobody, so it needs no name that others can resolve.
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
            dist.init_process_group(
                backend, timeout=CALL_TIMEOUT, store=dist.HashStore(), rank=0, world_size=1
            )
        self._control = dist.new_group(backend="gloo", timeout=IDLE_TIMEOUT)
        self.mesh = init_device_mesh(self.device.type, (self.size,))

    def broadcast(self, call: object = None) -> Any:
        """Send rank 0's object to all ranks, and return it."""
        if self.size == 1:
            return call
        box = [call]
        dist.broadcast_object_list(box, src=0, group=self._control)
        return box[0]

    def gather(self, value: object) -> list[Any]:
        """Collect the value of each rank on rank 0; elsewhere the list is empty."""
        if self.size == 1:
            return [value]
        values: list[Any] | None = [None] * self.size if self.rank == 0 else None
        dist.gather_object(value, values, dst=0, group=self._control)
        return values or []

    def agree(self, error: EngineError | None) -> None:
        """Raise on all ranks the first error that any rank has, so that none waits for one that gave up."""
        errors: list[EngineError | None] = [error]
        if self.size > 1:
            errors = [None] * self.size
            dist.all_gather_object(errors, error, group=self._control)
        for found in errors:
            if found is not None:
                raise found

    def sum(self, values: Sequence[float]) -> list[float]:
        """Add numbers over ranks, in float64."""
        total = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            dist.all_reduce(total, group=self._control)
        return [float(value) for value in total]
