import {
  AGGREGATIONS,
  IMPORTANCE_LEVELS,
  PROXIMAL_POLICIES,
  REJECTION_SCOPES,
  REJECTION_STATISTICS,
  type Aggregation,
  type ImportanceLevel,
  type ProximalPolicy,
} from '@retrace/algorithms';
import { IsBoolean, IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsList, IsName, IsNullable, IsNumberFrom, IsOptions } from './field-rules.js';

const TERM = { why: 'a larger one outweighs the loss of the policy' };
const RATIO = { why: 'one ratio beyond it outweighs a whole batch' };

/** Importance weights ρ = π_proximal/π_behavior on the policy loss, limited by a cap. */
export class ImportanceRecipe {
  /** Whose ρ weighs a token: its own (`token`), the product over its `sequence`, or the geometric mean of it (`geometric`). */
  @IsIn(IMPORTANCE_LEVELS) readonly level!: ImportanceLevel;
  /** Largest weight; larger ones are lowered to it. */
  @IsNumberFrom(0, 1e6, RATIO) readonly cap!: number;
  /** With a floor, weights outside [floor, cap] become 0 instead. @defaultValue null */
  @Advanced() @IsNullable() @IsNumberFrom(0, 1e6, RATIO) readonly floor?: number | null;
  /** Whether weights are divided by their mean over the batch. @defaultValue false */
  @Advanced() @IsOptional() @IsBoolean() readonly normalize?: boolean;
}

/** Bounds on ρ = π_proximal/π_behavior; tokens or sequences outside them are not trained. */
export class RejectionRuleRecipe {
  /** `k1` bounds ρ itself from below and above; `k2` = ½ log²ρ and `k3` = ρ − 1 − log ρ have only an upper bound. */
  @IsIn(REJECTION_STATISTICS) readonly statistic!: (typeof REJECTION_STATISTICS)[number];
  /** Whether single tokens are dropped, or whole sequences by sum, mean or maximum. */
  @IsIn(REJECTION_SCOPES) readonly scope!: (typeof REJECTION_SCOPES)[number];
  /** Lower bound, for `k1` only; without one, `k1` has only the upper bound. @defaultValue null */
  @IsNullable() @IsNumberFrom(0, 1e6, RATIO) readonly low?: number | null;
  /** Upper bound. */
  @IsNumberFrom(0, 1e6, RATIO) readonly high!: number;
}

/** Correction for tokens that another policy sampled than the one being trained. */
export class RolloutCorrectionRecipe {
  /**
   * Policy that the ratio of the loss is taken against: the one at the start of the update (`recomputed`, or without a forward pass
   * `interpolated` between the recorded logprobs and the current ones), or the one that sampled, by its recorded logprobs (`behavior`).
   * Importance weights need `recomputed`; with `interpolated` there are neither weights nor rejections. @defaultValue "recomputed"
   */
  @IsOptional() @IsIn(PROXIMAL_POLICIES) readonly proximal?: ProximalPolicy;
  /** Importance weights; null is none. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => ImportanceRecipe) readonly importance?: ImportanceRecipe | null;
  /** Rules that a token must all pass to be trained. @defaultValue [] */
  @IsOptional()
  @IsList(0, 16)
  @ValidateNested({ each: true })
  @Type(() => RejectionRuleRecipe)
  readonly rejection?: readonly RejectionRuleRecipe[];
  /** A sequence with one token whose ρ is below this is not trained; null is off. @defaultValue null */
  @Advanced()
  @IsNullable()
  @IsNumberFrom(0, 1, { why: 'above 1 it drops what is on policy' })
  readonly vetoBelow?: number | null;
  /** Tokens in the denominators of the aggregation: `all`, or only those `kept` by the rules, as in verl. @defaultValue "all" */
  @Advanced() @IsOptional() @IsIn(['all', 'kept']) readonly denominator?: 'all' | 'kept';
}

/** Controller of the KL coefficient: β ← β(1 + clip(KL/target − 1, ±0.2)·episodes/horizon) after each update. */
export class AdaptiveKlRecipe {
  /** Mean KL from the reference policy to aim at, in nats per token. */
  @IsNumberFrom(0, 100, { unit: 'nats', why: 'a policy that far away has nothing of the reference' })
  readonly target!: number;
  /** Number of episodes over which the coefficient may change by a fifth. */
  @IsNumberFrom(0, 1e9, { unit: 'episodes', why: 'a longer one never changes the coefficient' })
  readonly horizon!: number;
}

/** KL(current ‖ reference), the reference being the first policy after imitation: its weight, where it counts, and how it is estimated. */
export class KlRecipe {
  /** Weight of the KL; 0 is off. @defaultValue 0 */
  @IsNumberFrom(0, 100, TERM) readonly coefficient: number = 0;
  /** Where the KL counts: in the `loss`, for the current policy, or in the `reward`, for the policy before the update. @defaultValue "loss" */
  @IsOptional() @IsIn(['loss', 'reward']) readonly in?: 'loss' | 'reward';
  /** Estimator of the KL from logprobs of sampled tokens. @defaultValue "k3" */
  @IsIn(['k1', 'k2', 'k3', 'abs']) readonly estimator: 'k1' | 'k2' | 'k3' | 'abs' = 'k3';
  /** Controller that starts from `coefficient` and adapts it; null keeps it constant. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => AdaptiveKlRecipe) readonly adaptive?: AdaptiveKlRecipe | null;
  /** Whether the estimator keeps its value but takes the gradient of `k2`; for a KL in the loss. @defaultValue false */
  @Advanced() @IsOptional() @IsBoolean() readonly straightThrough?: boolean;
  /**
   * Whether the KL of each token is multiplied by π_current/π_proximal, with its gradient, so that its estimate is unbiased for a policy
   * that has moved since (DeepSeek-V3.2); for a KL in the loss. @defaultValue false
   */
  @Advanced() @IsOptional() @IsBoolean() readonly biasCorrection?: boolean;
}

/**
 * Floor under the entropy of the policy (Skywork-OR1, arXiv:2505.22312): after each update the weight of the entropy bonus rises by `change` where the
 * measured entropy was below `target`, and falls by it where it was above. The bonus counts only in updates after an entropy at or below the target.
 */
export class EntropyFloorRecipe {
  /** Mean entropy of the action tokens to stay above, in nats. */
  @IsNumberFrom(0, 100, { unit: 'nats', why: 'no vocabulary has more' }) readonly target!: number;
  /** Change of the bonus's weight after an update. */
  @IsNumberFrom(1e-9, 1, TERM) readonly change!: number;
  /** Largest weight of the bonus. @defaultValue 1 */
  @Advanced() @IsOptional() @IsNumberFrom(0, 10, TERM) readonly maxCoefficient?: number;
}

/** The loss: policy, entropy, value and KL terms. */
export class LossRecipe {
  /** Name of a policy loss. @defaultValue "ppo" */
  @IsName() readonly policyLoss: string = 'ppo';
  /** Options of the policy loss; those left out take its defaults, or for `ppo` the values of `clipLow`, `clipHigh` and `dualClip`. @defaultValue {} */
  @IsOptional() @IsOptions() readonly policyLossOptions?: Readonly<Record<string, unknown>>;
  /** For `ppo`: the ratio is clipped below at 1 − clipLow. @defaultValue 0.2 */
  @IsNumberFrom(0, 1, { why: 'a ratio is never below 0' }) readonly clipLow: number = 0.2;
  /** For `ppo`: the ratio is clipped above at 1 + clipHigh. @defaultValue 0.2 */
  @IsNumberFrom(0, 10, { why: 'a larger bound clips nothing' }) readonly clipHigh: number = 0.2;
  /** For `ppo`: dual clip bound c > 1 for negative advantages; null is off. @defaultValue null */
  @IsNullable()
  @IsNumberFrom(1, 1000, { why: 'below 1 it is clipped already; a larger bound clips nothing' })
  readonly dualClip?: number | null;
  /** How the losses of tokens become one number. @defaultValue "tokenMean" */
  @IsIn(AGGREGATIONS) readonly aggregation: Aggregation = 'tokenMean';
  /** Fixed length, in tokens, that `sequenceMeanTokenSumNorm` divides by; it needs one. @defaultValue null */
  @IsNullable()
  @IsNumberFrom(1, 10_000_000, { unit: 'tokens', why: 'it is the length of a sequence' })
  readonly horizon?: number | null;
  /**
   * Share of the trained tokens that get a policy gradient: those with the highest entropy at the start of the update. The others still count
   * in denominators and statistics. Null is all of them. @defaultValue null
   */
  @IsNullable()
  @IsNumberFrom(0.001, 1, { why: 'it is a fraction, and at 0 nothing is trained' })
  readonly topEntropyFraction?: number | null;
  /**
   * Whether truncated episodes, which a limit of turns or tokens cut, stay out of the loss and its denominators: overlong filtering (DAPO; TRL's
   * `mask_truncated_completions`). The advantages of the others still compare with their returns. @defaultValue false
   */
  @IsOptional() @IsBoolean() readonly maskTruncated?: boolean;
  /** Weight of the entropy bonus. @defaultValue 0 */
  @IsNumberFrom(0, 10, TERM) readonly entropyCoefficient: number = 0;
  /** Controller that starts from `entropyCoefficient` and adapts it; null keeps it constant. @defaultValue null */
  @IsNullable()
  @ValidateNested()
  @Type(() => EntropyFloorRecipe)
  readonly entropyFloor?: EntropyFloorRecipe | null;
  /** Weight of the critic's loss; 0 is no critic. @defaultValue 0 */
  @IsNumberFrom(0, 100, TERM) readonly valueCoefficient: number = 0;
  /** Largest change of a value within an update that the critic's loss rewards; null is no clipping. @defaultValue null */
  @IsNullable() @IsNumberFrom(0, 1e6, { why: 'a larger bound clips nothing' }) readonly valueClip?:
    | number
    | null;
  /** KL from a reference policy; null is none. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => KlRecipe) readonly kl?: KlRecipe | null;
  /**
   * Decay d of a moving reference for the KL term and for preferences: after each update it is d · reference + (1 − d) · policy, by weights. It
   * begins at the first policy after imitation; null keeps that one for good. @defaultValue null
   */
  @IsNullable()
  @IsNumberFrom(0, 1, { why: 'at 1 the reference stays, at 0 it is the policy before the update' })
  readonly referenceDecay?: number | null;
  /** Correction for tokens that other policies sampled; null leaves it to the loss. @defaultValue null */
  @IsNullable()
  @ValidateNested()
  @Type(() => RolloutCorrectionRecipe)
  readonly rolloutCorrection?: RolloutCorrectionRecipe | null;
}

/** Weight of the KL from which a run starts; 0 without a KL. */
export function initialKlCoefficient({ kl }: Pick<LossRecipe, 'kl'>): number {
  return kl?.coefficient ?? 0;
}
