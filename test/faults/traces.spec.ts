import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { untilVisible, verifyStore } from '@retrace/store';
import { newRunId } from '@retrace/trajectory';
import { KillableApi } from '../support/killable-api.js';

const NUM_CLIENTS = 4;
const CALLS_PER_TRACE = 5;
const NUM_KILLS = 6;
/** So that each process got somewhere before it is killed, on a busy machine too. */
const REQUESTS_BETWEEN_KILLS = 20;
const GIVE_UP_MS = 200_000;

let api: KillableApi;

beforeAll(async () => {
  api = await KillableApi.prepare();
});

afterAll(() => api?.close());

const startApi = (): Promise<void> =>
  api.start({ RETRACE_TRACE_DIRECTORY: join(api.directory, 'traces'), RETRACE_TRACE_IDLE_SECONDS: '2' });

/** Sends spans until they are acknowledged, as an exporter does, but without end. */
async function send(spans: readonly object[], deadlineMs: number): Promise<void> {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'killed' } }] };
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  for (;;) {
    try {
      const headers = { 'content-type': 'application/json' };
      const url = `${api.url}/v1/traces`;
      const response = await fetch(url, { method: 'POST', headers, body });
      const answer = await response.text();
      if (response.ok) return;
      if (response.status !== 429 && response.status !== 503)
        throw new Error(`answered ${response.status}: ${answer}`);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    if (performance.now() > deadlineMs) throw new Error('the API did not acknowledge in time');
    await sleep(20);
  }
}

function spanOf(traceId: string, n: number): object {
  const answer = JSON.stringify([
    { role: 'assistant', parts: [{ type: 'text', content: `${traceId} ${n}` }] },
  ]);
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': answer };
  const isRoot = n === 0;
  return {
    traceId,
    spanId: `${n + 1}`.padStart(16, '0'),
    ...(isRoot ? {} : { parentSpanId: '1'.padStart(16, '0') }),
    name: isRoot ? 'agent' : 'chat',
    startTimeUnixNano: `${1_700_000_000 + n}000000000`,
    endTimeUnixNano: `${1_700_000_000 + n}500000000`,
    attributes: isRoot
      ? []
      : Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  };
}

describe('the API, killed while exporters send spans', () => {
  it('records every acknowledged call of a model once, in whatever requests its trace came', async () => {
    await startApi();
    const deadlineMs = performance.now() + GIVE_UP_MS;
    let isStopping = false;
    let numAcknowledged = 0;
    const acknowledged = new Set<string>();
    const exporter = async (): Promise<void> => {
      while (!isStopping) {
        const traceId = newRunId().replaceAll('-', '');
        for (let n = 1; n <= CALLS_PER_TRACE; n++) {
          await send([spanOf(traceId, n)], deadlineMs);
          acknowledged.add(`${traceId} ${n}`);
          numAcknowledged++;
        }
        await send([spanOf(traceId, 0)], deadlineMs);
      }
    };
    const exporting = Promise.all(Array.from({ length: NUM_CLIENTS }, exporter));
    for (let kill = 0; kill < NUM_KILLS; kill++) {
      const enough = numAcknowledged + REQUESTS_BETWEEN_KILLS;
      while (numAcknowledged < enough) await Promise.race([sleep(10), exporting]);
      // Some traces are complete by then, and are sealed, written, or neither.
      await sleep(4_000 * Math.random());
      await api.kill();
      await startApi();
    }
    isStopping = true;
    await exporting;

    const answers = async (): Promise<string[]> => {
      const rows = await api.client.queryRows<{ action: string }>('SELECT action FROM steps ORDER BY action');
      return rows.map(({ action }) => action);
    };
    while ((await answers()).length < acknowledged.size && performance.now() < deadlineMs) await sleep(200);
    await api.kill();
    const { client } = api;
    const log = await api.openLog();
    try {
      await untilVisible(log, client, { stallMs: 500 });
      expect(await answers()).toEqual([...acknowledged].sort());
      expect(await verifyStore({ log, client })).toMatchObject({ faults: [], numConflicts: 0 });
    } finally {
      await log.close();
    }
  }, 240_000);
});
