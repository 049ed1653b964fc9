import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleForChild, type ChildModule } from '../../contract/child-module.contract.js';
import { openLmdbLog } from '../open-lmdb-log.js';
import { checkDataFile } from './check-data-file.js';

const PAGE_BYTES = 4_096;

/** In all bytes of the oldest control records, whose pages no writer changes. */
const MARK = 0x43;

describe('the check of a data file that another process writes to', () => {
  let path: string;
  let module: ChildModule;
  let writer: ChildProcess;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'retrace-busy-'));
    const log = await openLmdbLog({ path, createdBy: 'test' });
    const records = Array.from({ length: 200 }, () => new Uint8Array(400));
    await log.append(
      'control',
      0,
      Array.from({ length: 200 }, () => new Uint8Array(400).fill(MARK)),
    );
    // All of the control stream is checked when the log is opened, so a long one is sure to change meanwhile.
    for (let n = 0; n < 60; n++)
      await Promise.all([log.append('trajectories', 0, records), log.append('control', 0, records)]);
    await log.close();
    module = await bundleForChild(new URL('./busy-process.contract.ts', import.meta.url));
    writer = fork(module.path, [path], { stdio: 'inherit' });
    await once(writer, 'message');
  });

  afterEach(async () => {
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    await module.remove();
    await rm(path, { recursive: true });
  });

  it('finds no damage in pages that were used again while it read them', async () => {
    let numUndecided = 0;
    // On a loaded machine the writer is slow, and most looks can tell.
    for (let n = 0; n < 40 || numUndecided === 0; n++) {
      if (!checkDataFile(path)) numUndecided++;
      await (await openLmdbLog({ path, createdBy: 'test' })).close();
    }
    expect(numUndecided).toBeGreaterThan(0);
    expect(writer.exitCode).toBeNull();
  });

  it('finds none in the records that are read', async () => {
    const log = await openLmdbLog({ path, createdBy: 'test' });
    for (let n = 0; n < 100; n++)
      expect(await log.read('control', 0, 100 * n, { maxRecords: 1 })).toHaveLength(1);
    await log.close();
    expect(writer.exitCode).toBeNull();
  });

  it('finds a page that is damaged', async () => {
    const file = join(path, 'data.mdb');
    const numPages = (await stat(file)).size / PAGE_BYTES;
    const bytes = await readFile(file);
    const isFirst = (page: number) =>
      bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES).filter((byte) => byte === MARK).length >
      PAGE_BYTES / 2;
    const page = Array.from({ length: numPages }, (_, i) => i).find(isFirst);
    const handle = await open(file, 'r+');
    await handle.write(new Uint8Array(PAGE_BYTES), 0, PAGE_BYTES, Number(page) * PAGE_BYTES);
    await handle.close();
    await expect(openLmdbLog({ path, createdBy: 'test' })).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining(`page ${page} of its data file, of control/0, is all zeros`) as string,
    });
    expect(writer.exitCode).toBeNull();
  });

  it('finds none in the whole file, which is checked in a snapshot before records are released', async () => {
    for (let n = 0; n < 30; n++) {
      const log = await openLmdbLog({ path, createdBy: 'test' });
      expect(await log.release?.('trajectories', 0, [{ from: 10 * n, end: 10 * n + 10 }])).toBe(
        n === 0 ? 9 : 10,
      );
      await log.close();
    }
    expect(writer.exitCode).toBeNull();
  });
});
