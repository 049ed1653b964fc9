import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsString, Length } from '@retrace/validation';
import { IfGiven } from '../http/if-given.js';
import { PathId } from '../http/query-decorators.js';
import { ApiInteger, ApiNullableText } from '../openapi/properties.js';
import { RunParams } from '../runs/run-params.js';
import { BodyUpdateNumber } from '../update-questions/body-update-number.js';
import { QuestionState } from '../update-questions/question-state.dto.js';
import { WhatIfUpdateDto } from './what-if-update.dto.js';

const MAX_ASSIGNMENTS = 32;
const MAX_ASSIGNMENT_LENGTH = 4_000;
const SET_RULE = { message: `set must be at most ${MAX_ASSIGNMENTS} texts such as loss.clipLow=0.1` };

export class WhatIfParams extends RunParams {
  @PathId('Id of the what-if')
  readonly whatIfId!: string;
}

export class WhatIfRequest {
  @BodyUpdateNumber()
  readonly updateNumber!: number;

  @BodyUpdateNumber({
    optional: true,
    description: 'The updates from `updateNumber` up to this one, at most 50; by default only that one',
  })
  readonly toUpdate?: number;

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

  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description: 'Whether every action token is listed, for a single update',
  })
  @IfGiven()
  @IsBoolean({ message: 'withTokens must be true or false' })
  readonly withTokens?: boolean;
}

/** A what-if, as lists show it. */
export class WhatIfItem extends QuestionState {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly whatIfId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger()
  readonly toUpdate!: number;

  @ApiProperty({ type: [String] })
  readonly set!: readonly string[];

  @ApiNullableText()
  readonly rewardVersion!: string | null;

  @ApiInteger('Updates that are compared so far')
  readonly numCompared!: number;
}

export class WhatIf extends WhatIfItem {
  @ApiProperty({ type: [WhatIfUpdateDto], description: 'Those that are compared so far' })
  readonly updates!: readonly WhatIfUpdateDto[];
}
