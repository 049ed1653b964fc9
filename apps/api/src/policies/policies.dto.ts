import { ApiProperty } from '@nestjs/swagger';

export class Policy {
  @ApiProperty()
  readonly policyVersion!: number;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Version it was trained from; null for the first',
  })
  readonly parentVersion!: number | null;

  @ApiProperty()
  readonly updateNumber!: number;

  @ApiProperty()
  readonly weightsSha256!: string;

  @ApiProperty()
  readonly weightsSizeBytes!: number;

  @ApiProperty({ description: 'Hash of architecture and tokenizer' })
  readonly modelHash!: string;

  @ApiProperty({ format: 'date-time' })
  readonly publishedAt!: string;
}
