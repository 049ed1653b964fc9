import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from '@retrace/validation';
import { IfGiven } from '../http/if-given.js';
import { PathId } from '../http/query-decorators.js';
import { ApiInteger, ApiNullableText } from '../http/properties.js';
import { RunParams } from '../runs/run-params.js';
import { BodyUpdateNumber } from '../update-questions/body-update-number.js';
import { RecipeChanges } from '../update-questions/recipe-changes.dto.js';
import { QuestionState } from '../update-questions/question-state.dto.js';
import { WhatIfUpdateDto } from './what-if-update.dto.js';

export class WhatIfParams extends RunParams {
  @PathId('Id of the what-if')
  readonly whatIfId!: string;
}

export class WhatIfRequest extends RecipeChanges {
  @BodyUpdateNumber()
  readonly updateNumber!: number;

  @BodyUpdateNumber({
    optional: true,
    description: 'The updates from `updateNumber` up to this one, at most 50; by default only that one',
  })
  readonly toUpdate?: number;

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
