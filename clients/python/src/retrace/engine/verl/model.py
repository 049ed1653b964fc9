"""verl's engine of one policy, made from a directory as Hugging Face's; that is made from the shape and a file of weights."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.distributed.tensor import DTensor, distribute_tensor

from ..checkpoints import TensorFile
from ..group import Group
from ..layout import parameter_specs
from ..optimizer import MOMENTS, StepOptions
from ..options import OpenOptions
from .settings import can_pack, hugging_face_config, make_engine, optimizer_settings

NO_LIMIT = float("inf")
DERIVATIVE = "derivative_of_"
Entry = tuple[str, tuple[int, ...], Callable[[], torch.Tensor]]
Column = NDArray[np.float32]


@dataclass(frozen=True)
class Batch:
    """The sequences of one replica, as many as each other one has."""

    sequences: Sequence[NDArray[np.int32]]
    temperature: float
    max_tokens: int
    """Of a micro-batch; the same on all replicas, and no sequence is longer."""


class VerlModel:
    """Weights, gradients and optimizer of a policy in verl's engine, by their names in files."""

    def __init__(self, options: OpenOptions, settings: Any, weights: str, group: Group):
        self._group = group
        self._packs = can_pack(options)
        self._optimizer_settings = optimizer_settings(options.optimizer)
        self.parts = [part for spec in parameter_specs(options.shape) for part in spec.parts]
        with tempfile.TemporaryDirectory(prefix="retrace-verl-") as name:
            (Path(name) / "config.json").write_text(json.dumps(hugging_face_config(options.shape)))
            # The names in a policy's file are Hugging Face's.
            (Path(name) / "model.safetensors").symlink_to(Path(weights).resolve())
            self.engine = make_engine(options, settings, self._optimizer_settings, name)
            self.engine.initialize()
        self.num_steps = 0
        self._parameters = dict(self.engine.module.named_parameters())
        spare_vectors(self.engine.optimizer)
        if options.is_bfloat16:
            self.engine.module.register_forward_hook(in_float32)

    # Which part of a batch this rank evaluates; ranks that share a replica evaluate the same

    @property
    def num_replicas(self) -> int:
        """Parts of a batch that are evaluated side by side."""
        return int(self.engine.get_data_parallel_size())

    @property
    def replica(self) -> int:
        """The part of this rank."""
        return int(self.engine.get_data_parallel_rank())

    # Passes

    def evaluate(self, batch: Batch, *, squares: bool) -> Mapping[str, list[Column]] | None:
        """Outputs of each sequence, [length]: the one at t belongs to token t + 1. None on a rank that has not got them."""
        data = self._data(batch, calculate_entropy=True, calculate_sum_pi_squared=squares)
        with self.engine.eval_mode():
            output = self.engine.infer_batch(data)
        if not self.engine.is_mp_src_rank_with_outputs():
            return None
        return {
            name: [column.detach().float().cpu().numpy() for column in columns.unbind()]
            for name, columns in output["model_output"].items()
        }

    def step(self, batch: Batch, derivatives: Mapping[str, Sequence[Column]], options: StepOptions) -> float:
        """Make an optimizer step with the gradient of Σ derivative·output; returns its norm before clipping.

        Where the norm is not finite, verl leaves weights and optimizer as they were.
        """
        for group in self.engine.optimizer.param_groups:
            group["lr"] = options.learning_rate
        self._optimizer_settings.clip_grad = NO_LIMIT if options.max_norm is None else options.max_norm
        data = self._data(batch, calculate_entropy="entropy" in derivatives)
        for name, columns in derivatives.items():
            data[DERIVATIVE + name] = jagged(columns)
        with self.engine.train_mode():
            self.engine.optimizer_zero_grad()
            self.engine.forward_backward_batch(data, self._loss)
            norm = float(self.engine.optimizer_step())
        self.num_steps += math.isfinite(norm)
        return norm

    def _loss(
        self, model_output: Mapping[str, torch.Tensor], data: Any, dp_group: Any
    ) -> tuple[torch.Tensor, Any]:
        """Σ derivative·output of a micro-batch; verl averages gradients over replicas, so as often as there are replicas."""
        total = 0.0 * model_output["log_probs"].values().sum()
        for name, output in model_output.items():
            if DERIVATIVE + name in data:
                total = total + (data[DERIVATIVE + name].values() * output.values().float()).sum()
        return total * self.num_replicas, {}

    def _data(self, batch: Batch, **flags: Any) -> Any:
        from verl.utils import tensordict_utils

        tokens = [torch.from_numpy(tokens.astype(np.int64)) for tokens in batch.sequences]
        return tensordict_utils.get_tensordict(
            {
                "input_ids": jagged(tokens),
                "position_ids": jagged([torch.arange(len(t)) for t in tokens]),
                "loss_mask": jagged([torch.ones(len(t)) for t in tokens]),
            },
            {
                "temperature": batch.temperature,
                "use_remove_padding": self._packs,
                "use_dynamic_bsz": True,
                "max_token_len_per_gpu": batch.max_tokens,
                "pad_token_id": 0,
                **flags,
            },
        )

    # States

    def weights(self) -> Iterator[Entry]:
        """All parameters in the order of files, as `write_tensors` takes them; every rank must take each."""
        return ((part.name, part.shape, partial(self._weight, part.name)) for part in self.parts)

    def _weight(self, name: str) -> torch.Tensor:
        return whole(self._parameters[name], self._group.device)

    def moments(self, order: Sequence[str]) -> Iterator[Entry]:
        """Moments of the optimizer in the order of files; zeros before its first step."""
        shapes = {part.name: part.shape for part in self.parts}
        for moment, prefix in MOMENTS.items():
            for name in order:
                yield prefix + name, shapes[name], partial(self._moment, moment, name, shapes[name])

    def _moment(self, moment: str, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        state = self.engine.optimizer.state.get(self._parameters[name])
        return whole(state[moment], self._group.device) if state else torch.zeros(shape)

    def read_optimizer(self, file: TensorFile) -> None:
        """Replace the optimizer's state with that of a file that was checked."""
        self.num_steps = int(file.metadata["step"])
        for part in self.parts:
            parameter = self._parameters[part.name]
            moments = {
                name: sharded_as(parameter, file.rows(prefix + part.name, 0, part.shape[0], parameter.device))
                for name, prefix in MOMENTS.items()
            }
            step = torch.tensor(float(self.num_steps))
            self.engine.optimizer.state[parameter] = {"step": step, **moments}


def spare_vectors(optimizer: torch.optim.Optimizer) -> None:
    """Let weight decay apply to matrices only: verl applies it to norms and biases too."""
    (group,) = optimizer.param_groups
    vectors = [parameter for parameter in group["params"] if parameter.ndim < 2]
    group["params"] = [parameter for parameter in group["params"] if parameter.ndim > 1]
    optimizer.add_param_group({**group, "params": vectors, "weight_decay": 0.0})


def in_float32(_module: Any, _inputs: Any, output: Any) -> Any:
    """A forward hook: entropies of logits in 16 bits would be off by hundredths of a nat."""
    output.logits = output.logits.float()
    return output


def jagged(columns: Sequence[Any]) -> torch.Tensor:
    """Columns of ragged length as one nested tensor."""
    return torch.nested.as_nested_tensor([torch.as_tensor(c) for c in columns], layout=torch.jagged)


def whole(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Collect a tensor that may be sharded, on the device that its shards are sent from."""
    there = tensor.detach().to(device)
    return (there.full_tensor() if isinstance(there, DTensor) else there).cpu()


def sharded_as(parameter: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Shard values that every rank has as a parameter is, where that is."""
    if not isinstance(parameter, DTensor):
        return values
    sharded = distribute_tensor(values, parameter.device_mesh, parameter.placements, src_data_rank=None)
    return sharded.to(parameter.device)
