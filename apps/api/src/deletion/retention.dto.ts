import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min, ValidateIf } from '@retrace/validation';
import { ApiNullableInteger } from '../http/properties.js';

const MAX_DAYS = 36_500;
const MAX_EPISODES = 1_000_000_000;
const DAYS_RULE = { message: `maxAgeDays must be null or an integer from 1 to ${MAX_DAYS}, got $value` };
const EPISODES_RULE = {
  message: `maxEpisodes must be null or an integer from 1 to ${MAX_EPISODES}, got $value`,
};

const isGiven = (_: object, value: unknown): boolean => value !== undefined && value !== null;

export class RetentionRequest {
  @ApiPropertyOptional({
    ...{ type: 'integer', nullable: true, minimum: 1, maximum: MAX_DAYS },
    description: 'Episodes whose last step is older are deleted; null or left out = of any age are kept',
  })
  @ValidateIf(isGiven)
  @IsInt(DAYS_RULE)
  @Min(1, DAYS_RULE)
  @Max(MAX_DAYS, DAYS_RULE)
  readonly maxAgeDays?: number | null;

  @ApiPropertyOptional({
    ...{ type: 'integer', nullable: true, minimum: 1, maximum: MAX_EPISODES },
    description: 'So many are kept, the newest; null or left out = any number',
  })
  @ValidateIf(isGiven)
  @IsInt(EPISODES_RULE)
  @Min(1, EPISODES_RULE)
  @Max(MAX_EPISODES, EPISODES_RULE)
  readonly maxEpisodes?: number | null;
}

export class Retention {
  @ApiNullableInteger('Age in days beyond which episodes are deleted; null = none is')
  readonly maxAgeDays!: number | null;

  @ApiNullableInteger('Number of episodes that are kept; null = all')
  readonly maxEpisodes!: number | null;
}
