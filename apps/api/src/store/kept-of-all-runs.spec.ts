import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ControlChange, ControlChanges, ControlLook } from './control-changes.js';
import { KeptOfAllRuns } from './kept-of-all-runs.js';

const MINUTE_MS = 60_000;

let nowMs: number;
let numWarnings: number;
beforeEach(() => {
  [nowMs, numWarnings] = [0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {
    numWarnings++;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Values of one run: how many times all were read. A test says how long that takes, whether the store fails, and what is new in the log. */
class CountedStore {
  numReads = 0;
  readMs = 0;
  isFailing = false;
  changes: readonly ControlChange[] = [];
  readonly kept = new KeptOfAllRuns<number>({
    changes: { look: () => Promise.resolve(this.look()) } as ControlChanges,
    dependsOn: () => false,
    read: () => this.read(),
  });

  private look(): ControlLook {
    return { storedOffset: 0, since: () => this.changes };
  }

  private read(): Promise<ReadonlyMap<string, number>> {
    this.numReads++;
    nowMs += this.readMs;
    if (this.isFailing) return Promise.reject(new Error('the store is away'));
    return Promise.resolve(new Map([['run', this.numReads]]));
  }

  /** The answer to a question, after what happens beside it. */
  async ask(): Promise<number | undefined> {
    const values = await this.kept.all();
    const value = values.get('run');
    await new Promise(setImmediate);
    return value;
  }
}

it('values of all runs are read again beside the questions: after five minutes at most, however long that takes', async () => {
  const store = new CountedStore();
  store.readMs = 10_000;
  expect(await store.ask()).toBe(1);
  nowMs += 5 * MINUTE_MS;
  await store.ask();
  expect(store.numReads).toBe(1);
  nowMs += 1;
  expect(await store.ask()).toBe(1);
  expect(store.numReads).toBe(2);
  expect(await store.ask()).toBe(2);
});

it('values of all runs that can not be read again: it is said once, tried every ten seconds, and at twice the age questions fail', async () => {
  const store = new CountedStore();
  await store.ask();
  store.isFailing = true;
  nowMs += MINUTE_MS + 1;
  expect([await store.ask(), await store.ask(), store.numReads]).toEqual([1, 1, 2]);
  nowMs += 10_000;
  expect([await store.ask(), store.numReads, numWarnings]).toEqual([1, 3, 1]);
  nowMs += MINUTE_MS;
  await expect(store.ask()).rejects.toThrow('the store is away');
  store.isFailing = false;
  expect(await store.ask()).toBe(5);
});

it('a deleted run is read again, whatever the values depend on', async () => {
  const store = new CountedStore();
  await store.ask();
  store.changes = [{ offset: 0, runId: 'run', kind: 'RunAnnotated', occurredAtUs: 0, isAfterEnd: false }];
  expect(await store.ask()).toBe(1);
  store.changes = [{ offset: 0, runId: 'run', kind: 'RunDeleted', occurredAtUs: 0, isAfterEnd: false }];
  expect(await store.ask()).toBe(2);
});
