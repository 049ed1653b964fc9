import type { WarningLog } from '@retrace/log';
import { CollectorError } from '../collector-error.js';

interface FailureStreakOptions {
  readonly environment: string;
  readonly maxFailuresInARow: number;
  readonly warnings: Pick<WarningLog, 'raise'>;
}

/** Counts the episodes in a row whose environment failed. Single failures are warnings; an environment that only fails ends the collector. */
export class FailureStreak {
  private numInARow = 0;

  constructor(private readonly options: FailureStreakOptions) {}

  /**
   * Takes note of an ended episode.
   *
   * @param failure why its environment failed; null when it did not
   * @throws CollectorError `ENVIRONMENT_FAILED`
   */
  add(failure: string | null, round: number): void {
    const { environment, maxFailuresInARow, warnings } = this.options;
    if (failure === null) {
      this.numInARow = 0;
      return;
    }
    warnings.raise({
      source: 'collector',
      step: round,
      message: `environment "${environment}" failed: ${failure}`,
    });
    this.numInARow += 1;
    if (this.numInARow < maxFailuresInARow) return;
    throw new CollectorError(
      'ENVIRONMENT_FAILED',
      `environment "${environment}" failed in ${maxFailuresInARow} episodes in a row (collection.maxFailuresInARow), last because ${failure}; ` +
        'mend it and start the run again, which continues after its last update',
    );
  }
}
