import type { Database } from 'lmdb';

/** Runs `use` while a read transaction is open, so that LMDB keeps the pages of the newest state and of every later one. */
export function inSnapshot<Result>(
  database: Pick<Database, 'useReadTransaction'>,
  use: () => Result,
): Result {
  const snapshot = database.useReadTransaction();
  try {
    return use();
  } finally {
    snapshot.done();
  }
}
