import { copyFile, mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog } from '@retrace/log';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSpool } from './open-spool.js';
import { PartitionQueue } from './partition-queue.js';

const LOG_ID = '01890000-0000-7000-8000-000000000000';
const OTHER_LOG_ID = '01890000-0000-7000-8000-000000000001';
const GOLDEN = join(import.meta.dirname, '../../../../test/golden/spools/collector.spool');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-open-spool-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** The spools of a log with two partitions. */
function open(logId = LOG_ID) {
  const log = { logId, numPartitions: () => 2 } as unknown as EventLog;
  return openSpool(log, { directory, maxBytes: 1e6 });
}

it('takes over the file that an earlier version left for a partition', async () => {
  await copyFile(GOLDEN, join(directory, '1.spool'));
  const { spools, numRecords, numCutBytes } = await open();
  expect([numRecords, numCutBytes]).toEqual([3, 0]);
  const records = await spools[1].peek(1e6);
  expect(records.map((bytes) => Buffer.from(bytes).toString())).toEqual(['one', '', 'three']);
  await spools[1].take(3);
  await Promise.all(spools.map((spool) => spool.close()));
  expect((await readdir(directory, { recursive: true })).sort()).toEqual(['0', '1']);
});

it('puts such a file behind what a later version has written', async () => {
  const [first] = (await open()).spools;
  await first.append([Buffer.from('zero')]);
  await first.close();
  await copyFile(GOLDEN, join(directory, '0.spool'));
  const { spools, numRecords } = await open();
  expect(numRecords).toBe(4);
  expect(Buffer.from((await spools[0].peek(1e6))[0]).toString()).toBe('zero');
  await Promise.all(spools.map((spool) => spool.close()));
});

it('says that it is unusable when its file shrinks in use', async () => {
  const { spools } = await open();
  const queue = new PartitionQueue(spools[0]);
  queue.push(Buffer.from('one'));
  await queue.spill(1e6);
  const folder = join(directory, '0');
  await truncate(join(folder, (await readdir(folder))[0]), 50);
  await expect(queue.head(1e6)).rejects.toThrow(
    expect.objectContaining({ name: 'CollectorError', code: 'SPOOL_UNUSABLE' }) as Error,
  );
  await Promise.all(spools.map((spool) => spool.close()));
});

it('refuses records of another log, naming both', async () => {
  await copyFile(GOLDEN, join(directory, '0.spool'));
  await expect(open(OTHER_LOG_ID)).rejects.toThrow(
    expect.objectContaining({
      code: 'SPOOL_UNUSABLE',
      message: expect.stringMatching(`${LOG_ID}.*${OTHER_LOG_ID}`) as string,
    }) as Error,
  );
});
