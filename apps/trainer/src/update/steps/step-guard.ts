import type { StepGuardRecipe } from '@retrace/config';
import { TrainerError } from '../../trainer-error.js';

/** State of a guard between updates. */
export interface StepGuardState {
  /** Running mean of the norms of the steps that were made; 0 before the first. */
  readonly meanGradientNorm: number;
  /** Steps that were made, in all updates. */
  readonly numSteps: number;
  readonly numSkippedInARow: number;
}

/** Where a step is in its update. */
interface StepPlace {
  readonly epoch: number;
  /** From 0, within the epoch. */
  readonly miniBatch: number;
}

export const NEW_GUARD: StepGuardState = { meanGradientNorm: 0, numSteps: 0, numSkippedInARow: 0 };

/** Number of steps after which the running mean of norms is reliable enough to recognize a spike. */
const STEPS_BEFORE_SPIKES = 20;
/** Weight of the past in the running mean: it looks back over about a hundred steps. */
const NORM_DECAY = 0.99;
const DEFAULT_MAX_SKIPPED = 10;

/** Decides which optimizer steps of an update are made, and counts the others (`optimizer.guard`). */
export class StepGuard {
  private meanGradientNorm: number;
  private numSteps: number;
  private numSkippedInARow: number;
  private readonly reasons: string[] = [];
  private stopReason: string | null = null;

  constructor(
    private readonly rules: StepGuardRecipe,
    before: StepGuardState,
  ) {
    this.meanGradientNorm = before.meanGradientNorm;
    this.numSteps = before.numSteps;
    this.numSkippedInARow = before.numSkippedInARow;
  }

  get state(): StepGuardState {
    const { meanGradientNorm, numSteps, numSkippedInARow } = this;
    return { meanGradientNorm, numSteps, numSkippedInARow };
  }

  get numSkipped(): number {
    return this.reasons.length;
  }

  get skipsNonFinite(): boolean {
    return this.rules.skipNonFinite ?? false;
  }

  /** Largest norm of a step that is made; undefined where none is too large. With a limit, a norm that is not finite is skipped too. */
  get normLimit(): number | undefined {
    const { spikeFactor } = this.rules;
    if (typeof spikeFactor === 'number' && this.numSteps >= STEPS_BEFORE_SPIKES)
      return spikeFactor * this.meanGradientNorm;
    return this.finiteLimit;
  }

  /** The limit under which only a norm that is not finite is too large. */
  get finiteLimit(): number | undefined {
    return this.skipsNonFinite ? Number.MAX_VALUE : undefined;
  }

  /** Whether the update ends before a step with this approximate KL. */
  stopsAt(approximateKl: number, { epoch, miniBatch }: StepPlace): boolean {
    const { maxApproximateKl } = this.rules;
    if (typeof maxApproximateKl !== 'number' || !(approximateKl > maxApproximateKl)) return false;
    this.stopReason = `the update stopped at epoch ${epoch}, mini-batch ${miniBatch}: the approximate KL ${approximateKl.toPrecision(3)} is over ${maxApproximateKl}`;
    return true;
  }

  get isStopped(): boolean {
    return this.stopReason !== null;
  }

  recordStep(gradientNorm: number): void {
    this.meanGradientNorm =
      this.numSteps === 0
        ? gradientNorm
        : NORM_DECAY * this.meanGradientNorm + (1 - NORM_DECAY) * gradientNorm;
    this.numSteps += 1;
    this.numSkippedInARow = 0;
  }

  /** @throws TrainerError `STEPS_SKIPPED` when too many were skipped in a row */
  recordSkipped(reason: string, { epoch, miniBatch }: StepPlace): void {
    this.numSkippedInARow += 1;
    this.reasons.push(`${reason} (epoch ${epoch}, mini-batch ${miniBatch})`);
    const limit = this.rules.maxSkippedInARow ?? DEFAULT_MAX_SKIPPED;
    if (this.numSkippedInARow <= limit) return;
    throw new TrainerError(
      'STEPS_SKIPPED',
      `${this.numSkippedInARow} optimizer steps in a row were skipped, optimizer.guard.maxSkippedInARow allows ${limit}; the last because ${reason}`,
    );
  }

  /** A sentence for the user on each kind of step that was not made. */
  get warnings(): readonly string[] {
    const [first] = this.reasons;
    const skipped =
      this.reasons.length === 0
        ? []
        : [`${this.reasons.length} optimizer steps were skipped, the first because ${first}`];
    return [...skipped, ...(this.stopReason === null ? [] : [this.stopReason])];
  }
}
