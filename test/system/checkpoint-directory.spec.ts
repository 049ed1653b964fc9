import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

const data = makeDataDirectory();
const own = join(data.path, 'data');
const elsewhere = join(data.path, 'elsewhere');

afterAll(() => {
  data.remove();
});

const retrace = (args: readonly string[], RETRACE_CHECKPOINT_DIRECTORY?: string) =>
  runRetrace([...args, '--data-dir', own], {
    environment: RETRACE_CHECKPOINT_DIRECTORY === undefined ? {} : { RETRACE_CHECKPOINT_DIRECTORY },
  });

it('commands on a data directory have their checkpoints where RETRACE_CHECKPOINT_DIRECTORY says', async () => {
  await placeTrainedDirectory(own, 1);
  renameSync(join(own, 'checkpoints'), elsewhere);
  const save = ['save-policy', join(data.path, 'saved'), '--policy', 'latest'];
  expect((await retrace(save)).code).not.toBe(0);
  const saved = await retrace(save, elsewhere);
  expect(saved.code, saved.stderr).toBe(0);
  expect(readdirSync(join(data.path, 'saved'))).toContain('model.safetensors');
}, 240_000);
