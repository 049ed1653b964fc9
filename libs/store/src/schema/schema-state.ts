import type { StoreClient } from '../client/store-client.js';
import { type MigrateOptions, MIGRATIONS_DIRECTORY } from './migrate.js';
import { readSchemaFiles } from './schema-files.js';
import { findPending, listNames } from './schema-ledger.js';

/** The state of a store, for a check before it is used. */
export interface SchemaState {
  readonly engineVersion: string;
  /** Migrations, and `views`, that this code has and the store lacks; null where the store is empty. */
  readonly pending: readonly string[] | null;
  readonly disks: readonly { readonly name: string; readonly freeBytes: number }[];
}

/** Reads the state of a store and changes nothing. @throws StoreError also where `migrate` would refuse the store */
export async function readSchemaState(
  client: StoreClient,
  { directory = MIGRATIONS_DIRECTORY }: Pick<MigrateOptions, 'directory'> = {},
): Promise<SchemaState> {
  const [{ version }] = await client.queryRows<{ version: string }>('SELECT version() AS version');
  const [{ n: hasLedger }] = await client.queryRows<{ n: number }>(
    "SELECT count() AS n FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'",
  );
  const disks = await client.queryRows<{ name: string; freeBytes: number }>(
    'SELECT name, free_space AS freeBytes FROM system.disks',
  );
  const pending =
    hasLedger === 0 ? null : listNames(await findPending(client, await readSchemaFiles(directory)));
  return { engineVersion: version, pending, disks };
}
