import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Provides a directory for the store with the current schema that specs copy (`libs/store-server/src/testing/store-template.ts`).
 * The first spec that needs the template makes it, so a run without such specs makes none; it is deleted after the run.
 */
export default async function setup() {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-store-template-'));
  process.env.RETRACE_TEST_STORE_TEMPLATE = directory;
  return () => rm(directory, { recursive: true, force: true });
}
