"""Goldens where TRL differs from verl: its GRPOTrainer's own loss method, group statistics and importance ratios. Writes trl.json."""

from collections import defaultdict
from types import SimpleNamespace

import torch
from trl.trainer.grpo_trainer import GRPOTrainer
from trl.trainer.utils import nanstd

from batches import BATCHES, write

HORIZON = 16


def trainer(batch, logprobs, **settings):
    """What GRPOTrainer._compute_loss reads of its trainer, with the model's answer given."""
    accelerator = SimpleNamespace(gather=lambda x: x, reduce=lambda x, reduction: x, num_processes=1)
    defaults = {
        "use_bias_correction_kl": False,
        "delta": None,
        "sapo_temperature_pos": 1.0,
        "sapo_temperature_neg": 1.05,
        "steps_per_generation": 1,
        "vespo_k_pos": 2.0,
        "vespo_lambda_pos": 3.0,
        "vespo_k_neg": 3.0,
        "vespo_lambda_neg": 2.0,
    }
    args = SimpleNamespace(**{**defaults, **settings.pop("args", {})})
    fields = {
        "args": args,
        "accelerator": accelerator,
        "beta": 0.0,
        "loss_type": "grpo",
        "importance_sampling_level": "token",
        "epsilon_low": 0.2,
        "epsilon_high": 0.28,
        "top_entropy_quantile": 1.0,
        "off_policy_mask_threshold": None,
        "use_vllm": False,
        "vllm_importance_sampling_correction": False,
        "aux_loss_enabled": False,
        "_entropy_bonus_enabled": False,
        "current_gradient_accumulation_steps": 1,
        "max_completion_length": HORIZON,
        "model": SimpleNamespace(training=True),
        "_metrics": {"train": defaultdict(list)},
        "_get_per_token_logps_and_entropies": lambda *_, **__: (logprobs, torch.zeros_like(logprobs), None),
        "get_off_policy_mask": GRPOTrainer.get_off_policy_mask,
        "get_gamma_weights": GRPOTrainer.get_gamma_weights,
        **settings,
    }
    return SimpleNamespace(**fields)


def rows_with_tokens(batch):
    """TRL divides by every row it is given; ours counts rows with tokens."""
    return [i for i, n in enumerate(batch.lengths) if n > 0]


def loss_case(batch, loss, options, aggregation, advantages="token", **settings):
    rows = rows_with_tokens(batch)
    logprobs = batch.logprobs.clone().requires_grad_()
    given = batch.advantages if advantages == "token" else batch.advantages[:, :1].expand_as(batch.advantages)
    inputs = {
        "prompt_ids": torch.zeros(len(rows), 0, dtype=torch.long),
        "prompt_mask": torch.zeros(len(rows), 0),
        "completion_ids": torch.zeros(len(rows), batch.width, dtype=torch.long),
        "completion_mask": batch.mask[rows],
        "advantages": given[rows],
        "old_per_token_logps": batch.proximal[rows],
        "ref_per_token_logps": batch.reference[rows],
        "num_items_in_batch": batch.mask.sum(),
    }
    value = GRPOTrainer._compute_loss(trainer(batch, logprobs[rows], **settings), None, inputs)
    value.backward()
    return {
        "batch": batch.name,
        "loss": loss,
        "options": options,
        "aggregation": aggregation,
        "advantages": advantages,
        "value": float(value.detach()),
        "gradients": batch.actions(logprobs.grad),
    }


def loss_cases(batch):
    clip = {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": None}
    yield loss_case(batch, "ppo", clip, "sequenceMeanTokenMean", loss_type="grpo")
    yield loss_case(batch, "ppo", clip, "tokenMean", loss_type="bnpo")
    yield loss_case(batch, "ppo", clip, "tokenMean", loss_type="dapo")
    yield loss_case(batch, "ppo", clip, "sequenceMeanTokenSumNorm", loss_type="dr_grpo")
    yield loss_case(batch, "sapo", {}, "sequenceMeanTokenMean", loss_type="sapo")
    # TRL bounds the ratio from above alone, at epsilon_high itself, not at 1 + epsilon_high.
    yield loss_case(batch, "cispo", {"clipLow": 1, "clipHigh": 0.5}, "tokenMean", loss_type="cispo", epsilon_high=1.5)
    yield loss_case(
        batch,
        "opsm",
        {**clip, "delta": 0.02},
        "sequenceMeanTokenMean",
        advantages="sequence",
        loss_type="grpo",
        off_policy_mask_threshold=0.02,
    )
    # TRL takes the loss once a sequence, with a gradient at each of its tokens; ours stands at each token. Their means agree.
    yield loss_case(
        batch,
        "gspo",
        {"clipLow": 0.2, "clipHigh": 0.28},
        "sequenceMeanTokenMean",
        advantages="sequence",
        importance_sampling_level="sequence",
    )
    # TRL's delta is a bound on the ratio where A < 0, our dual clip.
    for level, loss, aggregation, loss_type in [
        ("token", "ppo", "sequenceMeanTokenMean", "grpo"),
        ("sequence", "gspo", "sequenceMeanTokenMean", "grpo"),
    ]:
        yield loss_case(
            batch,
            loss,
            {**clip, "dualClip": 1.35},
            aggregation,
            advantages="sequence",
            loss_type=loss_type,
            importance_sampling_level=level,
            args={"delta": 1.35},
        )
    # LUSPO multiplies a sequence's loss by its length: gspo, summed over tokens.
    yield loss_case(
        batch,
        "gspo",
        {"clipLow": 0.2, "clipHigh": 0.28},
        "sequenceMeanTokenSum",
        advantages="sequence",
        loss_type="luspo",
        importance_sampling_level="sequence",
    )
    yield loss_case(batch, "vespo", {}, "tokenMean", advantages="sequence", loss_type="vespo")
    vespo = {"powerPositive": 1, "decayPositive": 1.5, "powerNegative": 2, "decayNegative": 0.5}
    names = ["vespo_k_pos", "vespo_lambda_pos", "vespo_k_neg", "vespo_lambda_neg"]
    yield loss_case(batch, "vespo", vespo, "tokenMean", advantages="sequence", loss_type="vespo", args=dict(zip(names, map(float, vespo.values()))))


def kl_case(batch):
    """Half of a KL to the reference policy beside PPO, with its bias corrected."""
    clip = {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": None}
    case = loss_case(batch, "ppo", clip, "tokenMean", loss_type="bnpo", beta=0.5, args={"use_bias_correction_kl": True})
    return {**case, "klCoefficient": 0.5}


def entropy_mask_case(batch, quantile):
    """The squares of the values stand for entropies."""
    accelerator = SimpleNamespace(gather=lambda x: x, pad_across_processes=lambda x, dim, pad_index: x)
    entropies = (batch.values**2).float().double()
    mask = GRPOTrainer.get_high_entropy_mask(SimpleNamespace(accelerator=accelerator), entropies, batch.mask, 1 - quantile)
    return {"batch": batch.name, "fraction": quantile, "entropies": batch.actions(entropies), "chosen": batch.actions(mask.double())}


def advantages(batch, scale, epsilon=1e-4):
    """The lines of GRPOTrainer._generate_and_score_completions, for groups of unequal size."""
    rewards = torch.tensor([float(row.sum()) for row in batch.outcome_rewards], dtype=torch.float64)
    groups = torch.tensor(batch.groups)
    result = torch.zeros_like(rewards)
    for group in groups.unique():
        rows = groups == group
        part = rewards[rows]
        deviation = {"group": lambda: nanstd(part, dim=0) if len(part) > 1 else torch.zeros(()), "batch": lambda: nanstd(rewards)}
        centred = part - torch.nanmean(part)
        result[rows] = centred if scale == "none" else centred / (deviation[scale]() + epsilon)
    return {"batch": batch.name, "scale": scale, "advantages": [float(a) for a in result]}


def rloo(batch):
    """The lines of RLOOTrainer: the mean of the scorable siblings; nothing for a group of one."""
    rewards = torch.tensor([float(row.sum()) for row in batch.outcome_rewards], dtype=torch.float64)
    groups = torch.tensor(batch.groups)
    result = torch.zeros_like(rewards)
    for group in groups.unique():
        rows = groups == group
        part = rewards[rows]
        if len(part) > 1:
            result[rows] = part - (part.sum() - part) / (len(part) - 1)
    return {"batch": batch.name, "advantages": [float(a) for a in result]}


def ratio_cases(batch):
    """The four modes of importance ratios; TRL's sequence modes multiply the ratios of a sequence."""
    difference = (batch.proximal - batch.behavior) * batch.mask
    for level, ratio in [("token", torch.exp(difference)), ("sequence", torch.exp(difference.sum(-1, keepdim=True)))]:
        low, high = 0.7, 1.4
        for mode, floor in [("truncate", None), ("mask", low)]:
            outside = (ratio < low) | (ratio > high)
            weights = ratio.clamp(max=high) if mode == "truncate" else ratio.masked_fill(outside, 0.0)
            options = {"level": level, "cap": high, "floor": floor}
            yield {"batch": batch.name, "options": options, "weights": batch.actions(weights.expand_as(batch.mask))}


if __name__ == "__main__":
    batches = list(BATCHES.values())
    content = {
        "horizon": HORIZON,
        "losses": [c for batch in batches for c in loss_cases(batch)],
        "biasCorrectedKl": [kl_case(batch) for batch in batches],
        "highEntropy": [entropy_mask_case(batch, quantile) for batch in batches for quantile in [0.2, 0.5, 1.0]],
        "grpo": [advantages(batch, scale) for batch in batches for scale in ["group", "batch", "none"]],
        "rloo": [rloo(batch) for batch in batches],
        "weights": [c for batch in batches for c in ratio_cases(batch)],
    }
    write("trl.json", "generate_trl.py", 1e-5, content, packages=("torch", "trl", "numpy"))
