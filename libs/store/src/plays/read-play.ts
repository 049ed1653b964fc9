import type { Json, Split } from '@retrace/trajectory';
import type { StoreReader } from '../client/store-client.js';
import type { PlayedRun, PlayPrice, PlayReport } from './play-report.js';
import { comparePolicies, summarizePlay, type PlayedEpisode } from './summarize-play.js';

/** Facts of a play in the start of each of its runs. */
export interface PlayRecord {
  readonly playId: string;
  /** The policy as the user named it, and which one that was. */
  readonly policy: string;
  readonly description: string;
  readonly greedy: boolean;
  readonly numPlanned: number;
  /** Runs that the play is to have: one for each policy in each environment. */
  readonly numRuns: number;
  /** Whether tokens of the log are those that the model read and wrote; otherwise only those count that its server reports. */
  readonly hasOwnTokens: boolean;
  readonly price: PlayPrice | null;
  /** The request of the play, with which it can be resumed; absent in plays of older versions. */
  readonly command?: Json;
}

/** Where a play's task is in its selection, in the metadata of each of its episodes. */
export interface PlayedTask {
  readonly seed: number;
  readonly task: number;
  /** Number of the attempt at the task, from 0; absent in plays of older versions. */
  readonly attempt?: number;
  /** '' where all tasks are of one kind. */
  readonly family: string;
}

const RUNS_OF_PLAY = `
  SELECT run_id AS runId, environment, JSONExtractRaw(recipe, 'play') AS play, toString(started_at) AS startedAt
  FROM runs
  WHERE has(started_tags, {tag:String})
  ORDER BY started_at, run_id`;

const EPISODES_OF_RUNS = `
  SELECT e.run_id AS runId, e.split AS split,
    JSONExtractInt(e.metadata, 'play', 'seed') AS seed,
    JSONExtractInt(e.metadata, 'play', 'task') AS task,
    -- Servers that only tell the kind of a task once it is played tell it with each action's result.
    nullIf(ifNull(nullIf(JSONExtractString(e.metadata, 'play', 'family'), ''), t.toldFamily), '') AS family,
    match(e.end_detail, '^(environment|agent|model) failed: ') AS hasFailed,
    e.success AS success, e.return AS return, e.num_steps AS numSteps,
    t.readTokens AS readTokens, t.writtenTokens AS writtenTokens,
    t.inputTokens AS inputTokens, t.outputTokens AS outputTokens, t.costUsd AS costUsd
  FROM episodes AS e
  LEFT JOIN
  (
    SELECT run_id, episode_id,
      max(JSONExtractString(ifNull(info, ''), 'taskFamily')) AS toldFamily,
      sum(kept_prefix_tokens + length(token_ids) - arraySum(action_mask)) AS readTokens,
      sum(arraySum(action_mask)) AS writtenTokens,
      sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens, sum(cost_usd) AS costUsd
    FROM steps
    WHERE run_id IN {runIds:Array(String)}
    GROUP BY run_id, episode_id
  ) AS t ON t.run_id = e.run_id AND t.episode_id = e.episode_id
  WHERE e.run_id IN {runIds:Array(String)} AND e.sealed AND e.end_reason != 'abandoned'
  ORDER BY e.run_id, e.episode_id
  SETTINGS join_use_nulls = 1`;

interface RunRow {
  readonly runId: string;
  readonly environment: string;
  readonly play: string;
  readonly startedAt: string;
}

interface EpisodeRow extends Omit<
  PlayedEpisode,
  'policy' | 'environment' | 'price' | 'hasFailed' | 'success'
> {
  readonly runId: string;
  readonly split: Split;
  readonly hasFailed: boolean | number;
  readonly success: boolean | number | null;
  readonly readTokens: number | null;
  readonly writtenTokens: number | null;
}

/** The tag of the runs of a play. */
export function playTag(playId: string): string {
  return `play:${playId}`;
}

/** Reads what a play has so far; null where the store has no run of it. */
export async function readPlay(client: StoreReader, playId: string): Promise<PlayReport | null> {
  const found = await client.queryRows<RunRow>(RUNS_OF_PLAY, { params: { tag: playTag(playId) } });
  if (found.length === 0) return null;
  const records = new Map(
    found.map(({ runId, environment, play }) => [
      runId,
      { environment, ...(JSON.parse(play) as PlayRecord) },
    ]),
  );
  const rows = await client.queryRows<EpisodeRow>(EPISODES_OF_RUNS, {
    params: { runIds: [...records.keys()] },
  });
  const episodes = rows.flatMap((row): PlayedEpisode[] => {
    const record = records.get(row.runId);
    return record === undefined ? [] : [playedEpisode(row, record)];
  });
  const runs = [...records].map(([runId, record]): PlayedRun => {
    const { policy, description, environment, numPlanned, greedy, price } = record;
    const numEnded = rows.filter((row) => row.runId === runId).length;
    return { runId, policy, description, environment, numPlanned, numEnded, greedy, price };
  });
  return {
    playId,
    startedAt: `${found[0].startedAt.replace(' ', 'T')}Z`,
    isComplete: isComplete(runs, [...records.values()][0].numRuns),
    runs,
    rows: summarizePlay(episodes),
    comparisons: comparePolicies(episodes),
  };
}

/** A policy in an environment has several runs where the play was interrupted; the last is of what the others left. */
function isComplete(runs: readonly PlayedRun[], numPairs: number): boolean {
  const pairs = new Set(runs.map(({ policy, environment }) => `${policy}\n${environment}`));
  const complete = runs
    .filter(({ numPlanned, numEnded }) => numEnded >= numPlanned)
    .map(({ policy, environment }) => `${policy}\n${environment}`);
  return pairs.size === numPairs && new Set(complete).size === numPairs;
}

function playedEpisode(
  { success, hasFailed, readTokens, writtenTokens, ...row }: EpisodeRow,
  { policy, environment, price, hasOwnTokens }: PlayRecord & { readonly environment: string },
): PlayedEpisode {
  return {
    ...row,
    ...{ policy, environment, price },
    hasFailed: Boolean(hasFailed),
    success: success === null ? null : Boolean(success),
    inputTokens: row.inputTokens ?? (hasOwnTokens ? readTokens : null),
    outputTokens: row.outputTokens ?? (hasOwnTokens ? writtenTokens : null),
  };
}
