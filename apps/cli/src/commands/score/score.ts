import { isRecipe, parseRecipe, resolveRecipe, type Recipe } from '@retrace/config';
import type { RunNeeds } from '@retrace/runs';
import {
  AssignedRewards,
  RewardScorer,
  scoreRun,
  StateVisits,
  VerdictArchive,
  VerdictStore,
  withAssignedUntil,
  type ScoreProgress,
  type ScoreReport,
} from '@retrace/rewards/scoring';
import { newControlEvent, nowUs, type RunState } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { type StoreClient, TrajectoryReader } from '@retrace/store';
import { readEnvironment } from '@retrace/environment-sources';
import type { CommonOptions } from '../../options.js';
import { findRun } from '../../run/find-run.js';
import type { StoreSession } from '../../services/connection.js';
import { commandEnvironment } from '../../data-directory/environment.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import { counted } from '../../terminal/counted.js';

const PROGRESS_EVERY_MS = 1000;

interface ScoreOptions extends CommonOptions {
  readonly run: string;
  /** Default: the recipe of the run. */
  readonly recipe?: string;
  /** Default: the name of the recipe. */
  readonly name?: string;
  readonly retryMissing?: true;
}

interface JudgedScoreReport extends ScoreReport {
  readonly runId: string;
  readonly runName: string;
  /** Requests, tokens and cost of judges; null when no component asks one. */
  readonly judge: RewardScorer['judgeUsage'] | null;
}

/** Scores a run's stored episodes and prints how many. */
export async function score({ dataDir, json, ...request }: ScoreOptions): Promise<void> {
  const onProgress = json === true ? undefined : progressPrinter();
  const recipe = request.recipe === undefined ? null : resolveRecipe(request.recipe);
  const report = await withStore({ dataDir }, (session) =>
    scoreFrom(session, { ...request, recipe }, onProgress),
  );
  if (json === true) console.log(JSON.stringify(report, null, 2));
  else printScores(report);
}

/** Scores the episodes of the session's store; Ctrl-C stops after the current batch, and the next call resumes there. */
async function scoreFrom(
  session: StoreSession,
  request: Omit<ScoreOptions, keyof CommonOptions | 'recipe'> & { readonly recipe: Recipe | null },
  onProgress: ((progress: ScoreProgress) => void) | undefined,
): Promise<JudgedScoreReport> {
  const { client, log } = session;
  const needs = request.run === 'latest' ? await neededBy(request.recipe, client) : undefined;
  const run = await findRun(log, request.run, needs);
  const recipe = request.recipe ?? parseRecipe(run.started.recipe);
  const { runId } = run;
  const components = await withAssignedUntil(recipe.reward.components, { client, runIds: [runId] });
  const scorer = await RewardScorer.load(
    { ...recipe.reward, components },
    {
      verdicts: new VerdictStore({ log, reader: new TrajectoryReader(client), runId }),
      judge: { archive: new VerdictArchive(client), apiKeys: commandEnvironment },
      assigned: new AssignedRewards({ client }),
      visits: new StateVisits({ client, runId, ...(session.isLive ? { untilStored: session.catchUp } : {}) }),
    },
  );
  const of = { runId, runName: run.started.name };
  return withInterrupt(async (signal) => {
    const report = await scoreRun({
      client,
      runId,
      scorer,
      name: request.name ?? recipe.name,
      retryMissing: request.retryMissing,
      signal,
      onProgress,
    });
    if (!scorer.asksJudge) return { ...of, ...report, judge: null };
    await logJudgeUsage(session, runId, scorer);
    return { ...of, ...report, judge: scorer.judgeUsage };
  });
}

/**
 * Needs of a run that can be scored: an episode that has ended, and a recipe of its own, or the environment of the recipe that is given.
 *
 * @throws EnvironmentSourceError `MODULE_INVALID`
 */
async function neededBy(recipe: Recipe | null, client: StoreClient): Promise<RunNeeds> {
  const rows = await client.queryRows<{ runId: string }>(
    "SELECT DISTINCT run_id AS runId FROM events WHERE kind = 'EpisodeEnded'",
  );
  const played = new Set(rows.map(({ runId }) => runId));
  const environment = recipe === null ? '' : (await readEnvironment(recipe.environment)).name;
  const fits = ({ started }: RunState) => {
    if (recipe === null) return isRecipe(started.recipe);
    // A server whose name the recipe leaves out may be that of any run.
    return environment === '' || started.environment === environment;
  };
  return {
    has: (run) => played.has(run.runId) && fits(run),
    lacking:
      recipe === null
        ? 'with an episode that has ended has a recipe, so name one with --recipe'
        : environment === ''
          ? 'has an episode that has ended'
          : `has an episode that was played to its end in ${environment}, the environment of the recipe`,
  };
}

/** Appends tokens and cost as metrics of the run, and waits until they and the verdicts are in the store. */
async function logJudgeUsage(
  { log, catchUp }: StoreSession,
  runId: string,
  scorer: RewardScorer,
): Promise<void> {
  const usage = Object.entries(scorer.judgeUsage);
  const event = newControlEvent({
    kind: 'MetricsLogged',
    logId: log.logId,
    runId,
    occurredAtUs: nowUs(),
    payload: {
      source: 'system',
      step: 0,
      names: usage.map(([name]) => `judge/${name}`),
      values: Float64Array.from(usage, ([, value]) => value),
    },
  });
  await log.append('control', 0, [encodeEvent(event)]);
  await catchUp();
}

/** Prints a line on stderr at most once a second, when further scores were written. */
function progressPrinter(): (progress: ScoreProgress) => void {
  let lastWritten = 0;
  let nextAt = 0;
  return ({ numSeen, numWritten }) => {
    if (numWritten === lastWritten || performance.now() < nextAt) return;
    lastWritten = numWritten;
    nextAt = performance.now() + PROGRESS_EVERY_MS;
    console.error(`${counted(numSeen, 'episode')} seen, ${counted(numWritten, 'score')} written`);
  };
}

function printScores(report: JudgedScoreReport): void {
  const { rewardVersion, name, numScored, numKept, numWithoutTotal, numIncomplete, reasons, judge } = report;
  console.log(`run ${report.runId} (${report.runName})`);
  console.log(`reward version ${rewardVersion} (${name})`);
  console.log(
    `scored ${counted(numScored, 'episode')}; ${format(numKept)} ${numKept === 1 ? 'was' : 'were'} scored already`,
  );
  if (numWithoutTotal > 0) console.log(`${format(numWithoutTotal)} without a total:`);
  for (const { reason, count } of reasons) console.log(`  ${format(count)} × ${reason}`);
  if (numIncomplete > 0) {
    console.log(`${format(numIncomplete)} are not complete in the store yet; run this again later`);
  }
  if (judge !== null) {
    console.log(
      `judge: ${judge.numVerdicts} verdicts in ${judge.numRequests} requests, ${judge.numReused} reused, ` +
        `${judge.numRefused} refused, ${judge.numUnanswered} unanswered; ` +
        `${judge.promptTokens} + ${judge.completionTokens} tokens, cost ${judge.cost.toFixed(4)}`,
    );
  }
}

function format(count: number): string {
  return count.toLocaleString('en');
}
