import { defineEnvironment, frozenLake, type Environment } from '@retrace/environments';
import type { Baseline } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { measureBaselines } from './measure-baselines.js';

const limits = { resetTimeoutMs: 5, stepTimeoutMs: 5 };

async function measure(options: { environment: string; seed: number; numEpisodes: number }) {
  const baselines: Baseline[] = [];
  await measureBaselines({ ...options, limits }, (baseline) => baselines.push(baseline));
  return baselines;
}

describe('measureBaselines', () => {
  it('measures every scripted agent on the same held-out tasks', async () => {
    const baselines = await measure({ environment: 'frozen-lake', seed: 1, numEpisodes: 1000 });
    const success = Object.fromEntries(baselines.map(({ name, success: rate }) => [name, rate]));
    expect(baselines).toHaveLength(frozenLake.agents.length);
    expect(baselines).toContainEqual({ name: 'expert', success: 1, numEpisodes: 1000, split: 'validation' });
    // On 400 other maps .221 was measured; six standard errors of 1,000 episodes: 6 · √(.221 · .779 / 1000) = .079.
    expect(Math.abs(success.random - 0.221)).toBeLessThan(0.079);
  });

  it('gives the same figures when called twice', async () => {
    const options = { environment: 'bandit', seed: 3, numEpisodes: 200 };
    expect(await measure(options)).toEqual(await measure(options));
  });

  it('counts episodes in which environment or agent fail as no success, and goes on', async () => {
    let numMade = 0;
    const [random] = frozenLake.agents;
    const faulty = defineEnvironment({
      ...frozenLake,
      name: 'faulty-lake',
      // The first of all instances never answers.
      create: (): Environment =>
        numMade++ === 0
          ? { ...frozenLake.create(), reset: () => new Promise(() => undefined) }
          : frozenLake.create(),
      agents: [
        {
          name: 'random',
          act: (...given) => frozenLake.agents.find(({ name }) => name === 'expert')?.act(...given) ?? '',
        },
        {
          ...random,
          name: 'lost',
          act: () => {
            throw new Error('lost');
          },
        },
      ],
    });
    const baselines = await measure({ environment: faulty.name, seed: 1, numEpisodes: 100 });
    expect(baselines.map(({ name, success }) => [name, success])).toEqual([
      ['random', 0.99],
      ['lost', 0],
    ]);
  });
});
