import type { AnyEvent } from '@retrace/trajectory';

/** Kinds that start or delete a run, or say which trainer may write its updates. */
export type RunEdgeKind = 'RunStarted' | 'RunDeleted' | 'TrainerClaimed';

/** An event of one of these kinds, as far as it counts here. */
export interface RunEdge {
  readonly runId: string;
  readonly kind: RunEdgeKind;
  /** Of a claim; any number in the others. */
  readonly epoch: number;
}

/** The runs that have started, and the epoch of the trainer that holds each: a fold of their edges in log order. */
export class StartedRuns {
  /** By run; −1 before the first claim. */
  private readonly epochs = new Map<string, number>();

  apply({ runId, kind, epoch }: RunEdge): void {
    const held = this.epochs.get(runId);
    if (kind === 'RunDeleted') this.epochs.delete(runId);
    else if (kind === 'RunStarted') this.epochs.set(runId, held ?? -1);
    else if (held !== undefined) this.epochs.set(runId, Math.max(held, epoch));
  }

  has(runId: string): boolean {
    return this.epochs.has(runId);
  }

  /** Whether what a trainer of this epoch writes now is in force. */
  holdsEpoch(runId: string, epoch: number): boolean {
    return this.epochs.get(runId) === epoch;
  }
}

/** The edge that an event is; null for an event of another kind. */
export function toRunEdge(event: AnyEvent): RunEdge | null {
  const { kind, runId } = event;
  if (kind === 'TrainerClaimed') return { kind, runId, epoch: event.payload.epoch };
  return kind === 'RunStarted' || kind === 'RunDeleted' ? { kind, runId, epoch: 0 } : null;
}
