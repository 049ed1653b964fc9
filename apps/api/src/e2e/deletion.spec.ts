import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choosePartition } from '@retrace/log';
import { appendEvents } from '@retrace/log/testing';
import { episodeIdFor, newRunId } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import type { DeletionResult } from '../deletion/deletion.dto.js';
import type { EpisodeListItem } from '../episodes/episodes.dto.js';
import type { Page } from '../paging/page.js';
import { ApiFixture } from '../testing/api-fixture.js';
import { RunRecorder } from '../testing/run-recorder.js';

describe('deletion of episodes', () => {
  let fixture: ApiFixture;
  let training: RunRecorder;
  const runId = newRunId();
  const episodeId = (ordinal: number) => episodeIdFor({ runId, ordinal });

  beforeAll(async () => {
    fixture = await ApiFixture.start();
    training = new RunRecorder(fixture.log);
    await training.start();
    await training.round();
    const ids = { logId: fixture.log.logId, runId };
    const recorded = { runKind: 'recorded', recipe: null, recipeHash: '', environment: '' } as const;
    await appendEvents(fixture.log, [controlEvent(ids, 'RunStarted', { ...recorded, tags: ['prod'] })]);
    for (let ordinal = 0; ordinal < 4; ordinal++) {
      const started = { tags: ordinal > 1 ? ['private'] : [], externalId: `ticket ${ordinal}` };
      await appendEvents(fixture.log, episodeEvents({ ...ids, ordinal, started }));
    }
    await fixture.storeHasCaughtUp();
  });

  afterAll(async () => {
    await fixture?.close();
  });

  const remove = (path: string) => fetch(`${fixture.api.url}/api/runs/${path}`, { method: 'DELETE' });
  const listed = async () => {
    const { items } = await fixture.getJson<Page<EpisodeListItem>>(`/api/runs/${runId}/episodes?sort=oldest`);
    return items.map(({ externalId, tags }) => ({ externalId, tags }));
  };

  /** Counts the records of an episode that are the first or last of their partition; they are overwritten, not released. */
  const numAtEnds = async (id: string) => {
    const { log } = fixture;
    const partition = choosePartition(runId, id, log.numPartitions('trajectories'));
    const records = await log.read('trajectories', partition, 0);
    return [records[0], records[records.length - 1]].filter(({ bytes }) => {
      const decoded = decodeEvent(bytes);
      return decoded.ok && decoded.event.episodeId === id;
    }).length;
  };

  it('shows tags and external ids of the episodes of a recorded run', async () => {
    expect(await fixture.getJson(`/api/runs/${runId}`)).toMatchObject({
      ...{ kind: 'recorded', tags: ['prod'], recipe: null, environment: '' },
      metadata: { owner: 'lab' },
    });
    expect((await listed())[3]).toEqual({ externalId: 'ticket 3', tags: ['private'] });
    expect(await fixture.getJson(`/api/runs/${runId}/episodes/${episodeId(0)}`)).toMatchObject({
      externalId: 'ticket 0',
      metadata: { customer: 'ACME', attempt: 2 },
      steps: [{ messages: null, usage: null, untrainable: '' }, {}, {}],
    });
  });

  it('deletes one episode, or all with a tag, at once and for ever', async () => {
    const numReleased = 5 - (await numAtEnds(episodeId(1)));
    const one = await remove(`${runId}/episodes/${episodeId(1)}`);
    expect([one.status, await one.json()]).toEqual([200, { numEpisodes: 1, numRows: 5, numReleased }]);
    expect((await fixture.get(`/api/runs/${runId}/episodes/${episodeId(1)}`)).status).toBe(404);
    const tagged = await fixture.post(`/api/runs/${runId}/delete-episodes`, { tag: 'private' });
    expect(tagged.status).toBe(200);
    expect((await tagged.json()) as DeletionResult).toMatchObject({ numEpisodes: 2, numRows: 10 });
    expect(await listed()).toEqual([{ externalId: 'ticket 0', tags: [] }]);
    const ids = { logId: fixture.log.logId, runId };
    await appendEvents(fixture.log, episodeEvents({ ...ids, ordinal: 1 }));
    await fixture.storeHasCaughtUp();
    expect(await listed()).toHaveLength(1);
    const none = await fixture.post(`/api/runs/${runId}/delete-episodes`, { tag: 'private' });
    expect(await none.json()).toEqual({ numEpisodes: 0, numRows: 0, numReleased: 0 });
  });

  it.each<[string, () => Promise<Response>, number, string]>([
    ['an unknown episode', () => remove(`${runId}/episodes/${newRunId()}`), 404, 'NOT_FOUND'],
    ['an unknown run', () => remove(`${newRunId()}/episodes/${episodeId(0)}`), 404, 'NOT_FOUND'],
    ['a run that trains', () => remove(`${training.runId}/episodes/${episodeId(0)}`), 409, 'RUN_ACTIVE'],
    ['no tag', () => fixture.post(`/api/runs/${runId}/delete-episodes`, {}), 400, 'INVALID_REQUEST'],
  ])('refuses %s', async (_what, request, status, code) => {
    const response = await request();
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it('refuses an episode that an update was trained on, unless it is forced', async () => {
    await training.end('finished');
    await fixture.storeHasCaughtUp();
    const { items } = await fixture.getJson<Page<EpisodeListItem>>(
      `/api/runs/${training.runId}/episodes?update=0`,
    );
    const path = `${training.runId}/episodes/${items[0].episodeId}`;
    expect(await (await remove(path)).json()).toMatchObject({ status: 409, code: 'EPISODES_REFERRED_TO' });
    expect((await remove(`${path}?force=true`)).status).toBe(200);
  });
});
