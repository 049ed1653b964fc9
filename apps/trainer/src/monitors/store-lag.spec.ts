import { SINK_GROUP } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { newRunId } from '@retrace/trajectory';
import { episodeEvents } from '@retrace/trajectory/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StoreLag } from './store-lag.js';

it('StoreLag: tells how far the store is behind, and warns once of a store that takes nothing for a minute', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-lag-'));
  const log = await openLmdbLog({ path: directory, createdBy: 'test' });
  onTestFinished(async () => {
    await log.close();
    rmSync(directory, { recursive: true });
  });
  const ids = { logId: log.logId, runId: newRunId() };
  let now = 0;
  const warnings: string[] = [];
  const lag = new StoreLag(
    log,
    (message) => warnings.push(message),
    () => now,
  );
  const observeAfter = (seconds: number) => {
    now += 1000 * seconds;
    return lag.observe();
  };
  const store = async (end: number) => {
    await log.commitCursor(SINK_GROUP, 'control', 0, 1);
    await log.commitCursor(SINK_GROUP, 'trajectories', 0, end);
  };
  await appendEvents(log, episodeEvents({ ...ids, ordinal: 0 }));
  expect(await observeAfter(1)).toBe(1 + 5);
  await store(5);
  // The log is not asked each time.
  expect(await observeAfter(1)).toBe(6);
  expect(await observeAfter(10)).toBe(0);

  for (let ordinal = 1; ordinal <= 8; ordinal++) {
    await appendEvents(log, episodeEvents({ ...ids, ordinal }));
    expect(await observeAfter(10)).toBe(5 * ordinal);
  }
  expect(warnings).toEqual([
    'the store has taken nothing for 60 s, and 30 records wait in the log for it; the run goes on without it',
  ]);
  await store(25);
  expect(await observeAfter(10)).toBe(20);
  expect(await observeAfter(50)).toBe(20);
  expect(warnings).toHaveLength(1);
  expect(await observeAfter(10)).toBe(20);
  expect(warnings).toHaveLength(2);
});
