import { ControlTail, type EventLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import { openRunSupply, startServer, type RunningServer } from '@retrace/gateway/serve';
import { readVersion } from '../installation.js';
import { LOOPBACK } from '../roles/role-definitions.js';
import { namedPolicy, requirePolicy, type NamedPolicy } from './named-policy.js';
import { OpenServers, type UsedServer } from './open-servers.js';

interface LogPoliciesOptions {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  /** Larger requests are refused. */
  readonly maxBodyBytes: number;
  readonly warn: (message: string) => void;
}

/** Policies whose weights stay in memory. */
const MAX_OPEN = 3;
const CONCURRENCY = 16;
const MAX_QUEUED = 256;

/** The policies of a log, each behind a server of its own, which starts with the first request for it. */
export class LogPolicies {
  private readonly control: ControlTail;
  private readonly servers = new OpenServers(MAX_OPEN);

  constructor(private readonly options: LogPoliciesOptions) {
    this.control = new ControlTail(options.log);
  }

  /**
   * Finds the policy that a request names as its model, and keeps its weights in memory until it is given back.
   *
   * @throws RunsError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, `POLICY_REMOVED`; CliError `POLICY_UNKNOWN`
   */
  async use(model: string | null): Promise<UsedServer> {
    await this.control.catchUp();
    const named = await namedPolicy(model, this.control.state.runs, this.options.checkpoints);
    return this.servers.use(`${named.run.runId}@${named.policyVersion ?? 'newest'}`, () => this.open(named));
  }

  async close(): Promise<void> {
    await this.servers.close();
    this.control.close();
    await this.options.log.close();
  }

  private async open(named: NamedPolicy): Promise<RunningServer> {
    const { log, checkpoints, maxBodyBytes, warn } = this.options;
    await requirePolicy(named, checkpoints);
    const { runId } = named.run;
    const { policyVersion } = named;
    const name = policyVersion === null ? `run:${runId}` : `run:${runId}@${policyVersion}`;
    const supply = await openRunSupply({ log, checkpoints, runId, name, policyVersion, warn });
    return startServer(
      {
        // Requests come through `PolicyServers`, which has asked for the key and has chosen by the model.
        ...{ host: LOOPBACK, port: 0, allowedHosts: [], keyDirectory: null, takesAnyModel: true },
        ...{ concurrency: CONCURRENCY, maxQueued: MAX_QUEUED, contextLength: null },
        ...{ maxBodyBytes, logprobsMode: 'raw_logprobs' },
      },
      supply,
      { version: readVersion(), warn },
    );
  }
}
