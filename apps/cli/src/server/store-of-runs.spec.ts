import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogEntry } from '../supervisor/log-stream.js';
import { followEndedRun } from './store-of-runs.js';

describe('followEndedRun', () => {
  let path: string;
  let eventLog: EventLog;
  let entries: LogEntry[];
  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'retrace-ended-'));
    eventLog = await openLmdbLog({ path, createdBy: 'test' });
    entries = [];
  });
  afterEach(async () => {
    await eventLog.close();
    rmSync(path, { recursive: true });
  });

  const log = { write: (entry: LogEntry) => entries.push(entry), progress: () => undefined };
  const forEver = () => new Promise<boolean>(() => undefined);
  const { signal: goingOn } = new AbortController();

  it('gives up a call that hangs once its patience is over, and says what waits in the log', async () => {
    let given: AbortSignal = goingOn;
    const reaches = (signal: AbortSignal) => {
      given = signal;
      return forEver();
    };
    await followEndedRun({ log, eventLog, stopping: goingOn, reaches, patienceMs: 1 });
    expect(given.aborted).toBe(true);
    // The opening of the log.
    expect(entries).toMatchObject([
      { level: 'warn', message: expect.stringContaining('1 records wait') as string },
    ]);
  });

  it('says nothing where the store has the run, or was stopped', async () => {
    const patienceMs = 2 ** 30;
    await followEndedRun({
      log,
      eventLog,
      stopping: goingOn,
      reaches: () => Promise.resolve(true),
      patienceMs,
    });
    await followEndedRun({ log, eventLog, stopping: AbortSignal.abort(), reaches: forEver, patienceMs });
    expect(entries).toEqual([]);
  });
});
