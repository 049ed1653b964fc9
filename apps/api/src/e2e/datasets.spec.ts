import { appendEvents } from '@retrace/log/testing';
import { newRunId, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatasetDetail, DatasetEpisode, DatasetListItem } from '../datasets/datasets.dto.js';
import type { Page } from '../paging/page.js';
import { ApiFixture } from '../testing/api-fixture.js';

const HASH = 'c4'.repeat(32);
const OTHER_HASH = 'd5'.repeat(32);

describe('data sets', () => {
  let fixture: ApiFixture;
  const runId = newRunId();
  const deletedRunId = newRunId();
  const episodeIds = [newRunId(), newRunId(), newRunId()].sort();

  const event = <K extends 'DatasetCreated' | 'DatasetEpisodesListed'>(
    kind: K,
    occurredAtUs: number,
    payload: Partial<PayloadOf<K>>,
  ) => ({ ...controlEvent({ logId: fixture.log.logId, runId: '' }, kind, payload), occurredAtUs });

  beforeAll(async () => {
    fixture = await ApiFixture.start();
    const runs = [
      { runId, numEpisodes: 2 },
      { runId: deletedRunId, numEpisodes: 1 },
    ];
    await appendEvents(fixture.log, [
      controlEvent({ logId: fixture.log.logId, runId }, 'RunStarted', { name: 'lake' }),
      event('DatasetEpisodesListed', 1_000_000, { ofRunId: runId, episodeIds: episodeIds.slice(0, 2) }),
      // Again, as after a registration that was cut short.
      event('DatasetEpisodesListed', 1_000_000, { ofRunId: runId, episodeIds: episodeIds.slice(0, 2) }),
      event('DatasetEpisodesListed', 1_000_000, { ofRunId: deletedRunId, episodeIds: episodeIds.slice(2) }),
      event('DatasetCreated', 1_000_000, { numEpisodes: 3, runs }),
      // The same name with another content, which another process was late to write.
      event('DatasetEpisodesListed', 2_000_000, { contentHash: OTHER_HASH, episodeIds: [newRunId()] }),
      event('DatasetCreated', 2_000_000, { contentHash: OTHER_HASH }),
      event('DatasetCreated', 3_000_000, { name: 'newer' }),
    ]);
    await fixture.storeHasCaughtUp();
  });
  afterAll(() => fixture?.close());

  it('are listed newest first, the first of each name, a page at a time', async () => {
    const first = await fixture.getJson<Page<DatasetListItem>>('/api/datasets?limit=1');
    expect(first.items.map(({ name }) => name)).toEqual(['newer']);
    const second = await fixture.getJson<Page<DatasetListItem>>(`/api/datasets?cursor=${first.nextCursor}`);
    expect(second).toEqual({
      items: [
        {
          name: 'solved',
          format: 'sft',
          fileFormat: 'jsonl',
          contentHash: HASH,
          numEpisodes: 3,
          numRows: 2,
          createdAt: '1970-01-01T00:00:01.000000Z',
        },
      ],
      nextCursor: null,
    });
  });

  it('show query, splits, runs by name, contamination and place', async () => {
    expect(await fixture.getJson<DatasetDetail>('/api/datasets/solved')).toMatchObject({
      sql: 'SELECT run_id, episode_id FROM episodes WHERE success',
      splits: [{ split: 'train', numRows: 2 }],
      runs: [
        { runId, name: 'lake', numEpisodes: 2 },
        { runId: deletedRunId, name: '', numEpisodes: 1 },
      ],
      contamination: { nGramWords: 13, splits: [] },
      settings: { score: 'return' },
      location: '/data/datasets/solved',
    });
  });

  it('list their episodes once each, a page at a time', async () => {
    const path = '/api/datasets/solved/episodes';
    const first = await fixture.getJson<Page<DatasetEpisode>>(`${path}?limit=2`);
    const second = await fixture.getJson<Page<DatasetEpisode>>(`${path}?limit=2&cursor=${first.nextCursor}`);
    const found = [...first.items, ...second.items];
    expect(found.map(({ episodeId }) => episodeId).sort()).toEqual(episodeIds);
    expect(second.nextCursor).toBeNull();
  });

  it.each(['/api/datasets/none', '/api/datasets/none/episodes'])('are not found at %s', async (path) => {
    const response = await fixture.get(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: 'Data set "none" not found' });
  });

  it('are refused under a name that no data set can have', async () => {
    const response = await fixture.get('/api/datasets/..%2Fetc');
    expect(response.status).toBe(400);
  });
});
