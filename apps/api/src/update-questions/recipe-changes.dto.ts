import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsString, Length } from '@retrace/validation';
import { IfGiven } from '../http/if-given.js';

const MAX_ASSIGNMENTS = 32;
const MAX_ASSIGNMENT_LENGTH = 4_000;
const SET_RULE = { message: `set must be at most ${MAX_ASSIGNMENTS} texts such as loss.clipLow=0.1` };

/** Changes of the recipe of a run, for a question about its updates. */
export class RecipeChanges {
  @ApiPropertyOptional({
    type: [String],
    maxItems: MAX_ASSIGNMENTS,
    description:
      'Other values of fields of the recipe in `reward`, `advantage`, `loss`, `preference` or `optimizer`',
    example: ['loss.clipHigh=0.28'],
  })
  @IfGiven()
  @IsArray(SET_RULE)
  @ArrayMaxSize(MAX_ASSIGNMENTS, SET_RULE)
  @IsString({ ...SET_RULE, each: true })
  @Length(1, MAX_ASSIGNMENT_LENGTH, {
    each: true,
    message: `each of set must have 1 to ${MAX_ASSIGNMENT_LENGTH} characters`,
  })
  readonly set?: readonly string[];

  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: 256,
    description:
      'Name of a reward version of the run, or the first characters of its hash; its scores are the rewards',
  })
  @IfGiven()
  @IsString({ message: 'rewardVersion must be text' })
  @Length(1, 256, { message: 'rewardVersion must have 1 to 256 characters' })
  readonly rewardVersion?: string;
}
