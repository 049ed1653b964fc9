import 'reflect-metadata';
import {
  AGGREGATIONS,
  IMPORTANCE_LEVELS,
  REJECTION_SCOPES,
  REJECTION_STATISTICS,
  type Aggregation,
  type ImportanceLevel,
} from '@retrace/algorithms';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsNotEmpty,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

/** Truncated weights π_proximal/π_behavior on the policy loss. */
export class ImportanceRecipe {
  /** `token`: each its own · `sequence`: their product · `geometric`: the geometric mean of the sequence. */
  @IsIn(IMPORTANCE_LEVELS) readonly level!: ImportanceLevel;
  /** Weights over it are held at it. */
  @IsNumber() readonly cap!: number;
  /** With a floor, weights outside [floor, cap] become 0 instead. */
  @IsOptional() @IsNumber() readonly floor?: number | null;
  /** Divide by the mean weight of the batch (default false). */
  @IsOptional() @IsBoolean() readonly normalize?: boolean;
}

/** Bounds on ρ = π_proximal/π_behavior; what is outside is not trained. */
export class RejectionRuleRecipe {
  /** `k1` bounds ρ itself from below and above; `k2` = ½ log²ρ and `k3` = ρ − 1 − log ρ have an upper bound alone. */
  @IsIn(REJECTION_STATISTICS) readonly statistic!: (typeof REJECTION_STATISTICS)[number];
  /** Whether single tokens are dropped, or whole sequences by sum, mean or maximum. */
  @IsIn(REJECTION_SCOPES) readonly scope!: (typeof REJECTION_SCOPES)[number];
  @IsOptional() @IsNumber() readonly low?: number;
  @IsNumber() readonly high!: number;
}

export class RolloutCorrectionRecipe {
  /**
   * The policy in the denominator of the update's ratio: `recomputed` (default), the policy at the start of the update, or `behavior`,
   * the recorded logprobs; importance weights need the former.
   */
  @IsOptional() @IsIn(['recomputed', 'behavior']) readonly proximal?: 'recomputed' | 'behavior';
  @IsOptional() @ValidateNested() @Type(() => ImportanceRecipe) readonly importance?: ImportanceRecipe | null;
  /** All of them must pass; absent or empty: nothing is rejected. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => RejectionRuleRecipe)
  readonly rejection?: readonly RejectionRuleRecipe[];
  /** One token with ρ below this drops its sequence; null or absent: no veto. */
  @IsOptional() @IsNumber() readonly vetoBelow?: number | null;
  /** Whether rejected tokens count in the denominators of the aggregation: `all` (default) do, `kept` is verl's way. */
  @IsOptional() @IsIn(['all', 'kept']) readonly denominator?: 'all' | 'kept';
}

/** β ← β(1 + clip(KL/target − 1, ±0.2)·episodes/horizon) after each update. */
export class AdaptiveKlRecipe {
  /** Mean KL from the reference policy to keep, nats per token. */
  @IsNumber() readonly target!: number;
  /** Number of episodes over which the coefficient may change by a fifth. */
  @IsNumber() readonly horizon!: number;
}

export class LossRecipe {
  /** Name of a policy loss of `@retrace/algorithms`. */
  @IsString() @IsNotEmpty() readonly policyLoss!: string;
  /** Its options; those left out take its defaults, or for `ppo` the three fields below. */
  @IsOptional() @IsObject() readonly policyLossOptions?: Readonly<Record<string, unknown>>;
  @IsNumber() @Min(0) @Max(1) readonly clipLow!: number;
  @IsNumber() @Min(0) @Max(10) readonly clipHigh!: number;
  /** Dual clip bound c > 1; null = off. */
  @IsOptional() @IsNumber() @Min(1) readonly dualClip!: number | null;
  @IsIn(AGGREGATIONS) readonly aggregation!: Aggregation;
  /** The fixed length, in tokens, that `sequenceMeanTokenSumNorm` divides by. */
  @IsOptional() @IsNumber() @Min(1) readonly horizon?: number | null;
  @IsNumber() @Min(0) readonly entropyCoefficient!: number;
  @IsNumber() @Min(0) readonly valueCoefficient!: number;
  @IsOptional() @IsNumber() @Min(0) readonly valueClip!: number | null;
  /** Weight of KL(current ‖ reference), the reference being the first policy after imitation; 0 = off. */
  @IsNumber() @Min(0) readonly klCoefficient!: number;
  /** Where the KL counts: in the `loss` of the current policy (default), or in the `reward`, with the policy before the update. */
  @IsOptional() @IsIn(['loss', 'reward']) readonly klIn?: 'loss' | 'reward';
  @IsIn(['k1', 'k2', 'k3', 'abs']) readonly klEstimator!: 'k1' | 'k2' | 'k3' | 'abs';
  /** Keeps the value of the estimator but gives it the gradient of `k2` (default false); for a KL in the loss. */
  @IsOptional() @IsBoolean() readonly klStraightThrough?: boolean;
  /** Steers `klCoefficient`, which is what it starts from; null or absent: it stays. */
  @IsOptional() @ValidateNested() @Type(() => AdaptiveKlRecipe) readonly adaptiveKl?: AdaptiveKlRecipe | null;
  /** Correction for tokens that other policies than the one being trained sampled; null or absent: only that of the loss itself. */
  @IsOptional()
  @ValidateNested()
  @Type(() => RolloutCorrectionRecipe)
  readonly rolloutCorrection?: RolloutCorrectionRecipe | null;
}
