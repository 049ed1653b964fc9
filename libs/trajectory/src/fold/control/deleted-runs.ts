import type { RetraceEvent, Stream } from '../../events/event.js';

/** A deletion, of a run or of episodes. */
export type Deletion =
  | Pick<RetraceEvent<'RunDeleted'>, 'kind' | 'runId' | 'payload'>
  | Pick<RetraceEvent<'EpisodesDeleted'>, 'kind' | 'runId' | 'payload'>;

/** Names an episode of a run. */
export interface EpisodeOfRun {
  readonly runId: string;
  readonly episodeId: string;
}

export function isDeletionKind(kind: string): kind is Deletion['kind'] {
  return kind === 'RunDeleted' || kind === 'EpisodesDeleted';
}

/**
 * Knows which records belong to deleted runs and episodes: the fold of `RunDeleted` and `EpisodesDeleted`. The log may still have such
 * records, but no store has rows of them.
 */
export class DeletedRuns {
  private readonly ends = new Map<string, Record<Stream, number[]>>();
  /** By run. */
  private readonly episodes = new Map<string, Set<string>>();
  /** In the order in which they were added. */
  private readonly deletedEpisodes: EpisodeOfRun[] = [];
  private readonly highestEnds: Record<Stream, number[]> = { trajectories: [], control: [] };

  get isEmpty(): boolean {
    return this.ends.size === 0 && this.episodes.size === 0;
  }

  /** Deleted episodes, in the order in which they were added. */
  get allEpisodes(): readonly EpisodeOfRun[] {
    return this.deletedEpisodes;
  }

  hasEpisode(runId: string, episodeId: string): boolean {
    return this.episodes.get(runId)?.has(episodeId) === true;
  }

  add(deletion: Deletion): void {
    if (deletion.kind === 'RunDeleted') this.addRun(deletion);
    else for (const episodeId of deletion.payload.episodeIds) this.addEpisode(deletion.runId, episodeId);
  }

  private addEpisode(runId: string, episodeId: string): void {
    const ofRun = this.episodes.get(runId) ?? new Set();
    this.episodes.set(runId, ofRun);
    if (ofRun.has(episodeId)) return;
    ofRun.add(episodeId);
    this.deletedEpisodes.push({ runId, episodeId });
  }

  private addRun({ runId, payload }: Pick<RetraceEvent<'RunDeleted'>, 'runId' | 'payload'>): void {
    const ends = { trajectories: payload.trajectoryEnds, control: [payload.controlEnd] };
    const ofRun = this.ends.get(runId) ?? { trajectories: [], control: [] };
    this.ends.set(runId, ofRun);
    for (const stream of ['trajectories', 'control'] as const) {
      ends[stream].forEach((end, partition) => {
        for (const known of [ofRun[stream], this.highestEnds[stream]]) {
          known[partition] = Math.max(known[partition] ?? 0, end);
        }
      });
    }
  }

  /** Returns each deleted run with the offset before which its records in a stream partition are deleted; runs without any are left out. */
  endsOf(stream: Stream, partition: number): { readonly runId: string; readonly end: number }[] {
    return [...this.ends].flatMap(([runId, ends]) => {
      const end = ends[stream][partition] ?? 0;
      return end > 0 ? [{ runId, end }] : [];
    });
  }

  /** Whether any record from this offset on may have been deleted; where none does, readers need not ask `cover` for each. */
  reach(stream: Stream, partition: number, offset: number): boolean {
    if (stream === 'trajectories' && this.deletedEpisodes.length > 0) return true;
    return offset < (this.highestEnds[stream][partition] ?? 0);
  }

  /** Whether the record at this place was deleted; a deletion never is. */
  cover(
    {
      kind,
      runId,
      episodeId = '',
    }: { readonly kind: string; readonly runId: string; readonly episodeId?: string },
    stream: Stream,
    partition: number,
    offset: number,
  ): boolean {
    if (isDeletionKind(kind)) return false;
    if (episodeId !== '' && this.hasEpisode(runId, episodeId)) return true;
    return offset < (this.ends.get(runId)?.[stream][partition] ?? 0);
  }
}
