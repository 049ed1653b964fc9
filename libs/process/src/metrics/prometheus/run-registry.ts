import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { MetricsLogged, RunState } from '@retrace/trajectory';

interface RunRegistryOptions {
  readonly runId: string;
  /** The role of the process, such as `trainer`. */
  readonly role: string;
  /** Sources whose metrics this process logs; those of other processes are theirs to serve. */
  readonly sources: readonly MetricsLogged['source'][];
  /** State of the run; null before it is known. */
  readonly run: () => RunState | null;
}

/**
 * The metrics that a process which works on a run serves to Prometheus: the process itself (CPU, memory, event loop, garbage collection), how far
 * the run is, and the newest value of each metric that the process logged, under the name that `docs/metrics.md` lists. Every sample
 * has the labels `run` and `role`.
 */
export class RunRegistry {
  readonly registry = new Registry();

  constructor(private readonly options: RunRegistryOptions) {
    const { runId, role } = options;
    this.registry.setDefaultLabels({ run: runId, role });
    collectDefaultMetrics({ register: this.registry });
    this.gaugeMetrics();
    this.countUpdates();
    this.gauge('retrace_run_policy_version', 'Newest policy version of the run; −1 before the first', () => {
      return options.run()?.policies.latest?.policyVersion ?? -1;
    });
    this.gauge('retrace_run_ended', '1 once the run has ended', () =>
      Number((options.run()?.ended ?? null) !== null),
    );
  }

  /** Adds a gauge that is read when it is asked for. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Adds a counter; whoever owns it increments it. */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  private gaugeMetrics(): void {
    const { run, sources } = this.options;
    new Gauge({
      name: 'retrace_run_metric',
      help: 'Newest value of a metric of the run, by its name',
      labelNames: ['name', 'source'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { name, source, value } of run()?.metrics ?? []) {
          if (sources.includes(source) && !Number.isNaN(value)) this.set({ name, source }, value);
        }
      },
    });
  }

  private countUpdates(): void {
    const { run } = this.options;
    new Counter({
      name: 'retrace_run_updates_total',
      help: 'Updates that the run has committed, by whichever trainer',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(run()?.updates.numUpdates ?? 0);
      },
    });
  }
}
