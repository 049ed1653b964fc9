import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A directory for the store with the current schema that specs copy (`libs/store-server/src/testing/store-template.ts`).
 * The first one that needs it makes it, and it goes with the run: a run of no such spec makes none.
 */
export default async function setup() {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-store-template-'));
  process.env.RETRACE_TEST_STORE_TEMPLATE = directory;
  return () => rm(directory, { recursive: true, force: true });
}
