import { ApiProperty } from '@nestjs/swagger';

export class Policy {
  @ApiProperty({ type: 'integer' })
  readonly policyVersion!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Version it was trained from; null for the first version',
  })
  readonly parentVersion!: number | null;

  @ApiProperty({ type: 'integer', description: 'Update that made this version' })
  readonly updateNumber!: number;

  @ApiProperty({ type: String })
  readonly weightsSha256!: string;

  @ApiProperty({ type: 'integer' })
  readonly weightsSizeBytes!: number;

  @ApiProperty({ type: String, description: 'Hash of architecture and tokenizer' })
  readonly modelHash!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  readonly publishedAt!: string;
}
