import { verifyStore, createStoreClient } from '@retrace/store';
import { newRunId } from '@retrace/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../testing/api-fixture.js';

describe('retention of a run', () => {
  let fixture: ApiFixture;

  beforeAll(async () => {
    fixture = await ApiFixture.start({ RETRACE_RETENTION_SECONDS: '1' });
  });

  afterAll(() => fixture?.close());

  async function startRun(): Promise<string> {
    const started = await fixture.post('/api/runs', { name: 'retained' });
    return ((await started.json()) as { runId: string }).runId;
  }

  it('deletes the episodes that are too old or too many, and verify finds no fault', async () => {
    const runId = await startRun();
    const episodes = [0, 1, 2, 3].map(() => newRunId());
    const days = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString();
    const records = episodes.flatMap((episode, n) => [
      { type: 'episode', episode, occurredAt: days(10 * n) },
      { type: 'end', episode, occurredAt: days(10 * n) },
    ]);
    expect((await fixture.post(`/api/runs/${runId}/records`, records)).status).toBe(200);
    await fixture.storeHasCaughtUp();
    expect(await fixture.getJson(`/api/runs/${runId}/retention`)).toEqual({
      maxAgeDays: null,
      maxEpisodes: null,
    });
    const left = async () => {
      const query = `SELECT episode_id FROM episodes WHERE run_id = '${runId}' ORDER BY episode_id`;
      const answer = (await (await fixture.post('/api/sql', { query })).json()) as { rows: unknown[][] };
      return answer.rows.flat();
    };
    const set = await fixture.post(`/api/runs/${runId}/retention`, { maxAgeDays: 25 });
    expect([set.status, await set.json()]).toEqual([200, { maxAgeDays: 25, maxEpisodes: null }]);
    await expect.poll(left).toEqual(episodes.slice(0, 3).sort());
    await fixture.post(`/api/runs/${runId}/retention`, { maxEpisodes: 1 });
    await expect.poll(left).toEqual(episodes.slice(0, 1));
    const { RETRACE_STORE_USER: username, RETRACE_STORE_PASSWORD: password } = fixture.environment;
    const client = createStoreClient({ url: fixture.store.url, username, password });
    expect(await verifyStore({ log: fixture.log, client })).toMatchObject({ ok: true, numEpisodes: 1 });
    await client.close();
  });

  it.each([
    [{ maxEpisodes: 0 }, 'maxEpisodes'],
    [{ maxAgeDays: 1.5 }, 'maxAgeDays'],
    [{ days: 3 }, 'days'],
    [null, ''],
  ])('refuses %j', async (request, field) => {
    const answer = await fixture.post(`/api/runs/${await startRun()}/retention`, request);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ field }] });
  });

  it('refuses an unknown run', async () => {
    expect((await fixture.post(`/api/runs/${newRunId()}/retention`, {})).status).toBe(404);
  });
});
