import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Length,
  Max,
  Min,
  ValidateIf,
} from '@retrace/validation';
import { PathId } from '../http/query-decorators.js';
import {
  ApiInteger,
  ApiNullableText,
  ApiNullableTime,
  ApiText,
  ApiTime,
  ApiWord,
} from '../openapi/properties.js';
import { RunParams } from '../runs/run-params.js';
import { WhatIfUpdateDto } from './what-if-update.dto.js';

const MAX_UPDATE = 10_000_000;
const MAX_ASSIGNMENTS = 32;
const MAX_ASSIGNMENT_LENGTH = 4_000;
const UPDATE_RULE = { message: `$property must be an integer from 1 to ${MAX_UPDATE}, got $value` };
const SET_RULE = { message: `set must be at most ${MAX_ASSIGNMENTS} texts such as loss.clipLow=0.1` };

export const WHAT_IF_STATUSES = ['queued', 'running', 'finished', 'failed', 'cancelled'] as const;
export type WhatIfStatus = (typeof WHAT_IF_STATUSES)[number];

/** IsOptional would take null, too. */
const IfGiven = () => ValidateIf((_, value) => value !== undefined);

export class WhatIfParams extends RunParams {
  @PathId('Id of the what-if')
  readonly whatIfId!: string;
}

const CHANGE_RULE = { message: 'status must be cancelled, got $value' };

export class WhatIfChange {
  @ApiProperty({ enum: ['cancelled'] })
  @IsIn(['cancelled'], CHANGE_RULE)
  readonly status!: 'cancelled';
}

export class WhatIfRequest {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: MAX_UPDATE })
  @IsInt(UPDATE_RULE)
  @Min(1, UPDATE_RULE)
  @Max(MAX_UPDATE, UPDATE_RULE)
  readonly updateNumber!: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_UPDATE,
    description: 'The updates from `updateNumber` up to this one, at most 50; by default only that one',
  })
  @IfGiven()
  @IsInt(UPDATE_RULE)
  @Min(1, UPDATE_RULE)
  @Max(MAX_UPDATE, UPDATE_RULE)
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

class WhatIfRange {
  @ApiInteger()
  readonly from!: number;

  @ApiInteger()
  readonly to!: number;
}

class WhatIfFailure {
  @ApiText('For programs')
  readonly code!: string;

  @ApiText()
  readonly message!: string;
}

/** A what-if, as lists show it. */
export class WhatIfItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly whatIfId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiWord(WHAT_IF_STATUSES)
  readonly status!: WhatIfStatus;

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger()
  readonly toUpdate!: number;

  @ApiProperty({ type: [String] })
  readonly set!: readonly string[];

  @ApiNullableText()
  readonly rewardVersion!: string | null;

  @ApiTime()
  readonly askedAt!: string;

  @ApiNullableTime()
  readonly startedAt!: string | null;

  @ApiNullableTime()
  readonly endedAt!: string | null;

  @ApiInteger('Updates that are compared so far')
  readonly numCompared!: number;

  @ApiProperty({
    type: WhatIfRange,
    nullable: true,
    description:
      'Updates that are made again first, as the state that the first one starts from is not kept; null without',
  })
  readonly recomputing!: WhatIfRange | null;

  @ApiProperty({ type: WhatIfFailure, nullable: true, description: 'Why it failed; null unless it did' })
  readonly failure!: WhatIfFailure | null;
}

export class WhatIf extends WhatIfItem {
  @ApiProperty({ type: [WhatIfUpdateDto], description: 'Those that are compared so far' })
  readonly updates!: readonly WhatIfUpdateDto[];
}
