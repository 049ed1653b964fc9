"""Shortest runs of verl's functions on a batch of the shape that advantages.bench.mjs measures; the last line is JSON, milliseconds."""

import json
import time

import numpy as np
import torch
from verl.trainer.ppo import core_algos
from verl.workers.config import ActorConfig

NUM_SEQUENCES, MAX_LENGTH, GROUP_SIZE, REPEATS = 2048, 512, 8, 9


def shortest_ms(run):
    times = []
    for _ in range(2 * REPEATS):
        start = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - start))
    return min(times[REPEATS:])


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

    print(
        json.dumps(
            {
                "gae": shortest_ms(lambda: core_algos.compute_gae_advantage_return(rewards, values, mask, 0.99, 0.95)),
                "grpo, loop": shortest_ms(
                    lambda: core_algos.compute_grpo_outcome_advantage(rewards, mask, groups)
                ),
                "grpo, vectorised": shortest_ms(
                    lambda: core_algos.compute_grpo_vectorized_outcome_advantage(rewards, mask, groups)
                ),
                "ppo": shortest_ms(ppo),
            }
        )
    )


if __name__ == "__main__":
    main()
