import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RewardScorer, type RewardDefinition } from '../reward-scorer.js';
import { newestVersion } from '../reward-versions.js';
import { scoreRun } from '../score-run.js';
import { auditRewards } from './audit-rewards.js';

const SPREAD = { allocation: 'perStep', allocationGamma: 1 } as const;
/** Successes of each ten episodes: fewer and fewer. */
const SUCCESSES = [10, 10, 8, 8, 5, 5, 2, 2, 0, 0];
const PER_STRETCH = 10;
/** More and more reward, whether the episode succeeds or not. */
const EPISODES = SUCCESSES.flatMap((num, stretch) =>
  Array.from({ length: PER_STRETCH }, (_, i) => ({
    reward: (stretch * PER_STRETCH + i) / 10,
    success: i < num,
  })),
);

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const rewardsOf = (success: boolean) =>
  EPISODES.filter((episode) => episode.success === success).map(({ reward }) => reward);

describe('auditRewards', () => {
  let store: StoreFixture;
  const runId = newRunId();
  const audit = (version: string, options: object = {}) =>
    auditRewards({ client: store.client, runId, version, numStretches: SUCCESSES.length, ...options });

  beforeAll(async () => {
    store = await openStoreFixture();
    const { log, client } = store;
    const { logId } = log;
    await appendEvents(log, [controlEvent({ logId, runId }, 'RunStarted')]);
    for (const [ordinal, { reward, success }] of EPISODES.entries())
      await appendEvents(
        log,
        episodeEvents({
          ...{ logId, runId, ordinal, numSteps: 1, step: () => ({ reward }) },
          ended: { success },
          started: { split: 'train' },
          occurredAtUs: 1_700_000_000_000_000 + ordinal,
        }),
      );
    const others: readonly { readonly split: 'test' | 'validation'; readonly success: boolean | null }[] = [
      // The best of all.
      { split: 'test', success: true },
      // Nobody says whether they reached their goal.
      ...Array.from({ length: 20 }, () => ({ split: 'validation', success: null }) as const),
    ];
    for (const [i, { split, success }] of others.entries())
      await appendEvents(
        log,
        episodeEvents({
          ...{ logId, runId, ordinal: EPISODES.length + i, numSteps: 1, step: () => ({ reward: 100 + i }) },
          ended: { success },
          started: { split },
          occurredAtUs: 1_700_000_001_000_000 + i,
        }),
      );
    await catchUp(log, client);
    const score = (components: RewardDefinition['components'], name: string) =>
      scoreRun({ client, runId, scorer: new RewardScorer({ ...SPREAD, components }), name });
    await score(
      [{ reward: 'environment' }, { reward: 'goal', weight: 0.5, options: { failure: 0 } }],
      'hackable',
    );
    await score([{ reward: 'goal' }], 'goal');
    await score([{ reward: 'environment', weight: -1 }], 'turned');
  });
  afterAll(() => store.close());

  it('finds the values that rose while the success fell, and those that pay failures more', async () => {
    const { values, hacked, stretches, ...counts } = await audit('hackable', { split: 'train' });
    const numEpisodes = EPISODES.length;
    expect(counts).toMatchObject({
      ...{ numEpisodes, numWithTotal: numEpisodes, numWithSuccess: numEpisodes, numWindows: 1 },
    });
    expect(stretches).toEqual(
      SUCCESSES.map((num) => ({ numEpisodes: PER_STRETCH, success: num / PER_STRETCH })),
    );
    expect(values.map(({ name, paysFailures }) => [name, paysFailures])).toEqual([
      ['total', true],
      ['environment', true],
      ['goal', false],
    ]);
    const [, environment, goal] = values;
    expect(environment.numEpisodes).toBe(EPISODES.length);
    expect(environment.mean).toBeCloseTo(mean(EPISODES.map(({ reward }) => reward)), 12);
    expect(environment.meanOfSuccesses).toBeCloseTo(mean(rewardsOf(true)), 12);
    expect(environment.meanOfFailures).toBeCloseTo(mean(rewardsOf(false)), 12);
    expect(goal).toMatchObject({ meanOfSuccesses: 0.5, meanOfFailures: 0 });
    expect(environment.byStretch.map((value) => Number(value?.toFixed(6)))).toEqual(
      SUCCESSES.map((_, stretch) => (stretch * PER_STRETCH + 4.5) / 10),
    );
    expect(hacked.map(({ name }) => name)).toEqual(['total', 'environment']);
    expect(hacked[1]).toMatchObject({ from: 0, to: 9, trend: 1 });
    expect(hacked[1].successFrom).toBeCloseTo((10 + 10 + 8) / 30, 12);
    expect(hacked[1].successTo).toBeCloseTo(2 / 30, 12);
    expect(hacked[1].valueTo - hacked[1].valueFrom).toBeCloseTo(7, 9);
    // Ranks 9.5 9.5 7.5 7.5 … 1.5 1.5 against 1 … 10: −80/√(82.5·80), as scipy.stats.spearmanr gives.
    expect(hacked[1].successTrend).toBeCloseTo(-80 / Math.sqrt(82.5 * 80), 12);
  });

  it('names the failures that got most and the successes that got least', async () => {
    const { richestFailures, poorestSuccesses, paidFailures } = await audit('hackable', {
      split: 'train',
      limit: 2,
    });
    const ids = (ordinals: readonly number[]) => ordinals.map((ordinal) => episodeIdFor({ runId, ordinal }));
    expect(richestFailures.map(({ episodeId }) => episodeId)).toEqual(ids([99, 98]));
    expect(richestFailures[0]).toMatchObject({ components: { environment: 9.9, goal: 0 } });
    expect(poorestSuccesses.map(({ episodeId }) => episodeId)).toEqual(ids([0, 1]));
    const totals = (success: boolean) => rewardsOf(success).map((reward) => reward + (success ? 0.5 : 0));
    const sorted = totals(true).sort((a, b) => a - b);
    // The exact quantile of a sample is one of its values.
    const median = sorted[Math.floor(sorted.length / 2)];
    expect(paidFailures).toBeCloseTo(mean(totals(false).map((total) => Number(total >= median))), 12);
  });

  it('finds nothing where the reward is the success', async () => {
    const { values, hacked, paidFailures } = await audit('goal', { split: 'train' });
    expect(hacked).toEqual([]);
    expect(values.some(({ paysFailures }) => paysFailures)).toBe(false);
    expect(paidFailures).toBe(0);
  });

  it('counts a component by its weight: what costs failures more is no fault', async () => {
    const { values, hacked } = await audit('turned', { split: 'train' });
    expect(values.map(({ kind, name, paysFailures }) => [kind, name, paysFailures])).toEqual([
      ['total', 'total', false],
      ['component', 'environment', false],
    ]);
    expect(hacked).toEqual([]);
    expect(values[1].mean).toBeCloseTo(-mean(EPISODES.map(({ reward }) => reward)), 12);
  });

  it('looks at one split or at all, and cuts no stretch of fewer than ten episodes', async () => {
    const all = await audit('hackable', { numStretches: 50 });
    // Success is a component, so an episode without it has no total.
    expect(all).toMatchObject({ numEpisodes: 121, numWithTotal: 101, numWithSuccess: 101 });
    expect(all.stretches).toHaveLength(10);
    expect((await audit('turned', { numStretches: 50 })).stretches).toHaveLength(12);
    const test = await audit('hackable', { split: 'test' });
    expect(test).toMatchObject({ stretches: [{ numEpisodes: 1, success: 1 }], numWindows: 0, hacked: [] });
    await expect(audit('hackable', { split: 'none' })).rejects.toMatchObject({
      code: 'NOTHING_TO_COMPARE',
      message: expect.stringContaining('121 are of other splits') as string,
    });
  });

  it('says nothing of hacking where success is not known', async () => {
    await expect(audit('hackable', { split: 'validation' })).rejects.toMatchObject({
      code: 'NOTHING_TO_COMPARE',
      message: expect.stringContaining('none of the 20 scores') as string,
    });
    expect(await audit('turned', { split: 'validation' })).toMatchObject({
      ...{ numEpisodes: 20, numWithTotal: 20, numWithSuccess: 0, numWindows: 0 },
      ...{ paidFailures: null, richestFailures: [], poorestSuccesses: [] },
    });
  });

  it('takes the version that was named last, and says where there is none', async () => {
    expect(await newestVersion(store.client, runId)).toBe((await audit('turned')).version);
    await expect(newestVersion(store.client, newRunId())).rejects.toMatchObject({ code: 'VERSION_UNKNOWN' });
  });
});
