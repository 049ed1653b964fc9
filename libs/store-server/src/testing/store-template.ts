import { cp, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startStoreServer } from '../store-server.js';
import { migrate } from '@retrace/store';
import { createStoreClient } from '@retrace/store';

/**
 * Creates the data directory of a store with the current schema at a path that doesn't exist yet: a copy of one that was migrated once
 * for the whole test run, because most specs that need a schema do not test migrations. Migrates a new store when no run of
 * vitest names a directory for the template (`scripts/store-template-setup.mjs`). No store may be open in this process.
 */
export async function placeMigratedStore(dataDirectory: string): Promise<void> {
  const shared = process.env.RETRACE_TEST_STORE_TEMPLATE;
  if (shared === undefined) return migrateNewStore(dataDirectory);
  const template = join(shared, 'store');
  if (!(await exists(template))) await makeTemplate(shared, template);
  // The engine's symbolic links are relative and must point into the copy.
  await cp(template, dataDirectory, { recursive: true, verbatimSymlinks: true });
}

/** Creates the template; of several workers at once, the first to finish provides it. */
async function makeTemplate(shared: string, template: string): Promise<void> {
  const own = join(await mkdtemp(join(shared, 'making-')), 'store');
  await migrateNewStore(own);
  // Pipes can't be copied; a server creates new ones.
  await rm(join(own, 'exchange'), { recursive: true });
  await rename(own, template).catch(async (error: unknown) => {
    if (!(await exists(template))) throw error;
    await rm(own, { recursive: true });
  });
}

async function migrateNewStore(dataDirectory: string): Promise<void> {
  const user = { name: 'retrace', password: 'template' };
  const server = await startStoreServer({ dataDirectory, port: 0, users: [{ ...user, access: 'full' }] });
  const client = createStoreClient({ url: server.url, username: user.name, password: user.password });
  try {
    await migrate(client);
  } finally {
    await client.close();
    await server.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
