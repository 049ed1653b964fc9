import type { WarningLog } from '@retrace/log';
import { CollectorError, type CollectorErrorCode } from '../collector-error.js';
import type { EpisodeFailure } from '../turn/turn.js';

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
  private numEnded = 0;
  private numFailed = 0;
  private last: EpisodeFailure | null = null;

  constructor(private readonly options: FailureStreakOptions) {}

  /**
   * Counts an ended episode.
   *
   * @param failure why it failed; null when it did not
   * @throws CollectorError `ENVIRONMENT_FAILED`, `MODEL_FAILED` or `AGENT_FAILED`, by the last failure
   */
  add(failure: EpisodeFailure | null, round: number): void {
    const { source = 'collector', maxFailuresInARow, warnings } = this.options;
    this.numEnded += 1;
    if (failure === null) {
      this.numInARow = 0;
      return;
    }
    const { of, reason } = failure;
    const failed = this.describe(of);
    this.numFailed += 1;
    this.last = failure;
    warnings.raise({ source, step: round, message: `${failed}: ${reason}` });
    this.numInARow += 1;
    if (this.numInARow < maxFailuresInARow) return;
    throw new CollectorError(
      CODES[of],
      `${failed} in ${maxFailuresInARow} episodes in a row (collection.maxFailuresInARow), last because ${reason}; ` +
        'mend it and start the run again, which continues after its last update',
    );
  }

  /**
   * Checks at the end of all episodes, however few they were.
   *
   * @throws CollectorError as `add`, where there were episodes and all of them failed
   */
  requireEpisodes(): void {
    const { numEnded, numFailed, last } = this;
    if (last === null || numFailed < numEnded) return;
    throw new CollectorError(
      CODES[last.of],
      `${this.describe(last.of)} in all ${numEnded} episodes, last because ${last.reason}; mend it and collect again`,
    );
  }

  private describe(of: EpisodeFailure['of']): string {
    return of === 'environment' ? `environment "${this.options.environment}" failed` : `${of} failed`;
  }
}
