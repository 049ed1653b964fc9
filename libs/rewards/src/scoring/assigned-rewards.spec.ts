import { catchUp } from '@retrace/store';
import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { episodeIdFor, newEpisodeEvent, newRunId, type AnyEvent } from '@retrace/trajectory';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AssignedRewards, withAssignedUntil } from './assigned-rewards.js';
import { readRewardEpisodes } from './read-reward-episodes.js';
import { RewardScorer } from './reward-scorer.js';

const NUM_STEPS = 2;

describe('rewards that were assigned', () => {
  let store: StoreFixture;
  const runId = newRunId();
  const ids = [0, 1, 2].map((ordinal) => episodeIdFor({ runId, ordinal }));
  let numAssigned = 0;

  beforeAll(async () => {
    store = await openStoreFixture();
    const { logId } = store.log;
    await appendEvents(store.log, [controlEvent({ logId, runId }, 'RunStarted', {}) as AnyEvent]);
    for (const ordinal of ids.keys())
      await appendEvents(store.log, episodeEvents({ logId, runId, ordinal, numSteps: NUM_STEPS }));
  });
  afterAll(() => store.close());

  /** Assigns rewards at an early time, as a caller may state it: what counts is the place in the log. */
  async function assign(
    ...rewards: readonly {
      episode?: number;
      step?: number;
      value: number | null;
      source?: string;
      name?: string;
    }[]
  ) {
    for (const { episode = 0, step = null, value, source = 'ann', name = 'liked' } of rewards) {
      const event = newEpisodeEvent({
        kind: 'RewardAssigned',
        logId: store.log.logId,
        runId,
        episodeId: ids[episode],
        seq: numAssigned++,
        occurredAtUs: 1,
        payload: { step, name, value, source, rationale: '' },
      });
      await appendEvents(store.log, [event as AnyEvent]);
    }
    await catchUp(store.log, store.client);
  }

  async function pinned(options: object) {
    const components = [{ reward: 'assigned', options: { name: 'liked', ...options } }];
    return withAssignedUntil(components, { client: store.client, runIds: [runId] });
  }

  async function totals(components: Awaited<ReturnType<typeof pinned>>) {
    const definition = { components, allocation: 'perStep', allocationGamma: 1 } as const;
    const assigned = new AssignedRewards({ client: store.client });
    const scorer = await RewardScorer.load(definition, { assigned });
    const query = { runId, episodeIds: ids, withTexts: scorer.readsTexts };
    const scored = await scorer.scoreEpisodes(await readRewardEpisodes(store.client, query));
    return { version: scorer.version, totals: scored.map(({ total }) => total) };
  }

  it('are refused by their name while nobody has assigned one', async () => {
    await expect(pinned({})).rejects.toThrow('name is "liked", must be that of a reward which was assigned');
  });

  it('count as they were when the version was made, whatever is assigned later', async () => {
    await assign({ value: 1 }, { value: 0.5 }, { value: 0, source: 'bob' }, { episode: 1, value: -1 });
    await assign({ episode: 1, value: 9, name: 'other' });
    const first = await pinned({});
    // The newest of each source, and their mean: (0.5 + 0) / 2. Nobody rewarded the last episode.
    const before = await totals(first);
    expect(before.totals).toEqual([0.25, -1, null]);
    expect((await totals(await pinned({ source: 'ann' }))).totals).toEqual([0.5, -1, null]);
    expect((await totals(await pinned({ unassigned: 0 }))).totals).toEqual([0.25, -1, 0]);

    await assign({ value: 7 }, { episode: 1, value: null }, { episode: 2, value: 3 });
    expect(await totals(first)).toEqual(before);
    const now = await totals(await pinned({}));
    expect(now.totals).toEqual([3.5, null, 3]);
    expect(now.version).not.toBe(before.version);
    // Another name changes nothing about these.
    await assign({ value: 1, name: 'other' });
    expect((await totals(await pinned({}))).version).toBe(now.version);
  });

  it('are those of the steps where the recipe says so', async () => {
    await assign({ episode: 1, step: 0, value: 2 }, { episode: 1, step: 1, value: 1 }, { step: 1, value: 4 });
    expect((await totals(await pinned({ of: 'steps' }))).totals).toEqual([null, 3, null]);
    expect((await totals(await pinned({ of: 'steps', unassigned: 0 }))).totals).toEqual([4, 3, 0]);
  });

  it('are a fault, and no 0, where no place in the log is named', async () => {
    const unpinned = [{ reward: 'assigned', options: { name: 'liked' } }];
    expect((await totals(unpinned)).totals).toEqual([null, null, null]);
    await expect(totals([{ reward: 'assigned', options: { name: 'liked', until: '7' } }])).rejects.toThrow(
      'until is "7", must be as retrace train fills it in',
    );
  });
});
