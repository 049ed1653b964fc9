import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../event-log.js';
import { openLmdbLog } from './open-lmdb-log.js';

describe('release of an LMDB log', () => {
  let path: string;
  let log: EventLog;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'retrace-release-'));
    log = await openLmdbLog({ path, createdBy: 'test' });
  });

  afterEach(async () => {
    await log.close();
    await rm(path, { recursive: true });
  });

  const append = (count: number, size = 10) =>
    log.append(
      'trajectories',
      0,
      Array.from({ length: count }, (_, i) => new Uint8Array(size).fill(i)),
    );
  const release = (...ranges: [number, number][]) =>
    log.release?.(
      'trajectories',
      0,
      ranges.map(([from, end]) => ({ from, end })),
    );
  const offsets = async () => (await log.read('trajectories', 0, 0)).map(({ offset }) => offset);

  it('removes the named records, and keeps the offsets of the others', async () => {
    await append(10);
    expect(await release([2, 4], [6, 7])).toBe(3);
    expect(await offsets()).toEqual([0, 1, 4, 5, 7, 8, 9]);
    expect(await log.append('trajectories', 0, [Uint8Array.of(1)])).toEqual({ firstOffset: 10 });
    const [next, ...others] = await log.read('trajectories', 0, 4, { maxRecords: 1 });
    expect([next.offset, ...next.bytes]).toEqual([4, ...new Uint8Array(10).fill(4)]);
    expect(others).toEqual([]);
  });

  it('keeps the first and the last record, so that no offset is assigned twice', async () => {
    await append(10);
    expect(await release([0, 10])).toBe(8);
    expect(await offsets()).toEqual([0, 9]);
    expect(await log.startOffset('trajectories', 0)).toBe(0);
    expect(await log.endOffset('trajectories', 0)).toBe(10);
    await log.close();
    log = await openLmdbLog({ path, createdBy: 'test' });
    expect(await log.append('trajectories', 0, [Uint8Array.of(1)])).toEqual({ firstOffset: 10 });
    expect(await release([0, 11])).toBe(1);
    expect(await release([0, 11])).toBe(0);
  });

  it('does nothing where no record is', async () => {
    expect(await release([0, 100])).toBe(0);
    expect(await release()).toBe(0);
    await append(3);
    expect(await release([50, 100])).toBe(0);
    expect(await offsets()).toEqual([0, 1, 2]);
  });

  it('removes more records than one transaction may', async () => {
    for (let i = 0; i < 4; i++) await append(4_000);
    expect(await release([1, 12_000], [12_001, 15_999])).toBe(11_999 + 3_998);
    expect(await offsets()).toEqual([0, 12_000, 15_999]);
  });

  it('frees the space for later appends: the file does not grow', async () => {
    const fill = async () => {
      for (let i = 0; i < 20; i++) await append(500, 1_000);
    };
    const sizeBytes = async () => (await stat(join(path, 'data.mdb'))).size;
    await append(1);
    await fill();
    const full = await sizeBytes();
    for (let round = 1; round <= 3; round++) {
      await release([1, round * 10_000]);
      await fill();
    }
    // 40 MB were appended; pages become free one transaction later.
    expect(await sizeBytes()).toBeLessThan(1.6 * full);
    expect(full).toBeGreaterThan(10_000_000);
  });
});
