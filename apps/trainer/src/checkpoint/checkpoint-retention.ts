import type { CheckpointFiles } from '@retrace/policy';
import type { RunState } from '@retrace/trajectory';
import { keptCheckpoints, staleLocations } from './kept-checkpoints.js';

/** A trainer that was killed left one or two. */
const MOST_FORGOTTEN = 50;

/**
 * Removes weights and optimizer states that nothing needs and the recipe does not keep (`keptCheckpoints`).
 *
 * Which files are removed follows from the log only, so that a trainer removes those that its predecessors left, and only once the commit
 * that outdates them is in the log. Files are named by their content: one that any run still keeps, under whatever update, stays.
 */
export class CheckpointRetention {
  private readonly removed = new Set<string>();
  private appliedTo = '';

  constructor(
    private readonly checkpoints: CheckpointFiles,
    private readonly runId: string,
  ) {}

  /**
   * @param runs every run of the log, as its committed control events tell it
   * @param forget drops what the engine keeps of a policy at its location
   */
  async apply(
    runs: readonly RunState[],
    forget: (location: string) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const run = runs.find(({ runId }) => runId === this.runId);
    if (run === undefined) return;
    // Nothing else of the run decides what is kept.
    const state = `${run.updates.numUpdates} ${run.policies.numPolicies} ${run.validationSuccess.size}`;
    if (state === this.appliedTo) return;
    this.appliedTo = state;
    const written = [
      ...[...run.policies.all()].map(({ weights }) => weights),
      ...run.updates.commits.map(({ optimizer }) => optimizer),
    ];
    const kept = new Set(
      runs
        .map(keptCheckpoints)
        .flatMap(({ weights, optimizers }) => [...weights, ...optimizers])
        .map(({ sha256 }) => sha256),
    );
    for (const { sha256 } of written) {
      // A later update may write content that was removed.
      if (kept.has(sha256)) this.removed.delete(sha256);
      if (kept.has(sha256) || this.removed.has(sha256)) continue;
      await this.checkpoints.remove(sha256);
      this.removed.add(sha256);
    }
    for (const location of staleLocations(run).slice(-MOST_FORGOTTEN)) {
      if (this.removed.has(location)) continue;
      this.removed.add(location);
      await forget(location);
    }
  }
}
