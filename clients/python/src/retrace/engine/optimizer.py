"""AdamW with clipping, as libs/policy/src/optimizer makes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch

from .checkpoints import TensorFile, damaged
from .errors import EngineError
from .group import Group
from .options import OptimizerOptions
from .weights import Shards, Weights

MOMENTS = {"exp_avg": "first_moment.", "exp_avg_sq": "second_moment."}
"""torch's names of the moments, and what precedes a parameter's name in files."""


@dataclass(frozen=True)
class StepOptions:
    """One step: None means no limit."""

    learning_rate: float
    critic_learning_rate: float
    max_norm: float | None
    critic_max_norm: float | None
    skip_above: float | None
    trains: Literal["all", "policy", "critic"] = "all"
    """The weights that it changes: a critic that is kept apart may have steps of its own."""


@dataclass(frozen=True)
class Applied:
    """Norms before clipping; the critic's is None where it isn't kept apart."""

    is_applied: bool
    gradient_norm: float
    critic_gradient_norm: float | None


class Optimizer:
    """torch's AdamW on this rank's shards of the trained parameters.

    A critic that is kept apart has a learning rate and a clipped norm of its own, and a count of steps.
    """

    def __init__(self, weights: Weights, options: OptimizerOptions, group: Group):
        self._weights, self._group = weights, group
        self._separate = options.separate_critic
        self._num_steps = {False: 0, True: 0}
        self._shards = weights.shards()
        self._is_critic = [self._separate and s.spec.is_of_critic for s in weights.trained]
        groups: dict[tuple[bool, bool], list[torch.Tensor]] = {}
        for sharded, shard, is_critic in zip(weights.trained, self._shards, self._is_critic, strict=True):
            if shard.numel() > 0:
                groups.setdefault((is_critic, sharded.spec.decays), []).append(shard)
        self._groups_of_critic = [is_critic for is_critic, _ in groups]
        self._adamw = torch.optim.AdamW(
            [
                {"params": shards, "weight_decay": options.weight_decay if decays else 0.0}
                for (_, decays), shards in groups.items()
            ]
            or [{"params": [torch.zeros(1)]}],
            lr=0.0,
            betas=(options.beta1, options.beta2),
            eps=options.epsilon,
            fused=True,
        )
        self.reset()

    def reset(self) -> None:
        """Go back to no steps and moments of 0."""
        self._num_steps = {False: 0, True: 0}
        for shard, is_critic in zip(self._shards, self._is_critic, strict=True):
            moments = {name: torch.zeros_like(shard) for name in MOMENTS}
            self._adamw.state[shard] = {"step": self._step_count(shard, is_critic), **moments}

    def step_counts(self) -> dict[str, str]:
        """The counts of steps as files hold them: the critic's only where it is another."""
        policy, critic = self._num_steps[False], self._num_steps[True]
        is_even = not self._separate or policy == critic
        return {"step": str(policy), **({} if is_even else {"criticStep": str(critic)})}

    def moments(self, name: str) -> Shards:
        """The moments of all trained parameters."""
        return [self._adamw.state[shard][name] for shard in self._shards]

    def step(self, options: StepOptions) -> Applied:
        """Make one step with the accumulated gradients, unless their norm forbids it."""
        gradients = self._weights.gradients()
        self._drop_others(gradients, options)
        norm, critic_norm = self._norms(gradients)
        kept_apart = critic_norm if self._separate else None
        if options.skip_above is None and not math.isfinite(norm + critic_norm):
            message = f"the gradient norm is {norm if not math.isfinite(norm) else critic_norm}"
            raise EngineError("NOT_FINITE", f"{message}; the weights were not changed")
        limit = options.skip_above
        if limit is not None and not (norm <= limit and critic_norm <= limit):
            return Applied(False, norm, kept_apart)
        self._clip(gradients, of_critic=False, norm=norm, limit=options.max_norm)
        self._clip(gradients, of_critic=True, norm=critic_norm, limit=options.critic_max_norm)
        self._apply(gradients, options)
        return Applied(True, norm, kept_apart)

    def _clip(self, gradients: Shards, *, of_critic: bool, norm: float, limit: float | None) -> None:
        if limit is not None and norm > limit:
            scaled = [g for g, of in zip(gradients, self._is_critic, strict=True) if of == of_critic]
            torch._foreach_mul_(scaled, limit / norm)

    def _apply(self, gradients: Shards, options: StepOptions) -> None:
        for group, is_critic in zip(self._adamw.param_groups, self._groups_of_critic, strict=False):
            group["lr"] = options.critic_learning_rate if is_critic else options.learning_rate
        for shard, gradient, is_critic in zip(self._shards, gradients, self._is_critic, strict=True):
            # AdamW leaves alone what has no gradient, with its moments and its count of steps.
            shard.grad = gradient if changes(options, is_critic) else None
        self._weights.reshard()
        self._adamw.step()
        for shard in self._shards:
            shard.grad = None
        for is_critic in self._num_steps:
            self._num_steps[is_critic] += changes(options, is_critic)

    def _drop_others(self, gradients: Shards, options: StepOptions) -> None:
        """Set to 0 the gradients of what the step doesn't change, whose norms count as 0."""
        others = [g for g, of in zip(gradients, self._is_critic, strict=True) if not changes(options, of)]
        if others:
            torch._foreach_zero_(others)

    def _norms(self, gradients: Shards) -> tuple[float, float]:
        """Norms over all ranks: of the policy's gradients, and of a critic's that is kept apart."""
        sums: dict[bool, Any] = {False: 0.0, True: 0.0}
        norms = torch._foreach_norm(gradients)
        for is_critic in sums:
            of_it = [n for n, of in zip(norms, self._is_critic, strict=True) if of == is_critic]
            if of_it:
                sums[is_critic] = float(torch.stack(of_it).double().square().sum())
        total = self._group.sum([sums[False], sums[True]])
        return math.sqrt(total[0]), math.sqrt(total[1])

    def require_in(self, file: TensorFile) -> None:
        """Check that a file holds a state of this model."""
        for prefix in MOMENTS.values():
            self._weights.require_in(file, prefix)
        require_step(file, "step", "")
        require_step(file, "criticStep", "0")

    def read(self, file: TensorFile) -> None:
        """Replace the state with that of a file that was checked."""
        for name, prefix in MOMENTS.items():
            self._weights.read(file, self.moments(name), prefix)
        step = file.metadata["step"]
        self._num_steps = {False: int(step), True: int(file.metadata.get("criticStep", step))}
        for shard, is_critic in zip(self._shards, self._is_critic, strict=True):
            self._adamw.state[shard]["step"] = self._step_count(shard, is_critic)

    def _step_count(self, shard: torch.Tensor, is_critic: bool) -> torch.Tensor:
        return torch.tensor(float(self._num_steps[is_critic]), dtype=torch.float32, device=shard.device)


def changes(options: StepOptions, is_critic: bool) -> bool:
    """Whether a step changes the policy, or a critic that is kept apart."""
    return options.trains != ("policy" if is_critic else "critic")


def require_step(file: TensorFile, name: str, default: str) -> None:
    """Check that a count of steps in a file is one."""
    step = file.metadata.get(name, default)
    if not step.isdecimal():
        raise damaged(file.path, f"metadata.{name} is {step!r}; it must be a whole number")
