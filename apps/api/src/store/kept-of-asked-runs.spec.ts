import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ControlChange, ControlChanges } from './control-changes.js';
import { KeptOfAllRuns } from './kept-of-all-runs.js';
import { KeptOfAskedRuns } from './kept-of-asked-runs.js';

let nowMs: number;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const LASTING = 99;

/** A store with one run. It answers at once where a question is asked with the value, else when a test ends the reading. */
class SlowStore {
  readonly readings: ((value: number) => void)[] = [];
  private value: number | undefined;
  readonly asked: KeptOfAskedRuns<number>;
  readonly all: KeptOfAllRuns<number>;
  private readonly happened: ControlChange[] = [];
  /** Whether the log does not answer. */
  isLogAway = false;
  /** Readings that failed, while the store is unavailable. */
  numFailed = 0;
  isUnavailable = false;

  constructor() {
    const storedLook = () => ({
      storedOffset: this.happened.length,
      since: (offset: number) => this.happened.slice(offset),
    });
    const look = () => Promise.resolve(this.isLogAway ? null : storedLook());
    const options = {
      changes: { look, patienceMs: 1 } as unknown as ControlChanges,
      dependsOn: () => true,
      read: () =>
        new Promise<ReadonlyMap<string, number>>((resolve, reject) => {
          if (this.isUnavailable) {
            this.numFailed++;
            reject(new Error('the store is unavailable'));
            return;
          }
          this.readings.push((value) => {
            resolve(new Map([['run', value]]));
          });
          if (this.value !== undefined) this.readings.at(-1)?.(this.value);
        }),
    };
    const mayBeLate = ({ kind }: ControlChange) => kind === 'MetricsLogged';
    this.asked = new KeptOfAskedRuns({
      ...options,
      mayBeLate,
      maxSize: 10,
      sizeOf: () => 1,
      isLasting: (value) => value === LASTING,
    });
    this.all = new KeptOfAllRuns({ ...options, mayBeLate });
  }

  happen(kind: string): void {
    const { length: offset } = this.happened;
    this.happened.push({ offset, runId: 'run', kind, occurredAtUs: 0, isAfterEnd: false });
  }

  /** @param value with which the store answers now; without it, it does not answer */
  async ask(value?: number, kept: 'asked' | 'all' = 'asked'): Promise<number | undefined> {
    this.value = value;
    if (value !== undefined) this.readings.at(-1)?.(value);
    return (await this[kept].of(['run'])).get('run');
  }

  /** Ends a reading, once it has begun and the patience of a question with it is over. */
  async endReading(index: number, value: number): Promise<void> {
    await vi.waitFor(() => expect(this.readings.length).toBeGreaterThan(index));
    await sleep(5);
    this.readings[index](value);
  }
}

it.each(['asked', 'all'] as const)(
  'values that may be late (%s): while new ones are being read, questions are answered with those of before',
  async (kept) => {
    const store = new SlowStore();
    expect(await store.ask(1, kept)).toBe(1);
    store.happen('MetricsLogged');
    expect([await store.ask(undefined, kept), await store.ask(undefined, kept)]).toEqual([1, 1]);
    expect(store.readings.length).toBe(2);
    expect(await store.ask(2, kept)).toBe(2);
  },
);

it('values that may be late: a change that came while the last one was being read is read afterwards', async () => {
  const store = new SlowStore();
  await store.ask(1);
  for (let i = 0; i < 2; i++) {
    store.happen('MetricsLogged');
    expect(await store.ask()).toBe(1);
  }
  store.readings[1](2);
  await new Promise(setImmediate);
  expect(await store.ask()).toBe(2);
  expect(store.readings.length).toBe(3);
});

it.each(['asked', 'all'] as const)(
  'values that may be late (%s): a question waits for those of another change, and where the ones before are over ten seconds old',
  async (kept) => {
    const store = new SlowStore();
    await store.ask(1, kept);
    store.happen('MetricsLogged');
    expect(await store.ask(undefined, kept)).toBe(1);
    store.happen('RunEnded');
    const answer = store.ask(undefined, kept);
    // What was asked before the change counts no more.
    await store.endReading(1, 7);
    await store.endReading(2, 2);
    expect([await answer, await store.ask(undefined, kept)]).toEqual([2, 2]);
    store.happen('MetricsLogged');
    nowMs += 10_001;
    expect(await store.ask(3, kept)).toBe(3);
  },
);

it('values that may be late: one that has been read for over ten seconds is waited for, and kept as of its beginning', async () => {
  const store = new SlowStore();
  const first = store.ask();
  await vi.waitFor(() => expect(store.readings.length).toBe(1));
  nowMs += 15_000;
  store.happen('MetricsLogged');
  const second = store.ask();
  await store.endReading(0, 1);
  expect([await first, await second, store.readings.length]).toEqual([1, 1, 1]);
  expect([await store.ask(2), store.readings.length]).toEqual([2, 2]);
});

it('values that may be late: do not go back in time where all were read again meanwhile', async () => {
  const store = new SlowStore();
  await store.ask(1, 'all');
  nowMs += 60_001;
  expect(await store.ask(undefined, 'all')).toBe(1);
  store.happen('MetricsLogged');
  const answer = store.ask(undefined, 'all');
  await store.endReading(2, 2);
  await answer;
  expect(await store.ask(undefined, 'all')).toBe(2);
  // The store was asked for all before the change.
  await store.endReading(1, 1);
  await new Promise(setImmediate);
  expect(await store.ask(undefined, 'all')).toBe(2);
});

it.each(['asked', 'all'] as const)(
  'values that may be late (%s): do not go back in time after the log did not answer',
  async (kept) => {
    const store = new SlowStore();
    await store.ask(1, kept);
    store.happen('MetricsLogged');
    await store.ask(undefined, kept);
    store.isLogAway = true;
    const readFromStore = store.ask(undefined, kept);
    await store.endReading(1, 2);
    await store.endReading(2, 3);
    expect(await readFromStore).toBe(3);
    store.isLogAway = false;
    store.happen('MetricsLogged');
    const answer = store.ask(undefined, kept);
    await store.endReading(3, 4);
    expect(await answer).toBe(4);
  },
);

it('kept values of asked runs: are read again beside the questions after a minute, and questions wait for it after five', async () => {
  const store = new SlowStore();
  expect([await store.ask(1), await store.asked.ofReady('run')]).toEqual([1, 1]);
  nowMs += 60_001;
  expect([await store.ask(), await store.ask(), store.readings.length]).toEqual([1, 1, 2]);
  store.readings[1](2);
  await new Promise(setImmediate);
  expect([await store.ask(), store.readings.length]).toEqual([2, 2]);
  nowMs += 300_001;
  // The cache asks for the time once a millisecond.
  await sleep(5);
  expect(await store.asked.ofReady('run')).toBe(undefined);
  expect(await store.ask(3)).toBe(3);
});

it('kept values of asked runs: what is read again because of its age is not kept after a change', async () => {
  const store = new SlowStore();
  await store.ask(1);
  nowMs += 60_001;
  expect(await store.ask()).toBe(1);
  store.happen('RunEnded');
  const answer = store.ask();
  await store.endReading(1, 7);
  await store.endReading(2, 2);
  expect([await answer, await store.ask()]).toEqual([2, 2]);
});

it('kept values of asked runs: one that could not be read again is tried again after ten seconds', async () => {
  const store = new SlowStore();
  await store.ask(1);
  store.isUnavailable = true;
  const numFailedAfter = async (passedMs: number) => {
    nowMs += passedMs;
    expect(await store.ask()).toBe(1);
    await new Promise(setImmediate);
    return store.numFailed;
  };
  expect(await numFailedAfter(60_001)).toBe(1);
  expect(await numFailedAfter(9_000)).toBe(1);
  expect(await numFailedAfter(1_001)).toBe(2);
});

it('kept values of asked runs: one that needs no reading is ready, and is not shown late after the store has answered', async () => {
  const store = new SlowStore();
  expect([await store.asked.ofReady('run'), store.readings.length]).toEqual([undefined, 0]);
  void store.ask();
  await vi.waitFor(() => expect(store.readings.length).toBe(1));
  // The store answers, with what is perhaps newer.
  expect(await store.asked.ofReady('run')).toBe(undefined);
  await store.endReading(0, 1);
  await new Promise(setImmediate);
  const answer = store.ask();
  await store.endReading(1, 2);
  expect(await answer).toBe(2);
  expect([await store.asked.ofReady('run'), store.readings.length]).toEqual([2, 2]);
  store.happen('RunEnded');
  expect([await store.asked.ofReady('run'), store.readings.length]).toEqual([undefined, 2]);
});

it('kept values of asked runs: a lasting one has no age, until there is a change that may not be late', async () => {
  const store = new SlowStore();
  await store.ask(LASTING);
  nowMs += 600_000;
  await sleep(5);
  expect([await store.asked.ofReady('run'), store.readings.length]).toEqual([LASTING, 1]);
  store.happen('RunStarted');
  expect(await store.asked.ofReady('run')).toBe(undefined);
});
