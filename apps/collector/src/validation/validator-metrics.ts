import type { Recipe } from '@retrace/config';
import type { ControlTail } from '@retrace/log';
import { MetricsServer, RunRegistry, type MetricsAddress } from '@retrace/process/prometheus';
import { numWaitingVersions } from './next-validation.js';
import type { ValidatedPolicy } from './validator.js';

interface ValidatorMetricsOptions {
  readonly runId: string;
  readonly recipe: Recipe;
  readonly control: ControlTail;
  /** Size of the spool now. */
  readonly spoolBytes: () => number;
}

/** Metrics of a validator that Prometheus scrapes: those of `RunRegistry`, what this process validated, and what waits for it. */
export class ValidatorMetrics {
  private readonly served: RunRegistry;
  private readonly versions;
  private readonly seconds;

  constructor({ runId, recipe, control, spoolBytes }: ValidatorMetricsOptions) {
    const run = () => control.state.run(runId) ?? null;
    this.served = new RunRegistry({ runId, role: 'validator', sources: ['evaluation'], run });
    this.versions = this.served.counter(
      'retrace_validator_versions_total',
      'Policy versions whose validation or test this process completed',
      ['split'],
    );
    this.seconds = this.served.counter(
      'retrace_validator_seconds_total',
      'Time that the episodes of these took, seconds',
      ['split'],
    );
    this.served.gauge(
      'retrace_validator_waiting_versions',
      'Published versions that are to be validated and are not yet',
      () => {
        const state = run();
        return state === null ? 0 : numWaitingVersions(state, recipe);
      },
    );
    this.served.gauge('retrace_validator_spool_bytes', 'Events on disk that wait for the log', spoolBytes);
  }

  /** Serves them until the process ends. */
  serve(address: MetricsAddress): Promise<MetricsServer> {
    return MetricsServer.start(address, this.served.registry);
  }

  add({ split, seconds }: ValidatedPolicy): void {
    this.versions.inc({ split });
    this.seconds.inc({ split }, seconds);
  }
}
