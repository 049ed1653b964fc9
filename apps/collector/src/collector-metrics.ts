import type { ControlTail } from '@retrace/log';
import { MetricsServer, RunRegistry, type MetricsAddress } from '@retrace/process/prometheus';
import type { EndedEpisode } from './episode/episode-recorder.js';

interface CollectorMetricsOptions {
  readonly runId: string;
  readonly control: ControlTail;
  /** Size of the spool now. */
  readonly spoolBytes: () => number;
  /** The servers that sample, and whether each gets no turns at present; null where the collector samples. */
  readonly servers: (() => readonly { readonly isLeftOut: boolean }[]) | null;
}

/** Metrics of a collector that Prometheus scrapes: those of `RunRegistry`, and counts of the episodes that this process ended. */
export class CollectorMetrics {
  private readonly served: RunRegistry;
  private readonly episodes;
  private readonly steps;
  private readonly tokens;

  constructor({ runId, control, spoolBytes, servers }: CollectorMetricsOptions) {
    this.served = new RunRegistry({
      runId,
      role: 'collector',
      sources: ['collector', 'evaluation'],
      run: () => control.state.run(runId) ?? null,
    });
    const help = 'Episodes that this process ended, by why they ended';
    this.episodes = this.served.counter('retrace_collector_episodes_total', help, ['reason']);
    this.steps = this.served.counter('retrace_collector_steps_total', 'Steps of those episodes', []);
    this.tokens = this.served.counter(
      'retrace_collector_action_tokens_total',
      'Tokens that the policy sampled in them',
      [],
    );
    this.served.gauge('retrace_collector_spool_bytes', 'Events on disk that wait for the log', spoolBytes);
    if (servers === null) return;
    this.served.gauge('retrace_collector_servers', 'Servers that sample turns', () => servers().length);
    this.served.gauge(
      'retrace_collector_servers_left_out',
      'Those of them that are down, or fail, and get no turns',
      () => servers().filter(({ isLeftOut }) => isLeftOut).length,
    );
  }

  /** Serves them until the process ends. */
  serve(address: MetricsAddress): Promise<MetricsServer> {
    return MetricsServer.start(address, this.served.registry);
  }

  add({ endReason, numSteps, numActionTokens }: EndedEpisode): void {
    this.episodes.inc({ reason: endReason });
    this.steps.inc(numSteps);
    this.tokens.inc(numActionTokens);
  }
}
