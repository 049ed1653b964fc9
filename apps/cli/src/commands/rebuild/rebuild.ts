import { createStoreClient, rebuildStore, type RebuildReport } from '@retrace/store';
import { installation } from '../../installation.js';
import type { StoreSession } from '../../services/connection.js';

/** A large store is copied, or hashed, by one statement. */
const requestTimeoutMs = 24 * 3_600_000;

/** Projects the store of a data directory anew from its log; Ctrl-C before the new rows are in place leaves it as it was. */
export async function rebuildDataDirectory(
  { client: current, directory, storeUrl, log }: StoreSession,
  { runId }: { readonly runId: string | undefined },
): Promise<RebuildReport> {
  const { user, password } = directory.credentials();
  const openClient = (database: string) =>
    createStoreClient({
      url: storeUrl,
      username: user,
      password,
      database,
      cluster: current.layout.cluster,
      requestTimeoutMs,
    });
  const stop = new AbortController();
  const onInterrupt = () => {
    stop.abort(new Error('rebuild: stopped; the store is as it was'));
  };
  process.once('SIGINT', onInterrupt);
  const client = openClient('default');
  try {
    return await rebuildStore({
      log,
      client,
      openClient,
      ...(runId !== undefined && { runId }),
      migrations: { directory: installation.migrations },
      signal: stop.signal,
    });
  } finally {
    process.off('SIGINT', onInterrupt);
    await client.close();
  }
}
