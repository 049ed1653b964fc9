import type { RetraceEvent, Stream } from '../../events/event.js';

/**
 * Knows which records belong to deleted runs: the fold of `RunDeleted`. The log may still have such records, but no store has rows
 * of them.
 */
export class DeletedRuns {
  private readonly ends = new Map<string, Record<Stream, number[]>>();
  private readonly highestEnds: Record<Stream, number[]> = { trajectories: [], control: [] };

  get isEmpty(): boolean {
    return this.ends.size === 0;
  }

  add({ runId, payload }: Pick<RetraceEvent<'RunDeleted'>, 'runId' | 'payload'>): void {
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

  /** Whether any record from this offset on may belong to a deleted run; where none does, readers need not ask `cover` for each. */
  reach(stream: Stream, partition: number, offset: number): boolean {
    return offset < (this.highestEnds[stream][partition] ?? 0);
  }

  /** Whether the record at this place was deleted; a `RunDeleted` never is. */
  cover(
    { kind, runId }: { readonly kind: string; readonly runId: string },
    stream: Stream,
    partition: number,
    offset: number,
  ): boolean {
    if (kind === 'RunDeleted') return false;
    return offset < (this.ends.get(runId)?.[stream][partition] ?? 0);
  }
}
