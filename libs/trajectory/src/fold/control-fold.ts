import type { AnyEvent } from '../events.js';
import { RunState, type Applied, type RunStateOptions } from './run-state.js';

/**
 * The fold of the control stream: the state of every run, rebuilt from the log whenever a process starts.
 *
 * A pure function of the events in log order. Duplicates (an append that was retried) change nothing, and neither do plans,
 * commits and publications of stale epochs.
 */
export class ControlFold {
  readonly #options: RunStateOptions;
  readonly #runs = new Map<string, RunState>();
  #nextOffset = 0;

  constructor(options: RunStateOptions = {}) {
    this.#options = options;
  }

  /** Where to read on. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** In the order they started. */
  get runs(): readonly RunState[] {
    return [...this.#runs.values()];
  }

  run(runId: string): RunState | undefined {
    return this.#runs.get(runId);
  }

  /** Applies the next event; one at an offset that was applied before is a duplicate. */
  apply(event: AnyEvent, offset: number): Applied {
    if (offset < this.#nextOffset) return { applied: false, reason: 'duplicate' };
    this.#nextOffset = offset + 1;
    // Its start may be gone from the log by now.
    if (event.kind === 'RunDeleted') {
      return this.#runs.delete(event.runId) ? { applied: true } : { applied: false, reason: 'unknownRun' };
    }
    const run = this.#runs.get(event.runId);
    if (run !== undefined) return run.apply(event, offset);
    if (event.kind === 'RunStarted') this.#runs.set(event.runId, new RunState(event, this.#options));
    else if (event.runId !== '') return { applied: false, reason: 'unknownRun' };
    return { applied: true };
  }

  /** Passes over a record that holds no event (a dead letter), so that `nextOffset` moves on. */
  skip(offset: number): void {
    this.#nextOffset = Math.max(this.#nextOffset, offset + 1);
  }
}
