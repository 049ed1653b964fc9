import type { EnvironmentServerRecipe } from '@retrace/config';
import { ServerProcess } from '@retrace/process';
import type { ServerAdapter } from './adapter.js';
import { ServerPool, type PooledServer } from '../servers/server-pool.js';

const START_TIMEOUT_MS = 120_000;

/**
 * Starts the servers of a recipe, or takes their addresses.
 *
 * @throws ProcessError `SERVER_FAILED` when one does not start; the others are stopped then
 */
export async function openServers(
  server: EnvironmentServerRecipe,
  adapter: ServerAdapter,
): Promise<ServerPool> {
  const options = {
    maxEpisodes: server.maxEpisodes ?? 1,
    recycleAfterEpisodes: server.recycleAfterEpisodes ?? null,
  };
  if (server.urls) {
    return new ServerPool({ ...options, servers: server.urls.map((url) => ({ process: null, url })) });
  }
  const processes = Array.from({ length: server.numServers ?? 1 }, (_, place) => {
    return new ServerProcess({
      command: server.command ?? [],
      directory: server.directory,
      port: server.firstPort === undefined ? null : server.firstPort + place,
      startTimeoutMs: server.startTimeoutMs ?? START_TIMEOUT_MS,
      check: adapter.check.bind(adapter),
    });
  });
  const started = await Promise.allSettled(
    processes.map(async (process): Promise<PooledServer> => ({ process, url: await process.start() })),
  );
  const failed = started.find((result) => result.status === 'rejected');
  if (failed) {
    await Promise.all(processes.map((process) => process.stop()));
    throw failed.reason;
  }
  const servers = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return new ServerPool({ ...options, servers });
}
