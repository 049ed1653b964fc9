import { episodeIdFor, newRunId, type AnyEvent } from '@retrace/trajectory';
import { catchUp } from '@retrace/store';
import { appendEvents } from '@retrace/log/testing';
import { episodeEvents } from '@retrace/trajectory/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RewardScorer } from './reward-scorer.js';
import { scoreRun } from './score-run.js';
import { StateVisits } from './state-visits.js';

/** Steps in a state each, by the time at which the episode was played. */
const PLAYED: readonly {
  readonly at: number;
  readonly states: readonly string[];
  readonly split?: 'validation';
}[] = [
  { at: 10, states: ['a', 'b', 'a'] },
  { at: 10, states: ['a'] },
  { at: 5, states: ['c', 'a'] },
  { at: 20, states: ['a', 'b', 'c'], split: 'validation' },
  { at: 30, states: ['b', 'a', 'd'] },
];

describe('visits of states', () => {
  let store: StoreFixture;
  const runId = newRunId();
  const ids = PLAYED.map((_, ordinal) => episodeIdFor({ runId, ordinal }));

  beforeAll(async () => {
    store = await openStoreFixture();
    for (const [ordinal, { at, states, split = 'train' }] of PLAYED.entries()) {
      const events = episodeEvents({
        logId: store.log.logId,
        runId,
        ordinal,
        numSteps: states.length,
        step: (k) => ({ anchor: states[k] }),
        occurredAtUs: at * 1_000_000,
      });
      const [started, ...rest] = events;
      const ofSplit = { ...started, payload: { ...started.payload, split } } as AnyEvent;
      await appendEvents(store.log, [ofSplit, ...rest]);
    }
    await catchUp(store.log, store.client);
  });
  afterAll(() => store.close());

  /** By definition: steps in the state, over training episodes that ended before this one began. */
  const expected = (episode: number, state: string) =>
    PLAYED.filter(({ at, split }) => split === undefined && at < PLAYED[episode].at)
      .flatMap(({ states }) => states)
      .filter((visited) => visited === state).length;

  it('count training episodes that ended before an episode began', async () => {
    const visits = await new StateVisits({ client: store.client, runId }).read(ids);
    const found = ids.map((id) => ['a', 'b', 'c', 'd'].map((state) => visits.get(id)?.(state)));
    // Of the last one by hand: a in episodes 0 (twice), 1 and 2, b in episode 0; c is not one of its states.
    expect(found[4]).toEqual([4, 1, 0, 0]);
    for (const [e, { states }] of PLAYED.entries()) {
      expect([...states].map((state) => visits.get(ids[e])?.(state))).toEqual(
        [...states].map((state) => expected(e, state)),
      );
    }
  });

  it('do not depend on which episodes are queried together', async () => {
    const visits = new StateVisits({ client: store.client, runId });
    const together = await visits.read(ids);
    for (const id of ids) {
      const alone = (await visits.read([id])).get(id);
      expect(alone?.('a')).toBe(together.get(id)?.('a'));
    }
  });

  it('give every step its exploration bonus', async () => {
    const scorer = new RewardScorer(
      {
        components: [{ reward: 'explorationBonus', options: { bonus: 1 } }],
        allocation: 'perStep',
        allocationGamma: 1,
      },
      { visits: new StateVisits({ client: store.client, runId }) },
    );
    await scoreRun({ client: store.client, runId, scorer, name: 'curious', maxEpisodesPerBatch: 2 });
    const rows = await store.client.queryRows<{ step_rewards: number[] }>(
      'SELECT step_rewards FROM scores WHERE run_id = {runId:String} ORDER BY episode_id',
      { params: { runId } },
    );
    PLAYED.forEach(({ states }, e) => {
      states.forEach((state, k) => {
        const inEpisode = states.slice(0, k + 1).filter((visited) => visited === state).length;
        expect(rows[e].step_rewards[k]).toBeCloseTo(1 / Math.sqrt(expected(e, state) + inEpisode), 12);
      });
    });
  });
});
