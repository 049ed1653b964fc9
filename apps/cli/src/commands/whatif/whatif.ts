import { resolveRecipe } from '@retrace/config';
import type { BackendChoice } from '@retrace/process';
import { storedRewards, whatIf, type WhatIfResult } from '@retrace/trainer';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { announceRecomputing, openReplaySource } from '../replay/replay-source.js';
import { printWhatIf } from './print-whatif.js';

interface WhatIfRequest extends CommonOptions {
  readonly run: string;
  readonly update: number;
  /** Default: only `update`. */
  readonly to?: number;
  readonly set?: readonly string[];
  readonly rewardVersion?: string;
  readonly reward?: string;
  readonly tokens?: true;
  readonly backend?: BackendChoice;
}

/**
 * Compares recorded updates with what they would have been, and prints both. Ctrl-C stops after the update under way.
 *
 * @throws CliError `OPTION_INVALID`; RunsError `RUN_UNKNOWN`; TrainerError and ConfigError as `whatIf`; RewardError `VERSION_UNKNOWN`
 */
export async function whatIfOfUpdates(request: WhatIfRequest): Promise<void> {
  checkOptions(request);
  const { dataDir, json } = request;
  const report = await withStore({ dataDir }, (session) => compareFrom(session, request));
  if (json === true) console.log(JSON.stringify(report, null, 2));
  else printWhatIf(report);
}

function checkOptions({ update, to = update, rewardVersion, reward, tokens, json }: WhatIfRequest): void {
  if (to < update)
    throw new CliError('OPTION_INVALID', `--to is ${to}; must be at least --update, ${update}`);
  if (rewardVersion !== undefined && reward !== undefined) {
    const rule = 'choose one';
    throw new CliError('OPTION_INVALID', `--reward-version and --reward both give rewards; ${rule}`);
  }
  if (tokens === true && json !== true)
    throw new CliError('OPTION_INVALID', '--tokens lists every token, which only --json shows; give both');
}

async function compareFrom(
  session: StoreSession,
  request: WhatIfRequest,
): Promise<WhatIfResult & { readonly runId: string }> {
  const { update: from, to = from, set = [], json } = request;
  const { numUpdates: _, recipe, ...source } = await openReplaySource(session, request);
  const { runId } = source;
  const { rewardVersion } = request;
  const rewards =
    rewardVersion === undefined
      ? null
      : await storedRewards(session.client, { runId, recipe, rewardVersion });
  const result = await withInterrupt((signal) =>
    whatIf({
      ...source,
      signal,
      from,
      to,
      assignments: [...rewardAssignment(request.reward), ...set],
      rewards,
      withTokens: request.tokens === true,
      ...(json === true ? {} : { onRecompute: announceRecomputing(from) }),
    }),
  );
  return { runId, ...result };
}

/** The rewards of another recipe, as a field of this one. */
function rewardAssignment(nameOrFile: string | undefined): string[] {
  return nameOrFile === undefined ? [] : [`reward=${JSON.stringify(resolveRecipe(nameOrFile).reward)}`];
}
