import { ApiProperty } from '@nestjs/swagger';

export class Update {
  @ApiProperty()
  readonly updateNumber!: number;

  @ApiProperty({ enum: ['policy', 'imitation'] })
  readonly stage!: string;

  @ApiProperty()
  readonly planId!: string;

  @ApiProperty({ description: 'Of the trainer that planned it' })
  readonly epoch!: number;

  @ApiProperty()
  readonly policyVersionIn!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'null until it is applied' })
  readonly policyVersionOut!: number | null;

  @ApiProperty({ description: 'Episodes in the batch' })
  readonly numEpisodes!: number;

  @ApiProperty({ format: 'date-time' })
  readonly plannedAt!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly appliedAt!: string | null;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'number' } })
  readonly metrics!: Readonly<Record<string, number>>;

  @ApiProperty({ type: String, nullable: true })
  readonly weightsSha256!: string | null;
}
