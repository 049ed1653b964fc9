import { ApiProperty } from '@nestjs/swagger';
import { PathId } from '../http/query-decorators.js';
import { UpdateParams } from './update-inputs.dto.js';

export class UpdateInputParams extends UpdateParams {
  @PathId('Id of an episode that fed the update')
  readonly episodeId!: string;
}

const INTEGERS = { type: 'array', items: { type: 'integer' } } as const;
const NUMBERS = { type: 'array', items: { type: 'number' } } as const;
const NULLABLE_NUMBERS = { type: 'array', items: { type: 'number', nullable: true } } as const;

/**
 * The tokens of an episode that an update trained, in order: lists of equal length, one value for each. What changes from one optimizer step to
 * the next is of the last that trained the token.
 */
export class TrainedTokenColumns {
  @ApiProperty({ ...INTEGERS, description: 'Step that sampled the token' })
  readonly steps!: readonly number[];

  @ApiProperty({ ...INTEGERS, description: 'Place of the token in the lists of its step, from 0' })
  readonly positions!: readonly number[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'null in imitation' })
  readonly advantages!: readonly (number | null)[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'π/π_proximal; null without a proximal policy' })
  readonly ratios!: readonly (number | null)[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'Of the critic; null without one' })
  readonly values!: readonly (number | null)[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'From the reference policy, nats; null without one' })
  readonly kls!: readonly (number | null)[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'Nats' })
  readonly entropies!: readonly (number | null)[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'Nats; null without a teacher' })
  readonly teacherLogprobs!: readonly (number | null)[];

  @ApiProperty({
    ...NUMBERS,
    description: 'Share of its optimizer steps in which the loss clipped the token',
  })
  readonly clippedShares!: readonly number[];
}
