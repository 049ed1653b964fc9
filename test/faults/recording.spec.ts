import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untilVisible, verifyStore } from '@retrace/store';
import { newRunId } from '@retrace/trajectory';
import { KillableApi } from '../support/killable-api.js';

const NUM_CLIENTS = 6;
const STEPS_PER_EPISODE = 12;
const NUM_KILLS = 6;
/** So that each process got somewhere before it is killed, on a busy machine too. */
const STEPS_BETWEEN_KILLS = 20;
const GIVE_UP_MS = 220_000;

let api: KillableApi;

beforeAll(async () => {
  api = await KillableApi.prepare();
});

afterAll(() => api?.close());

/** Sends a request until it is acknowledged; a broken connection, 429 and 503 are repeated. */
async function send(path: string, body: unknown, deadlineMs: number): Promise<unknown> {
  for (;;) {
    try {
      const response = await fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const answer: unknown = await response.json();
      if (response.ok) return answer;
      if (response.status !== 429 && response.status !== 503)
        throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    if (performance.now() > deadlineMs) throw new Error('the API did not acknowledge in time');
    await sleep(20);
  }
}

describe('the API, killed while agents record', () => {
  it('has every acknowledged step once, and every other once or not at all', async () => {
    await api.start();
    const deadlineMs = performance.now() + GIVE_UP_MS;
    const { runId } = (await send('/api/runs', { id: newRunId(), name: 'killed' }, deadlineMs)) as {
      runId: string;
    };
    let isStopping = false;
    let numAcknowledged = 0;
    const acknowledged = new Map<string, number>();
    const attempted = new Map<string, number>();
    const agent = async (): Promise<void> => {
      while (!isStopping) {
        const episode = newRunId();
        const append = (record: object): Promise<unknown> =>
          send(`/api/runs/${runId}/records`, { episode, ...record }, deadlineMs);
        await append({ type: 'episode' });
        for (let step = 0; step < STEPS_PER_EPISODE && !isStopping; step++) {
          attempted.set(episode, step + 1);
          await append({ type: 'step', step, action: `${episode} ${step}`, reward: 1 });
          acknowledged.set(episode, step + 1);
          numAcknowledged += 1;
        }
        if (!isStopping) await append({ type: 'end' });
      }
    };
    const agents = Promise.all(Array.from({ length: NUM_CLIENTS }, agent));
    for (let kill = 0; kill < NUM_KILLS; kill++) {
      const enough = numAcknowledged + STEPS_BETWEEN_KILLS;
      while (numAcknowledged < enough) await Promise.race([sleep(10), agents]);
      await sleep(200 * Math.random());
      await api.kill();
      await api.start();
    }
    isStopping = true;
    await agents;
    await api.kill();

    const { client } = api;
    const log = await api.openLog();
    try {
      await untilVisible(log, client, { stallMs: 500 });
      const rows = await api.client.queryRows<{ episode: string; steps: number[] }>(
        'SELECT episode_id AS episode, arraySort(groupArray(step)) AS steps FROM steps WHERE run_id = {runId:String} GROUP BY episode_id',
        { params: { runId } },
      );
      const stored = new Map(rows.map(({ episode, steps }) => [episode, steps]));
      for (const [episode, count] of acknowledged) {
        const steps = stored.get(episode) ?? [];
        expect(steps).toEqual(Array.from({ length: steps.length }, (_, step) => step));
        expect(steps.length).toBeGreaterThanOrEqual(count);
        expect(steps.length).toBeLessThanOrEqual(attempted.get(episode) ?? 0);
      }
      expect(await verifyStore({ log, client })).toMatchObject({ faults: [], numConflicts: 0 });
    } finally {
      await log.close();
    }
  }, 240_000);
});
