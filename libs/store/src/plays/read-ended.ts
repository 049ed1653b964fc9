import type { Json, Split } from '@retrace/trajectory';
import type { StoreReader } from '../client/store-client.js';
import { playTag, type PlayRecord } from './read-play.js';

/** One attempt at a task, among those of a policy in an environment. */
export interface PlayedAttempt {
  readonly split: Split;
  readonly seed: number;
  readonly task: number;
  readonly attempt: number;
}

/** A run of a play, and what it has played. */
export interface UnfinishedRun {
  readonly runId: string;
  readonly policy: string;
  readonly description: string;
  readonly environment: string;
  /** Attempts that have ended, whatever came of them. */
  readonly ended: readonly PlayedAttempt[];
}

/** A stored play, to go on with. */
export interface StartedPlay {
  readonly playId: string;
  /** As it was stored with the first run; null for a play of an older version. */
  readonly command: Json;
  /** In the order in which they began. */
  readonly runs: readonly UnfinishedRun[];
}

const RUNS = `
  SELECT run_id AS runId, environment, JSONExtractRaw(recipe, 'play') AS play
  FROM runs WHERE has(started_tags, {tag:String}) ORDER BY started_at, run_id`;

/** An attempt that no event ended, or that was cut off, was not played. */
const ENDED = `
  SELECT run_id AS runId, split,
    JSONExtractInt(metadata, 'play', 'seed') AS seed,
    JSONExtractInt(metadata, 'play', 'task') AS task,
    JSONExtractInt(metadata, 'play', 'attempt') AS attempt
  FROM episodes
  WHERE run_id IN {runIds:Array(String)} AND sealed AND end_reason != 'abandoned'`;

/** Reads which attempts of a play have ended; null where the store has no run of it. */
export async function readStartedPlay(client: StoreReader, playId: string): Promise<StartedPlay | null> {
  const found = await client.queryRows<{ runId: string; environment: string; play: string }>(RUNS, {
    params: { tag: playTag(playId) },
  });
  if (found.length === 0) return null;
  const runIds = found.map(({ runId }) => runId);
  const ended = await client.queryRows<PlayedAttempt & { runId: string }>(ENDED, { params: { runIds } });
  const records = found.map(({ play }) => JSON.parse(play) as PlayRecord);
  return {
    playId,
    command: records[0].command ?? null,
    runs: found.map(({ runId, environment }, n) => ({
      ...{ runId, environment },
      ...{ policy: records[n].policy, description: records[n].description },
      ended: ended
        .filter((attempt) => attempt.runId === runId)
        .map(({ split, seed, task, attempt }) => ({ split, seed, task, attempt })),
    })),
  };
}
