import { ApiInteger, ApiNullableInteger, ApiText, ApiTime } from '../openapi/properties.js';

export class Policy {
  @ApiInteger()
  readonly policyVersion!: number;

  @ApiNullableInteger('Version it was trained from; null for the first version')
  readonly parentVersion!: number | null;

  @ApiInteger('Update that made this version')
  readonly updateNumber!: number;

  @ApiText()
  readonly weightsSha256!: string;

  @ApiInteger()
  readonly weightsSizeBytes!: number;

  @ApiText('Hash of architecture and tokenizer')
  readonly modelHash!: string;

  @ApiTime()
  readonly publishedAt!: string;
}
