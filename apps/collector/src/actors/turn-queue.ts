import type { FinishedAct } from '../turn/actor.js';

/** Turns that servers are asked for. Each runs independently until it is finished, or until its episode ends. */
export class TurnQueue {
  private readonly live = new Map<number, AbortController>();
  /** One of each slot that was never used, since making one takes as long as everything else here. */
  private readonly unused = new Map<number, AbortController>();
  private finished: FinishedAct[] = [];
  private wake: () => void = () => undefined;

  constructor(private readonly signal: AbortSignal) {
    // One listener for all turns, since `AbortSignal.any` for each costs as much as its request.
    signal.addEventListener('abort', () => {
      for (const turn of this.live.values()) turn.abort(signal.reason);
    });
  }

  get numPending(): number {
    return this.live.size + this.finished.length;
  }

  /** @param ask never rejects; its signal aborts when the episode of the slot has ended, or all are to stop */
  add(slot: number, ask: (ended: AbortSignal) => Promise<FinishedAct>): void {
    const turn = this.unused.get(slot) ?? new AbortController();
    this.unused.delete(slot);
    if (this.signal.aborted) turn.abort(this.signal.reason);
    this.live.set(slot, turn);
    void ask(turn.signal).then((act) => {
      // Its episode may have ended meanwhile.
      if (this.live.get(slot) !== turn) return;
      this.live.delete(slot);
      if (!turn.signal.aborted) this.unused.set(slot, turn);
      this.finished.push(act);
      this.wake();
    });
  }

  /** Resolves with the turns that are finished, at least one. */
  async next(): Promise<readonly FinishedAct[]> {
    if (this.finished.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    const { finished } = this;
    this.finished = [];
    return finished;
  }

  /** Cancels the request of an episode that has ended. */
  release(slot: number): void {
    this.live.get(slot)?.abort();
    this.live.delete(slot);
  }
}
