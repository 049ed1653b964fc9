import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { openBackend } from '@retrace/compute';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun } from './support/in-process-run.js';

/** Eight turns of memory-bandit, in a context of this many tokens. Only their outcome pays. */
function recipeWith(
  maxPositions: number,
  { context = {}, collection = {} }: { context?: object; collection?: object } = {},
): Recipe {
  const base = resolveRecipe('memory-bandit-grpo', {
    numUpdates: 1,
    assignments: [
      `model.maxPositions=${maxPositions}`,
      'collection.groupsPerRound=2',
      'collection.groupSize=4',
      'evaluation.everyUpdates=0',
      'evaluation.numTestEpisodes=0',
      'reward.components=[{"reward":"goal"}]',
      'reward.allocation=lastToken',
    ],
  });
  return {
    ...base,
    context: { ...base.context, ...context },
    collection: { ...base.collection, ...collection },
  };
}

describe('a run whose episodes outgrow the context', () => {
  let directory: string;
  beforeAll(async () => {
    await openBackend();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-context-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  async function play(recipe: Recipe) {
    const run = await InProcessRun.begin(directory, recipe);
    await run.work();
    const [update] = await run.updates();
    const metrics = new Map(update.metricNames.map((name, i) => [name, update.metricValues[i]]));
    const events = await run.episodeEvents();
    const ends = events.flatMap((event) => (event.kind === 'EpisodeEnded' ? [event.payload] : []));
    await run.close();
    return { rewards: [...(update.episodeRewards ?? [])], metrics, ends };
  }

  it('ends them as truncated, which are failures that are trained on', async () => {
    const { rewards, metrics, ends } = await play(recipeWith(12));
    expect(ends).toHaveLength(8);
    for (const end of ends) {
      expect(end).toMatchObject({ endReason: 'truncated', endDetail: 'context full', success: false });
      expect(end.numSteps).toBeLessThan(8);
    }
    expect(rewards).toEqual(Array.from({ length: 8 }, () => -1));
    expect(metrics.get('train/numMissingRewards')).toBe(0);
  });

  it('leaves their outcome unknown, and so the episodes out of the update, where the recipe says so', async () => {
    const { rewards, ends } = await play(recipeWith(12, { collection: { truncatedSuccess: 'unknown' } }));
    expect(ends.map(({ success }) => success)).toEqual(Array.from({ length: 8 }, () => null));
    expect(rewards.every(Number.isNaN)).toBe(true);
  });

  it('goes on without the oldest turns where the recipe says so, and trains on the contexts that the policy saw', async () => {
    const { metrics, ends } = await play(recipeWith(12, { context: { whenFull: 'dropOldest' } }));
    for (const end of ends) expect(end).toMatchObject({ endReason: 'terminated', numSteps: 8 });
    // The trainer computes each logprob again from the stored tokens: it equals the collector's only for the same context.
    expect(metrics.get('train/ratioMaxDeviation')).toBeLessThan(1e-4);
    expect(metrics.get('train/numActionTokens')).toBe(8 * 8);
  });

  it('refuses a task whose first prompt is too long, with the reason, and goes on', async () => {
    // The prompt is two tokens, `start` and the end of the turn; after an action of up to seven there is room for one.
    const { rewards, ends } = await play(recipeWith(8, { context: { maxNewTokens: 7 } }));
    expect(ends).toHaveLength(8);
    for (const end of ends) {
      expect(end).toMatchObject({
        endReason: 'truncated',
        endDetail:
          'task refused: its first prompt has 2 tokens, and the context has room for 1 before an action',
        finalObservation: 'start',
        numSteps: 0,
        success: false,
      });
    }
    expect(rewards.every(Number.isNaN)).toBe(true);
  });
});
