import type { EventLog } from '@retrace/log';
import { LogError } from '@retrace/log';
import { expect, it, vi } from 'vitest';
import { ControlChanges } from './control-changes.js';

const STORE = { now: { queryRows: () => Promise.resolve([]), layout: {} } } as never;

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
    // No timer is awaited.
    for (let i = 0; i < 5; i++) expect(await changes.look()).toBeNull();
    expect(reads.length).toBe(1);
    reads[0]();
    await vi.advanceTimersByTimeAsync(0);
    const next = changes.look();
    expect(reads.length).toBe(2);
    reads[1]();
    expect(await next).not.toBeNull();
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
