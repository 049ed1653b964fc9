import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from './support/cli.mjs';

describe('KL in the reward', { timeout: 120_000 }, () => {
  const directory = makeDataDirectory();

  interface Update {
    readonly kl: number | null;
    readonly loss: number;
  }

  async function train(name: string, ...settings: string[]): Promise<Update[]> {
    const data = ['--data-dir', join(directory.path, name)];
    const trained = await runRetrace([
      ...['train', '--recipe', 'bandit-ppo', '--updates', '3', ...data],
      ...['collection.groupsPerRound=32', 'optimizer.learningRate=0.01', 'evaluation.everyUpdates=0'].flatMap(
        (setting) => ['--set', setting],
      ),
      ...['evaluation.numTestEpisodes=0', ...settings].flatMap((setting) => ['--set', setting]),
    ]);
    expect(trained.code, trained.stderr).toBe(0);
    const { stdout } = await runRetrace([
      'sql',
      `SELECT if(mapContains(metrics, 'train/kl'), metrics['train/kl'], NULL) AS kl, metrics['train/loss'] AS loss
       FROM updates ORDER BY update_number`,
      ...['--json', ...data],
    ]);
    return JSON.parse(stdout) as Update[];
  }

  let penalised: Update[];
  beforeAll(async () => {
    penalised = await train('reward', 'loss.klCoefficient=0.5', 'loss.klIn=reward');
  }, 120_000);
  afterAll(() => {
    directory.remove();
  });

  it('is that of the policy before each update from the first one, and reaches the advantages', async () => {
    expect(penalised).toHaveLength(3);
    // The first update starts from the reference policy itself.
    expect(Math.abs(penalised[0].kl ?? NaN)).toBeLessThan(1e-6);
    expect(penalised[1].kl).toBeGreaterThan(1e-6);
    expect(penalised[2].kl).toBeGreaterThan(1e-6);

    const plain = await train('plain');
    expect(plain.map(({ kl }) => kl)).toEqual([null, null, null]);
    // Nothing to penalise yet, then the same episodes are worth less.
    expect(penalised[0].loss).toBeCloseTo(plain[0].loss, 6);
    expect(Math.abs(penalised[1].loss - plain[1].loss)).toBeGreaterThan(1e-6);
  });

  it('is replayed exactly', async () => {
    const { code, stdout } = await runRetrace([
      ...['replay', '--update', '3', '--json', '--data-dir', join(directory.path, 'reward')],
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ isReproduced: true, sameWeights: true });
  });
});
