import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ControlTail } from '../libs/log/src/control-tail.js';
import { decodeEvent } from '../libs/trajectory/src/codec/decode-event.js';
import { encodeEvent } from '../libs/trajectory/src/codec/encode-event.js';
import type { AnyEvent } from '../libs/trajectory/src/events/event.js';
import { newRunId } from '../libs/trajectory/src/ids/ids.js';
import { appendEvents } from '../libs/log/src/testing/append-events.js';
import { controlEvent } from '../libs/trajectory/src/testing/episode-events.js';
import { catchUp } from '../libs/store/src/catch-up/catch-up.js';
import { openStoreFixture, type StoreFixture } from '../libs/store-server/src/testing/store-fixture.js';
import { overriding } from '../libs/log/src/testing/overriding.js';
import { verifyStore } from '../libs/store/src/verify/verify-store.js';
import { listDeadLetters } from '../libs/store/src/dead-letters/dead-letters.js';
import { retryDeadLetters } from '../libs/store/src/dead-letters/retry-dead-letters.js';

/**
 * A second version of `RunEnded`, with a field `exitCode`, that only this file knows. While `later.known` is false the code
 * is today's; while it is true, that of a later release.
 */
const later = vi.hoisted(() => ({ known: false }));

vi.mock('../libs/trajectory/src/events/event-kinds.js', async (original) => {
  const actual: typeof import('../libs/trajectory/src/events/event-kinds.js') = await original();
  const SCHEMA_VERSIONS = new Proxy(actual.SCHEMA_VERSIONS, {
    get: (versions, kind: 'RunEnded') => (later.known && kind === 'RunEnded' ? 2 : versions[kind]),
  });
  return { ...actual, SCHEMA_VERSIONS };
});

vi.mock('../libs/trajectory/src/events/event-fields.js', async (original) => {
  const actual: typeof import('../libs/trajectory/src/events/event-fields.js') = await original();
  const { integerAtLeast } = await import('../libs/trajectory/src/fields/field.js');
  const exitCode = integerAtLeast(0).ruledBy((value, field) =>
    (later.known ? Number.isInteger(value) : value === undefined)
      ? null
      : { field, value, rule: 'must be an integer since version 2' },
  );
  const RunEnded = { ...actual.EVENT_FIELDS.RunEnded, exitCode };
  const addedAfter: typeof actual.addedAfter = (kind, version) => ({
    ...actual.addedAfter(kind, version),
    ...(later.known && kind === 'RunEnded' && version === 1 && { exitCode: 0 }),
  });
  return { ...actual, EVENT_FIELDS: { ...actual.EVENT_FIELDS, RunEnded }, addedAfter };
});

describe('a kind in two schema versions', () => {
  let store: StoreFixture;
  const runId = newRunId();

  beforeEach(async () => {
    store = await openStoreFixture();
    await append(controlEvent(ids(), 'RunStarted'));
  });

  afterEach(async () => {
    later.known = false;
    await store.close();
  });

  const ids = () => ({ logId: store.log.logId, runId });
  const append = (...events: AnyEvent[]) => appendEvents(store.log, events);
  const sink = () => catchUp(store.log, store.client);
  const verify = () => verifyStore({ log: store.log, client: store.client });

  /** As `encodeEvent` of the later release writes it. */
  function runEndedV2(detail: string): Uint8Array {
    const before = later.known;
    later.known = true;
    const event = controlEvent(ids(), 'RunEnded', { detail, reason: 'failed', exitCode: 7 } as never);
    const bytes = encodeEvent(event);
    later.known = before;
    return bytes;
  }

  const endedRows = () =>
    store.client.queryRows(
      "SELECT log_offset, schema_version, JSONExtractInt(payload, 'exitCode') AS exit_code FROM events WHERE kind = 'RunEnded' ORDER BY log_offset",
    );

  it('reads what the former version wrote through the upcaster: codec, fold, sink and verify', async () => {
    await append(controlEvent(ids(), 'RunEnded', { reason: 'finished' }));
    later.known = true;
    const [{ bytes }] = await store.log.read('control', 0, 2);
    const decoded = decodeEvent(bytes);
    expect(decoded).toMatchObject({ ok: true, event: { schemaVersion: 2, payload: { exitCode: 0 } } });

    await sink();
    expect(await endedRows()).toEqual([{ log_offset: 2, schema_version: 2, exit_code: 0 }]);
    expect(await verify()).toMatchObject({ ok: true, numDeadLetters: 0 });
    const tail = new ControlTail(store.log);
    await tail.catchUp();
    tail.close();
    expect(tail.run(runId).ended).toMatchObject({ reason: 'finished', exitCode: 0 });
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

    later.known = true;
    expect((await verify()).faults).toMatchObject([
      {
        code: 'ROW_DIFFERS',
        where: 'control/0 offset 2',
        message: expect.stringContaining('retry') as string,
      },
      { code: 'ROW_DIFFERS', where: 'control/0 offset 5' },
      { code: 'RUN_VIEW_DIFFERS' },
    ]);
    expect(await retryDeadLetters({ ...filter, dryRun: true })).toMatchObject({ numDecoded: 2 });
    expect(await endedRows()).toEqual([]);
    expect(await retryDeadLetters({ client: store.client })).toEqual({
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
    expect(await verify()).toMatchObject({ ok: true, numDeadLetters: 1, numRepeatedRows: 0 });
  });

  it('goes on after a retry that was cut short, and never moves the position of the sink back', async () => {
    await store.log.append('control', 0, [runEndedV2('last')]);
    await sink();
    later.known = true;
    const dies = overriding(store.client, { command: () => Promise.reject(new Error('killed')) });
    await expect(retryDeadLetters({ client: dies })).rejects.toThrow('killed');
    expect(await endedRows()).toHaveLength(1);
    expect((await verify()).faults).toMatchObject([{ code: 'ROW_DIFFERS', where: 'control/0 offset 2' }]);

    expect(await retryDeadLetters({ client: store.client })).toMatchObject({ numDecoded: 1 });
    await append(controlEvent(ids(), 'MetricsLogged'));
    await sink();
    expect(await verify()).toMatchObject({ ok: true, numRecords: 4, numDeadLetters: 0 });
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
  const known = controlEvent(envelope, 'RunEnded');
  later.known = true;
  const bytes = encodeEvent({
    ...known,
    ...envelope,
    schemaVersion: 2,
    payload: { ...known.payload, exitCode: 1 },
  } as never);
  later.known = false;
  return bytes;
}
