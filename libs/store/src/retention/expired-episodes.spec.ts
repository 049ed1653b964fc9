import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catchUp } from '../catch-up/catch-up.js';
import { readExpiredEpisodes } from './expired-episodes.js';

const HOUR_US = 3_600_000_000;
const NOW_US = Date.UTC(2026, 10, 23) * 1000;

describe('readExpiredEpisodes', () => {
  let store: StoreFixture;
  const runId = newRunId();
  const episodeId = (ordinal: number) => episodeIdFor({ runId, ordinal });

  beforeAll(async () => {
    store = await openStoreFixture({ numTrajectoryPartitions: 2 });
    const ids = { logId: store.log.logId, runId };
    await appendEvents(store.log, [controlEvent(ids, 'RunStarted')]);
    // Episode n ended n hours ago.
    for (let ordinal = 0; ordinal < 5; ordinal++) {
      const events = episodeEvents({ ...ids, ordinal });
      const occurredAtUs = NOW_US - ordinal * HOUR_US;
      await appendEvents(
        store.log,
        events.map((event) => ({ ...event, occurredAtUs })),
      );
    }
    const reward = episodeEvent({ ...ids, episodeId: episodeId(4) }, 'RewardAssigned', 1);
    await appendEvents(store.log, [{ ...reward, occurredAtUs: NOW_US }]);
    await catchUp(store.log, store.client);
  });

  afterAll(() => store.close());

  const expired = async (beforeUs: number | null, maxEpisodes: number | null) => {
    const rows = await readExpiredEpisodes(store.client, runId, { beforeUs, maxEpisodes });
    expect(rows.map(({ isReferredTo }) => isReferredTo)).toEqual(rows.map(() => false));
    return rows.map((row) => row.episodeId);
  };

  it('gives the episodes that are too old or too many, oldest first; a late reward makes none younger', async () => {
    const before = NOW_US - 2.5 * HOUR_US;
    expect(await expired(before, null)).toEqual([4, 3].map(episodeId));
    expect(await expired(null, 3)).toEqual([4, 3].map(episodeId));
    expect(await expired(before, 1)).toEqual([4, 3, 2, 1].map(episodeId));
    expect(await expired(before, 4)).toEqual([4, 3].map(episodeId));
    expect(await expired(null, 0)).toHaveLength(5);
    expect(await expired(null, null)).toEqual([]);
  });
});
