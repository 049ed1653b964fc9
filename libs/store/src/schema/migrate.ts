import { fileURLToPath } from 'node:url';
import type { StoreClient } from '../client/store-client.js';
import { asStoreError, StoreError } from '../client/store-error.js';
import { type Migration, readMigrations } from './migration-files.js';
import { type AssertHeld, withMigrationLock } from './migration-lock.js';
import { renderForCluster } from './render-migration.js';

/** The migrations that belong to this code. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface MigrateOptions {
  /** Default: `MIGRATIONS_DIRECTORY`. */
  readonly directory?: string;
}

export interface MigrateResult {
  /** Files of which at least one statement ran now; empty when the store was up to date. */
  readonly applied: readonly string[];
}

/**
 * The ledger has one row for each statement, written a moment after it ran. A statement that ran without its row runs again, so statements
 * must be idempotent (`IF NOT EXISTS`, `CREATE OR REPLACE`).
 */
const LEDGER = `
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

/** A write takes as long as a statement, so rows are written together; but this often, since those who wait take it for a sign of life. */
const WRITE_EVERY_MS = 1_000;

interface LedgerRow {
  readonly migration: number;
  readonly statement: number;
  readonly name: string;
  readonly num_statements: number;
  readonly checksum: string;
}

/**
 * Runs the statements of the SQL files that the ledger lacks, in order. On a cluster each is rendered for it (`renderForCluster`); the
 * ledger has the checksums of the files, which are the same everywhere. Of processes that start at once one migrates and the others wait
 * for it: a view that one replaces by its next form is needed in that form by the statements after it.
 *
 * @throws StoreError `MIGRATION_EDITED` when a statement that ran, or a file that ran whole, reads otherwise now;
 *   `MIGRATION_REPLACED` when the directory has another file of the number of one that ran; `MIGRATION_UNKNOWN` when the store
 *   has migrations with higher numbers than the directory has; `MIGRATION_INVALID` for a bad file;
 *   `MIGRATION_FAILED` when the engine refuses a statement (what ran before it stays recorded), or another process took the migration over
 */
export async function migrate(
  client: StoreClient,
  { directory = MIGRATIONS_DIRECTORY }: MigrateOptions = {},
): Promise<MigrateResult> {
  const migrations = await readMigrations(directory);
  for (const sql of render(client, LEDGER)) await client.command(sql);
  if ((await findPending(client, migrations)).length === 0) return { applied: [] };
  return withMigrationLock(client, async (assertHeld) => {
    const pending = await findPending(client, migrations);
    await applyAll(client, pending, assertHeld);
    return { applied: pending.map(({ migration }) => migration.name) };
  });
}

interface PendingMigration {
  readonly migration: Migration;
  /** Statements that the ledger has. */
  readonly numApplied: number;
}

/** Reads which migrations the ledger lacks, wholly or in part. */
async function findPending(
  client: StoreClient,
  migrations: readonly Migration[],
): Promise<PendingMigration[]> {
  const ledger = await client.queryRows<LedgerRow>(
    'SELECT migration, statement, name, num_statements, checksum FROM schema_migrations FINAL ORDER BY migration, statement',
    { settings: client.layout.positionSettings },
  );
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

async function applyAll(
  client: StoreClient,
  pending: readonly PendingMigration[],
  assertHeld: AssertHeld,
): Promise<void> {
  let unwritten: LedgerRow[] = [];
  let writtenAt = performance.now();
  const write = async () => {
    const rows = unwritten;
    unwritten = [];
    if (rows.length > 0) await writeLedger(client, rows);
    writtenAt = performance.now();
  };
  for (const { migration, numApplied } of pending) {
    try {
      for await (const row of apply(client, migration, numApplied)) {
        unwritten.push(row);
        if (performance.now() - writtenAt < WRITE_EVERY_MS) continue;
        await write();
        await assertHeld();
      }
    } catch (error) {
      // A statement without a row runs again, so a failure to write the rows is harmless. The statement's own error is the one to report.
      await write().catch(() => undefined);
      throw error;
    }
  }
  await write();
}

/** Runs the statements of a file from one on; yields the row of each that ran. */
async function* apply(
  client: StoreClient,
  { number, name, statements }: Migration,
  from: number,
): AsyncGenerator<LedgerRow> {
  for (const [i, { sql, checksum }] of statements.entries()) {
    if (i < from) continue;
    try {
      for (const rendered of render(client, sql)) await client.command(rendered);
    } catch (error) {
      const cause = asStoreError(error, 'a migration');
      const message = `Statement ${i + 1} of migration ${name} failed: ${cause.message}`;
      throw new StoreError('MIGRATION_FAILED', message, { cause, retriable: cause.retriable });
    }
    yield { migration: number, statement: i, name, num_statements: statements.length, checksum };
  }
}

async function writeLedger(client: StoreClient, rows: readonly LedgerRow[]): Promise<void> {
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

/** Renders a statement for the servers of the store; unchanged for one server. */
function render({ layout, database }: StoreClient, sql: string): readonly string[] {
  return layout.cluster === null ? [sql] : renderForCluster(sql, { cluster: layout.cluster, database });
}
