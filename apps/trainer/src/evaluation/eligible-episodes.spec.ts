import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { episodeIdFor, newRunId, type SamplingParameters, type StepRecorded } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawSampledEpisodes } from './eligible-episodes.js';

const runId = newRunId();
const SAMPLING: SamplingParameters = { temperature: 0.7, topK: 0, topP: 1, greedy: false, maxNewTokens: 8 };
const idOf = (ordinal: number) => episodeIdFor({ runId, ordinal });

/** Episodes by ordinal: how their steps were sampled, and by which policy versions. */
const EPISODES: readonly ((step: number) => Partial<StepRecorded>)[] = [
  sampledBy(2),
  sampledBy(1),
  // Its policy changed twice in the middle.
  (step) => sampledBy(2 * step)(step),
  (step) => ({ ...sampledBy(2)(step), sampling: { ...SAMPLING, greedy: true } }),
  (step) => ({ ...sampledBy(2)(step), sampling: { ...SAMPLING, topK: 5 } }),
  (step) => ({ ...sampledBy(2)(step), logprobMode: 'raw' }),
  (step) => ({ ...sampledBy(2)(step), logprobMode: 'raw', sampling: { ...SAMPLING, temperature: 1 } }),
];

function sampledBy(version: number): (step: number) => Partial<StepRecorded> {
  return () => ({
    sampling: SAMPLING,
    logprobMode: 'processed',
    tokenPolicyVersions: new Int32Array(12).fill(version),
  });
}

describe('drawSampledEpisodes', () => {
  let fixture: StoreFixture;
  const draw = (policyVersions: readonly number[], maxEpisodes = 100, seed = 0) =>
    drawSampledEpisodes(fixture.client, { runId, policyVersions, maxEpisodes, seed });

  beforeAll(async () => {
    fixture = await openStoreFixture();
    const { log, client } = fixture;
    const { logId } = log;
    await appendEvents(log, [controlEvent({ logId, runId }, 'RunStarted')]);
    for (const [ordinal, step] of EPISODES.entries())
      await appendEvents(
        log,
        episodeEvents({ logId, runId, ordinal, step, started: { agent: 'policy' }, numTokens: 12 }),
      );
    await catchUp(log, client);
  });
  afterAll(() => fixture.close());

  it('draws what the policies sampled, also an episode whose policy changed in the middle', async () => {
    const { episodeIds, leftOut } = await draw([2]);
    expect(new Set(episodeIds)).toEqual(new Set([0, 2, 6].map(idOf)));
    expect(leftOut).toEqual({ otherPolicy: 1, otherwiseSampled: 2, beforeTemperature: 1 });
    expect((await draw([3])).episodeIds).toEqual([idOf(2)]);
    expect((await draw([])).leftOut.otherPolicy).toBe(EPISODES.length);
  });

  it('draws as many as are asked for, by the seed', async () => {
    const draws = await Promise.all([0, 0, 1, 2, 3, 4, 5].map((seed) => draw([1, 2], 2, seed)));
    const drawn = draws.map(({ episodeIds }) => episodeIds.join());
    expect(draws.every(({ episodeIds }) => episodeIds.length === 2)).toBe(true);
    expect(drawn[1]).toBe(drawn[0]);
    expect(new Set(drawn).size).toBeGreaterThan(1);
  });
});
