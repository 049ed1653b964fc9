import { CollectorError } from '../collector-error.js';

interface FailureStreakOptions {
  readonly environment: string;
  readonly maxFailuresInARow: number;
}

/** Counts the episodes in a row whose environment failed. Single failures pass; an environment that only fails ends the collector. */
export class FailureStreak {
  private numInARow = 0;

  constructor(private readonly options: FailureStreakOptions) {}

  /**
   * Takes note of an ended episode.
   *
   * @param failure why its environment failed; null when it did not
   * @throws CollectorError `ENVIRONMENT_FAILED`
   */
  add(failure: string | null): void {
    this.numInARow = failure === null ? 0 : this.numInARow + 1;
    const { environment, maxFailuresInARow } = this.options;
    if (this.numInARow < maxFailuresInARow) return;
    throw new CollectorError(
      'ENVIRONMENT_FAILED',
      `environment "${environment}" failed in ${maxFailuresInARow} episodes in a row (collection.maxFailuresInARow), last because ${failure}; ` +
        'mend it and start the run again, which continues after its last update',
    );
  }
}
