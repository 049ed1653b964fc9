import type { StoreClient } from '../client/store-client.js';
import { type MigrateOptions, MIGRATIONS_DIRECTORY } from './migrate.js';
import { readMigrations } from './migration-files.js';

/** The state of a store, for a check before it is used. */
export interface SchemaState {
  readonly engineVersion: string;
  /** Migrations that this code has and the store lacks. */
  readonly numPending: number;
  /** Migrations that the store has and this code doesn't know. */
  readonly numUnknown: number;
  readonly disks: readonly { readonly name: string; readonly freeBytes: number }[];
}

/** Reads the state of a store and changes nothing. @throws StoreError */
export async function readSchemaState(
  client: StoreClient,
  { directory = MIGRATIONS_DIRECTORY }: MigrateOptions = {},
): Promise<SchemaState> {
  const [{ version }] = await client.queryRows<{ version: string }>('SELECT version() AS version');
  const known = await readMigrations(directory);
  const [{ n: hasLedger }] = await client.queryRows<{ n: number }>(
    "SELECT count() AS n FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'",
  );
  const applied =
    hasLedger === 0
      ? []
      : await client.queryRows<{ migration: number }>(
          `SELECT migration FROM schema_migrations FINAL
           GROUP BY migration HAVING count() = max(num_statements)`,
        );
  const numbers = new Set(applied.map(({ migration }) => migration));
  const disks = await client.queryRows<{ name: string; freeBytes: number }>(
    'SELECT name, free_space AS freeBytes FROM system.disks',
  );
  return {
    engineVersion: version,
    numPending: known.filter(({ number }) => !numbers.has(number)).length,
    numUnknown: [...numbers].filter((number) => number > known.length).length,
    disks,
  };
}
