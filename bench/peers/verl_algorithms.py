"""Shortest runs of verl's functions, of OpenRLHF's GAE loop and of GiGPO in numpy on a batch of the shape that algorithms.bench.mjs measures; the last line is JSON, milliseconds."""

import json
import time

import numpy as np
import torch
from verl.trainer.ppo import core_algos
from verl.workers.config import ActorConfig

NUM_SEQUENCES, MAX_LENGTH, GROUP_SIZE, REPEATS = 2048, 512, 8, 9
STEP_LENGTH, NUM_STATES = 16, 64


def shortest_ms(run):
    times = []
    for _ in range(2 * REPEATS):
        start = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - start))
    return min(times[REPEATS:])


def openrlhf_gae(values, rewards, mask, gamma, lam):
    """GAE over padded rows, a column at a time, as OpenRLHF's experience maker has it."""
    values, rewards = mask * values, mask * rewards
    last = 0.0
    reversed_advantages = []
    width = rewards.size(1)
    for t in reversed(range(width)):
        next_values = values[:, t + 1] if t < width - 1 else 0.0
        last = rewards[:, t] + gamma * next_values - values[:, t] + gamma * lam * last
        reversed_advantages.append(last)
    advantages = torch.stack(reversed_advantages[::-1], dim=1)
    return advantages, advantages + values


def standardise(values, keys, num_keys):
    """(x - mean) / (sample std + 1e-6) inside each key; 0 where a key has one member."""
    counts = np.bincount(keys, minlength=num_keys)
    means = np.bincount(keys, values, num_keys) / np.maximum(counts, 1)
    centred = values - means[keys]
    deviations = np.sqrt(np.bincount(keys, centred**2, num_keys) / np.maximum(counts - 1, 1))
    return np.where(counts[keys] > 1, centred / (deviations[keys] + 1e-6), 0.0)


def numpy_gigpo(token_rewards, episode_of_step, step_of_token, groups, anchors, gamma=0.95, weight=1.0):
    """GiGPO (arXiv:2505.10978) with nothing but array operations, save the recursion over the steps of an episode."""
    num_steps, num_episodes = len(episode_of_step), len(groups)
    step_rewards = np.bincount(step_of_token, token_rewards, num_steps)
    returns = np.bincount(episode_of_step, step_rewards, num_episodes)
    episode_advantages = standardise(returns, groups, groups.max() + 1)
    discounted = np.empty(num_steps)
    following = 0.0
    for k in range(num_steps - 1, -1, -1):
        if k + 1 == num_steps or episode_of_step[k + 1] != episode_of_step[k]:
            following = 0.0
        following = step_rewards[k] + gamma * following
        discounted[k] = following
    states, keys = np.unique(groups[episode_of_step].astype(np.int64) * NUM_STATES + anchors, return_inverse=True)
    step_advantages = standardise(discounted, keys, len(states))
    return (episode_advantages[episode_of_step] + weight * step_advantages)[step_of_token].astype(np.float32)


def make_steps(lengths):
    """Steps of 16 action tokens, each in one of 64 states, and rewards on the last token of half the episodes."""
    random = np.random.default_rng(7)
    numbers = -(-lengths // STEP_LENGTH)
    episode_of_step = np.repeat(np.arange(len(lengths)), numbers)
    firsts = np.cumsum(numbers) - numbers
    step_of_token = np.concatenate([first + np.arange(length) // STEP_LENGTH for first, length in zip(firsts, lengths)])
    rewards = np.zeros(lengths.sum())
    rewards[np.cumsum(lengths) - 1] = random.random(len(lengths)) < 0.5
    anchors = random.integers(0, NUM_STATES, len(episode_of_step))
    return rewards, episode_of_step, step_of_token, anchors


def main():
    torch.set_num_threads(2)
    generator = torch.Generator().manual_seed(7)
    shape = (NUM_SEQUENCES, MAX_LENGTH)
    lengths = torch.randint(1, MAX_LENGTH + 1, (NUM_SEQUENCES,), generator=generator)
    mask = (torch.arange(MAX_LENGTH)[None, :] < lengths[:, None]).float()
    rewards = torch.zeros(shape)
    rewards[torch.arange(NUM_SEQUENCES), lengths - 1] = (torch.rand(NUM_SEQUENCES, generator=generator) < 0.5).float()
    values = torch.rand(shape, generator=generator) - 0.5
    logprobs = (-3 * torch.rand(shape, generator=generator)).requires_grad_(True)
    proximal = logprobs.detach() + 0.4 * (torch.rand(shape, generator=generator) - 0.5)
    advantages = 2 * torch.rand(shape, generator=generator) - 1
    groups = np.arange(NUM_SEQUENCES) // GROUP_SIZE
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1)

    def ppo():
        logprobs.grad = None
        loss, _ = core_algos.compute_policy_loss_vanilla(proximal, logprobs, advantages, mask, "token-mean", config)
        loss.backward()

    step_rewards, episode_of_step, step_of_token, anchors = make_steps(lengths.numpy())

    print(
        json.dumps(
            {
                "gae, verl": shortest_ms(
                    lambda: core_algos.compute_gae_advantage_return(rewards, values, mask, 0.99, 0.95)
                ),
                "gae, OpenRLHF's loop": shortest_ms(lambda: openrlhf_gae(values, rewards, mask, 0.99, 0.95)),
                "gigpo, numpy": shortest_ms(
                    lambda: numpy_gigpo(step_rewards, episode_of_step, step_of_token, groups, anchors)
                ),
                "grpo, verl's loop": shortest_ms(
                    lambda: core_algos.compute_grpo_outcome_advantage(rewards, mask, groups)
                ),
                "rloo, verl's loop": shortest_ms(
                    lambda: core_algos.compute_rloo_outcome_advantage(rewards, mask, groups)
                ),
                "opo, verl's loop": shortest_ms(
                    lambda: core_algos.compute_opo_outcome_advantage(rewards, mask, groups)
                ),
                "grpo, verl vectorised": shortest_ms(
                    lambda: core_algos.compute_grpo_vectorized_outcome_advantage(rewards, mask, groups)
                ),
                "ppo, verl": shortest_ms(ppo),
            }
        )
    )


if __name__ == "__main__":
    main()
