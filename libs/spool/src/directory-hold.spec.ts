import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryHold } from './directory-hold.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-hold-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a hold on a directory', () => {
  it('is for one at a time, and free when the process that had it is gone', async () => {
    const hold = await DirectoryHold.claim(directory, 'tests');
    expect(await DirectoryHold.claim(directory, 'tests')).toBeNull();
    await hold?.release();
    const again = await DirectoryHold.claim(directory, 'tests');
    expect(again).not.toBeNull();
    await again?.release();
  });
});
