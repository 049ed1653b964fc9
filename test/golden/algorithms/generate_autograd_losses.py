"""Goldens of the policy losses that verl has no function for, from the published formulas by torch autograd. Writes autograd-losses.json.

Each is written over padded sequences with a mask, as its paper states it, and differentiated by torch alone."""

import torch

from batches import BATCHES, write

CLIP_LOW, CLIP_HIGH, DUAL_CLIP = 0.2, 0.28, 3.0
PPO_OPTIONS = {"clipLow": CLIP_LOW, "clipHigh": CLIP_HIGH, "dualClip": DUAL_CLIP}


def ppo_clip(batch, logprobs):
    """arXiv:1707.06347 eq. 7 with the bounds of arXiv:2503.14476 and the dual clip of arXiv:1912.09729."""
    ratio = torch.exp(logprobs - batch.proximal)
    clipped = torch.clip(ratio, 1 - CLIP_LOW, 1 + CLIP_HIGH)
    loss = torch.maximum(-batch.advantages * ratio, -batch.advantages * clipped)
    return torch.where(batch.advantages < 0, torch.minimum(loss, -DUAL_CLIP * batch.advantages), loss)


def decoupled_ppo(batch, logprobs, cap, rule):
    """arXiv:2505.24298 eq. 5: the clipped surrogate against the proximal policy, weighted by proximal over behavior."""
    weight = torch.exp(batch.proximal - batch.behavior)
    if cap is not None:
        weight = weight.clamp(max=cap) if rule == "truncate" else torch.where(weight > cap, 0.0, weight)
    return weight * ppo_clip(batch, logprobs)


def topr(batch, logprobs):
    """arXiv:2503.14286 eq. 8: positives by plain likelihood, negatives tapered by the ratio of the whole sequence."""
    ratio = torch.exp(((logprobs - batch.behavior) * batch.mask).sum(1, keepdim=True)).detach()
    taper = torch.where(batch.advantages < 0, ratio.clamp(max=1.0), torch.ones_like(ratio))
    return -taper * batch.advantages * logprobs


def m2po(batch, logprobs, form, threshold):
    """arXiv:2510.01161: the largest second moments go, one after the other, until the mean of the rest is small enough."""
    moved = batch.proximal if form == "proximal" else logprobs
    squares = ((moved - batch.behavior) ** 2).detach()
    kept = batch.mask.bool().clone()
    while kept.any() and squares[kept].mean() > threshold:
        kept[squares == squares[kept].max()] = False
    loss = (
        torch.exp(batch.proximal - batch.behavior) * ppo_clip(batch, logprobs)
        if form == "proximal"
        else -batch.advantages * torch.exp(logprobs - batch.behavior)
    )
    return torch.where(kept, loss, torch.zeros_like(loss))


def opsm(batch, logprobs, delta):
    """DeepSeek-V3.2: tokens with a negative advantage in sequences that the policy has left behind are masked."""
    lengths = batch.mask.sum(1, keepdim=True).clamp(min=1)
    behind = ((batch.behavior - logprobs) * batch.mask).sum(1, keepdim=True) / lengths
    dropped = (batch.advantages < 0) & (behind > delta)
    return torch.where(dropped, torch.zeros_like(logprobs), ppo_clip(batch, logprobs))


CASES = [
    ("crossEntropy", {}, lambda batch, logprobs: -logprobs),
    ("topr", {}, topr),
    *[
        (
            "decoupledPpo",
            {**PPO_OPTIONS, "cap": cap, "capRule": rule},
            lambda batch, logprobs, cap=cap, rule=rule: decoupled_ppo(batch, logprobs, cap, rule),
        )
        for cap, rule in [(None, "truncate"), (1.2, "truncate"), (1.2, "filter")]
    ],
    *[
        (
            "m2po",
            {**PPO_OPTIONS, "form": form, "threshold": threshold},
            lambda batch, logprobs, form=form, threshold=threshold: m2po(batch, logprobs, form, threshold),
        )
        for form, threshold in [("proximal", 0.04), ("current", 0.1), ("proximal", 1e-9)]
    ],
    *[
        ("opsm", {**PPO_OPTIONS, "delta": delta}, lambda batch, logprobs, delta=delta: opsm(batch, logprobs, delta))
        for delta in [0.05, 10.0]
    ],
]


def loss_case(batch, loss, options, formula):
    logprobs = batch.logprobs.clone().requires_grad_(True)
    value = (formula(batch, logprobs) * batch.mask).sum() / batch.mask.sum()
    value.backward()
    return {
        "loss": loss,
        "batch": batch.name,
        "options": options,
        "value": value.item(),
        "gradients": batch.actions(logprobs.grad),
    }


if __name__ == "__main__":
    cases = [loss_case(batch, *case) for batch in BATCHES.values() for case in CASES]
    write("autograd-losses.json", "generate_autograd_losses.py", 1e-5, {"policyLosses": cases}, ("torch", "numpy"))
