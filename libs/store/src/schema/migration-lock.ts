import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';

/**
 * The lock is a table without rows: of several `CREATE TABLE` of one name the engine lets one succeed. Its number counts takeovers, so of
 * those who find the same lock abandoned one takes it over; its comment names the holder, since a number comes again once all are released.
 */
const LOCK = 'schema_migrations_lock_';
const TABLE_ALREADY_EXISTS = '57';
const PAUSE_MS = 50;
const ABANDONED_AFTER_MS = 10_000;

export interface MigrationLockOptions {
  /** A lock is abandoned when neither it nor the ledger has changed for so long. Default: 10 s. */
  readonly abandonedAfterMs?: number;
}

/** @throws StoreError `MIGRATION_FAILED` when another process took the lock over */
export type AssertHeld = () => Promise<void>;

/**
 * Calls `work` while no other process migrates the store, after waiting for those that do. A lock whose process died is taken over.
 * `work` must read the ledger itself, since others may have written it meanwhile.
 *
 * @throws StoreError `MIGRATION_FAILED` when another process took the lock over before `work` began; as `work` and the client's methods do
 */
export async function withMigrationLock<T>(
  client: StoreClient,
  work: (assertHeld: AssertHeld) => Promise<T>,
  { abandonedAfterMs = ABANDONED_AFTER_MS }: MigrationLockOptions = {},
): Promise<T> {
  const holder = randomUUID();
  await acquire(client, holder, abandonedAfterMs);
  const assertHeld = async (): Promise<void> => {
    if ((await readState(client)).holder === holder) return;
    const reason = `Another process took the migration over, because this one did nothing for ${abandonedAfterMs / 1000} s`;
    throw new StoreError('MIGRATION_FAILED', reason, { retriable: true });
  };
  try {
    await assertHeld();
    return await work(assertHeld);
  } finally {
    // A lock that can't be dropped now, since the store is gone, is taken over later.
    await release(client, holder).catch(() => undefined);
  }
}

interface State {
  /** The highest number of a lock; 0 when there is none. */
  readonly lock: number;
  /** Who made that lock. */
  readonly holder: string;
  readonly num_ledger_rows: number;
}

async function readState(client: StoreClient): Promise<State> {
  const [state] = await client.queryRows<State>(
    `WITH toUInt32OrZero(substring(name, ${LOCK.length + 1})) AS number
     SELECT max(number) AS lock,
            argMax(comment, number) AS holder,
            (SELECT toUInt32(count()) FROM schema_migrations) AS num_ledger_rows
     FROM system.tables WHERE database = currentDatabase() AND startsWith(name, '${LOCK}')`,
  );
  return state;
}

async function acquire(client: StoreClient, holder: string, abandonedAfterMs: number): Promise<void> {
  let last: State = { lock: 0, holder: '', num_ledger_rows: 0 };
  let changedAt = performance.now();
  for (;;) {
    const state = await readState(client);
    if (state.holder !== last.holder || state.num_ledger_rows !== last.num_ledger_rows) {
      last = state;
      changedAt = performance.now();
    }
    const isFree = state.lock === 0 || performance.now() - changedAt >= abandonedAfterMs;
    if (isFree && (await create(client, state.lock + 1, holder))) return;
    await pause(PAUSE_MS);
  }
}

/** Returns false when another process has the lock of this number. */
async function create(client: StoreClient, lock: number, holder: string): Promise<boolean> {
  try {
    await client.command(
      `CREATE TABLE ${LOCK}${lock}${client.layout.onCluster} (nothing UInt8) ENGINE = Null COMMENT '${holder}'`,
    );
    return true;
  } catch (error) {
    const cause = error instanceof StoreError ? error.cause : undefined;
    if (cause instanceof ClickHouseError && cause.code === TABLE_ALREADY_EXISTS) return false;
    throw error;
  }
}

/** Drops the lock, and before it those that it was taken over from. One that another process took over is for that one to drop. */
async function release(client: StoreClient, holder: string): Promise<void> {
  const held = await readState(client);
  if (held.holder !== holder) return;
  for (let lock = 1; lock <= held.lock; lock++) {
    await client.command(`DROP TABLE IF EXISTS ${LOCK}${lock}${client.layout.onCluster} SYNC`);
  }
}
