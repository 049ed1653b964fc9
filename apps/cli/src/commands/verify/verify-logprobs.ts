import { openBackend } from '@retrace/compute';
import { MAX_LOGPROB_DIFFERENCE, matrixProducts, parseRecipe, type Recipe } from '@retrace/config';
import { ControlTail, WarningLog, readControlState } from '@retrace/log';
import type { BackendChoice } from '@retrace/process';
import { TrajectoryReader } from '@retrace/store';
import {
  checkLogprobs,
  drawSampledEpisodes,
  type LogprobCheck,
  type SampledEpisodes,
} from '@retrace/trainer';
import { findPolicy, keptPolicies, publishingRun } from '@retrace/runs';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { sayChosenRun } from '../../run/said-runs.js';
import { openCheckpoints } from '../../services/checkpoints.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { renderTable } from '../../terminal/table.js';
import { counted } from '../../terminal/counted.js';

interface VerifyLogprobsOptions extends CommonOptions {
  readonly run: string;
  readonly policy?: number | 'latest';
  readonly episodes: number;
  readonly bound?: number;
  readonly seed: number;
  readonly backend?: BackendChoice;
}

interface LogprobReport extends LogprobCheck {
  readonly runId: string;
  /** Episodes that were drawn. */
  readonly numEpisodes: number;
  /** Episodes that could not be drawn, by reason. */
  readonly episodesLeftOut: SampledEpisodes['leftOut'];
  /** The policy that was asked for; null = all whose weights are kept. */
  readonly policyVersion: number | null;
  readonly bound: number;
}

/**
 * Checks a sample of a run's stored logprobs and prints how far they are from those of the policies.
 *
 * @throws CliError `LOGPROBS_DIFFER`; `NOTHING_TO_CHECK` where it can't tell; RunsError `POLICY_REMOVED` as well, `RUN_UNKNOWN`, `POLICY_UNKNOWN`
 */
export async function verifyLogprobs({ dataDir, json, ...request }: VerifyLogprobsOptions): Promise<void> {
  await withStore({ dataDir }, async (session) => {
    const report = await checkStored(session, request);
    if (json === true) console.log(JSON.stringify(report, null, 2));
    else printReport(report);
    if (report.numBeyond === 0) return;
    const found = describe(report);
    const failed = await raiseAlarm(session, report, found).catch((error: unknown) => String(error));
    const unrecorded = failed === undefined ? '' : `; the alarm could not be recorded: ${failed}`;
    throw new CliError('LOGPROBS_DIFFER', `${found}${unrecorded}`);
  });
}

async function checkStored(
  { client, log, directory }: StoreSession,
  request: Omit<VerifyLogprobsOptions, keyof CommonOptions>,
): Promise<LogprobReport> {
  const run = publishingRun((await readControlState(log)).runs, request.run, sayChosenRun);
  const { runId } = run;
  const checkpoints = openCheckpoints(directory);
  const asksOne = request.policy !== undefined;
  const policies = asksOne
    ? [(await findPolicy(run, `${request.policy}`, { log, checkpoints, onChosen: sayChosenRun })).policy]
    : await keptPolicies(run, checkpoints);
  if (policies.length === 0)
    throw new CliError('POLICY_REMOVED', `the weights of no policy of run ${runId} are kept here`);
  const recipe = parseRecipe(run.started.recipe);
  const policyVersions = policies.map(({ policyVersion }) => policyVersion);
  const { episodes: maxEpisodes, seed } = request;
  const drawn = await drawSampledEpisodes(client, { runId, policyVersions, maxEpisodes, seed });
  const { episodeIds, leftOut: episodesLeftOut } = drawn;
  const columns = await new TrajectoryReader(client).readEpisodes(runId, episodeIds);
  await openBackend({ ...matrixProducts(recipe), prefer: request.backend && [request.backend] });
  const bound = request.bound ?? computeBound(recipe);
  const check = await checkLogprobs({
    ...{ columns, checkpoints, policies, bound, skipsMissing: !asksOne },
    maxTokensPerMicroBatch: recipe.optimizer.maxTokensPerMicroBatch,
  });
  const policyVersion = asksOne ? policyVersions[0] : null;
  const report = { runId, numEpisodes: episodeIds.length, episodesLeftOut, policyVersion, bound, ...check };
  if (check.numTokens > 0) return report;
  const reasons = notChecked(report).join('; ') || 'no episode of it has ended';
  const under = asksOne ? `under policy ${policyVersions[0]}` : 'under any policy whose weights are kept';
  const next = asksOne ? '; leave --policy out to check all whose weights are kept' : '';
  throw new CliError(
    'NOTHING_TO_CHECK',
    `no token of run ${runId} can be checked ${under}: ${reasons}${next}`,
  );
}

/** Bound that the server that samples is held to; a policy that samples here differs by less. */
function computeBound({ collection }: Recipe): number {
  return collection.endpoint?.maxLogprobDifference ?? MAX_LOGPROB_DIFFERENCE;
}

/** Puts the finding where the run's other alarms are. */
async function raiseAlarm(
  { log, catchUp }: StoreSession,
  { runId, worst }: LogprobReport,
  message: string,
): Promise<undefined> {
  const control = new ControlTail(log);
  try {
    const entry = new WarningLog({ control, runId }).entry({
      source: 'system',
      severity: 'alarm',
      rule: 'logprobsDiffer',
      message,
      advice: 'train on nothing that these policies sampled before it is known why',
      episodeIds: [...new Set(worst.map(({ episodeId }) => episodeId))],
    });
    if (entry !== null) await control.append(runId, entry);
  } finally {
    control.close();
  }
  await catchUp();
}

function describe({ numBeyond, numTokens, bound, worst: [worst], ...gap }: LogprobReport): string {
  const figures = `mean difference ${format(gap.meanDifference)}, largest ${format(gap.maxDifference)} nats`;
  const where = `step ${worst.step} of episode ${worst.episodeId}, policy ${worst.policyVersion}`;
  return `${numBeyond} of ${numTokens} stored logprobs differ from their policy's by more than ${bound} nats (${figures}); the worst is in ${where}`;
}

function printReport(report: LogprobReport): void {
  const { numTokens, numEpisodes, byPolicy, worst, bound } = report;
  console.log(
    `run ${report.runId}: ${counted(numTokens, 'token')} of ${counted(numEpisodes, 'episode')}, under ${counted(byPolicy.length, 'policy', 'policies')}`,
  );
  console.log(
    renderTable(
      ['policy', 'tokens', 'mean difference', 'largest', `beyond ${bound}`],
      [...byPolicy.map((gap) => [gap.policyVersion, ...toRow(gap)]), ['all', ...toRow(report)]],
    ),
  );
  if (report.numBeyond > 0)
    console.log(
      renderTable(
        ['episode', 'step', 'token', 'policy', 'stored', 'computed'],
        worst.map((token) => [
          token.episodeId,
          token.step,
          token.tokenId,
          token.policyVersion,
          token.stored.toFixed(5),
          token.computed.toFixed(5),
        ]),
      ),
    );
  for (const line of notChecked(report)) console.log(`not checked: ${line}`);
}

/** Says what was left out, a line for each reason. */
function notChecked({
  episodesLeftOut: leftOut,
  tokensNotChecked: tokens,
  policyVersion,
}: LogprobReport): string[] {
  const others = policyVersion === null ? 'policies whose weights are not kept' : 'other policies';
  const counts = [
    [leftOut.otherPolicy, `episodes of ${others}`],
    [leftOut.otherwiseSampled, 'episodes whose actions were chosen greedily, by top-k or by top-p'],
    [leftOut.beforeTemperature, 'episodes with logprobs before temperature'],
    [tokens.otherPolicy, `tokens of ${others} in the episodes that were drawn`],
    [tokens.otherwiseSampled, 'tokens chosen greedily, by top-k or top-p, or at an unknown temperature'],
    [tokens.missingLogprob, 'tokens without a logprob'],
  ] as const;
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

function toRow(gap: LogprobCheck['byPolicy'][number] | LogprobReport): (string | number)[] {
  return [gap.numTokens, format(gap.meanDifference), format(gap.maxDifference), gap.numBeyond];
}

function format(nats: number): string {
  return nats.toExponential(2);
}
