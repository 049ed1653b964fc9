import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { DataDirectory } from '@retrace/process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogEntry } from '../supervisor/log-stream.js';
import { askStore, followEndedRun } from './store-of-runs.js';

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

describe('askStore', () => {
  /** Answers `answered` of the requests, by their number from 1 on, with one row, and breaks the connection of the others. */
  async function withStore(
    answered: (request: number) => boolean,
    work: (storeUrl: string) => Promise<void>,
  ) {
    let numRequests = 0;
    const server = createServer((request, response) => {
      numRequests += 1;
      if (answered(numRequests)) response.end('{"n":7}\n');
      else request.socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  let directory: DataDirectory;
  beforeEach(() => {
    directory = new DataDirectory(mkdtempSync(join(tmpdir(), 'retrace-asked-')));
  });
  afterEach(() => {
    rmSync(directory.root, { recursive: true });
  });

  it('repeats a read for which the store was not there, and nothing that was done before it', async () => {
    let numMade = 0;
    // The store is gone at the second read, three times.
    await withStore(
      (request) => request === 1 || request > 4,
      async (storeUrl) => {
        const rows = await askStore({ directory, storeUrl, isGone: () => false }, async (client) => {
          const before = await client.queryRows('SELECT 7 AS n');
          numMade += 1;
          return [...before, ...(await client.queryRows('SELECT 7 AS n'))];
        });
        expect(rows).toEqual([{ n: 7 }, { n: 7 }]);
      },
    );
    expect(numMade).toBe(1);
  });

  it('does not wait for a store that nobody starts again, nor repeat a read that was given up', async () => {
    const unavailable = { code: 'STORE_UNAVAILABLE' };
    await withStore(
      () => false,
      async (storeUrl) => {
        const gone = { directory, storeUrl, isGone: () => true };
        await expect(askStore(gone, (client) => client.queryRows('SELECT 7'))).rejects.toMatchObject(
          unavailable,
        );
        const signal = AbortSignal.abort();
        const patient = { directory, storeUrl, isGone: () => false };
        await expect(
          askStore(patient, (client) => client.queryRows('SELECT 7', { signal })),
        ).rejects.toMatchObject(unavailable);
      },
    );
  });
});
