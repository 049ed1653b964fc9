import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFiles, nameContent } from '@retrace/policy';
import { expect, it } from 'vitest';
import { ScratchCheckpoints } from './scratch-checkpoints.js';

it('takes over shards, beside the files of the run, and leaves those alone', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-run-'));
  const base = new CheckpointFiles(directory);
  const ofRun = await base.write(Uint8Array.of(1));
  const files = await ScratchCheckpoints.over(base);
  try {
    const path = join(await files.makeScratch(), 'shard');
    await writeFile(path, 'a shard');
    const shard = { path, ...(await nameContent([Buffer.from('a shard')])) };
    const index = await files.adopt([shard], {});
    await files.verify(index);
    expect(await files.filesOf(index)).toHaveLength(2);
    expect(await files.list()).toEqual([ofRun]);
  } finally {
    await files.discard();
    await rm(directory, { recursive: true });
  }
});
