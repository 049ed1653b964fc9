"""The sharded parameters of a policy, by their names in files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)
from torch.distributed.tensor import DTensor

from .checkpoints import ModelDirectory, TensorFile
from .errors import EngineError
from .group import Group
from .layout import Part, Spec, parameter_specs
from .model import Policy
from .options import OpenOptions

Shards = list[torch.Tensor]


@dataclass(frozen=True)
class Sharded:
    """A parameter, of which each rank holds the rows [start, end)."""

    part: Part
    spec: Spec
    parameter: DTensor
    start: int
    end: int

    @property
    def shard(self) -> torch.Tensor:
        """This rank's rows, which may be none."""
        return self.parameter.to_local().detach()

    def whole(self, shard: torch.Tensor) -> torch.Tensor:
        """Collect all rows of a tensor that is sharded like the parameter, on every rank."""
        p = self.parameter
        if p.device_mesh.size() == 1:
            return shard
        sharded = DTensor.from_local(
            shard, p.device_mesh, p.placements, run_check=False, shape=p.shape, stride=p.stride()
        )
        return sharded.full_tensor()


class Weights:
    """A policy whose parameters are shared out over the ranks with FSDP2."""

    def __init__(self, options: OpenOptions, group: Group):
        self._group = group
        self.specs = parameter_specs(options.shape)
        compute = torch.bfloat16 if options.is_bfloat16 else torch.float32
        self.policy = Policy(options.shape, options.recompute_layers, frozen_dtype=compute)
        self._shard(options, compute)
        device = torch.device("cpu") if options.offload else group.device
        self.policy.to_empty(device=device)
        with torch.no_grad():
            for parameter in self.policy.parameters():
                parameter.to_local().zero_()
        self.all = [self._sharded(spec, part) for spec in self.specs for part in spec.parts]
        self.trained = [sharded for sharded in self.all if not sharded.spec.is_frozen]

    def _shard(self, options: OpenOptions, compute: torch.dtype) -> None:
        in_float32 = MixedPrecisionPolicy(reduce_dtype=torch.float32, cast_forward_inputs=False)
        precision = replace(in_float32, param_dtype=compute) if options.is_bfloat16 else in_float32
        on_gpu = self._group.device.type == "cuda"
        offload = CPUOffloadPolicy() if options.offload and on_gpu else OffloadPolicy()
        trunks = [trunk for trunk in (self.policy.model, self.policy.critic) if trunk is not None]
        layers = [layer for trunk in trunks for layer in trunk.layers]
        heads = [self.policy.value_head] if options.shape.value_head else []
        for module in (*layers, *heads, self.policy):
            fully_shard(
                module,
                mesh=self._group.mesh,
                mp_policy=in_float32 if module in heads else precision,
                offload_policy=offload,
                # One rank has everything anyway; freeing and filling again would only take time.
                reshard_after_forward=self._group.size > 1 or module is self.policy,
            )
            module.set_gradient_divide_factor(1.0)
            # gloo has no other reduction with a factor.
            module.set_force_sum_reduction_for_comms(True)

    def _sharded(self, spec: Spec, part: Part) -> Sharded:
        parameter = self.policy.get_parameter(part.path)
        rows = part.shape[0]
        size = -(-rows // self._group.size)
        start = min(self._group.rank * size, rows)
        return Sharded(part, spec, parameter, start, min(start + size, rows))

    def reshard(self) -> None:
        """Forget whole copies of parameters; must be called before shards change."""
        for module in self.policy.modules():
            if isinstance(module, FSDPModule):
                module.reshard()

    def shards(self) -> Shards:
        """This rank's rows of all trained parameters."""
        return [sharded.shard for sharded in self.trained]

    def copy(self) -> Shards:
        """A copy of `shards`."""
        return [shard.clone() for shard in self.shards()]

    def gradients(self) -> Shards:
        """This rank's rows of all accumulated gradients; zeros for a parameter that had none."""
        return [
            torch.zeros_like(shard) if (grad := sharded.parameter.grad) is None else grad.to_local()
            for sharded, shard in zip(self.trained, self.shards(), strict=True)
        ]

    def clear_gradients(self) -> None:
        """Drop the accumulated gradients."""
        for sharded in self.trained:
            sharded.parameter.grad = None

    @contextmanager
    def replaced_by(self, other: Shards) -> Iterator[None]:
        """Evaluate other weights: they change places with the current ones meanwhile."""
        self._exchange(other)
        try:
            yield
        finally:
            self._exchange(other)

    def _exchange(self, other: Shards) -> None:
        self.reshard()
        for mine, theirs in zip(self.shards(), other, strict=True):
            kept = mine.clone()
            mine.copy_(theirs)
            theirs.copy_(kept)

    def require_in(self, file: TensorFile, prefix: str = "") -> None:
        """Check that a file has this rank's rows of every trained parameter, all finite."""
        for sharded in self.trained:
            file.require(prefix + sharded.part.name, sharded.part.shape)
        for sharded in self.trained:
            self._rows(file, sharded, prefix)

    def read(self, file: TensorFile, into: Shards, prefix: str = "") -> None:
        """Fill tensors like `shards` from a file that was checked."""
        for sharded, target in zip(self.trained, into, strict=True):
            target.copy_(self._rows(file, sharded, prefix))

    def _rows(self, file: TensorFile, sharded: Sharded, prefix: str = "") -> torch.Tensor:
        return file.rows(prefix + sharded.part.name, sharded.start, sharded.end, self._group.device)

    def read_frozen(self, directory: str, fingerprint: str) -> None:
        """Fill the frozen weights from a model directory."""
        files = ModelDirectory(directory)
        found = files.fingerprint()
        if found != fingerprint:
            raise EngineError(
                "FILE_DAMAGED",
                f"the model in {directory} has fingerprint {found[:12]}; the trainer's has {fingerprint[:12]}",
                "open.model.fingerprint",
            )
        for sharded in self.all:
            if sharded.spec.is_frozen:
                sharded.shard.copy_(self._rows(files.file_of(sharded.part), sharded))
