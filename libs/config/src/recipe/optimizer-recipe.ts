import { IsBoolean, IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsNullable, IsNumberFrom, IsWholeNumberFrom } from './field-rules.js';
import { MAX_UPDATES, UPDATES } from './update-counts.js';

const FRACTION = { why: 'it is a fraction' };
const LEARNING_RATE_SCHEDULES = ['linear', 'cosine', 'constant'] as const;
type LearningRateSchedule = (typeof LEARNING_RATE_SCHEDULES)[number];

/** Rules for optimizer steps that would harm the policy. Their state is recorded with each commit, so a resume and a replay decide the same. */
export class StepGuardRecipe {
  /**
   * Approximate KL(proximal ‖ current) of a mini-batch, the mean of ρ − 1 − log ρ in nats, above which its step and the update's remaining ones
   * are not made; null makes them all. @defaultValue null
   */
  @IsNullable()
  @IsNumberFrom(1e-6, 100, { unit: 'nats', why: 'a policy that far away has left the data of the update' })
  readonly maxApproximateKl?: number | null;
  /** Whether a step with a loss or gradient that is not finite is skipped and recorded; without this it ends the run. @defaultValue false */
  @IsOptional() @IsBoolean() readonly skipNonFinite?: boolean;
  /** A step is skipped whose gradient norm is above this multiple of the running mean of the norms, once 20 steps were made; null is off. @defaultValue null */
  @IsNullable()
  @IsNumberFrom(1.1, 1e6, { why: 'about half of all norms are above their mean' })
  readonly spikeFactor?: number | null;
  /** Number of steps in a row that may be skipped before the run ends with an error. @defaultValue 10 */
  @IsOptional()
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'steps', why: 'a run that skips them all learns nothing' })
  readonly maxSkippedInARow?: number;
}

/**
 * Passes of a critic of its own over the batch, apart from those of the policy and before them, as in verl; what is left out is as for the policy. It needs
 * `valueTrunk` own and `criticLearningRate`.
 */
export class CriticOptimizerRecipe {
  /** Number of updates, after imitation, that train only the critic; the policy stays as it is. @defaultValue 0 */
  @IsOptional()
  @IsWholeNumberFrom(0, MAX_UPDATES, UPDATES)
  readonly numWarmupUpdates?: number;
  /** Number of times that an update goes over its batch for the critic; null: as often as for the policy. @defaultValue null */
  @IsNullable()
  @IsWholeNumberFrom(1, 64, { unit: 'passes', why: 'more only fit the noise of one batch' })
  readonly epochs?: number | null;
  /** Action tokens in a mini-batch of the critic; null cuts as for the policy. @defaultValue null */
  @IsNullable()
  @IsWholeNumberFrom(1, 100_000_000, { unit: 'tokens', why: 'a round has no more' })
  readonly miniBatchActionTokens?: number | null;
  /** Sequences in a mini-batch of the critic, in place of `miniBatchActionTokens`; null cuts as for the policy. @defaultValue null */
  @IsNullable()
  @IsWholeNumberFrom(1, 10_000_000, { unit: 'sequences', why: 'a round has no more' })
  readonly miniBatchSequences?: number | null;
  /** Largest norm of the critic's gradients; null: as for the policy. @defaultValue null */
  @IsNullable()
  @IsNumberFrom(1e-9, 1e9, { why: 'at 0 nothing is learned; above, nothing is scaled down' })
  readonly maxGradientNorm?: number | null;
}

/** AdamW, its schedule, and how a batch is cut into optimizer steps. */
export class OptimizerRecipe {
  /** Learning rate at its peak. */
  @IsNumberFrom(0, 1, { why: 'a step of 1 changes every weight by more than its size' })
  readonly learningRate!: number;
  /** Learning rate of the critic at its peak: of its value head, and of its own trunk where it has one (`valueTrunk`). Its gradients are then scaled down to `maxGradientNorm` by themselves, as with an optimizer of its own. Null: as the policy's. @defaultValue null */
  @IsNullable()
  @IsNumberFrom(0, 1, { why: 'a step of 1 changes every weight by more than its size' })
  readonly criticLearningRate?: number | null;
  /** Optimizer steps of the critic apart from the policy's; null makes them together. @defaultValue null */
  @Advanced()
  @IsNullable()
  @ValidateNested()
  @Type(() => CriticOptimizerRecipe)
  readonly critic?: CriticOptimizerRecipe | null;
  /** Decay of the mean of the gradients. @defaultValue 0.9 */
  @IsNumberFrom(0, 0.9999, { why: 'at 1 the mean never moves' }) readonly beta1: number = 0.9;
  /** Decay of the mean of the squared gradients. @defaultValue 0.999 */
  @IsNumberFrom(0, 0.999999, { why: 'at 1 the mean never moves' }) readonly beta2: number = 0.999;
  /** Added to the root of the squared gradients' mean. @defaultValue 1e-8 */
  @Advanced()
  @IsNumberFrom(1e-12, 1, { why: 'at 0 a weight without a gradient becomes 0/0' })
  readonly epsilon: number = 1e-8;
  /** Decoupled weight decay, times the learning rate. @defaultValue 0 */
  @IsNumberFrom(0, 1, { why: 'a step at a learning rate of 1 then removes the whole weight' })
  readonly weightDecay: number = 0;
  /** Largest norm of all gradients together; larger ones are scaled down to it. @defaultValue 1 */
  @IsNumberFrom(1e-9, 1e9, { why: 'at 0 nothing is learned; above, nothing is scaled down' })
  readonly maxGradientNorm: number = 1;
  /** How the learning rate falls after `decayStartFraction`: along a line (`linear`), along half a `cosine`, or not at all (`constant`). @defaultValue "linear" */
  @IsOptional() @IsIn(LEARNING_RATE_SCHEDULES) readonly schedule?: LearningRateSchedule;
  /** Fraction of the updates over which the learning rate rises linearly from 0. @defaultValue 0 */
  @IsNumberFrom(0, 1, FRACTION) readonly warmupFraction: number = 0;
  /** Fraction of the updates after which the learning rate falls; at least `warmupFraction`. With 1 it stays at its peak. @defaultValue 1 */
  @IsNumberFrom(0, 1, FRACTION) readonly decayStartFraction: number = 1;
  /** Learning rate at the last update, as a fraction of the peak. @defaultValue 1 */
  @IsNumberFrom(0, 1, FRACTION) readonly finalFraction: number = 1;
  /** Number of times that an update goes over its batch. @defaultValue 1 */
  @IsWholeNumberFrom(1, 64, { unit: 'passes', why: 'more only repeat what the bounds of the ratio stop' })
  readonly epochs: number = 1;
  /** Action tokens in a mini-batch, which is one optimizer step; without it and `miniBatchSequences`, the whole batch is one. */
  @IsOptional()
  @IsWholeNumberFrom(1, 100_000_000, { unit: 'tokens', why: 'a round has no more' })
  readonly miniBatchActionTokens?: number;
  /** Sequences in a mini-batch, in place of `miniBatchActionTokens`; an episode has one or more. Null: by action tokens. @defaultValue null */
  @IsNullable()
  @IsWholeNumberFrom(1, 10_000_000, { unit: 'sequences', why: 'a round has no more' })
  readonly miniBatchSequences?: number | null;
  /** Most tokens in one forward pass; changes memory, never the result. @defaultValue 16384 */
  @Advanced()
  @IsWholeNumberFrom(1, 10_000_000, { unit: 'tokens', why: 'a pass is held in memory' })
  readonly maxTokensPerMicroBatch: number = 16_384;
  /** Whether layers are computed again for the gradient instead of keeping their activations: less memory, more time, the same result. @defaultValue false */
  @Advanced() @IsOptional() @IsBoolean() readonly recomputeLayers?: boolean;
  /** Processes on one machine that share each optimizer step, each on a GPU of its own where there are several. The gradients are summed in another order for each number, so results differ by rounding. @defaultValue 1 */
  @IsOptional()
  @IsWholeNumberFrom(1, 64, { unit: 'processes', why: 'they run on one machine' })
  readonly dataParallel?: number;
  /** Which optimizer steps are not made; null makes them all. @defaultValue null */
  @Advanced()
  @IsNullable()
  @ValidateNested()
  @Type(() => StepGuardRecipe)
  readonly guard?: StepGuardRecipe | null;
}
