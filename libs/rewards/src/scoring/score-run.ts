import type { EpisodeReward } from '../composer.js';
import type { StoreClient } from '@retrace/store';
import { readRewardEpisodes } from './read-reward-episodes.js';
import type { RewardScorer } from './reward-scorer.js';
import { ScoreTable } from './score-table.js';

export interface ScoreRunOptions {
  readonly client: StoreClient;
  readonly runId: string;
  readonly scorer: RewardScorer;
  /** Name of the version in this run. */
  readonly name: string;
  /** Scores those again that have a row without a total: a judge may be up again, a fault mended (default false). */
  readonly retryMissing?: boolean;
  /** Episodes in memory at once, at most (default 256). */
  readonly maxEpisodesPerBatch?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ScoreProgress) => void;
}

export interface ScoreProgress {
  /** Sealed episodes looked at. */
  readonly numSeen: number;
  readonly numScored: number;
  /** Of them, those whose rows are durable. */
  readonly numWritten: number;
}

export interface ScoreReport {
  readonly runId: string;
  readonly rewardVersion: string;
  readonly name: string;
  /** Scored now. */
  readonly numScored: number;
  /** Had their score already. */
  readonly numKept: number;
  /** Of those scored now, without a total. */
  readonly numWithoutTotal: number;
  /** The most frequent reasons, with counts. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  /** Sealed, but not whole in the store yet; the next run of this takes them. */
  readonly numIncomplete: number;
}

interface SealedEpisode {
  readonly episodeId: string;
  readonly numSteps: number;
  readonly numTokens: number;
}

/** Ids looked up at once. */
const PAGE_SIZE = 2048;
/** A batch is closed before its steps and tokens exceed these, whatever its number of episodes. */
const MAX_STEPS_PER_BATCH = 4096;
const MAX_TOKENS_PER_BATCH = 262_144;
/** Score rows that are written at once. */
const ROWS_PER_INSERT = 1024;
const MAX_REASONS = 8;

/**
 * Scores every sealed episode of a run that has no score of this version yet, in the order of their ids, and writes the
 * rows as it goes: ended at any point and called again, it goes on where the rows end. Memory is bounded by one batch and
 * one page of ids, whatever the history.
 *
 * @throws StoreError when the store can't be read or written
 */
export async function scoreRun(options: ScoreRunOptions): Promise<ScoreReport> {
  const { client, runId, scorer, name, retryMissing = false, signal, onProgress } = options;
  const table = new ScoreTable(client, { runId, rewardVersion: scorer.version });
  await table.define(name, scorer.description);
  const reasons = new Map<string, number>();
  let rows: { readonly episodeId: string; readonly reward: EpisodeReward }[] = [];
  let numSeen = 0;
  let numScored = 0;
  let numKept = 0;
  let numWithoutTotal = 0;
  let numIncomplete = 0;
  const isStopped = () => signal?.aborted === true;
  const flush = async () => {
    if (rows.length > 0) await table.insert(rows);
    rows = [];
  };

  for (let after = ''; !isStopped();) {
    const page = await sealedEpisodes(client, runId, after);
    const last = page.at(-1);
    if (last === undefined) break;
    const known = await table.scored(page[0].episodeId, last.episodeId, retryMissing);
    numSeen += page.length;
    after = last.episodeId;
    const due = page.filter(({ episodeId }) => !known.has(episodeId));
    numKept += page.length - due.length;
    for (const batch of splitBatches(due, options.maxEpisodesPerBatch ?? 256)) {
      if (isStopped()) break;
      const episodes = await readRewardEpisodes(client, {
        runId,
        episodeIds: batch.map(({ episodeId }) => episodeId),
        withTexts: scorer.readsTexts,
      });
      numIncomplete += batch.length - episodes.length;
      const rewards = await scorer.scoreEpisodes(episodes);
      rewards.forEach((reward, i) => {
        rows.push({ episodeId: episodes[i].episodeId, reward });
        if (reward.total !== null) return;
        numWithoutTotal++;
        countReasons(reasons, reward);
      });
      numScored += rewards.length;
      if (rows.length >= ROWS_PER_INSERT) await flush();
      onProgress?.({ numSeen, numScored, numWritten: numScored - rows.length });
    }
  }
  await flush();
  return {
    runId,
    rewardVersion: scorer.version,
    name,
    numScored,
    numKept,
    numWithoutTotal,
    reasons: [...reasons]
      .sort((a, b) => b[1] - a[1])
      .slice(0, MAX_REASONS)
      .map(([reason, count]) => ({ reason, count })),
    numIncomplete,
  };
}

/** The next sealed episodes by id; the first end in log order counts. */
function sealedEpisodes(client: StoreClient, runId: string, after: string): Promise<SealedEpisode[]> {
  return client.queryRows<SealedEpisode>(
    `SELECT episode_id AS episodeId, num_steps AS numSteps, num_tokens AS numTokens
     FROM events
     WHERE run_id = {runId:String} AND episode_id > {after:String} AND kind = 'EpisodeEnded'
     ORDER BY run_id, episode_id
     LIMIT 1 BY run_id, episode_id
     LIMIT ${PAGE_SIZE}`,
    { params: { runId, after } },
  );
}

function* splitBatches(episodes: readonly SealedEpisode[], maxEpisodes: number): Generator<SealedEpisode[]> {
  let batch: SealedEpisode[] = [];
  let numSteps = 0;
  let numTokens = 0;
  for (const episode of episodes) {
    const isFull =
      batch.length === maxEpisodes ||
      numSteps + episode.numSteps > MAX_STEPS_PER_BATCH ||
      numTokens + episode.numTokens > MAX_TOKENS_PER_BATCH;
    if (isFull && batch.length > 0) {
      yield batch;
      [batch, numSteps, numTokens] = [[], 0, 0];
    }
    batch.push(episode);
    numSteps += episode.numSteps;
    numTokens += episode.numTokens;
  }
  if (batch.length > 0) yield batch;
}

/** At most a bounded number of different texts, however many faults name episodes of their own. */
function countReasons(reasons: Map<string, number>, { components, fault }: EpisodeReward): void {
  const texts = components.flatMap(({ name, value, fault: failed, missing }) =>
    value === null ? [`${name}: ${failed ?? missing ?? 'missing'}`] : [],
  );
  if (fault !== null) texts.push(fault.message);
  for (const text of texts) {
    const key = reasons.has(text) || reasons.size < 100 ? text : 'other reasons';
    reasons.set(key, (reasons.get(key) ?? 0) + 1);
  }
}
