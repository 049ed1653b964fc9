import { fileURLToPath } from 'node:url';
import type { StoreClient } from '../client/store-client.js';
import { asStoreError, StoreError } from '../client/store-error.js';
import { type AssertHeld, withMigrationLock } from './migration-lock.js';
import { renderForCluster } from './render-migration.js';
import { type MigrationStatement, readSchemaFiles, type SchemaViews } from './schema-files.js';
import {
  findPending,
  LEDGER,
  type LedgerRow,
  listNames,
  type PendingMigration,
  type PendingSchema,
  writeLedger,
} from './schema-ledger.js';

/** The migrations and views that belong to this code. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('../../migrations', import.meta.url));

export interface MigrateOptions {
  /** Default: `MIGRATIONS_DIRECTORY`. */
  readonly directory?: string;
  /** Whether to make the views too (default true); tables that only stand in for others need none. */
  readonly withViews?: boolean;
}

export interface MigrateResult {
  /** Files of which at least one statement ran now, and `views` where those ran; empty when the store was up to date. */
  readonly applied: readonly string[];
}

/** A write takes as long as a statement, so rows are written together; but this often, since those who wait take it for a sign of life. */
const WRITE_EVERY_MS = 1_000;

/**
 * Runs the statements of the SQL files that the ledger lacks, in order, and then makes all views again where one of them, or a table, has
 * changed. On a cluster each statement is rendered for it (`renderForCluster`); the ledger has the checksums of the files, which are the same
 * everywhere. Of processes that start at once one migrates and the others wait for it.
 *
 * @throws StoreError `MIGRATION_EDITED` when a statement that ran, or a file that ran whole, reads otherwise now;
 *   `MIGRATION_REPLACED` when the directory has another file of the number of one that ran; `MIGRATION_UNKNOWN` when the store
 *   has migrations with higher numbers than the directory has, or views of a higher version; `MIGRATION_INVALID` for a bad file;
 *   `MIGRATION_FAILED` when the engine refuses a statement (what ran before it stays recorded), or another process took the migration over
 */
export async function migrate(
  client: StoreClient,
  { directory = MIGRATIONS_DIRECTORY, withViews = true }: MigrateOptions = {},
): Promise<MigrateResult> {
  const files = await readSchemaFiles(directory);
  const find = async (): Promise<PendingSchema> => {
    const pending = await findPending(client, files);
    return withViews ? pending : { ...pending, views: null };
  };
  await run(client, LEDGER);
  if (listNames(await find()).length === 0) return { applied: [] };
  return withMigrationLock(client, async (assertHeld) => {
    const pending = await find();
    if (pending.isReplaced) {
      await run(client, 'ALTER TABLE schema_migrations DELETE WHERE true SETTINGS mutations_sync = 2');
    }
    await applyAll(client, pending, assertHeld);
    return { applied: listNames(pending) };
  });
}

async function applyAll(
  client: StoreClient,
  { migrations, views }: PendingSchema,
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
  const parts = migrations.map((pending) => applyMigration(client, pending));
  for (const rows of views === null ? parts : [...parts, applyViews(client, views)]) {
    try {
      for await (const row of rows) {
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

/** Runs the statements of a file that did not run; yields the row of each. */
async function* applyMigration(
  client: StoreClient,
  { migration: { number, name, statements }, numApplied }: PendingMigration,
): AsyncGenerator<LedgerRow> {
  for (const [i, statement] of statements.entries()) {
    if (i < numApplied) continue;
    await runStatement(client, statement, `Statement ${i + 1} of migration ${name}`);
    const { checksum } = statement;
    yield { migration: number, statement: i, name, num_statements: statements.length, checksum };
  }
}

/** Makes all views; yields the row of their version, which has its checksum after the last. */
async function* applyViews(
  client: StoreClient,
  { statements, checksum, version }: SchemaViews,
): AsyncGenerator<LedgerRow> {
  const row = { migration: 0, statement: version, name: 'views', num_statements: statements.length };
  // Before the first: a store of which some views are of another version must not look like one of either.
  await writeLedger(client, [{ ...row, checksum: '' }]);
  for (const [i, statement] of statements.entries()) {
    await runStatement(client, statement, `A statement of ${statement.name}`);
    yield { ...row, checksum: i === statements.length - 1 ? checksum : '' };
  }
}

async function runStatement(client: StoreClient, { sql }: MigrationStatement, place: string): Promise<void> {
  try {
    await run(client, sql);
  } catch (error) {
    const cause = asStoreError(error, 'a migration');
    const message = `${place} failed: ${cause.message}`;
    throw new StoreError('MIGRATION_FAILED', message, { cause, retriable: cause.retriable });
  }
}

/** Runs a statement on the servers of the store; unchanged on one server. */
async function run(client: StoreClient, sql: string): Promise<void> {
  const { layout, database } = client;
  const rendered =
    layout.cluster === null ? [sql] : renderForCluster(sql, { cluster: layout.cluster, database });
  for (const statement of rendered) await client.command(statement);
}
