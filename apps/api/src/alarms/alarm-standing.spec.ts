import type { EventLog } from '@retrace/log';
import type { StoredSilence } from '@retrace/store';
import type { Alarm } from '@retrace/trajectory';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoreService } from '../store/store.service.js';
import { AlarmStandings, UNHANDLED } from './alarm-standing.js';

const RAISED_AT_US = Date.UTC(2026, 10, 30, 10) * 1000;
const ALARM: Alarm = {
  ...{ runId: 'lake', source: 'trainer' as const, rule: 'low', message: 'low', advice: '' },
  ...{ step: null, numTimes: 1, raisedAtUs: RAISED_AT_US },
};
const SILENCE: StoredSilence = {
  ...{ runId: '', rule: 'low', note: 'a test', source: 'ann' },
  ...{ silencedAtUs: RAISED_AT_US - 1, untilUs: RAISED_AT_US + 1 },
};
const LONG_MS = 60_000;

/** The alarm and its silence are the records 0 and 1 of the log. */
const NUM_RECORDS = 2;
const log = {
  ...{ logId: 'log', endOffset: () => Promise.resolve(NUM_RECORDS), commitCursor: () => Promise.resolve() },
} as unknown as EventLog;

/** Records that the store has: one more each time that it is asked how far it is, or null where it never answers. */
let numStored: number | null;
/** Times that the store says that it is starting before it answers. */
let numStarting: number;
let numAsked: number;
const running = new AbortController().signal;

beforeEach(() => {
  [numStored, numStarting, numAsked] = [NUM_RECORDS, 0, 0];
});
afterEach(() => {
  vi.restoreAllMocks();
});

function queryRows(sql: string): Promise<object[]> {
  if (numStored === null) return new Promise(() => undefined);
  if (sql.includes('last_offset')) return Promise.resolve([{ last_offset: numStored++ - 1 }]);
  return Promise.resolve(sql.includes('alarm_silences') && numStored > NUM_RECORDS ? [SILENCE] : []);
}

const store = {
  get now() {
    numAsked++;
    if (numStarting-- > 0) throw new Error('the store is not ready');
    return { queryRows, layout: { positionSettings: {} } };
  },
  reader: { queryRows },
} as unknown as Pick<StoreService, 'now' | 'reader'>;

describe('AlarmStandings', () => {
  it('waits for a store that is starting', async () => {
    numStarting = 2;
    const standings = new AlarmStandings({ log, store, timeoutMs: LONG_MS });
    expect(await standings.of(ALARM, running)).toEqual({ acknowledgement: null, silence: SILENCE });
  });

  it('waits until the store has what came after the alarm', async () => {
    numStored = 1;
    const standings = new AlarmStandings({ log, store, timeoutMs: LONG_MS });
    expect((await standings.of(ALARM, running)).silence).toEqual(SILENCE);
  });

  it('gives up in time where the store does not answer, and hardly waits for the next alarm', async () => {
    numStored = null;
    const waited = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const late = new AbortController();
      setTimeout(() => late.abort(), 5);
      return late.signal;
    });
    const standings = new AlarmStandings({ log, store });
    expect(await standings.of(ALARM, running)).toBe(UNHANDLED);
    expect(await standings.of(ALARM, running)).toBe(UNHANDLED);
    expect(waited.mock.calls).toEqual([[10_000], [500]]);
  });

  it('asks nothing once it is to stop, and stops waiting', async () => {
    numStored = null;
    const standings = new AlarmStandings({ log, store, timeoutMs: LONG_MS });
    expect(await standings.of(ALARM, AbortSignal.abort())).toBe(UNHANDLED);
    expect(numAsked).toBe(0);
    const stopping = new AbortController();
    const asked = standings.of(ALARM, stopping.signal);
    await expect.poll(() => numAsked).toBe(1);
    stopping.abort();
    expect(await asked).toBe(UNHANDLED);
  });
});
