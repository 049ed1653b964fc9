import type { AnyEvent } from '../../events/event.js';
import { RunState, type Applied, type RunStateOptions } from './run-state.js';

/**
 * The fold of the control stream: the state of every run, rebuilt from the log whenever a process starts.
 *
 * A pure function of the events in log order. Duplicates (an append that was retried) change nothing, and neither do plans,
 * commits and publications of stale epochs.
 */
export class ControlFold {
  private readonly runsById = new Map<string, RunState>();
  private offsetAfter = 0;

  constructor(private readonly options: RunStateOptions = {}) {}

  /** The offset to read from next. */
  get nextOffset(): number {
    return this.offsetAfter;
  }

  /** Runs in the order they started. */
  get runs(): readonly RunState[] {
    return [...this.runsById.values()];
  }

  run(runId: string): RunState | undefined {
    return this.runsById.get(runId);
  }

  /** Applies the next event; one at an offset that was applied before is a duplicate. */
  apply(event: AnyEvent, offset: number): Applied {
    if (offset < this.offsetAfter) return { applied: false, reason: 'duplicate' };
    this.offsetAfter = offset + 1;
    // The log may no longer have the start of a deleted run.
    if (event.kind === 'RunDeleted') {
      return this.runsById.delete(event.runId) ? { applied: true } : { applied: false, reason: 'unknownRun' };
    }
    const run = this.runsById.get(event.runId);
    if (run !== undefined) return run.apply(event, offset);
    if (event.kind === 'RunStarted') this.runsById.set(event.runId, new RunState(event, this.options));
    else if (event.runId !== '') return { applied: false, reason: 'unknownRun' };
    return { applied: true };
  }

  /** Skips a record that holds no event (a dead letter), so that `nextOffset` moves on. */
  skip(offset: number): void {
    this.offsetAfter = Math.max(this.offsetAfter, offset + 1);
  }
}
