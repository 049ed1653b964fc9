import { ApiProperty } from '@nestjs/swagger';
import {
  ApiInteger,
  ApiNullableInteger,
  ApiNullableText,
  ApiNullableTime,
  ApiText,
  ApiTime,
  ApiWord,
} from '../http/properties.js';

export const UPDATE_STAGES = ['policy', 'imitation'] as const;
export type UpdateStage = (typeof UPDATE_STAGES)[number];

export class Update {
  @ApiInteger()
  readonly updateNumber!: number;

  @ApiWord(UPDATE_STAGES)
  readonly stage!: UpdateStage;

  @ApiText()
  readonly planId!: string;

  @ApiInteger('Epoch of the trainer that planned the update')
  readonly epoch!: number;

  @ApiInteger()
  readonly policyVersionIn!: number;

  @ApiNullableInteger('null until the update is applied')
  readonly policyVersionOut!: number | null;

  @ApiInteger('Episodes in the batch')
  readonly numEpisodes!: number;

  @ApiTime()
  readonly plannedAt!: string;

  @ApiNullableTime('null until the update is applied')
  readonly appliedAt!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'Metrics of the update; unavailable ones are left out',
  })
  readonly metrics!: Readonly<Record<string, number>>;

  @ApiNullableText("null until the update is applied, '' where a trainer outside has not named them")
  readonly weightsSha256!: string | null;

  @ApiNullableText(
    "What made its gradients: `tensorflow`, `torch`, or the name of a trainer outside. null until the update is applied, '' where it was not recorded",
  )
  readonly engine!: string | null;
}
