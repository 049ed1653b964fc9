import { resolveRecipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { replayUpdate } from '@retrace/trainer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory } from './support/cli.mjs';
import { InProcessRun } from './support/in-process-run.js';

describe('KL in the reward', () => {
  const directory = makeDataDirectory();
  const opened: InProcessRun[] = [];

  interface Update {
    readonly kl: number | null;
    readonly loss: number;
  }

  async function train(name: string, ...settings: string[]) {
    const small = ['collection.groupsPerRound=32', 'optimizer.learningRate=0.01'];
    const untested = ['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'];
    const recipe = resolveRecipe('bandit-ppo', {
      numUpdates: 3,
      assignments: [...small, ...untested, ...settings],
    });
    const run = await InProcessRun.begin(`${directory.path}/${name}`, recipe);
    opened.push(run);
    await run.work();
    const updates = (await run.updates()).map(({ metricNames, metricValues }): Update => {
      const metrics = new Map(metricNames.map((metric, i) => [metric, metricValues[i]]));
      return { kl: metrics.get('train/kl') ?? null, loss: metrics.get('train/loss') ?? NaN };
    });
    return { run, updates };
  }

  let penalised: Awaited<ReturnType<typeof train>>;
  beforeAll(async () => {
    await openBackend();
    penalised = await train('reward', 'loss.kl.coefficient=0.5', 'loss.kl.in=reward');
  });
  afterAll(async () => {
    await Promise.all(opened.map((run) => run.close()));
    directory.remove();
  });

  it('is that of the policy before each update from the first one, and reaches the advantages', async () => {
    const { updates } = penalised;
    expect(updates).toHaveLength(3);
    // The first update starts from the reference policy itself.
    expect(Math.abs(updates[0].kl ?? NaN)).toBeLessThan(1e-6);
    expect(updates[1].kl).toBeGreaterThan(1e-6);
    expect(updates[2].kl).toBeGreaterThan(1e-6);

    const { updates: plain } = await train('plain');
    expect(plain.map(({ kl }) => kl)).toEqual([null, null, null]);
    // Nothing to penalise yet, then the same episodes are worth less.
    expect(updates[0].loss).toBeCloseTo(plain[0].loss, 6);
    expect(Math.abs(updates[1].loss - plain[1].loss)).toBeGreaterThan(1e-6);
  });

  it('is replayed exactly', async () => {
    const { lossDifference, sameWeights } = await penalised.run.replay(3);
    expect(lossDifference).toBeLessThan(1e-6);
    expect(sameWeights).toBe(true);
  });

  it('is not replayed from episodes that are not those it was computed from', async () => {
    const { source } = penalised.run;
    const readEpisodes = async (runId: string, episodeIds: readonly string[]) => {
      const columns = await source.reader.readEpisodes(runId, episodeIds);
      return {
        ...columns,
        tokenIds: columns.tokenIds.with(-1, 1 + columns.tokenIds[columns.tokenIds.length - 1]),
      };
    };
    const reader = { ...source.reader, readEpisodes };
    const [{ episodeIds }] = await penalised.run.plans();
    await expect(replayUpdate({ ...source, reader, updateNumber: 1 })).rejects.toMatchObject({
      code: 'EPISODES_CHANGED',
      message: expect.stringContaining(episodeIds.at(-1) ?? '') as string,
    });
  });
});
