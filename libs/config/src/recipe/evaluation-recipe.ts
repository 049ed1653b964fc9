import { IsBoolean, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { MAX_TEMPERATURE, MIN_TEMPERATURE } from './choices.js';
import { Advanced, IsList, IsNullable, IsNumberFrom, IsWholeNumberFrom } from './field-rules.js';
import { MAX_UPDATES, UPDATES } from './update-counts.js';

/** Ends training early where the validated success has stopped growing. */
export class EarlyStopRecipe {
  /** Validations in a row without a gain, after which training ends. */
  @IsWholeNumberFrom(1, 10_000, { unit: 'validations', why: 'a run has hardly more' })
  readonly patience!: number;
  /** Least rise of the success rate over the best so far that counts as a gain. @defaultValue 0 */
  @IsOptional() @IsNumberFrom(0, 1, { why: 'it is a difference of rates' }) readonly minGain?: number;
}

/** Episodes that measure the policy and are never trained on. A process of its own plays them, beside training. */
export class EvaluationRecipe {
  /** Validation runs after every so many updates and after the last; 0 is never. @defaultValue 10 */
  @IsWholeNumberFrom(0, MAX_UPDATES, UPDATES) readonly everyUpdates: number = 10;
  /** Whether the first policy is validated too, before any update. @defaultValue true */
  @Advanced() @IsOptional() @IsBoolean() readonly beforeTraining?: boolean;
  /** Tasks of a validation, of the validation split. @defaultValue 200 */
  @IsWholeNumberFrom(0, 100_000, { unit: 'episodes', why: 'the standard error of so many is below 0.2 %' })
  readonly numValidationEpisodes: number = 200;
  /** Tasks of the test split, played after the last update; with `earlyStop` by the policy with the best validation. @defaultValue 1000 */
  @IsWholeNumberFrom(0, 100_000, { unit: 'episodes', why: 'the standard error of so many is below 0.2 %' })
  readonly numTestEpisodes: number = 1000;
  /** Whether each task is played once with the likeliest tokens. That success rate is then the one of `keepBest`, `earlyStop` and `targets`. @defaultValue true */
  @IsOptional() @IsBoolean() readonly greedy?: boolean;
  /** Sampled episodes of each task, for pass@k. @defaultValue 0 */
  @IsOptional()
  @IsWholeNumberFrom(0, 1024, { unit: 'episodes', why: 'they are played at the same time' })
  readonly samplesPerTask?: number;
  /** Temperature of the sampled episodes; null is that of `collection`. @defaultValue null */
  @IsNullable()
  @IsNumberFrom(MIN_TEMPERATURE, MAX_TEMPERATURE, { why: 'below, sampling is greedy; above, it is uniform' })
  readonly temperature?: number | null;
  /** Ends training early; null trains all updates. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => EarlyStopRecipe) readonly earlyStop?: EarlyStopRecipe | null;
  /** Success rates of which the metrics `validation/updatesTo…` and `validation/secondsTo…` say when a validation first reached them. @defaultValue [0.5, 0.9] */
  @Advanced()
  @IsOptional()
  @IsList(0, 16)
  @IsNumberFrom(0, 1, { why: 'it is a rate', each: true })
  readonly targets?: readonly number[];
}
