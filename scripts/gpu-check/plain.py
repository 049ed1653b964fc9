"""A plain torch training loop with transformers' Qwen2: what the worker is compared with."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from models import PpoBatch, hugging_face_config, ppo_loss
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import linear

KINDS = ("autocast", "fsdp2")


class PlainPolicy(nn.Module):
    """Logprobs, entropies and values, with whole logits."""

    def __init__(self, shape: dict[str, Any]):
        super().__init__()
        from transformers import Qwen2Model

        # The head is the embedding.
        self.model = Qwen2Model(hugging_face_config(shape))
        self.value_head = nn.Linear(shape["hiddenSize"], 1, bias=False)

    def forward(self, ids: Any, reads: Any, targets: Any) -> tuple[Any, Any, Any]:
        """ids [B, T]; reads and targets [M], of the flat batch."""
        hidden = self.model(input_ids=ids, use_cache=False).last_hidden_state.flatten(0, 1)[reads]
        head = self.model.get_input_embeddings().weight
        log_p = torch.log_softmax(linear(hidden, head).float(), -1)
        logprobs = log_p.gather(1, targets[:, None])[:, 0]
        entropies = -(log_p.exp() * log_p).sum(1)
        values = (hidden.float() * self.value_head.weight.float()).sum(1)
        return logprobs, entropies, values


class PlainLoop:
    """Weights in float32 and products in bfloat16: by autocast, or by FSDP2 as the worker has it."""

    def __init__(self, shape: dict[str, Any], weights: Path, kind: str, device: torch.device):
        self.kind, self.device = kind, device
        with torch.device("meta"):
            self.policy = PlainPolicy(shape)
        if kind == "fsdp2":
            self._shard()
        self.policy.to_empty(device=device)
        tensors = load_file(weights)
        with torch.no_grad():
            for name, parameter in self.policy.named_parameters():
                source = tensors[name].float().to(device) if name in tensors else torch.zeros(parameter.shape)
                local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
                local.copy_(source)
        # transformers computes its frequencies when a model is made, and this one was made without values.
        model = self.policy.model
        model.rotary_emb = type(model.rotary_emb)(model.config, device=device)
        if shape.get("lora"):
            self._adapt(shape["lora"])
        trained = [p for p in self.policy.parameters() if p.requires_grad]
        decays, others = [p for p in trained if p.dim() > 1], [p for p in trained if p.dim() == 1]
        groups = [{"params": decays, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-6, betas=(0.9, 0.95), eps=1e-8, fused=True)

    def _adapt(self, lora: dict[str, Any]) -> None:
        from peft import LoraConfig, get_peft_model

        config = LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules=lora["targets"])
        # Frozen weights need no more digits than products have.
        self.policy.model = get_peft_model(self.policy.model.bfloat16(), config).to(self.device)
        for parameter in self.policy.model.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.float()

    def _shard(self) -> None:
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

        if not dist.is_initialized():
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for module in (*self.policy.model.layers, self.policy):
            fully_shard(module, mp_policy=policy, reshard_after_forward=False)
            module.set_force_sum_reduction_for_comms(True)

    def put(self, batch: PpoBatch) -> None:
        """Bring a batch of equally long sequences to the device."""
        ids = torch.from_numpy(np.stack(batch.tokens)).long()
        wanted = torch.from_numpy(np.stack(batch.mask)).bool().flatten().nonzero()[:, 0]
        self.ids, self.reads = ids.to(self.device), (wanted - 1).to(self.device)
        self.targets = ids.flatten()[wanted].to(self.device)

    def evaluate(self) -> tuple[Any, Any, Any]:
        """Logprobs, entropies and values of the trained tokens."""
        enabled = self.kind == "autocast"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=enabled):
            return self.policy(self.ids, self.reads, self.targets)

    def update(self, batch: PpoBatch, behavior: Any) -> float:
        """One PPO step; returns its seconds."""
        start = time.perf_counter()
        loss = ppo_loss(*self.evaluate(), batch, behavior)
        loss.backward()
        norm = nn.utils.clip_grad_norm_([p for p in self.policy.parameters() if p.requires_grad], 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.figures = float(loss.detach()), float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start
