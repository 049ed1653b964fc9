import type { EventLog } from '@retrace/log';
import { readPlanColumns, readPlanTexts, type EpisodeTexts, type LostEpisode } from '@retrace/store';
import { episodesByRun, type BatchPlanned, type EpisodeColumns } from '@retrace/trajectory';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpisodeSource } from './episode-source.js';

/** The episodes of a plan. */
export interface ReadEpisodes {
  readonly plan: BatchPlanned;
  readonly columns: EpisodeColumns;
  /** Null where they were not asked for. */
  readonly texts: EpisodeTexts[] | null;
}

interface ReadEpisodesOptions {
  readonly log: EventLog;
  readonly reader: EpisodeSource;
  readonly runId: string;
  readonly withTexts: boolean;
  readonly signal: AbortSignal;
  /** Returns the plan without episodes that will never be whole, or throws where it must be made as it is. */
  readonly leaveOut: (plan: BatchPlanned, lost: readonly LostEpisode[]) => BatchPlanned;
}

const RETRY_MS = 10;
/** Longest wait for a sink that is behind; after it the store is read as it is. */
const LONGEST_TRUST_MS = 1000;

/** Reads the plan's episodes; waits for those that only the store can have. Null when the signal aborts first. */
export async function readEpisodes(
  asked: BatchPlanned,
  { log, reader, runId, withTexts, signal, leaveOut }: ReadEpisodesOptions,
): Promise<ReadEpisodes | null> {
  let plan = asked;
  let isStored = false;
  while (!signal.aborted) {
    try {
      const columns = await readPlanColumns(reader, plan, runId);
      const texts = withTexts ? await readPlanTexts(reader, plan, runId) : null;
      return { plan, columns, texts };
    } catch (error) {
      if (!isRetriable(error)) throw error;
    }
    const lost: LostEpisode[] = [];
    if (isStored) {
      for (const part of episodesByRun(plan, runId))
        lost.push(...(await reader.findLost(log, part.runId, part.episodeIds)));
    }
    if (lost.length > 0) plan = leaveOut(plan, lost);
    else if (isStored) await sleep(RETRY_MS);
    isStored = await reader.untilCaughtUp(log, { timeoutMs: LONGEST_TRUST_MS, signal });
  }
  return null;
}

function isRetriable(error: unknown): boolean {
  return error instanceof Error && 'retriable' in error && error.retriable === true;
}
