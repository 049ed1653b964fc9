import { IsOptional, Matches, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsLine, IsNullable, IsWholeNumberFrom } from './field-rules.js';

/** The policy version that a run started from, as it was when the run began. */
export class InitSourceRecipe {
  /** Id of the run that published it. */
  @IsLine({ maxLength: 36 }) readonly runId!: string;
  /** The version. */
  @IsWholeNumberFrom(0, Number.MAX_SAFE_INTEGER, { why: 'it is a version' }) readonly policyVersion!: number;
  /** SHA-256 of its weights, by which the checkpoint store names them. */
  @IsLine({ maxLength: 64 })
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 hexadecimal digits' })
  readonly sha256!: string;
  /** Size of the weights. */
  @IsWholeNumberFrom(0, Number.MAX_SAFE_INTEGER, { unit: 'bytes', why: 'it is a size' })
  readonly sizeBytes!: number;
}

/** Another run's policy to start from, instead of the weights that `model` or `policy` give. Both have the same architecture. */
export class InitRecipe {
  /** The run: its id or a part of it, the name of a recipe for the newest run of it, or `latest` for the newest that has ended. */
  @IsLine({ maxLength: 200 }) readonly run!: string;
  /** The version: a number, `latest`, or `best` for the one with the highest validation success. @defaultValue "latest" */
  @IsOptional()
  @IsLine({ maxLength: 15 })
  @Matches(/^(latest|best|\d{1,15})$/, { message: 'must be "latest", "best" or the number of a version' })
  readonly version?: string;
  /** The version found; set when a run begins, and not by hand. @defaultValue null */
  @Advanced()
  @IsNullable()
  @ValidateNested()
  @Type(() => InitSourceRecipe)
  readonly source?: InitSourceRecipe | null;
}
