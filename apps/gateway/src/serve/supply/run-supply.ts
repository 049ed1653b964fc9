import { longestContext, parseRecipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { ControlTail, type EventLog } from '@retrace/log';
import { openPolicyText, PolicySource, type CheckpointFiles } from '@retrace/policy';
import type { PolicyPublished, RunState } from '@retrace/trajectory';
import { GatewayError } from '../../http/gateway-error.js';
import type { PolicySupply } from './policy-supply.js';

interface RunSupplyOptions {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly runId: string;
  /** Name of the model in the API; default: the recipe's. */
  readonly name?: string;
  /** A version of the run; null: always the newest. */
  readonly policyVersion: number | null;
  readonly warn: (message: string) => void;
}

/**
 * Opens a policy version of a run, or the newest, which follows the run as it trains.
 *
 * @throws TrajectoryError `UNKNOWN_RUN`; GatewayError `OPTION_INVALID` for a version that the run has not published; PolicyError where its
 * weights can't be read
 */
export async function openRunSupply(options: RunSupplyOptions): Promise<PolicySupply> {
  const { log, checkpoints, runId, policyVersion, warn } = options;
  const control = new ControlTail(log);
  await control.catchUp();
  const run = control.run(runId);
  const recipe = parseRecipe(run.started.recipe);
  const text = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
    directory: recipe.policy?.model,
    useChatTemplate: recipe.policy?.chatTemplate,
  });
  const source = new PolicySource(checkpoints);
  const model = await source.load(wantedPolicy(run, policyVersion));
  const tail = new PolicyTail(control, run);
  if (policyVersion === null) tail.start();
  let refused = -1;
  return {
    name: options.name ?? recipe.name,
    model,
    text,
    runId,
    get policyVersion() {
      return source.version;
    },
    maxTokens: Math.min(longestContext(recipe), model.config.maxPositions),
    isSingleToken: recipe.context.maxNewTokens === 1,
    async refresh() {
      const newest = policyVersion === null ? run.policies.latest : null;
      if (!newest || newest.policyVersion === source.version || newest.policyVersion === refused)
        return false;
      try {
        await source.load(newest);
        return true;
      } catch (error) {
        // Its weights may be removed already, as a newer version is there.
        refused = newest.policyVersion;
        warn(`policy ${newest.policyVersion} can't be loaded: ${(error as Error).message}`);
        return false;
      }
    },
    onNewer: (listener) => {
      tail.onNewer = listener;
    },
    async close() {
      await tail.close();
      model.dispose();
    },
  };
}

function wantedPolicy({ runId, policies }: RunState, policyVersion: number | null): PolicyPublished {
  const policy = policyVersion === null ? policies.latest : policies.get(policyVersion);
  if (policy) return policy;
  const newest = policies.latest?.policyVersion;
  const message =
    newest === undefined
      ? `run ${runId} has published no policy yet`
      : `policy ${policyVersion} of run ${runId} does not exist; the run has versions 0 … ${newest}`;
  throw new GatewayError('OPTION_INVALID', message);
}

/** Follows the control stream, and tells of new versions of a run. */
class PolicyTail {
  onNewer: () => void = () => undefined;
  private readonly stop = new AbortController();
  private following: Promise<void> = Promise.resolve();

  constructor(
    private readonly control: ControlTail,
    private readonly run: RunState,
  ) {}

  start(): void {
    this.following = this.follow();
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.following;
    this.control.close();
  }

  private async follow(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      const before = this.run.policies.latest;
      await this.control.changed(signal);
      if (this.run.policies.latest !== before) this.onNewer();
    }
  }
}
