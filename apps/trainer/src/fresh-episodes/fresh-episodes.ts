import { readRoundStarts, readRunStart, type EventLog } from '@retrace/log';
import type { EpisodeTexts, LostEpisode } from '@retrace/store';
import type { EpisodeColumns, RunState } from '@retrace/trajectory';
import type { KnownEvents } from '@retrace/trajectory/codec';
import type { EpisodeSource } from '../plan/episode-source.js';
import { toEpisodeColumns, type WholeEpisode } from './episode-in-log.js';
import { EpisodeTail } from './episode-tail.js';

export interface FreshEpisodesOptions {
  readonly log: EventLog;
  /** Ends of the partitions of `trajectories`, taken before the control stream was read: what is in the log later begins behind them. */
  readonly ends: readonly number[];
  /** The run as the control stream told it then, and as it goes on. */
  readonly run: () => RunState;
  /** Whether collectors play for the run; one on stored episodes has none of its own. */
  readonly isCollected: boolean;
  readonly keepsTexts: boolean;
  /** Has what the log no longer hands over: other runs, earlier rounds, episodes that were removed from memory. */
  readonly stored: EpisodeSource;
  readonly maxBytes?: number;
  /** Events that a collector of this process wrote. */
  readonly known?: KnownEvents;
  readonly signal: AbortSignal;
}

/**
 * The episodes that a trainer reads: those of its own run out of the log, as soon as they are acknowledged there, and all others from the store.
 * Columns are the same, bit for bit, from either.
 */
export class FreshEpisodes implements EpisodeSource {
  private constructor(
    private readonly options: FreshEpisodesOptions,
    private readonly tail: EpisodeTail,
  ) {}

  /** Begins to follow the log before the round under way, so that a trainer that resumes has it, too. */
  static async open(options: FreshEpisodesOptions): Promise<FreshEpisodes> {
    const { log, ends, run, isCollected, keepsTexts, maxBytes, known } = options;
    const { runId, rounds } = run();
    const from = ends.map(async (end, partition) => {
      const starts = await readRoundStarts(log, {
        runId,
        numShares: Math.max(1, rounds.maxShares),
        partition,
      });
      if (!isCollected) return end;
      const runStart = await readRunStart(log, runId, partition);
      const least = Math.min(end, ...starts.map((start) => start ?? runStart));
      return Math.max(least, await log.startOffset('trajectories', partition));
    });
    const tail = new EpisodeTail({
      ...{ log, runId, from: await Promise.all(from), keepsTexts, maxBytes, known },
      isNeeded: (groupId) => mayBeRead(run(), groupId),
    });
    return new FreshEpisodes(options, tail);
  }

  async readEpisodes(runId: string, episodeIds: readonly string[]): Promise<EpisodeColumns> {
    const fresh = await this.find(runId, episodeIds);
    if (fresh === null) return this.options.stored.readEpisodes(runId, episodeIds);
    return toEpisodeColumns(fresh);
  }

  async readEpisodeTexts(runId: string, episodeIds: readonly string[]): Promise<EpisodeTexts[]> {
    const fresh = await this.find(runId, episodeIds);
    const texts = fresh?.flatMap((episode) => episode.texts ?? []);
    if (texts?.length === episodeIds.length) return texts;
    return this.options.stored.readEpisodeTexts(runId, episodeIds);
  }

  untilCaughtUp(
    log: EventLog,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    return this.options.stored.untilCaughtUp(log, options);
  }

  findLost(log: EventLog, runId: string, episodeIds: readonly string[]): Promise<readonly LostEpisode[]> {
    return this.options.stored.findLost(log, runId, episodeIds);
  }

  /** Nothing can be read afterwards. */
  close(): Promise<void> {
    return this.tail.close();
  }

  /** The episodes where the log hands over all of them; else null. */
  private async find(runId: string, episodeIds: readonly string[]): Promise<readonly WholeEpisode[] | null> {
    const { run, signal } = this.options;
    const { runId: ownRunId, deletedEpisodes } = run();
    if (runId !== ownRunId || episodeIds.some((episodeId) => deletedEpisodes.has(episodeId))) return null;
    return this.tail.read(episodeIds, signal);
  }
}

/** Whether a plan that is under way names the group, or a later one may. */
function mayBeRead({ groups, updates }: RunState, groupId: string): boolean {
  return groups.maySample(groupId) || updates.pendingPlans.some((plan) => plan.groupIds.includes(groupId));
}
