import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Provides a folder for the data directory with trained runs that specs copy (`test/support/trained-directory.mjs`). The first spec that needs it makes it;
 * it is deleted after the run.
 */
export default async function setup() {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-trained-'));
  process.env.RETRACE_TEST_TRAINED = directory;
  return () => rm(directory, { recursive: true, force: true });
}
