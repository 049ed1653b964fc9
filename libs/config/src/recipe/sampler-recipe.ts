import { IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import {
  Advanced,
  IsLine,
  IsNameOr,
  IsNullable,
  IsNumberFrom,
  IsText,
  IsWholeNumberFrom,
} from './field-rules.js';
import { OnlyWhere } from './sibling-rules.js';

export const SAMPLER_RULES = ['fifo', 'newest', 'uniform', 'prioritized'] as const;
export const PRIORITIES = ['absoluteAdvantage', 'tdError'] as const;
export const ZERO_VARIANCE_RULES = ['keep', 'drop', 'resample'] as const;

const EXPONENT = { why: 'a larger one draws the same few groups only' };
const GROUPS = { unit: 'groups', why: 'an update holds its groups in memory' };

/** A priority that SQL computes once for each group. */
export class SqlPriorityRecipe {
  /** Expression over the columns of an episode that never change, such as `abs(return)` or `1 / num_steps`. A group has the mean over its episodes. */
  @IsText({ maxLength: 10_000 }) readonly sql!: string;
}

/** Favors groups of tasks by the success rate that their episodes had so far. */
export class CurriculumRecipe {
  /** Failure rate of the tasks to favor. @defaultValue 0.5 */
  @Advanced()
  @IsOptional()
  @IsNumberFrom(0, 1, { why: 'it is a fraction' })
  readonly targetDifficulty?: number;
  /** Weight of the tasks that are furthest from it, relative to 1. @defaultValue 0.1 */
  @Advanced()
  @IsOptional()
  @IsNumberFrom(0.000_001, 1, { why: 'no task is given up for good' })
  readonly leastWeight?: number;
  /** Dotted path of the task's field that names its family, whose episodes count together; by default each task counts by itself. */
  @IsOptional() @IsLine({ maxLength: 200 }) readonly family?: string;
}

/** Holds the ratio of samples to collected groups: inserts · samplesPerInsert − samples stays within the bounds, and the side that would leave them waits. */
export class LimiterRecipe {
  /** Times that a collected group is trained on, on average. */
  @IsNumberFrom(0.01, 1000, { why: 'a group is in one update at a time' }) readonly samplesPerInsert!: number;
  /** Least difference, in samples of groups. */
  @IsNumberFrom(-1e6, 1e6, GROUPS) readonly minDiff!: number;
  /** Largest difference, in samples of groups. */
  @IsNumberFrom(-1e6, 1e6, GROUPS) readonly maxDiff!: number;
}

/** Which groups of a source the next update is trained on. */
export class SamplerRecipe {
  /** The groups that came first (`fifo`) or last (`newest`), any (`uniform`), or by priority (`prioritized`). */
  @IsIn(SAMPLER_RULES) readonly rule!: (typeof SAMPLER_RULES)[number];
  /** For `prioritized`: the mean `absoluteAdvantage` or `tdError` of a group's tokens in the last update with it, or an expression. @defaultValue "absoluteAdvantage" */
  @IsOptional() @IsNameOr(() => SqlPriorityRecipe) readonly priority?: string | SqlPriorityRecipe;
  /** For `prioritized`: α, the exponent of the priority; 0 draws uniformly. @defaultValue 0.6 */
  @OnlyWhere('rule', ['prioritized'])
  @Advanced()
  @IsOptional()
  @IsNumberFrom(0, 10, EXPONENT)
  readonly priorityExponent?: number;
  /** For `prioritized`: β, the exponent of the weights π^−β that undo the preference; 1 undoes it, 0 leaves it. @defaultValue 0.4 */
  @OnlyWhere('rule', ['prioritized'])
  @Advanced()
  @IsOptional()
  @IsNumberFrom(0, 1, { why: 'at 1 the preference is undone' })
  readonly importanceExponent?: number;
  /** Updates that a group may be in. Null: one for groups collected for the run, any number for stored ones. @defaultValue null */
  @Advanced()
  @IsNullable()
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'updates', why: 'a run has hardly more' })
  readonly maxTimesSampled?: number | null;
  /** Groups whose rewards are all equal: they are trained (`keep`), left out (`drop`), or replaced by others (`resample`, as in DAPO). @defaultValue "keep" */
  @IsOptional() @IsIn(ZERO_VARIANCE_RULES) readonly zeroVariance?: (typeof ZERO_VARIANCE_RULES)[number];
  /** For `resample`: how often groups are replaced before the update is filled up with groups without variance. @defaultValue 10 */
  @OnlyWhere('zeroVariance', ['resample'])
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 10_000, { unit: 'tries', why: 'each reads and scores more episodes' })
  readonly maxResamplings?: number;
  /** Success rates to favor; for the rules `uniform` and `prioritized`. @defaultValue null */
  @OnlyWhere('rule', ['uniform', 'prioritized'], 'whose order leaves nothing to favor')
  @IsNullable()
  @ValidateNested()
  @Type(() => CurriculumRecipe)
  readonly curriculum?: CurriculumRecipe | null;
  /** Ratio of samples to collected groups; null leaves it to `collection.maxStaleness` and `maxTimesSampled`. @defaultValue null */
  @Advanced()
  @IsNullable()
  @ValidateNested()
  @Type(() => LimiterRecipe)
  readonly limiter?: LimiterRecipe | null;
}
