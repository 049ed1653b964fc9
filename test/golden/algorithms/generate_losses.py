"""Goldens of policy losses (verl's core_algos, gradients by torch autograd), aggregation, KL, value loss, entropy."""

from types import SimpleNamespace

import torch
from verl.trainer.ppo import core_algos
from verl.workers.config import ActorConfig
from verl.workers.config.actor import PolicyLossConfig

from batches import BATCHES, write

AGGREGATIONS = {
    "tokenMean": "token-mean",
    "tokenSum": "token-sum",
    "sequenceMeanTokenSum": "seq-mean-token-sum",
    "sequenceMeanTokenMean": "seq-mean-token-mean",
    "sequenceMeanTokenSumNorm": "seq-mean-token-sum-norm",
}
HORIZON = 16


def actor_config(low=0.2, high=0.28, c=3.0, **policy):
    config = ActorConfig(
        strategy="fsdp",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        clip_ratio=low,
        clip_ratio_low=low,
        clip_ratio_high=high,
        clip_ratio_c=c,
        policy_loss=PolicyLossConfig(**policy),
    )
    return config


def loss_case(batch, ours, theirs, options, config, aggregation="tokenMean", advantages=None, importance=None):
    logprobs = batch.logprobs.clone().requires_grad_(True)
    advantages = batch.advantages if advantages is None else advantages
    loss, _ = core_algos.POLICY_LOSS_REGISTRY[theirs](
        batch.proximal,
        logprobs,
        advantages,
        batch.mask,
        loss_agg_mode=AGGREGATIONS[aggregation],
        config=config,
        rollout_is_weights=importance,
    )
    loss.backward()
    return {
        "loss": ours,
        "batch": batch.name,
        "options": options,
        "aggregation": aggregation,
        "advantages": "sequence" if advantages is not batch.advantages else "token",
        "importance": None if importance is None else batch.actions(importance),
        "value": loss.item(),
        "gradients": batch.actions(logprobs.grad),
    }


def loss_cases(batch):
    clip = {"clipLow": 0.2, "clipHigh": 0.28}
    for aggregation in ["tokenMean", "sequenceMeanTokenSum", "sequenceMeanTokenMean"]:
        yield loss_case(batch, "ppo", "vanilla", {**clip, "dualClip": 3}, actor_config(), aggregation)
    yield loss_case(batch, "ppo", "vanilla", {**clip, "dualClip": 1.1}, actor_config(c=1.1))
    yield loss_case(batch, "gspo", "gspo", clip, actor_config(), "sequenceMeanTokenMean")
    yield loss_case(batch, "cispo", "cispo", clip, actor_config())
    yield loss_case(batch, "gpg", "gpg", {}, actor_config())
    yield loss_case(batch, "sapo", "sapo", {"temperaturePositive": 1, "temperatureNegative": 1.05}, actor_config(), "sequenceMeanTokenMean")
    yield loss_case(batch, "dro", "dro", {"beta": 0.3}, actor_config(dro_beta=0.3))
    thresholds = {"deltaLow": 0.05, "deltaHigh": 0.1, "maxRatio": 1.5}
    yield loss_case(batch, "dppoTv", "dppo_tv", thresholds, actor_config(0.05, 0.1, 1.5))
    yield loss_case(batch, "dppoKl", "dppo_kl", thresholds, actor_config(0.05, 0.1, 1.5))
    # verl takes the top fraction of the tokens by covariance; here a fifth of them, to have several.
    yield loss_case(
        batch, "klCov", "kl_cov", {"fraction": 0.2, "beta": 0.7}, actor_config(kl_cov_ratio=0.2, ppo_kl_coef=0.7)
    )
    # A fraction of 1 takes all the candidates, so that verl's unseeded choice does not matter.
    everything = {**clip, "fraction": 1, "lowest": 0.05, "highest": 5}
    yield loss_case(
        batch, "clipCov", "clip_cov", everything, actor_config(clip_cov_ratio=1.0, clip_cov_lb=0.05, clip_cov_ub=5.0)
    )
    # Importance weights outside [0.8, 1.25] are 0; such tokens stay in the statistics.
    ratio = torch.exp(batch.proximal - batch.behavior)
    importance = torch.where((ratio >= 0.8) & (ratio <= 1.25), ratio, 0.0).float().double()
    for weights in [None, importance]:
        yield gmpo_case(batch, clip, weights)
    yield loss_case(batch, "ppo", "vanilla", {**clip, "dualClip": 3}, actor_config(), importance=importance)
    yield loss_case(batch, "gspo", "gspo", clip, actor_config(), "sequenceMeanTokenMean", importance=importance)
    yield loss_case(
        batch, "klCov", "kl_cov", {"fraction": 0.2, "beta": 0.7}, actor_config(kl_cov_ratio=0.2, ppo_kl_coef=0.7), importance=importance
    )
    candidates = actor_config(clip_cov_ratio=1.0, clip_cov_lb=0.05, clip_cov_ub=5.0)
    yield loss_case(batch, "clipCov", "clip_cov", everything, candidates, importance=importance)


def gmpo_case(batch, clip, importance):
    """One advantage per sequence, as GMPO assumes; verl averages over all rows, also the empty one."""
    per_sequence = batch.advantages[:, :1].expand_as(batch.mask).contiguous()
    case = loss_case(batch, "gmpo", "geo_mean", clip, actor_config(), advantages=per_sequence, importance=importance)
    scale = len(batch.lengths) / sum(1 for row in batch.mask if row.sum() > 0)
    case["aggregation"] = "sequenceMeanTokenMean"
    case["value"] *= scale
    case["gradients"] = [g * scale for g in case["gradients"]]
    return case


def aggregation_cases(batch):
    for ours, theirs in AGGREGATIONS.items():
        matrix = batch.advantages.clone().requires_grad_(True)
        extra = {"loss_scale_factor": HORIZON} if ours.endswith("Norm") else {}
        loss = core_algos.agg_loss(matrix, batch.mask, theirs, **extra)
        loss.backward()
        yield {
            "aggregation": ours,
            "batch": batch.name,
            "horizon": HORIZON,
            "value": loss.item(),
            "weights": batch.actions(matrix.grad),
        }


def kl_cases(batch):
    for ours, theirs in [("k1", "k1"), ("abs", "abs"), ("k2", "k2"), ("k3", "low_var_kl")]:
        for straight in [False, True]:
            logprobs = batch.logprobs.clone().requires_grad_(True)
            name = theirs + "+" if straight else theirs
            if straight and theirs == "low_var_kl":
                name = "k3+"
            kl = core_algos.kl_penalty(logprobs, batch.reference, name)
            kl.sum().backward()
            yield {
                "estimator": ours,
                "straightThrough": straight,
                "batch": batch.name,
                "values": batch.actions(kl.detach()),
                "gradients": batch.actions(logprobs.grad),
            }


def value_cases(batch):
    for clip in [0.2, 1e6]:
        values = batch.values.clone().requires_grad_(True)
        loss, fraction = core_algos.compute_value_loss(values, batch.advantages, batch.reference, batch.mask, clip)
        loss.backward()
        yield {
            "batch": batch.name,
            "clip": clip,
            "value": loss.item(),
            "clipFraction": fraction.item(),
            "gradients": batch.actions(values.grad),
        }


def resampling_case(batch, ours, theirs, power):
    """verl draws at once; what it draws with is taken from the call."""
    weights = []
    draw = torch.multinomial

    def multinomial(given, count, replacement):
        weights.extend(given.tolist())
        raise StopIteration

    torch.multinomial = multinomial
    try:
        core_algos.compute_pf_ppo_reweight_data(SimpleNamespace(batch={"token_level_scores": batch.outcome_rewards}), theirs, power)
    except StopIteration:
        pass
    finally:
        torch.multinomial = draw
    return {"rule": ours, "power": power, "returns": batch.outcome_rewards.sum(-1).tolist(), "weights": weights}


def entropy_case():
    generator = torch.Generator().manual_seed(7)
    logits = (torch.randn(5, 6, generator=generator) * 3).float().double()
    logits[4] = torch.tensor([60.0, -60.0, 0.0, 0.0, 0.0, 0.0])
    logits.requires_grad_(True)
    entropies = torch.distributions.Categorical(logits=logits).entropy()
    entropies.sum().backward()
    return {
        "numCategories": 6,
        "logits": logits.detach().flatten().tolist(),
        "entropies": entropies.tolist(),
        "gradients": logits.grad.flatten().tolist(),
    }


if __name__ == "__main__":
    each = lambda cases: [c for batch in BATCHES.values() for c in cases(batch)]
    write(
        "losses.json",
        "generate_losses.py",
        1e-5,
        {
            "policyLosses": each(loss_cases),
            "aggregations": each(aggregation_cases),
            "kl": each(kl_cases),
            "valueLosses": each(value_cases),
            "entropy": entropy_case(),
            "resampling": [
                resampling_case(BATCHES["multiTurn"], *rule)
                for rule in [("power", "pow", 2.0), ("power", "pow", 0.5), ("extremes", "max_min", 2.0), ("best", "max_random", 2.0)]
            ],
        },
    )
