import type { WarningLog } from '@retrace/log';
import { CollectorError, type CollectorErrorCode } from '../collector-error.js';
import type { EpisodeFailure } from './episode-recorder.js';

interface FailureStreakOptions {
  readonly environment: string;
  /** Who warns (default the collector). */
  readonly source?: 'collector' | 'validator';
  readonly maxFailuresInARow: number;
  readonly warnings: Pick<WarningLog, 'raise'>;
}

const CODES: Readonly<Record<EpisodeFailure['of'], CollectorErrorCode>> = {
  environment: 'ENVIRONMENT_FAILED',
  model: 'MODEL_FAILED',
  agent: 'AGENT_FAILED',
};

/** Counts the episodes in a row that failed. Single failures are warnings; when all fail, the process ends. */
export class FailureStreak {
  private numInARow = 0;

  constructor(private readonly options: FailureStreakOptions) {}

  /**
   * Takes note of an ended episode.
   *
   * @param failure why it failed; null when it did not
   * @throws CollectorError `ENVIRONMENT_FAILED`, `MODEL_FAILED` or `AGENT_FAILED`, by the last failure
   */
  add(failure: EpisodeFailure | null, round: number): void {
    const { environment, source = 'collector', maxFailuresInARow, warnings } = this.options;
    if (failure === null) {
      this.numInARow = 0;
      return;
    }
    const { of, reason } = failure;
    const failed = of === 'environment' ? `environment "${environment}" failed` : `${of} failed`;
    warnings.raise({ source, step: round, message: `${failed}: ${reason}` });
    this.numInARow += 1;
    if (this.numInARow < maxFailuresInARow) return;
    throw new CollectorError(
      CODES[of],
      `${failed} in ${maxFailuresInARow} episodes in a row (collection.maxFailuresInARow), last because ${reason}; ` +
        'mend it and start the run again, which continues after its last update',
    );
  }
}
