"""Goldens of advantage estimators, from verl's core_algos. Writes advantages.json."""

import torch
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo import core_algos
from verl.utils.torch_functional import masked_whiten

from batches import BATCHES, write


def group_cases(batch):
    config = AlgoConfig(adv_estimator="grpo", gamma=0.97)
    rewards, mask, groups = batch.outcome_rewards, batch.mask, batch.groups
    run = lambda name, **options: core_algos.ADV_ESTIMATOR_REGISTRY[name](
        token_level_rewards=rewards.clone(), response_mask=mask, index=groups, **options
    )[0]
    yield "grpo", {"singleton": "raw"}, run("grpo")
    yield "drGrpo", {"singleton": "raw"}, run("grpo", norm_adv_by_std_in_grpo=False)
    yield "rloo", {"singleton": "raw"}, run("rloo")
    yield "rloo", {"singleton": "zero"}, run("rloo_vectorized")
    yield "opo", {"singleton": "raw"}, run("opo")
    yield "gpg", {"singleton": "raw", "alpha": "zeroReturns"}, run("gpg")
    yield "reinforcePlusPlusBaseline", {"singleton": "raw"}, run("reinforce_plus_plus_baseline", config=config)


def pass_k_case(batch):
    """verl refuses groups of one: its group is left out of the run, and gets 0 here."""
    config = {"norm_adv_by_std_in_grpo": True}
    keep = [i for i, g in enumerate(batch.groups) if (batch.groups == g).sum() > 1]
    advantages = torch.zeros_like(batch.mask)
    advantages[keep] = core_algos.compute_grpo_passk_outcome_advantage(
        batch.outcome_rewards[keep], batch.mask[keep], batch.groups[keep], config=config
    )[0]
    return advantages


def gae_case(batch, gamma, lam, bootstrap):
    """verl cannot bootstrap. One more token with reward = value = V(s_T) has no TD error and hands V(s_T) on."""
    rewards, values, mask = batch.dense_rewards, batch.values, batch.mask
    if bootstrap:
        pad = torch.zeros(len(rewards), 1, dtype=torch.float64)
        rewards, values, mask = (torch.cat([x, pad], 1) for x in (rewards, values, mask))
        for i, n in enumerate(batch.lengths):
            if batch.truncated[i]:
                rewards[i, n] = values[i, n] = batch.final_values[i]
                mask[i, n] = 1
    _, returns = core_algos.compute_gae_advantage_return(rewards, values, mask, gamma, lam)
    returns = returns[:, : batch.width]
    advantages = (returns - batch.values) * batch.mask
    return {
        "estimator": "gae",
        "batch": batch.name,
        "rewards": "dense_rewards",
        "options": {"gamma": gamma, "lambda": lam},
        "bootstrap": bootstrap,
        "advantages": batch.actions(advantages),
        "whitened": batch.actions(masked_whiten(advantages, batch.mask)),
        "returns": batch.actions(returns),
    }


def case(batch, rewards, estimator, options, advantages, **more):
    return {
        "estimator": estimator,
        "batch": batch.name,
        "rewards": rewards,
        "options": options,
        "advantages": batch.actions(advantages),
        **more,
    }


def cases(batch):
    for gamma, lam in [(1.0, 1.0), (0.95, 0.9), (0.9, 0.0), (0.0, 0.5)]:
        for bootstrap in [False, True]:
            yield gae_case(batch, gamma, lam, bootstrap)
    for estimator, options, advantages in group_cases(batch):
        yield case(batch, "outcome_rewards", estimator, options, advantages)
    yield case(batch, "outcome_rewards", "grpoPassK", {"divideByStd": True}, pass_k_case(batch))

    config = AlgoConfig(adv_estimator="reinforce_plus_plus", gamma=0.97)
    advantages, returns = core_algos.compute_reinforce_plus_plus_outcome_advantage(
        batch.dense_rewards, batch.mask, config=config
    )
    yield case(batch, "dense_rewards", "reinforcePlusPlus", {"gamma": 0.97}, advantages, returns=batch.actions(returns))

    greedy = batch.final_values
    advantages, returns = core_algos.compute_remax_outcome_advantage(batch.dense_rewards, greedy, batch.mask)
    yield case(batch, "dense_rewards", "remax", {}, advantages)

    weights = torch.exp(batch.proximal - batch.behavior).clamp(max=2.0)
    for handle_tail in [True, False]:
        for rollout_weights in [None, weights]:
            advantages, _ = core_algos.compute_multi_turn_optimal_token_baseline_advantage(
                batch.dense_rewards,
                batch.mask,
                batch.groups,
                batch.proximal,
                batch.sum_squares,
                rollout_is_weights=rollout_weights,
                handle_zero_tail=handle_tail,
            )
            yield case(
                batch,
                "dense_rewards",
                "optimalTokenBaseline",
                {"loneTail": "raw" if handle_tail else "zero", "singleton": "raw"},
                advantages,
                importanceWeights=rollout_weights is not None,
            )

    components = [batch.outcome_rewards, batch.dense_rewards]
    weights = [1.0, 0.5]
    total = sum(
        w * core_algos.compute_grpo_outcome_advantage(c.clone(), batch.mask, batch.groups)[0]
        for w, c in zip(weights, components)
    )
    advantages = masked_whiten(total, batch.mask) * batch.mask
    yield case(batch, "outcome_rewards", "gdpo", {"singleton": "raw"}, advantages, componentWeights=weights)


if __name__ == "__main__":
    content = {"cases": [c for batch in BATCHES.values() for c in cases(batch)]}
    write("advantages.json", "generate_advantages.py", 1e-5, content)
