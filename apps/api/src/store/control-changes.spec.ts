import { LogError, type EventLog } from '@retrace/log';
import { type AnyEvent, newRunId } from '@retrace/trajectory';
import { encodeEvent, frame, messagePack } from '@retrace/trajectory/codec';
import { controlEvent } from '@retrace/trajectory/testing';
import { Logger } from '@nestjs/common';
import { beforeEach, afterEach, expect, it, vi } from 'vitest';
import { ControlChanges } from './control-changes.js';
import type { StoreService } from './store.service.js';

const STORE: Pick<StoreService, 'now'> = {
  now: { queryRows: () => Promise.resolve([]), layout: {} },
} as never;

let said: string[];
beforeEach(() => {
  said = [];
  for (const method of ['warn', 'log'] as const)
    vi.spyOn(Logger.prototype, method).mockImplementation((line: string) => {
      said.push(line);
    });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A log without records, of which a test says when its cursors are read. */
function emptyLog(readCursor: () => Promise<number>): EventLog {
  return { logId: 'log', readCursor, endOffset: () => Promise.resolve(0) } as never;
}

it('looks at a log: one runs, one waits, and all that come meanwhile share it', async () => {
  const reads: (() => void)[] = [];
  const changes = new ControlChanges(
    emptyLog(() => new Promise((resolve) => reads.push(() => resolve(0)))),
    STORE,
  );
  const looks = Array.from({ length: 10 }, () => changes.look());
  reads[0]();
  await looks[0];
  await vi.waitFor(() => expect(reads.length).toBe(2));
  reads[1]();
  expect((await Promise.all(looks)).every((look) => look?.storedOffset === 0)).toBe(true);
  expect(reads.length).toBe(2);
});

it('looks at a log that hangs: questions are answered at once, without a queue, until it answers', async () => {
  vi.useFakeTimers();
  try {
    const reads: (() => void)[] = [];
    const changes = new ControlChanges(
      emptyLog(() => new Promise((resolve) => reads.push(() => resolve(0)))),
      STORE,
    );
    const late = changes.look();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await late).toBeNull();
    const answers: unknown[] = [];
    for (let i = 0; i < 5; i++) void changes.look().then((look) => answers.push(look));
    // No time passes.
    await vi.advanceTimersByTimeAsync(0);
    expect(answers).toEqual([null, null, null, null, null]);
    expect(reads.length).toBe(1);
    reads[0]();
    await vi.advanceTimersByTimeAsync(0);
    const next = changes.look();
    expect(reads.length).toBe(2);
    reads[1]();
    expect(await next).not.toBeNull();
    expect(said).toEqual([
      'the log can not be followed, so questions are asked of the store: it did not answer within 1 s',
      'the log is followed again',
    ]);
  } finally {
    vi.useRealTimers();
  }
});

it('looks at a log: only what a log fails with is taken as one that does not answer', async () => {
  const failing = (error: Error) =>
    new ControlChanges(
      emptyLog(() => Promise.reject(error)),
      STORE,
    ).look();
  expect(await failing(new LogError('LOG_UNREACHABLE', 'down'))).toBeNull();
  await expect(failing(new TypeError('a mistake'))).rejects.toThrow('a mistake');
});

it('looks at a log that forgot the cursor of the sink: takes the position of the store, once', async () => {
  let numQueries = 0;
  let cursor: number | null = null;
  const queryRows = () => {
    numQueries++;
    return Promise.resolve([{ last_offset: 6 }]);
  };
  const log = { ...emptyLog(() => Promise.resolve(cursor as never)), endOffset: () => Promise.resolve(7) };
  const changes = new ControlChanges(log as EventLog, { now: { queryRows, layout: {} } } as never);
  const storedOffset = async () => (await changes.look())?.storedOffset;
  expect([await storedOffset(), await storedOffset(), numQueries]).toEqual([7, 7, 1]);
  cursor = 9;
  expect(await storedOffset()).toBe(9);
  cursor = null;
  expect([await storedOffset(), numQueries]).toEqual([9, 1]);
});

/** Changes of a log that has these records. */
function changesOf(...records: readonly Uint8Array[]): ControlChanges {
  const log = {
    ...emptyLog(() => Promise.resolve(0)),
    endOffset: () => Promise.resolve(records.length),
    read: () => Promise.resolve(records.map((bytes, offset) => ({ offset, bytes }))),
  };
  return new ControlChanges(log as never, STORE);
}

it.each([Number.NaN, 1.5, 1e19])(
  'looks at a log with a dead letter of the time %s: it changes no run',
  async (time) => {
    const id = Buffer.alloc(16, 7);
    const record = frame(messagePack.pack(['MetricsLogged', 1, id, id, id, Buffer.alloc(0), 0, time, {}]));
    const look = await changesOf(record).look();
    expect(look?.since(0)).toMatchObject([{ runId: '', kind: '', occurredAtUs: 0 }]);
  },
);

it('looks at a log: tells what comes after the end of a run, until a trainer claims it', async () => {
  const ids = { logId: newRunId(), runId: newRunId() };
  const kinds = ['MetricsLogged', 'RunEnded', 'MetricsLogged', 'TrainerClaimed', 'MetricsLogged'] as const;
  const events = kinds.map((kind) => encodeEvent(controlEvent(ids, kind) as AnyEvent));
  const other = encodeEvent(controlEvent({ ...ids, runId: newRunId() }, 'MetricsLogged'));
  const look = await changesOf(...events, other).look();
  expect(look?.since(0)?.map(({ isAfterEnd }) => isAfterEnd)).toEqual([
    ...[false, false, true, true, false],
    false,
  ]);
});
