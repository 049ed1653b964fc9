import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from '@retrace/validation';
import { ApiInteger, ApiNullableTime, ApiText, ApiTime, ApiWord } from '../http/properties.js';

export const QUESTION_STATUSES = ['queued', 'running', 'finished', 'failed', 'cancelled'] as const;
export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

const CHANGE_RULE = { message: 'status must be cancelled, got $value' };

/** The only change of a question that was asked. */
export class QuestionChange {
  @ApiProperty({ enum: ['cancelled'] })
  @IsIn(['cancelled'], CHANGE_RULE)
  readonly status!: 'cancelled';
}

class UpdateRange {
  @ApiInteger()
  readonly from!: number;

  @ApiInteger()
  readonly to!: number;
}

class QuestionFailure {
  @ApiText('For programs')
  readonly code!: string;

  @ApiText()
  readonly message!: string;
}

/** How far the answer to a question is. */
export class QuestionState {
  @ApiWord(QUESTION_STATUSES)
  readonly status!: QuestionStatus;

  @ApiTime()
  readonly askedAt!: string;

  @ApiNullableTime()
  readonly startedAt!: string | null;

  @ApiNullableTime()
  readonly endedAt!: string | null;

  @ApiProperty({
    type: UpdateRange,
    nullable: true,
    description:
      'Updates that are made again first, as the state that the first one starts from is not kept; null without',
  })
  readonly recomputing!: UpdateRange | null;

  @ApiProperty({ type: QuestionFailure, nullable: true, description: 'Why it failed; null unless it did' })
  readonly failure!: QuestionFailure | null;
}
