import { ApiProperty } from '@nestjs/swagger';

export const UPDATE_STAGES = ['policy', 'imitation'] as const;
export type UpdateStage = (typeof UPDATE_STAGES)[number];

export class Update {
  @ApiProperty({ type: 'integer' })
  readonly updateNumber!: number;

  @ApiProperty({ type: String, enum: UPDATE_STAGES })
  readonly stage!: UpdateStage;

  @ApiProperty({ type: String })
  readonly planId!: string;

  @ApiProperty({ type: 'integer', description: 'Epoch of the trainer that planned the update' })
  readonly epoch!: number;

  @ApiProperty({ type: 'integer' })
  readonly policyVersionIn!: number;

  @ApiProperty({ type: 'integer', nullable: true, description: 'null until the update is applied' })
  readonly policyVersionOut!: number | null;

  @ApiProperty({ type: 'integer', description: 'Episodes in the batch' })
  readonly numEpisodes!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  readonly plannedAt!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'null until the update is applied',
  })
  readonly appliedAt!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'Metrics of the update; unavailable ones are left out',
  })
  readonly metrics!: Readonly<Record<string, number>>;

  @ApiProperty({ type: String, nullable: true, description: 'null until the update is applied' })
  readonly weightsSha256!: string | null;
}
