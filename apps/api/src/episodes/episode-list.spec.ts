import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import { newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvents, sampleStep } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from '../paging/page.js';
import { ControlChanges } from '../store/control-changes.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { ServedStore } from '../testing/served-store.js';
import type { FilterName } from './episode-filter.js';
import { EpisodeListService } from './episode-list.service.js';
import { EpisodesQuery, type EpisodeListItem } from './episodes.dto.js';

const NUM_EPISODES = 12;
const START_US = Date.UTC(2026, 0, 1) * 1000;
const SECOND_US = 1_000_000;
const GROUP_ID = 'all';
const runId = newRunId();

let served: ServedStore<StoreService>;

beforeAll(async () => {
  served = await ServedStore.open(StoreService);
  const ids = { logId: served.fixture.log.logId, runId };
  await appendEvents(served.fixture.log, [controlEvent(ids, 'RunStarted')]);
  for (let ordinal = 0; ordinal < NUM_EPISODES; ordinal++)
    await appendEvents(served.fixture.log, episodeOf(ids, ordinal));
  await catchUp(served.fixture.log, served.fixture.client);
});
afterAll(async () => {
  await served?.close();
});

/** One of which each field is that of every second or third, and that has not ended if it is one of the last two. */
function episodeOf(ids: { readonly logId: string; readonly runId: string }, ordinal: number) {
  const isEven = ordinal % 2 === 0;
  const usage = { inputTokens: 1, cachedInputTokens: null, outputTokens: 1, reasoningTokens: null };
  const events = episodeEvents({
    ...{ ...ids, ordinal, occurredAtUs: START_US + ordinal * SECOND_US },
    steps: [
      {
        ...sampleStep(),
        observation: isEven ? 'the Goal is near' : 'nothing',
        untrainable: ordinal % 3 === 0 ? 'made storable: too long' : '',
        usage: { ...usage, costUsd: ordinal },
      },
    ],
    started: {
      ...{ groupId: GROUP_ID, groupSize: NUM_EPISODES, groupMember: ordinal },
      split: isEven ? 'train' : 'test',
      agent: isEven ? 'policy' : 'expert',
      tags: isEven ? ['night'] : [],
    },
    ended: {
      success: isEven,
      return: ordinal === 4 ? null : ordinal,
      endReason: isEven ? 'truncated' : 'terminated',
    },
  });
  return ordinal < NUM_EPISODES - 2 ? events : events.slice(0, -1);
}

const at = (ordinal: number): string => new Date((START_US + ordinal * SECOND_US) / 1000).toISOString();

/** A value of each filter, and the ordinals of the episodes that have it. */
const FILTERS: {
  readonly [Name in FilterName]: readonly [NonNullable<EpisodesQuery[Name]>, readonly number[]];
} = {
  split: ['train', [0, 2, 4, 6, 8, 10]],
  agent: ['expert', [1, 3, 5, 7, 9, 11]],
  sealed: [false, [10, 11]],
  success: [true, [0, 2, 4, 6, 8]],
  endReason: ['terminated', [1, 3, 5, 7, 9]],
  tag: ['night', [0, 2, 4, 6, 8, 10]],
  minReturn: [3, [3, 5, 6, 7, 8, 9]],
  maxReturn: [5, [0, 1, 2, 3, 5]],
  startedFrom: [at(9), [9, 10, 11]],
  startedBefore: [at(2), [0, 1]],
  text: ['goal', [0, 2, 4, 6, 8, 10]],
  poorer: [true, [0, 3, 6, 9]],
  minCostUsd: [9, [9, 10, 11]],
  maxCostUsd: [1, [0, 1]],
};

// With a large limit the filters are tested on the episodes that were read, in a group by the store, and with a limit of 1 by both.
it.each([{ limit: 100 }, { limit: 100, groupId: GROUP_ID }, { limit: 1 }])(
  'each filter finds its episodes: $limit, $groupId',
  async (asked) => {
    const found: Record<string, readonly number[]> = {};
    for (const [name, [value]] of Object.entries(FILTERS))
      found[name] = await ordinalsOf({ ...asked, [name]: value });
    const wanted = Object.entries(FILTERS).map(([name, [, ordinals]]) => [name, ordinals]);
    expect(found).toEqual(Object.fromEntries(wanted));
  },
);

/** Ordinals of all episodes of a list, page by page. */
async function ordinalsOf(asked: Partial<EpisodesQuery>): Promise<number[]> {
  const list = new EpisodeListService(
    served.store,
    new RunStarts(served.store, new ControlChanges(null, served.store)),
  );
  const ordinals: number[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = { ...new EpisodesQuery(), ...asked, sort: 'oldest' as const, cursor };
    const { items, nextCursor }: Page<EpisodeListItem> = await list.list(runId, query);
    ordinals.push(...items.map(({ startedAt }) => (Date.parse(startedAt) * 1000 - START_US) / SECOND_US));
    cursor = nextCursor;
  }
  return ordinals;
}
