import type { ApiReader } from '@retrace/api';
import type { StoreSession } from './connection.js';
import { readServices } from './services.js';

/** Runs `work` with the answers that the API would give from the store of a session. */
export async function withApiReader<T>(
  { directory, storeUrl }: StoreSession,
  dataDir: string,
  work: (api: ApiReader) => Promise<T>,
): Promise<T> {
  const { openApiReader } = await import('@retrace/api');
  const { user: username, password } = directory.credentials();
  const cluster = readServices(dataDir)?.storeCluster ?? null;
  const api = await openApiReader({
    store: { url: storeUrl, username, password, cluster },
    tokenizerDirectory: directory.tokenizers,
  });
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}
