import { Advanced, IsNullable, IsNumberFrom, IsWholeNumberFrom } from './field-rules.js';

const FRACTION = { why: 'it is a fraction' };
const UPDATES = { unit: 'updates', why: 'monitors look back over 64' };
const FACTOR = { why: 'below 1 it is always exceeded' };

/** Bounds of the monitors that watch each update of the policy; one that is broken raises a warning or an alarm. A bound of null turns its monitor off. */
export class MonitorsRecipe {
  /** Largest fraction of an update's episodes without a reward. @defaultValue 0.2 */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1, FRACTION) readonly missingRewardFraction?: number | null;
  /** Updates in a row in which all episodes have the same reward. @defaultValue 3 */
  @Advanced() @IsNullable() @IsWholeNumberFrom(1, 64, UPDATES) readonly equalRewardUpdates?: number | null;
  /** Least |Spearman's ρ| with the order of the last ten updates at which a rising reward and a falling success are reward hacking. @defaultValue 0.6 */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1, { why: 'it is a correlation' }) readonly hackingCorrelation?:
    | number
    | null;
  /**
   * Least entropy of a policy whose success does not rise while it has over half of its first failures, as a fraction of the mean of the first five updates, or
   * of the entropy of an even choice of the legal actions where that is less. @defaultValue 0.05
   */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1, FRACTION) readonly entropyFraction?: number | null;
  /** Largest fraction of groups with equal rewards, three updates in a row. @defaultValue 0.9 */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1, FRACTION) readonly zeroGradientFraction?: number | null;
  /** Largest fraction of tokens that the bounds of the ratio clip, three updates in a row. @defaultValue 0.4 */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1, FRACTION) readonly clippedFraction?: number | null;
  /** Largest mean number of action tokens of an episode, as a multiple of the first five updates'. @defaultValue 3 */
  @Advanced() @IsNullable() @IsNumberFrom(1, 1e6, FACTOR) readonly lengthFactor?: number | null;
  /** Largest gradient norm, as a multiple of the mean of the last twenty updates'. @defaultValue 10 */
  @Advanced() @IsNullable() @IsNumberFrom(1, 1e6, FACTOR) readonly gradientNormFactor?: number | null;
  /** Largest |ratio − 1| of tokens that the current policy sampled, between trainer and collector; with `engine.precision` `bfloat16` none unless it is given, as single tokens are off by rounding there. @defaultValue 0.00005 */
  @Advanced()
  @IsNullable()
  @IsNumberFrom(0, 1, { why: 'a larger one ends the run already' })
  readonly ratioDeviation?: number | null;
  /** Largest fraction of steps that repeat the step before. @defaultValue 0.5 */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1, FRACTION) readonly repeatedStepFraction?: number | null;
  /** Updates in a row before each of which groups were thrown away as too stale. @defaultValue 3 */
  @Advanced() @IsNullable() @IsWholeNumberFrom(1, 63, UPDATES) readonly tooStaleUpdates?: number | null;
  /** Largest time of reading a batch, as a multiple of the time of its update, three updates in a row. @defaultValue 2 */
  @Advanced()
  @IsNullable()
  @IsNumberFrom(0.01, 1e6, { why: 'a smaller one is always exceeded' })
  readonly readTimeFactor?: number | null;
}
