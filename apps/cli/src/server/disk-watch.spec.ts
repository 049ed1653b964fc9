import { tmpdir } from 'node:os';
import { statfs } from 'node:fs/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { assertDiskSpace, watchDisk } from './disk-watch.js';

vi.mock('node:fs/promises', () => ({ statfs: vi.fn() }));

const directory = { path: tmpdir(), shownAs: './data' };
const MEBIBYTE = 1024 ** 2;
const free = (mebibytes: number) =>
  vi.mocked(statfs).mockResolvedValue({ bavail: mebibytes * 256, bsize: 4096 } as never);

describe('disk watch', () => {
  beforeEach(() => {
    free(1000);
  });

  it('accepts 48 MiB of free space and refuses less, with advice', async () => {
    free(48);
    await assertDiskSpace(directory);
    vi.mocked(statfs).mockResolvedValue({ bavail: 48 * MEBIBYTE - 1, bsize: 1 } as never);
    await expect(assertDiskSpace(directory)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message:
        'data directory ./data: the disk is full (48 MiB free, at least 48 are needed); free some space and start again; no acknowledged event is lost',
    });
  });

  it('rejects when the disk fills up later', async () => {
    const watching = watchDisk(directory, new AbortController().signal, 1);
    free(3);
    await expect(watching).rejects.toMatchObject({ code: 'DISK_FULL' });
  });

  it('resolves when its signal aborts', async () => {
    const stop = new AbortController();
    const watching = watchDisk(directory, stop.signal, 10_000);
    stop.abort();
    await watching;
  });
});
