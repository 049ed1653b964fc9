import type { CollectorConfig, Supervised } from '@retrace/process';
import { join } from 'node:path';
import { WatchedOffers } from '@retrace/policy';
import { PolicyEndpoint } from './actors/policy-endpoint.js';
import { Collector, type CollectorOptions } from './collector.js';
import { runRolloutRole, type RolloutParts, type SharedParts } from './run-rollout-role.js';

/**
 * Collects for one run until the run ends, or until the process is asked to stop.
 *
 * @param variables hold the API key of the server that samples, where the recipe names one
 * @param shared where the trainer is in the same process
 */
export async function runCollector(
  config: CollectorConfig,
  supervised: Supervised,
  variables: NodeJS.ProcessEnv,
  shared?: SharedParts,
): Promise<void> {
  const { share, runId } = config;
  await runRolloutRole(config, {
    ...{ supervised, share },
    source: 'collector',
    lockName: `collector-${runId}`,
    shared,
    // A directory for each collector of a run, so that those on one machine do not share it.
    spoolDirectory: config.spool && locateSpool(config.spool.directory, config),
    work: async (parts) => {
      const { recipe, text, warnings, signal } = parts;
      const weightsDirectory = `${config.checkpoints.directory}-served`;
      const endpoint = await PolicyEndpoint.open({
        ...{ runId, recipe, text, weightsDirectory, variables, warnings, signal },
        isAlone: share.count === 1,
      });
      const { detail, onEpisodeEnded } = await serveMetrics(config, parts, endpoint);
      supervised.send({ type: 'ready', detail: `${parts.backendReason}${detail}` });
      // Collectors that share a run never play early, and a server gets no weights that may be dropped.
      const isAlone = !shared && !endpoint && share.count === 1;
      const watched = isAlone ? await WatchedOffers.open(config.checkpoints, runId) : undefined;
      const offered = shared?.offered ?? watched;
      try {
        await new Collector({ ...parts, share, endpoint, onEpisodeEnded, offered }).run();
      } finally {
        watched?.close();
        await endpoint?.close();
      }
    },
  });
}

/** Serves the metrics of this process where the configuration says so; `detail` tells the address. */
async function serveMetrics(
  { runId, metricsAddress }: CollectorConfig,
  { control, writer }: Pick<RolloutParts, 'control' | 'writer'>,
  endpoint: PolicyEndpoint | null,
): Promise<{ readonly detail: string; readonly onEpisodeEnded?: CollectorOptions['onEpisodeEnded'] }> {
  if (metricsAddress === null) return { detail: '' };
  const { CollectorMetrics } = await import('./collector-metrics.js');
  const metrics = new CollectorMetrics({
    ...{ runId, control, spoolBytes: () => writer.spoolBytes },
    servers: endpoint && (() => endpoint.all),
  });
  const { url } = await metrics.serve(metricsAddress);
  return {
    detail: `; metrics at ${url}`,
    onEpisodeEnded: (summary) => {
      metrics.add(summary);
    },
  };
}

function locateSpool(directory: string, { runId, share: { index } }: CollectorConfig): string {
  return join(directory, index === 0 ? runId : `${runId}-share-${index + 1}`);
}
