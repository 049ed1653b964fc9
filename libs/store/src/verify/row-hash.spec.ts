import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEvents } from '@retrace/log/testing';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, type EventKind, newRunId } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { insertBatch } from '../batch/insert-batch.js';
import { catchUp } from '../catch-up/catch-up.js';
import { eventRow, EventRowsEncoder } from '../rows/event-rows.js';
import { readRunHashes } from './row-hash.js';

const GOLDEN = '01936d00-0000-7000-8000-00000000601d';

/** The golden records of a kind up to the version that the row hash was last recorded with, lifted to the current one. */
function goldenEvents(kind: EventKind): AnyEvent[] {
  const lastVersion = { EpisodeStarted: 3, StepRecorded: 4 }[kind as string] ?? 2;
  return Array.from({ length: lastVersion }, (_, i) => {
    const file = new URL(`../../../../test/golden/events/${kind}.v${i + 1}.bin`, import.meta.url);
    const result = decodeEvent(readFileSync(file));
    if (!result.ok) throw new Error(`${kind}.v${i + 1}: ${result.reason}`);
    return result.event;
  });
}

describe('readRunHashes', () => {
  let store: StoreFixture;
  const runId = newRunId();

  beforeAll(async () => {
    store = await openStoreFixture();
    const ids = { logId: store.log.logId, runId };
    await appendEvents(store.log, [controlEvent(ids, 'RunStarted'), controlEvent(ids, 'MetricsLogged')]);
    for (let ordinal = 0; ordinal < 3; ordinal++) {
      await appendEvents(store.log, episodeEvents({ ...ids, ordinal }));
    }
    await catchUp(store.log, store.client);
  });

  afterAll(() => store.close());

  /** The hash of the run in a table made of the rows with some columns replaced. */
  async function hashWith(change: string, condition = '1'): Promise<string> {
    await store.client.command('CREATE DATABASE changed');
    await store.client.command('CREATE TABLE changed.events AS events');
    await store.client.command(
      `INSERT INTO changed.events SELECT * REPLACE (${change}) FROM events WHERE ${condition} SETTINGS optimize_on_insert = 0`,
    );
    await store.client.command('EXCHANGE TABLES events AND changed.events');
    const [hash] = await readRunHashes(store.client, { runId });
    await store.client.command('EXCHANGE TABLES events AND changed.events');
    await store.client.command('DROP DATABASE changed SYNC');
    return hash.rowHash;
  }

  it('is the same for equal rows at other offsets of another log', async () => {
    const [{ rowHash, numRows }] = await readRunHashes(store.client, { runId });
    expect(numRows).toBe(2 + 3 * 5);
    expect(await hashWith("'elsewhere' AS log_id, 0 AS log_partition, log_offset + 1000 AS log_offset")).toBe(
      rowHash,
    );
  });

  it('is that of the version before for rows that use no column added since', async () => {
    const fixed = '01936d00-0000-7000-8000-00000000f00d';
    await appendEvents(
      store.log,
      episodeEvents({
        logId: store.log.logId,
        runId: fixed,
        ordinal: 0,
        occurredAtUs: 1_764_000_000_000_000,
      }),
    );
    await catchUp(store.log, store.client);
    expect((await readRunHashes(store.client, { runId: fixed }))[0].rowHash).toBe(
      'd4cebbc9952e77a3dbb14fef7cbea79b',
    );
  });

  it('is that of the versions before for records of earlier schema versions', async () => {
    const events = ['RunStarted', 'EpisodeStarted', 'StepRecorded'].flatMap((kind) =>
      goldenEvents(kind as EventKind),
    );
    const encoder = new EventRowsEncoder({ logId: store.log.logId, stream: 'control', partition: 0 });
    events.forEach((event, i) => encoder.append(eventRow(1_000_000 + i, { ...event, runId: GOLDEN })));
    await insertBatch(store.client, encoder.finish());
    expect(await readRunHashes(store.client, { runId: GOLDEN })).toEqual([
      { runId: GOLDEN, numRows: 9, rowHash: '28be50442018a0ad3f8fa7b7c178bc25' },
    ]);
  });

  it('counts a repeated row once, and watermarks not at all', async () => {
    const hashes = await readRunHashes(store.client);
    await store.client.command('INSERT INTO events SELECT * FROM events SETTINGS optimize_on_insert = 0');
    expect(await readRunHashes(store.client)).toEqual(hashes);
    await store.client.command('OPTIMIZE TABLE events FINAL');
  });

  it.each([
    ['a text', "if(seq = 2, 'x', action) AS action"],
    ['a number', 'generation_ms + 1 AS generation_ms'],
    ['missing for zero', 'ifNull(reward, 0) AS reward'],
    ['a token', 'arrayMap((id, i) -> id + (i = 1), token_ids, arrayEnumerate(token_ids)) AS token_ids'],
    ['the experts of a token', "if(kind = 'StepRecorded', [1], []) AS token_routed_experts"],
    ['the time', 'occurred_at + toIntervalMicrosecond(1) AS occurred_at'],
    ['the order of an episode', 'toUInt64(1000000 - log_offset) AS log_offset'],
  ])('differs when %s differs', async (_what, change) => {
    const [{ rowHash }] = await readRunHashes(store.client, { runId });
    expect(await hashWith(change)).not.toBe(rowHash);
  });

  it('differs when a row is missing', async () => {
    const [{ rowHash }] = await readRunHashes(store.client, { runId });
    expect(await hashWith('seq AS seq', "NOT (kind = 'StepRecorded' AND seq = 3)")).not.toBe(rowHash);
  });
});
