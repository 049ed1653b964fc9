import { ApiPropertyOptional } from '@nestjs/swagger';
import { MAX_TEMPERATURE, MIN_TEMPERATURE } from '@retrace/config/choices';
import { IsIn, IsInt, IsNumber, IsString, Length, Max, Min } from '@retrace/validation';
import { IfGiven } from '../http/if-given.js';
import { BodyUpdateNumber } from '../update-questions/body-update-number.js';
import { RecipeChanges } from '../update-questions/recipe-changes.dto.js';

const MAX_GROUPS = 4096;
const MAX_SEED = 2 ** 31 - 1;
const MAX_WHERE_LENGTH = 10_000;

export const BATCH_ORDERS = ['random', 'newest'] as const;
export type BatchOrder = (typeof BATCH_ORDERS)[number];

const GROUPS_RULE = { message: `groups must be an integer from 1 to ${MAX_GROUPS}, got $value` };
const SEED_RULE = { message: `seed must be an integer from 0 to ${MAX_SEED}, got $value` };
const WHERE_RULE = { message: `where must be text of 1 to ${MAX_WHERE_LENGTH} characters` };
const TEMPERATURE_RULE = {
  message: `temperature must be from ${MIN_TEMPERATURE} to ${MAX_TEMPERATURE}, got $value`,
};

/** The episodes of a committed update (`updateNumber`), or groups that are drawn from the run (all others but `set` and `rewardVersion`). */
export class BatchRequest extends RecipeChanges {
  @BodyUpdateNumber({
    optional: true,
    description: 'A committed update, whose episodes the batch has; without it groups are drawn',
  })
  readonly updateNumber?: number;

  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: MAX_WHERE_LENGTH,
    description:
      'Condition in SQL on the view `episodes`: which training episodes may be drawn; by default all',
    example: 'num_steps > 3',
  })
  @IfGiven()
  @IsString(WHERE_RULE)
  @Length(1, MAX_WHERE_LENGTH, WHERE_RULE)
  readonly where?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_GROUPS,
    default: 64,
    description: 'How many groups are drawn, each with all its episodes that `where` takes',
  })
  @IfGiven()
  @IsInt(GROUPS_RULE)
  @Min(1, GROUPS_RULE)
  @Max(MAX_GROUPS, GROUPS_RULE)
  readonly groups?: number;

  @ApiPropertyOptional({ enum: BATCH_ORDERS, default: 'random' })
  @IfGiven()
  @IsIn(BATCH_ORDERS, { message: `order must be ${BATCH_ORDERS.join(' or ')}, got $value` })
  readonly order?: BatchOrder;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_SEED,
    default: 0,
    description: 'Decides which groups are drawn at random; the same seed draws the same of the same run',
  })
  @IfGiven()
  @IsInt(SEED_RULE)
  @Min(0, SEED_RULE)
  @Max(MAX_SEED, SEED_RULE)
  readonly seed?: number;

  @ApiPropertyOptional({
    type: Number,
    minimum: MIN_TEMPERATURE,
    maximum: MAX_TEMPERATURE,
    default: 1,
    description: 'That the tokens of a recorded run were sampled at; a trained run has it in its recipe',
  })
  @IfGiven()
  @IsNumber({ allowNaN: false, allowInfinity: false }, TEMPERATURE_RULE)
  @Min(MIN_TEMPERATURE, TEMPERATURE_RULE)
  @Max(MAX_TEMPERATURE, TEMPERATURE_RULE)
  readonly temperature?: number;
}
