import { IsBoolean, IsOptional, IsString, Length, Matches, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsLine, IsList, IsWholeNumberFrom } from './field-rules.js';

const FILES = { maxLength: 4096, each: true };
const ROWS = { unit: 'rows', why: 'their places are held in memory' };
const MAX_ROWS = 100_000_000;
const HASH = { message: 'must be 64 hexadecimal digits' };

/** Rows that the files had when the run began. Filled in by `retrace train`; leave it out. */
export class TaskContentsRecipe {
  /** Rows for training. */
  @IsWholeNumberFrom(1, MAX_ROWS, ROWS) readonly numTrain!: number;
  /** Rows for validation. */
  @IsWholeNumberFrom(0, MAX_ROWS, ROWS) readonly numValidation!: number;
  /** Rows for the test after the last update. */
  @IsWholeNumberFrom(0, MAX_ROWS, ROWS) readonly numTest!: number;
  /** SHA-256 of all rows in their order, hex. */
  @IsString(HASH) @Length(64, 64, HASH) @Matches(/^[0-9a-f]{64}$/, HASH) readonly sha256!: string;
}

/** Tasks from files instead of the environment's own: rows of Parquet or JSON Lines, as verl has them. */
export class TaskRecipe {
  /** Files of training tasks; relative to the recipe file. Without `validation` and `test`, a tenth of the rows each is theirs, by hash of the row. */
  @IsList(1, 1000) @IsLine(FILES) readonly train!: readonly string[];
  /** Files of validation tasks. */
  @IsOptional() @IsList(1, 1000) @IsLine(FILES) readonly validation?: readonly string[];
  /** Files of the tasks of the test after the last update. */
  @IsOptional() @IsList(1, 1000) @IsLine(FILES) readonly test?: readonly string[];
  /** Whether each epoch has the training rows in a new order, which follows from seed and epoch; else they keep that of the files. @defaultValue true */
  @IsOptional() @IsBoolean() readonly shuffle?: boolean;
  /** Dotted path of the field that the environment is reset with. By default the whole row for `question`; for others `env_kwargs`, or where a row lacks it `extra_info`. */
  @IsOptional() @IsLine({ maxLength: 200 }) readonly taskField?: string;
  /** Rows that the files had when the run began; filled in by `retrace train`. */
  @Advanced()
  @IsOptional()
  @ValidateNested()
  @Type(() => TaskContentsRecipe)
  readonly contents?: TaskContentsRecipe;
}
