import { parseRecipe, resolveRecipe } from '@retrace/config';
import {
  diffScores,
  RewardScorer,
  scoreRun,
  StateVisits,
  VerdictArchive,
  VerdictStore,
  type ScoreDiff,
  type ScoreDiffOptions,
  type ScoreProgress,
  type ScoreReport,
} from '@retrace/scoring';
import { newControlEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { TrajectoryReader } from '@retrace/store';
import type { StoreSession } from '../../services/connection.js';
import { findRun } from '../../run/find-run.js';

export interface ScoreRequest {
  /** Run id, or `latest`. */
  readonly run: string;
  /** Default: the recipe of the run. */
  readonly recipe?: string;
  /** Default: the name of the recipe. */
  readonly name?: string;
  readonly retryMissing?: boolean;
  readonly onProgress?: (progress: ScoreProgress) => void;
}

export interface JudgedScoreReport extends ScoreReport {
  /** What asking judges took; null when no component does. */
  readonly judge: RewardScorer['judgeUsage'] | null;
}

/** Scores a run's stored episodes; Ctrl-C stops behind the batch under way, and the next call goes on from there. */
export async function scoreStoredRun(
  session: StoreSession,
  request: ScoreRequest,
): Promise<JudgedScoreReport> {
  const { client, log } = session;
  const run = await findRun(log, request.run);
  const recipe =
    request.recipe === undefined ? parseRecipe(run.started.recipe) : resolveRecipe(request.recipe);
  const { runId } = run;
  const scorer = await RewardScorer.load(recipe.reward, {
    verdicts: new VerdictStore({ log, reader: new TrajectoryReader(client), runId }),
    judge: { archive: new VerdictArchive(client) },
    visits: new StateVisits({ client, runId, ...(session.isLive ? { untilStored: session.catchUp } : {}) }),
  });
  const stop = new AbortController();
  const onInterrupt = () => {
    stop.abort();
  };
  process.once('SIGINT', onInterrupt);
  try {
    const report = await scoreRun({
      client,
      runId,
      scorer,
      name: request.name ?? recipe.name,
      retryMissing: request.retryMissing,
      signal: stop.signal,
      onProgress: request.onProgress,
    });
    if (!scorer.asksJudge) return { ...report, judge: null };
    await logJudgeUsage(session, runId, scorer);
    return { ...report, judge: scorer.judgeUsage };
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

export interface ScoreDiffRequest extends Pick<ScoreDiffOptions, 'a' | 'b' | 'split' | 'limit'> {
  /** Run id, or `latest`. */
  readonly run: string;
}

/** Compares two reward versions of a run. */
export async function diffScoresOfRun(
  session: StoreSession,
  { run, ...options }: ScoreDiffRequest,
): Promise<ScoreDiff> {
  const { runId } = await findRun(session.log, run);
  return diffScores({ client: session.client, runId, ...options });
}

/** Tokens and cost become metrics of the run, and the verdicts readable in the store. */
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
    occurredAtUs: Date.now() * 1000,
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
