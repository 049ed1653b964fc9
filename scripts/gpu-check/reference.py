"""PPO steps in float64 on the processor, with transformers' Qwen2 and autograd, one sequence at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from models import PpoBatch, hugging_face_config, ppo_loss
from torch.func import functional_call

ADAMW = {"beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weightDecay": 0.1}


class Reference:
    """Weights by their name in files; with adapters only these and the value head are trained."""

    def __init__(self, shape: Mapping[str, Any], trained: Mapping[str, Any], frozen: Mapping[str, Any]):
        from transformers import Qwen2Model

        torch.manual_seed(0)
        self.model = Qwen2Model(hugging_face_config(dict(shape))).double()
        self.lora = shape.get("lora")
        self.trained = {name: tensor.double().requires_grad_() for name, tensor in trained.items()}
        self.frozen = {name: tensor.double() for name, tensor in frozen.items()}
        self.moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in self.trained.items()}
        self.steps = 0

    def evaluate(self, batch: PpoBatch) -> tuple[Any, Any, Any]:
        """Logprobs, entropies and values of the trained tokens."""
        weights = self._weights()
        inside = {name.removeprefix("model."): w for name, w in weights.items() if name.startswith("model.")}
        head, value_head = weights["model.embed_tokens.weight"], weights["value_head.weight"]
        columns: list[Any] = []
        for tokens, mask in zip(batch.tokens, batch.mask, strict=True):
            ids = torch.from_numpy(tokens)[None].long()
            hidden = functional_call(self.model, inside, (ids,)).last_hidden_state[0, :-1]
            wanted = torch.from_numpy(mask[1:]).bool()
            log_p = torch.log_softmax(hidden[wanted] @ head.t(), -1)
            chosen = log_p.gather(1, ids[0, 1:][wanted][:, None])[:, 0]
            entropy = -(log_p.exp() * log_p).sum(1)
            columns.append((chosen, entropy, hidden[wanted] @ value_head[0]))
        logprobs, entropies, values = (torch.cat(parts) for parts in zip(*columns, strict=True))
        return logprobs, entropies, values

    def step(self, batch: PpoBatch, behavior: Any, rate: float, max_norm: float) -> tuple[float, float]:
        """One clipped AdamW step; returns loss and norm."""
        loss = ppo_loss(*self.evaluate(batch), batch, behavior)
        names = list(self.trained)
        gradients = torch.autograd.grad(loss, [self.trained[name] for name in names])
        norm = float(torch.sqrt(sum(g.square().sum() for g in gradients)))
        self.steps += 1
        b1, b2 = ADAMW["beta1"], ADAMW["beta2"]
        with torch.no_grad():
            for name, gradient in zip(names, gradients, strict=True):
                weight, (first, second) = self.trained[name], self.moments[name]
                g = gradient * min(1, max_norm / norm)
                first.mul_(b1).add_(g, alpha=1 - b1)
                second.mul_(b2).addcmul_(g, g, value=1 - b2)
                if weight.dim() > 1:
                    weight.mul_(1 - rate * ADAMW["weightDecay"])
                corrected = (second / (1 - b2**self.steps)).sqrt() + ADAMW["epsilon"]
                weight.sub_(rate / (1 - b1**self.steps) * first / corrected)
        return float(loss.detach()), norm

    def _weights(self) -> dict[str, Any]:
        weights = {**self.frozen, **self.trained}
        if self.lora is None:
            return weights
        scale, prefix = self.lora["alpha"] / self.lora["rank"], "base_model.model."
        for name in [n for n in weights if n.endswith("lora_A.weight")]:
            b = weights[name.replace("lora_A", "lora_B")]
            target = name.removeprefix(prefix).replace("lora_A.weight", "weight")
            weights[target] = weights[target] + scale * b @ weights[name]
        return weights
