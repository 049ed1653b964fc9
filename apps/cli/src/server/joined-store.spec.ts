import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { openLmdbLog } from '@retrace/log/lmdb';
import { DataDirectory } from '@retrace/process';
import { expect, it } from 'vitest';
import { beginRun } from '@retrace/runs/begin';
import { openCheckpoints } from '../services/checkpoints.js';
import type { LogEntry } from '../supervisor/log-stream.js';
import { JoinedStore } from './joined-store.js';

it('JoinedStore: says at once how much of the log a store lacks whose server has ended', async () => {
  const directory = new DataDirectory(mkdtempSync(join(tmpdir(), 'retrace-joined-')));
  const eventLog = await openLmdbLog({ path: directory.log, createdBy: 'test' });
  const entries: LogEntry[] = [];
  try {
    await beginRun(eventLog, {
      recipe: resolveRecipe('bandit-ppo'),
      codeVersion: '1.2.3',
      requireEngine: () => Promise.resolve(),
      onNotice: () => undefined,
      checkpoints: openCheckpoints(directory),
    });
    const server = { pid: 1, apiUrl: '', storeUrl: 'http://127.0.0.1:1', hasSink: true, startedAt: '' };
    const log = { write: (entry: LogEntry) => entries.push(entry), progress: () => undefined };
    await new JoinedStore({ server, directory, eventLog, log }).followEndedRun();
    // The opening of the log, and the start of the run.
    const message =
      'the store is not there, and 2 records wait in the log for it; "retrace rebuild" makes it';
    expect(entries).toEqual([{ role: 'store', level: 'warn', message }]);
  } finally {
    await eventLog.close();
    rmSync(directory.root, { recursive: true });
  }
});
