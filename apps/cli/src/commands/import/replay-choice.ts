import { listEnvironments } from '@retrace/environments';
import { AgentGymReplay, BuiltInReplay, type ReplayEnvironment } from '@retrace/importers';
import type { WireRecord } from '@retrace/recording';

interface ReplayOptions {
  readonly environment?: string;
  readonly environmentUrl?: string;
  readonly seed: number;
}

/** The environments in which the episodes of an import are replayed, each opened when the first episode of it comes. */
export class ReplayChoice {
  private readonly environments = new Map<string, ReplayEnvironment>();
  private readonly builtIn = new Set(listEnvironments().map(({ name }) => name));

  /** @throws EnvironmentError `UNKNOWN_ENVIRONMENT` for one that is neither built in nor on a server */
  constructor(private readonly options: ReplayOptions) {
    const { environment, environmentUrl } = options;
    if (environment !== undefined && environmentUrl === undefined) this.open(environment);
  }

  /** The environment that an episode's data names; null where it names none that can be replayed. */
  environmentOf(records: readonly WireRecord[]): ReplayEnvironment | null {
    const start = records.find((record) => record.type === 'episode');
    const name = this.options.environment ?? start?.environment;
    if (name === undefined) return null;
    if (this.options.environmentUrl === undefined && !this.builtIn.has(name)) return null;
    return this.environments.get(name) ?? this.open(name);
  }

  async close(): Promise<void> {
    for (const environment of this.environments.values()) await environment.close();
  }

  private open(name: string): ReplayEnvironment {
    const { environmentUrl, seed } = this.options;
    const environment =
      environmentUrl === undefined ? new BuiltInReplay(name, seed) : new AgentGymReplay(name, environmentUrl);
    this.environments.set(name, environment);
    return environment;
  }
}
