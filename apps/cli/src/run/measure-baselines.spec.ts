import { describe, expect, it } from 'vitest';
import { measureBaselines } from './measure-baselines.js';

describe('measureBaselines', () => {
  it('measures every scripted agent on the same held-out tasks, best first', async () => {
    const baselines = await measureBaselines({ environment: 'frozen-lake', seed: 1, numEpisodes: 1000 });
    const success = Object.fromEntries(baselines.map(({ name, success: rate }) => [name, rate]));
    expect(baselines[0]).toEqual({ name: 'expert', success: 1, numEpisodes: 1000, split: 'validation' });
    // On 400 other maps .221 was measured; six standard errors of 1,000 episodes: 6 · √(.221 · .779 / 1000) = .079.
    expect(Math.abs(success.random - 0.221)).toBeLessThan(0.079);
    expect(baselines.map(({ success: rate }) => rate)).toEqual(
      baselines.map(({ success: rate }) => rate).sort((a, b) => b - a),
    );
  });

  it('gives the same figures when called twice', async () => {
    const options = { environment: 'bandit', seed: 3, numEpisodes: 200 };
    expect(await measureBaselines(options)).toEqual(await measureBaselines(options));
  });
});
