import { LRUCache } from 'lru-cache';
import { isTimeOrdered } from '../convert/episode-id.js';

/** The ids of a run's episodes that are in the log and not in memory, as far as it can rule out that an id is one of them. */
export interface ForgottenIds {
  /** The highest id that begins with its time; '' when there is none. */
  readonly newest: string;
  /** Whether there are ids of other forms, which say nothing about those that are new. */
  readonly hasOthers: boolean;
}

/** The ids of a run in which nothing was forgotten: it began in this process. */
export const NOTHING_FORGOTTEN: ForgottenIds = { newest: '', hasOthers: false };

/** Runs that are remembered; of others the store is asked again. */
const MAX_RUNS = 10_000;

/**
 * Tells new episodes from those that this process has forgotten, or that were there before it: callers mint ids that begin with the time,
 * so a new one is higher than all of them, and the store need not be asked about it.
 */
export class KnownIds {
  private readonly runs = new LRUCache<string, ForgottenIds>({ max: MAX_RUNS });
  /** Of runs that are being read from the store: what was forgotten meanwhile. */
  private readonly learning = new Map<string, ForgottenIds>();

  /** Whether it is known which episodes of the run are not in memory. */
  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  /** Learns what was forgotten of a run; not, where everything was forgotten while `read` went on. */
  async learn(runId: string, read: () => Promise<ForgottenIds>): Promise<void> {
    this.learning.set(runId, NOTHING_FORGOTTEN);
    try {
      const ids = await read();
      const meanwhile = this.learning.get(runId);
      if (meanwhile !== undefined) this.runs.set(runId, union(ids, meanwhile));
    } finally {
      this.learning.delete(runId);
    }
  }

  /** Tells that a run begins: it has no episodes yet. */
  begin(runId: string): void {
    this.runs.set(runId, NOTHING_FORGOTTEN);
  }

  /** Whether an episode that is not in memory can't be in the log either. */
  isNew(runId: string, episodeId: string): boolean {
    const forgotten = this.runs.get(runId);
    if (forgotten === undefined) return false;
    return isTimeOrdered(episodeId) ? episodeId > forgotten.newest : !forgotten.hasOthers;
  }

  /** Tells that an episode is in the log and not in memory. */
  forget(runId: string, episodeId: string): void {
    const isOther = !isTimeOrdered(episodeId);
    const forgotten = { newest: isOther ? '' : episodeId, hasOthers: isOther };
    for (const known of [this.runs, this.learning]) {
      const ids = known.get(runId);
      if (ids !== undefined) known.set(runId, union(ids, forgotten));
    }
  }

  clear(): void {
    this.runs.clear();
    this.learning.clear();
  }
}

function union(one: ForgottenIds, other: ForgottenIds): ForgottenIds {
  return {
    newest: one.newest > other.newest ? one.newest : other.newest,
    hasOthers: one.hasOthers || other.hasOthers,
  };
}
