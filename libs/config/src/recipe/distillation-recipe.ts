import { IsBoolean, IsDefined, IsOptional, Matches, Type, ValidateNested } from '@retrace/validation';
import { IsLine, IsNumberFrom } from './field-rules.js';
import { InitRecipe } from './init-recipe.js';

/** The policy that teaches: a version that a run published, or a model directory. It reads the tokens of the policy that learns. */
export class TeacherRecipe {
  /** A policy of a run, whose model may have another shape. A teacher is either this or `model`. @defaultValue null */
  @IsOptional() @ValidateNested() @Type(() => InitRecipe) readonly policy?: InitRecipe | null;
  /** Path of a model directory in Hugging Face's format, as for `policy.model`. @defaultValue null */
  @IsOptional() @IsLine({ maxLength: 4096 }) readonly model?: string | null;
  /** SHA-256 of the directory's weights; set when a run begins, and not by hand. @defaultValue null */
  @IsOptional()
  @IsLine({ maxLength: 64 })
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 hexadecimal digits' })
  readonly fingerprint?: string | null;
}

/**
 * On-policy distillation: a teacher says how likely each token that the policy sampled would have been for it, and the policy learns by
 * coefficient · (logπ_teacher − logπ), the negative reverse KL of the token, as its advantage.
 */
export class DistillationRecipe {
  /** The teacher. */
  @IsDefined() @ValidateNested() @Type(() => TeacherRecipe) readonly teacher!: TeacherRecipe;
  /** Weight of the reverse KL. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(0.0001, 100, { why: 'a smaller one teaches nothing' })
  readonly coefficient?: number;
  /** Whether the advantages of the rewards count too: they are added. Without them a reward only decides that its episode is trained. @defaultValue false */
  @IsOptional() @IsBoolean() readonly withReward?: boolean;
}
