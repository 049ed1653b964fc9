import type { RetraceEvent, Stream } from '../../events/event.js';

/** What tells whose a record is. */
interface Owner {
  readonly kind: string;
  readonly runId: string;
}

/**
 * Which records belong to runs that were deleted: the fold of `RunDeleted`. Such records may still lie in the log, but no store holds
 * a row of them.
 */
export class DeletedRuns {
  private readonly ends = new Map<string, Record<Stream, number[]>>();
  private readonly highestEnds: Record<Stream, number[]> = { trajectories: [], control: [] };

  get isEmpty(): boolean {
    return this.ends.size === 0;
  }

  add({ runId, payload }: RetraceEvent<'RunDeleted'>): void {
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

  /** For each deleted run the offset before which its records are deleted in that stream partition; those with none left out. */
  endsOf(stream: Stream, partition: number): { readonly runId: string; readonly end: number }[] {
    return [...this.ends].flatMap(([runId, ends]) => {
      const end = ends[stream][partition] ?? 0;
      return end > 0 ? [{ runId, end }] : [];
    });
  }

  /** Whether a record at or behind this offset may be one of a deleted run: spares the question for each. */
  reach(stream: Stream, partition: number, offset: number): boolean {
    return offset < (this.highestEnds[stream][partition] ?? 0);
  }

  /** Whether the record at this place was deleted. The events that say so never are. */
  cover({ kind, runId }: Owner, stream: Stream, partition: number, offset: number): boolean {
    if (kind === 'RunDeleted') return false;
    return offset < (this.ends.get(runId)?.[stream][partition] ?? 0);
  }
}
