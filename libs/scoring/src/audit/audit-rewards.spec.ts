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
/** Successes of each four episodes: fewer and fewer. */
const SUCCESSES = [4, 4, 3, 3, 2, 2, 1, 1, 0, 0];
const PER_STRETCH = 4;
/** More and more reward, whatever comes of it. */
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
    // Of another split, and the best of all.
    await appendEvents(
      log,
      episodeEvents({
        ...{ logId, runId, ordinal: EPISODES.length, numSteps: 1, step: () => ({ reward: 100 }) },
        ended: { success: true },
        started: { split: 'test' },
        occurredAtUs: 1_700_000_001_000_000,
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
  });
  afterAll(() => store.close());

  it('finds the values that rose while the success fell, and those that pay failures more', async () => {
    const { values, hacked, stretches, numEpisodes } = await audit('hackable', { split: 'train' });
    expect(numEpisodes).toBe(EPISODES.length);
    expect(stretches).toEqual(
      SUCCESSES.map((num) => ({ numEpisodes: PER_STRETCH, success: num / PER_STRETCH })),
    );
    expect(values.map(({ name, paysFailures }) => [name, paysFailures])).toEqual([
      ['total', true],
      ['environment', true],
      ['goal', false],
    ]);
    const [, environment] = values;
    expect(environment.numEpisodes).toBe(EPISODES.length);
    expect(environment.mean).toBeCloseTo(mean(EPISODES.map(({ reward }) => reward)), 12);
    expect(environment.meanOfSuccesses).toBeCloseTo(mean(rewardsOf(true)), 12);
    expect(environment.meanOfFailures).toBeCloseTo(mean(rewardsOf(false)), 12);
    expect(environment.byStretch.map((value) => Number(value?.toFixed(6)))).toEqual(
      SUCCESSES.map((_, stretch) => (stretch * PER_STRETCH + 1.5) / 10),
    );
    expect(hacked.map(({ name }) => name)).toEqual(['total', 'environment']);
    expect(hacked[1]).toMatchObject({ from: 0, to: 9, successFrom: 1, successTo: 0 });
    expect(hacked[1].valueTo - hacked[1].valueFrom).toBeCloseTo(3.6, 9);
    // Ranks 9.5 9.5 7.5 7.5 … 1.5 1.5 against 1 … 10: −80/√(82.5·80), as scipy.stats.spearmanr gives.
    expect(hacked[1]).toMatchObject({ trend: 1 });
    expect(hacked[1].successTrend).toBeCloseTo(-80 / Math.sqrt(82.5 * 80), 12);
  });

  it('names the failures that got most and the successes that got least', async () => {
    const { richestFailures, poorestSuccesses, paidFailures } = await audit('hackable', {
      split: 'train',
      limit: 2,
    });
    const ids = (ordinals: readonly number[]) => ordinals.map((ordinal) => episodeIdFor({ runId, ordinal }));
    expect(richestFailures.map(({ episodeId }) => episodeId)).toEqual(ids([39, 38]));
    expect(richestFailures[0]).toMatchObject({ components: { environment: 3.9 } });
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

  it('looks at one split or at all, and at as many stretches as there are episodes at most', async () => {
    expect(await audit('hackable')).toMatchObject({ numEpisodes: EPISODES.length + 1 });
    const { stretches, hacked } = await audit('hackable', { split: 'test' });
    expect(stretches).toEqual([{ numEpisodes: 1, success: 1 }]);
    expect(hacked).toEqual([]);
    await expect(audit('hackable', { split: 'none' })).rejects.toMatchObject({ code: 'NOTHING_TO_COMPARE' });
  });

  it('takes the version that was named last, and says where there is none', async () => {
    expect(await newestVersion(store.client, runId)).toBe((await audit('goal')).version);
    await expect(newestVersion(store.client, newRunId())).rejects.toMatchObject({ code: 'VERSION_UNKNOWN' });
  });
});
