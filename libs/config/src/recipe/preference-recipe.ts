import { PREFERENCE_LOSSES, type PreferenceLossName } from '@retrace/algorithms';
import { IsBoolean, IsIn, IsOptional } from '@retrace/validation';
import { IsNumberFrom } from './field-rules.js';

/**
 * Updates by preference: each group whose returns differ gives a pair, its best episode against its worst. The reference is the first
 * policy after imitation. `advantage`, and the fields of `loss` but `entropyCoefficient`, are not read.
 */
export class PreferenceRecipe {
  /** `dpo` (direct preference optimization) or `ipo` (identity preference optimization). */
  @IsIn(PREFERENCE_LOSSES) readonly loss!: PreferenceLossName;
  /** β: how strongly the reference policy holds the current one. */
  @IsNumberFrom(0.0001, 100, { why: 'a smaller one forgets the reference, a larger one never leaves it' })
  readonly beta!: number;
  /** For `dpo`: share of the pairs that count as the wrong way round, where returns are noisy. @defaultValue 0 */
  @IsOptional()
  @IsNumberFrom(0, 0.49, { why: 'at a half a pair says nothing' })
  readonly labelSmoothing?: number;
  /** Whether log ratios are means over the action tokens of an episode, as TRL has it for `ipo`, and not sums. @defaultValue false */
  @IsOptional() @IsBoolean() readonly lengthNormalized?: boolean;
}
