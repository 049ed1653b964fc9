import type { EpisodeProgress, StaleReason } from '../episode/episode-progress.js';

/** The states of the episodes of one partition that were used last, within a bound on their size. */
export class StateCache {
  /** In the order of their last use. */
  private readonly states = new Map<string, EpisodeProgress>();
  private totalBytes = 0;
  /** Size of each state when it was last counted. */
  private readonly counted = new Map<EpisodeProgress, number>();

  /**
   * @param maxBytes bound on the size of all states, beyond which those that nobody uses are evicted, oldest first
   * @param onForget receives each state that leaves, of whose episode the log may have records
   */
  constructor(
    private readonly maxBytes: number,
    private readonly onForget: (state: EpisodeProgress) => void,
  ) {}

  get size(): number {
    return this.states.size;
  }

  get(runId: string, episodeId: string): EpisodeProgress | undefined {
    return this.states.get(runId + episodeId);
  }

  add(state: EpisodeProgress): void {
    this.states.set(state.runId + state.episodeId, state);
    this.count(state);
  }

  /** Marks a state as used now, so that others are evicted first. */
  touch(state: EpisodeProgress): void {
    const key = state.runId + state.episodeId;
    if (this.states.get(key) !== state) return;
    this.states.delete(key);
    this.states.set(key, state);
  }

  /** Takes a state out for good: what was planned on it must not be appended. */
  discard(state: EpisodeProgress, reason: StaleReason): void {
    state.stale ??= reason;
    this.remove(state);
  }

  /** Takes all states out for good. */
  discardAll(reason: StaleReason): void {
    for (const state of [...this.states.values()]) this.discard(state, reason);
  }

  /** Takes out the states of a run, or those of some of its episodes. */
  discardOf(runId: string, episodeIds?: ReadonlySet<string>): void {
    for (const state of [...this.states.values()]) {
      if (state.runId !== runId || episodeIds?.has(state.episodeId) === false) continue;
      this.discard(state, 'overtaken');
    }
  }

  /** Tells that a user of the state is ready with it. */
  release(state: EpisodeProgress): void {
    if (this.get(state.runId, state.episodeId) !== state) return;
    // Nothing is known of an episode that has not started, so there is nothing to remember.
    if (!state.isStarted && state.numPins === 0) this.remove(state);
    else this.count(state);
    if (this.totalBytes > this.maxBytes) this.evict();
  }

  private evict(): void {
    for (const state of this.states.values()) {
      if (this.totalBytes <= this.maxBytes) return;
      if (state.numPins > 0) continue;
      this.remove(state);
    }
  }

  private count(state: EpisodeProgress): void {
    const bytes = state.sizeBytes;
    this.totalBytes += bytes - (this.counted.get(state) ?? 0);
    this.counted.set(state, bytes);
  }

  private remove(state: EpisodeProgress): void {
    if (this.get(state.runId, state.episodeId) !== state) return;
    this.states.delete(state.runId + state.episodeId);
    this.totalBytes -= this.counted.get(state) ?? 0;
    this.counted.delete(state);
    if (state.isStarted) this.onForget(state);
  }
}
