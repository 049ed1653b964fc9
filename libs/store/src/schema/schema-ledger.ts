import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import type { Migration, SchemaFiles, SchemaViews } from './schema-files.js';

/**
 * The ledger has one row for each statement of a migration, written a moment after it ran. A statement that ran without its row runs again, so
 * statements must be idempotent (`IF NOT EXISTS`). Views are applied as a whole: each version of them that the store had is one row of migration 0,
 * without a checksum until all of them ran.
 */
export const LEDGER = `
  CREATE TABLE IF NOT EXISTS schema_migrations
  (
      migration UInt32,
      statement UInt32,
      name String,
      num_statements UInt32,
      checksum String,
      applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
  )
  ENGINE = ReplacingMergeTree
  ORDER BY (migration, statement)
  SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;

export interface LedgerRow {
  readonly migration: number;
  readonly statement: number;
  readonly name: string;
  readonly num_statements: number;
  readonly checksum: string;
}

export interface PendingMigration {
  readonly migration: Migration;
  /** Statements that the ledger has. */
  readonly numApplied: number;
}

export interface PendingSchema {
  /** Whether the ledger is of the migrations that `0001` replaces: the tables are there, and its rows are in the way. */
  readonly isReplaced: boolean;
  /** Migrations that the ledger lacks, wholly or in part. */
  readonly migrations: readonly PendingMigration[];
  /** Null where the store has them. */
  readonly views: SchemaViews | null;
}

const NO_VIEWS = { statement: 0, checksum: '' };

/** Names of the files that are pending, in the order in which they are applied. */
export function listNames({ migrations, views }: PendingSchema): string[] {
  return [...migrations.map(({ migration }) => migration.name), ...(views === null ? [] : ['views'])];
}

/**
 * Reads what the ledger lacks.
 *
 * @throws StoreError `MIGRATION_EDITED`, `MIGRATION_REPLACED` and `MIGRATION_UNKNOWN`, as `migrate`
 */
export async function findPending(client: StoreClient, files: SchemaFiles): Promise<PendingSchema> {
  const rows = await client.queryRows<LedgerRow>(
    'SELECT migration, statement, name, num_statements, checksum FROM schema_migrations FINAL ORDER BY migration, statement',
    { settings: client.layout.positionSettings },
  );
  const isReplaced = hasReplaced(files.migrations, rows);
  const ledger = isReplaced ? [] : rows;
  return {
    isReplaced,
    migrations: findPendingMigrations(files.migrations, ledger),
    views: findPendingViews(files.views, ledger),
  };
}

/** Whether the store is of before the migrations that one file replaces now, and as far as that file. */
function hasReplaced(migrations: readonly Migration[], ledger: readonly LedgerRow[]): boolean {
  return migrations.some(({ replaces }) => {
    const rows = ledger.filter(({ name }) => name === replaces);
    return rows.length > 0 && rows.length === rows[0].num_statements;
  });
}

function findPendingMigrations(
  migrations: readonly Migration[],
  ledger: readonly LedgerRow[],
): PendingMigration[] {
  for (const migration of migrations) assertNotReplaced(migration, ledger);
  const last = ledger.at(-1);
  if (last !== undefined && last.migration > migrations.length) {
    const rule = `this version of Retrace knows only 1 to ${migrations.length}; update Retrace`;
    throw new StoreError('MIGRATION_UNKNOWN', `The store has migration ${last.name}, and ${rule}`);
  }
  for (const migration of migrations) assertUnedited(migration, ledger);
  return migrations
    .map((migration) => ({
      migration,
      numApplied: ledger.filter((row) => row.migration === migration.number).length,
    }))
    .filter(({ migration, numApplied }) => numApplied !== migration.statements.length);
}

function assertNotReplaced({ number, name }: Migration, ledger: readonly LedgerRow[]): void {
  const replaced = ledger.find((row) => row.migration === number && row.name !== name);
  if (replaced === undefined) return;
  throw new StoreError(
    'MIGRATION_REPLACED',
    `The store was made by an earlier version: it has migration ${replaced.name} where this one has ${name}. ` +
      'While nothing runs, delete it (the folder store/ of the data directory; on a server its database); the next start fills it from the log',
  );
}

function assertUnedited({ number, name, statements }: Migration, ledger: readonly LedgerRow[]): void {
  const rows = ledger.filter((row) => row.migration === number);
  const isWhole = rows.length > 0 && rows.length === rows[0].num_statements;
  const edited = rows.find((row) => statements[row.statement]?.checksum !== row.checksum);
  if (edited === undefined && !(isWhole && statements.length !== rows.length)) return;
  const what = edited === undefined ? 'its number of statements' : `statement ${edited.statement + 1}`;
  throw new StoreError(
    'MIGRATION_EDITED',
    `Migration ${name} has run already, and ${what} was changed since; restore the file and add a new migration`,
  );
}

function findPendingViews(views: SchemaViews, ledger: readonly LedgerRow[]): SchemaViews | null {
  const { statement: version, checksum } = ledger.findLast(({ migration }) => migration === 0) ?? NO_VIEWS;
  if (version > views.version) {
    const rule = `this version of Retrace knows only those up to ${views.version}; update Retrace`;
    throw new StoreError('MIGRATION_UNKNOWN', `The store has views of version ${version}, and ${rule}`);
  }
  const areThere = version === views.version && checksum === views.checksum;
  return areThere || views.statements.length === 0 ? null : views;
}

export async function writeLedger(client: StoreClient, rows: readonly LedgerRow[]): Promise<void> {
  await client.command(
    `INSERT INTO schema_migrations (migration, statement, name, num_statements, checksum)
     SELECT migration, statement, name, num_statements, checksum
     FROM (SELECT 1)
     ARRAY JOIN {migrations:Array(UInt32)} AS migration, {statements:Array(UInt32)} AS statement, {names:Array(String)} AS name,
       {sizes:Array(UInt32)} AS num_statements, {checksums:Array(String)} AS checksum`,
    {
      params: {
        migrations: rows.map((row) => row.migration),
        statements: rows.map((row) => row.statement),
        names: rows.map((row) => row.name),
        sizes: rows.map((row) => row.num_statements),
        checksums: rows.map((row) => row.checksum),
      },
      settings: client.layout.insertSettings,
    },
  );
}
