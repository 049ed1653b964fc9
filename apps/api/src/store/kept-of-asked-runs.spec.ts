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

/** A store with one run. It answers at once where a question is asked with the value, else when a test ends the reading. */
class SlowStore {
  readonly readings: ((value: number) => void)[] = [];
  private value: number | undefined;
  readonly asked: KeptOfAskedRuns<number>;
  readonly all: KeptOfAllRuns<number>;
  private readonly happened: ControlChange[] = [];

  constructor() {
    const look = () =>
      Promise.resolve({
        storedOffset: this.happened.length,
        since: (offset: number) => this.happened.slice(offset),
      });
    const options = {
      changes: { look, patienceMs: 1 } as unknown as ControlChanges,
      dependsOn: () => true,
      read: () =>
        new Promise<ReadonlyMap<string, number>>((resolve) => {
          this.readings.push((value) => {
            resolve(new Map([['run', value]]));
          });
          if (this.value !== undefined) this.readings.at(-1)?.(this.value);
        }),
    };
    const mayBeLate = ({ kind }: ControlChange) => kind === 'MetricsLogged';
    this.asked = new KeptOfAskedRuns({ ...options, mayBeLate, maxSize: 10, sizeOf: () => 1 });
    this.all = new KeptOfAllRuns({ ...options, mayBeLate: true });
  }

  happen(kind: string): void {
    this.happened.push({ offset: this.happened.length, runId: 'run', kind, occurredAtUs: 0 });
  }

  /** @param value with which the store answers now; without it, it does not answer */
  async ask(value?: number, kept: 'asked' | 'all' = 'asked'): Promise<number | undefined> {
    this.value = value;
    if (value !== undefined) this.readings.at(-1)?.(value);
    return (await this[kept].of(['run'])).get('run');
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

it('values that may be late: a question waits for those of another change, and where the ones before are over ten seconds old', async () => {
  const store = new SlowStore();
  await store.ask(1);
  store.happen('MetricsLogged');
  expect(await store.ask()).toBe(1);
  store.happen('RunEnded');
  expect(await store.ask(2)).toBe(2);
  // What was asked before the change counts no more.
  store.readings[1](7);
  await new Promise(setImmediate);
  expect(await store.ask()).toBe(2);
  store.happen('MetricsLogged');
  nowMs += 10_001;
  expect(await store.ask(3)).toBe(3);
});
