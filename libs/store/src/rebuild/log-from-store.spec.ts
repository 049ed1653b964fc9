import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog, LogRecord } from '@retrace/log';
import { openLmdbLog, writeLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, contentChecksum, EVENT_KINDS, newRunId } from '@retrace/trajectory';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { anyEvent, controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { catchUp } from '../catch-up/catch-up.js';
import { listStreamPartitions } from '../rows/stream-partition.js';
import { deleteRunRecords } from '../retention/delete-run-records.js';
import { verifyStore } from '../verify/verify-store.js';
import { readLogFromStore } from './log-from-store.js';

const anyKind = fc.constantFrom(...EVENT_KINDS).chain(anyEvent);

/** The store has latencies as float32. No checksum covers them. */
function withStoredLatencies(event: AnyEvent): AnyEvent {
  if (event.kind !== 'StepRecorded') return event;
  const rounded = (ms: number | null) => (ms === null ? null : Math.fround(ms));
  const { generationMs, environmentMs } = event.payload;
  const stored = { generationMs: rounded(generationMs), environmentMs: rounded(environmentMs) };
  return { ...event, payload: { ...event.payload, ...stored } };
}

describe('readLogFromStore', () => {
  let store: StoreFixture;
  let directory: string;
  let rewritten: EventLog | null;
  const damagedRows: string[] = [];

  beforeEach(async () => {
    store = await openStoreFixture();
    directory = await mkdtemp(join(tmpdir(), 'retrace-rewritten-'));
    rewritten = null;
    damagedRows.length = 0;
  });
  afterEach(async () => {
    await rewritten?.close();
    await rm(directory, { recursive: true });
    await store.close();
  });

  async function rewrite(): Promise<EventLog> {
    const { client, log } = store;
    const onDamagedRow = (where: string) => damagedRows.push(where);
    await writeLmdbLog(directory, readLogFromStore({ client, logId: log.logId, onDamagedRow }));
    rewritten = await openLmdbLog({ path: directory, createdBy: 'test' });
    return rewritten;
  }

  /** The records of a log by place. */
  async function recordsOf(log: EventLog): Promise<Map<string, LogRecord>> {
    const records = new Map<string, LogRecord>();
    for (const { stream, partition } of listStreamPartitions(log)) {
      for (const record of await log.read(stream, partition, 0, {
        maxRecords: 100_000,
        maxBytes: Infinity,
      })) {
        records.set(`${stream}/${partition}/${record.offset}`, record);
      }
    }
    return records;
  }

  const verify = (log: EventLog) => verifyStore({ log, client: store.client });

  it('gives every event again, of whatever content, and the bytes of every dead letter', async () => {
    const { log } = store;
    const { logId } = log;
    const runId = newRunId();
    await appendEvents(log, [
      controlEvent({ logId, runId }, 'RunStarted'),
      controlEvent({ logId, runId }, 'MetricsLogged'),
    ]);
    for (let ordinal = 0; ordinal < 20; ordinal++)
      await appendEvents(log, episodeEvents({ logId, runId, ordinal }));
    const [start] = episodeEvents({ logId, runId, ordinal: 3 });
    await log.append('trajectories', 0, [Uint8Array.of(1, 2, 3), encodeEvent({ ...start, occurredAtUs: 7 })]);
    const events = fc.sample(anyKind, { seed: 18, numRuns: 130 }).map((event) => ({ ...event, logId }));
    for (const isControl of [true, false]) {
      const records = events.filter(({ episodeId }) => (episodeId === '') === isControl).map(encodeEvent);
      await log.append(isControl ? 'control' : 'trajectories', 0, records);
    }
    await catchUp(log, store.client);

    const before = await recordsOf(log);
    const after = await recordsOf(await rewrite());
    expect([...after.keys()]).toEqual([...before.keys()]);
    let numEvents = 0;
    for (const [place, { bytes }] of before) {
      const [was, is] = [decodeEvent(bytes), decodeEvent(after.get(place)!.bytes)];
      if (!was.ok) expect(after.get(place)?.bytes).toEqual(bytes);
      else {
        if (!is.ok) throw new Error(`${place}: ${is.reason}`);
        expect(is.event, place).toEqual(withStoredLatencies(was.event));
        expect(contentChecksum(is.event)).toBe(contentChecksum(was.event));
        numEvents++;
      }
    }
    expect(numEvents).toBeGreaterThan(130);
    expect(damagedRows).toEqual([]);
    expect(rewritten?.logId).toBe(logId);
    expect(await verify(rewritten!)).toMatchObject({ faults: [], numPending: 0 });
  });

  it(
    'keeps the offsets of a log whose first and last run was deleted, and a sink continues behind them',
    { tags: 'release' },
    async () => {
      const { log, client } = store;
      const { logId } = log;
      const runIds = [newRunId(), newRunId(), newRunId()];
      for (const runId of runIds) {
        await appendEvents(log, [controlEvent({ logId, runId }, 'RunStarted')]);
        for (let ordinal = 0; ordinal < 4; ordinal++)
          await appendEvents(log, episodeEvents({ logId, runId, ordinal }));
      }
      await catchUp(log, client);
      for (const runId of [runIds[0], runIds[2]])
        await deleteRunRecords({ log, client, runId, force: false, detail: 'test' });
      await catchUp(log, client);

      const after = await rewrite();
      for (const { stream, partition } of listStreamPartitions(log)) {
        expect(await after.startOffset(stream, partition)).toBe(await log.startOffset(stream, partition));
        expect(await after.endOffset(stream, partition)).toBe(await log.endOffset(stream, partition));
      }
      expect(await verify(after)).toMatchObject({ faults: [], numPending: 0, numEpisodes: 4 });
      await appendEvents(after, episodeEvents({ logId, runId: runIds[1], ordinal: 9 }));
      await catchUp(after, client);
      expect(await verify(after)).toMatchObject({ ok: true, numEpisodes: 5 });
      // A store that is made from the rewritten log from its start on.
      await client.command('TRUNCATE TABLE events');
      await catchUp(after, client);
      expect(await verify(after)).toMatchObject({ ok: true, numEpisodes: 5, numDeadLetters: 0 });
    },
  );

  it('leaves out a row that does not match its checksum, and names it', async () => {
    const { log, client } = store;
    const ids = { logId: log.logId, runId: newRunId() };
    await appendEvents(log, [controlEvent(ids, 'RunStarted')]);
    const { partition } = await appendEvents(log, episodeEvents({ ...ids, ordinal: 0 }));
    await catchUp(log, client);
    await client.command(
      "ALTER TABLE events UPDATE action = 'other' WHERE kind = 'StepRecorded' AND seq = 2",
      {
        settings: { mutations_sync: '2' },
      },
    );
    const after = await rewrite();
    expect(damagedRows).toEqual([`trajectories/${partition} offset 2`]);
    expect((await after.read('trajectories', partition, 0)).map(({ offset }) => offset)).toEqual([
      0, 1, 3, 4,
    ]);
    expect((await verify(after)).faults.map(({ code }) => code)).toContain('ROW_UNKNOWN');
  });

  it('refuses a log that the store knows nothing of', async () => {
    const reading = readLogFromStore({
      client: store.client,
      logId: newRunId(),
      onDamagedRow: () => undefined,
    });
    await expect(reading.next()).rejects.toMatchObject({ code: 'LOG_NOT_IN_STORE' });
  });
});
