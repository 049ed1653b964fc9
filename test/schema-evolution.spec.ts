import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeEvent } from '../libs/trajectory/src/codec/encode-event.js';
import type { AnyEvent } from '../libs/trajectory/src/events/event.js';
import { newRunId } from '../libs/trajectory/src/ids/ids.js';
import { appendEvents } from '../libs/log/src/testing/append-events.js';
import { controlEvent } from '../libs/trajectory/src/testing/episode-events.js';
import { catchUp } from '../libs/store/src/catch-up/catch-up.js';
import { openStoreFixture, type StoreFixture } from '../libs/store-server/src/testing/store-fixture.js';
import { overriding } from '../libs/log/src/testing/overriding.js';
import { contentChecksum } from '../libs/trajectory/src/checksum/content-checksum.js';
import { SCHEMA_VERSIONS } from '../libs/trajectory/src/events/event-kinds.js';
import { verifyStore } from '../libs/store/src/verify/verify-store.js';
import { listDeadLetters } from '../libs/store/src/dead-letters/dead-letters.js';
import { retryDeadLetters } from '../libs/store/src/dead-letters/retry-dead-letters.js';

/**
 * The code of a later release, whose `RunEnded` has a second version with a field `exitCode`: all modules once more, over a table that declares it. What
 * a version changes follows from the declaration alone.
 */
async function loadLaterRelease() {
  vi.resetModules();
  vi.doMock('../libs/trajectory/src/events/control-events.js', async (original) => {
    const actual: typeof import('../libs/trajectory/src/events/control-events.js') = await original();
    const { integerAtLeast } = await import('../libs/trajectory/src/fields/field.js');
    const RunEnded = { ...actual.RUN_EVENTS.RunEnded, exitCode: integerAtLeast(0).since(2, 0) };
    return { ...actual, RUN_EVENTS: { ...actual.RUN_EVENTS, RunEnded } };
  });
  return {
    ...(await import('../libs/trajectory/src/events/event-kinds.js')),
    ...(await import('../libs/trajectory/src/codec/decode-event.js')),
    ...(await import('../libs/trajectory/src/codec/encode-event.js')),
    ...(await import('../libs/trajectory/src/checksum/content-checksum.js')),
    ...(await import('../libs/trajectory/src/testing/episode-events.js')),
    ...(await import('../libs/log/src/control-tail.js')),
    ...(await import('../libs/store/src/catch-up/catch-up.js')),
    ...(await import('../libs/store/src/verify/verify-store.js')),
    ...(await import('../libs/store/src/dead-letters/retry-dead-letters.js')),
  };
}

const later = await loadLaterRelease();
vi.doUnmock('../libs/trajectory/src/events/control-events.js');

describe('a kind in two schema versions', () => {
  let store: StoreFixture;
  const runId = newRunId();

  beforeEach(async () => {
    store = await openStoreFixture();
    await append(controlEvent(ids(), 'RunStarted'));
  });

  afterEach(() => store.close());

  const ids = () => ({ logId: store.log.logId, runId });
  const append = (...events: AnyEvent[]) => appendEvents(store.log, events);
  const sink = () => catchUp(store.log, store.client);
  const laterSink = () => later.catchUp(store.log, store.client);
  const verify = () => verifyStore({ log: store.log, client: store.client });
  const laterVerify = () => later.verifyStore({ log: store.log, client: store.client });

  /** As `encodeEvent` of the later release writes it. */
  const runEndedV2 = (detail: string) =>
    later.encodeEvent(
      later.controlEvent(ids(), 'RunEnded', { detail, reason: 'failed', exitCode: 7 } as never),
    );

  const endedRows = () =>
    store.client.queryRows(
      "SELECT log_offset, schema_version, JSONExtractInt(payload, 'exitCode') AS exit_code FROM events WHERE kind = 'RunEnded' ORDER BY log_offset",
    );

  it('has the version of its newest field', () => {
    expect(SCHEMA_VERSIONS.RunEnded).toBe(1);
    expect(later.SCHEMA_VERSIONS).toEqual({ ...SCHEMA_VERSIONS, RunEnded: 2 });
  });

  it('reads what the former version wrote through the upcaster: codec, fold, sink and verify', async () => {
    await append(controlEvent(ids(), 'RunEnded', { reason: 'finished' }));
    const [{ bytes }] = await store.log.read('control', 0, 2);
    const decoded = later.decodeEvent(bytes);
    expect(decoded).toMatchObject({ ok: true, event: { schemaVersion: 2, payload: { exitCode: 0 } } });

    await laterSink();
    expect(await endedRows()).toEqual([{ log_offset: 2, schema_version: 2, exit_code: 0 }]);
    expect(await laterVerify()).toMatchObject({ ok: true, numDeadLetters: 0 });
    const tail = new later.ControlTail(store.log);
    await tail.catchUp();
    tail.close();
    expect(tail.run(runId).ended).toMatchObject({ reason: 'finished', exitCode: 0 });
  });

  it('leaves the checksums and texts of rows of the former version as they are', async () => {
    const event = controlEvent(ids(), 'RunEnded', { reason: 'finished' });
    await append(event);
    const lifted = later.decodeEvent(encodeEvent(event));
    expect(lifted.ok && later.contentChecksum(lifted.event)).toBe(contentChecksum(event));

    await sink();
    const rows = "SELECT payload, hex(content_checksum) AS checksum FROM events WHERE kind = 'RunEnded'";
    const written = await store.client.queryRows(rows);
    expect(await laterVerify()).toMatchObject({ ok: true, numDeadLetters: 0 });

    await store.client.command("DELETE FROM events WHERE kind IN ('RunEnded', '_watermark')");
    await laterSink();
    expect(await store.client.queryRows(rows)).toEqual(written);
  });

  it('keeps a record of a later version as a dead letter, and makes it a row once the code knows it', async () => {
    await store.log.append('control', 0, [runEndedV2('first'), Uint8Array.of(1, 2, 3)]);
    await append(controlEvent(ids(), 'MetricsLogged'));
    await store.log.append('control', 0, [runEndedV2('last')]);
    await sink();
    const filter = { client: store.client, runId };
    expect(await listDeadLetters(store.client, { runId, limit: 10 })).toMatchObject([
      { offset: 2, code: 'UNKNOWN_VERSION', kind: 'RunEnded', schemaVersion: 2, runId, stream: 'control' },
      { offset: 5, code: 'UNKNOWN_VERSION' },
    ]);
    expect(await retryDeadLetters(filter)).toEqual({
      numDeadLetters: 2,
      numDecoded: 0,
      remaining: { UNKNOWN_VERSION: 2 },
    });
    expect(await verify()).toMatchObject({ ok: true, numDeadLetters: 3, numRecords: 6 });

    expect((await laterVerify()).faults).toMatchObject([
      {
        code: 'ROW_DIFFERS',
        where: 'control/0 offset 2',
        message: expect.stringContaining('retry') as string,
      },
      { code: 'ROW_DIFFERS', where: 'control/0 offset 5' },
      { code: 'RUN_VIEW_DIFFERS' },
    ]);
    expect(await later.retryDeadLetters({ ...filter, dryRun: true })).toMatchObject({ numDecoded: 2 });
    expect(await endedRows()).toEqual([]);
    expect(await later.retryDeadLetters({ client: store.client })).toEqual({
      numDeadLetters: 3,
      numDecoded: 2,
      remaining: { NOT_AN_EVENT: 1 },
    });

    expect(await endedRows()).toEqual([
      { log_offset: 2, schema_version: 2, exit_code: 7 },
      { log_offset: 5, schema_version: 2, exit_code: 7 },
    ]);
    expect(await store.client.queryRows('SELECT end_reason FROM runs')).toEqual([{ end_reason: 'failed' }]);
    expect(await listDeadLetters(store.client, { limit: 10 })).toMatchObject([
      { offset: 3, code: 'NOT_AN_EVENT', runId: '', occurredAt: null },
    ]);
    expect(await laterVerify()).toMatchObject({ ok: true, numDeadLetters: 1, numRepeatedRows: 0 });
  });

  it('goes on after a retry that was cut short, and never moves the position of the sink back', async () => {
    await store.log.append('control', 0, [runEndedV2('last')]);
    await sink();
    const dies = overriding(store.client, { command: () => Promise.reject(new Error('killed')) });
    await expect(later.retryDeadLetters({ client: dies })).rejects.toThrow('killed');
    expect(await endedRows()).toHaveLength(1);
    expect((await laterVerify()).faults).toMatchObject([
      { code: 'ROW_DIFFERS', where: 'control/0 offset 2' },
    ]);

    expect(await later.retryDeadLetters({ client: store.client })).toMatchObject({ numDecoded: 1 });
    await append(controlEvent(ids(), 'MetricsLogged'));
    await laterSink();
    expect(await laterVerify()).toMatchObject({ ok: true, numRecords: 4, numDeadLetters: 0 });
  });
});

describe('listDeadLetters', () => {
  let store: StoreFixture;
  afterEach(() => store.close());

  it('chooses by run, code and time, page by page', async () => {
    store = await openStoreFixture();
    const runIds = [newRunId(), newRunId()];
    const unknown = (runId: string, occurredAtUs: number) =>
      encodeUnknown({ runId, occurredAtUs, logId: store.log.logId });
    await store.log.append('control', 0, [
      unknown(runIds[0], 1_000_000),
      unknown(runIds[0], 2_500_000),
      unknown(runIds[1], 3_000_000),
      Uint8Array.of(9),
    ]);
    await catchUp(store.log, store.client);
    const offsets = async (filter: object) =>
      (await listDeadLetters(store.client, { limit: 10, ...filter })).map(({ offset }) => offset);
    expect(await offsets({})).toEqual([1, 2, 3, 4]);
    expect(await offsets({ runId: runIds[0] })).toEqual([1, 2]);
    expect(await offsets({ code: 'NOT_AN_EVENT' })).toEqual([4]);
    expect(await offsets({ sinceUs: 2_500_000 })).toEqual([2, 3]);
    expect(await offsets({ untilUs: 2_500_000 })).toEqual([1, 2]);
    const [first, second] = await listDeadLetters(store.client, { limit: 2 });
    expect(second.occurredAt).toBe('1970-01-01T00:00:02.500000Z');
    expect(await offsets({ after: first, limit: 2 })).toEqual([2, 3]);
  });
});

function encodeUnknown(envelope: { runId: string; occurredAtUs: number; logId: string }): Uint8Array {
  const event = later.controlEvent(envelope, 'RunEnded', { exitCode: 1 } as never);
  return later.encodeEvent({ ...event, ...envelope });
}
