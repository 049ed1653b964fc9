import { RESAMPLING_RULES, type ResamplingRule } from '@retrace/algorithms';
import { ALLOCATION_RULES, type AllocationRule } from '@retrace/rewards';
import { IsBoolean, IsIn, IsOptional, Type, ValidateNested, plainToInstance } from '@retrace/validation';
import { Advanced, IsLine, IsList, IsName, IsNullable, IsNumberFrom, IsOptions } from './field-rules.js';

/** One part of the reward. It names either a built-in component (`reward`) or a file (`module`). */
export class RewardComponentRecipe {
  /** Name of a built-in component. */
  @IsOptional() @IsName() readonly reward?: string;
  /** Path of your own file whose default export is a component; relative to the recipe file. */
  @IsOptional() @IsLine({ maxLength: 4096 }) readonly module?: string;
  /** Name in the breakdown of the reward; without one, the component's own name. */
  @IsOptional() @IsName() readonly name?: string;
  /** Factor of this component in the total. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(-1e6, 1e6, { why: 'beside a larger part of the total, float32 loses the others' })
  readonly weight?: number;
  /** Options of the component; those left out take its defaults. @defaultValue {} */
  @IsOptional() @IsOptions() readonly options?: Readonly<Record<string, unknown>>;
  /** Whether the option `until` of component `assigned` was left out, and filled in by `retrace train`. @defaultValue false */
  @Advanced() @IsOptional() @IsBoolean() readonly isUntilFilledIn?: boolean;
  /** Data sources whose episodes this component scores; without it, those of every source. */
  @IsOptional() @IsList(1, 1000) @IsLine({ maxLength: 200, each: true }) readonly sources?: readonly string[];
}

/** The reward that the environment itself pays. */
const ENVIRONMENT_REWARD = plainToInstance(RewardComponentRecipe, { reward: 'environment' });

/** The reward of an episode, and how it reaches its tokens. */
export class RewardRecipe {
  /** Parts of the reward; the total is their weighted sum. @defaultValue [{ "reward": "environment" }] */
  @IsList(1, 100)
  @ValidateNested({ each: true })
  @Type(() => RewardComponentRecipe)
  readonly components: readonly RewardComponentRecipe[] = [ENVIRONMENT_REWARD];
  /** How rewards reach tokens: `perStep` leaves each on the last token of its step, the others spread the reward of the whole episode. @defaultValue "perStep" */
  @IsIn(ALLOCATION_RULES) readonly allocation: AllocationRule = 'perStep';
  /** Discount per action token of the rules `discounted` and `discountedLegacy`. @defaultValue 1 */
  @IsNumberFrom(0, 1, { why: 'a larger discount grows with the length' }) readonly allocationGamma: number =
    1;
  /** Dotted path of the task's field that names its data source; where a task lacks it, the environment is the source. @defaultValue "data_source" */
  @Advanced() @IsOptional() @IsLine({ maxLength: 200 }) readonly sourceField?: string;
  /** An episode whose source no component names is a `fault`, or is scored by the components without `sources` (`common`). @defaultValue "fault" */
  @Advanced() @IsOptional() @IsIn(['fault', 'common']) readonly unlistedSource?: 'fault' | 'common';
}

/** Draws the episodes that an update trains from themselves, with replacement, by their returns (PF-PPO). */
export class ResamplingRecipe {
  /** Weight of an episode: |return|^power (`power`), 1 for the largest and the smallest return of the update and 0 for the others (`extremes`), or 0.4 for the largest and 0.1 for the others (`best`). */
  @IsIn(RESAMPLING_RULES) readonly rule!: ResamplingRule;
  /** Exponent of the rule `power`. @defaultValue 2 */
  @IsOptional()
  @IsNumberFrom(0.01, 100, { why: 'a larger one trains a single episode' })
  readonly power?: number;
}

/** How rewards become advantages. */
export class AdvantageRecipe {
  /** Name of an advantage estimator. */
  @IsName() readonly estimator!: string;
  /** The estimator's options; those left out take its defaults. @defaultValue {} */
  @IsOptions() readonly options: Readonly<Record<string, unknown>> = {};
  /** Least similarity, 2·LCS/(sum of both lengths), at which two anchors of a group count as one state for GiGPO. @defaultValue 1 */
  @Advanced()
  @IsOptional()
  @IsNumberFrom(0.01, 1, { why: 'it is a fraction, and at 0 all states are one' })
  readonly anchorSimilarity?: number;
  /**
   * Whether the value after a cut is what a critic says of the final observation (`true`), or 0 (`false`), as in verl, which takes an episode that was cut
   * for one that ended. For estimators with a critic. @defaultValue true
   */
  @Advanced() @IsOptional() @IsBoolean() readonly bootstrapTruncated?: boolean;
  /** How often each episode is trained, drawn after the advantages are known; null is once. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => ResamplingRecipe) readonly resampling?: ResamplingRecipe | null;
  /** Permutes the advantages within the batch: a control experiment, which must stop all learning. @defaultValue false */
  @Advanced() @IsOptional() @IsBoolean() readonly shuffle?: boolean;
}
