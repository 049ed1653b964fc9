import { ApiInteger, ApiNullableInteger, ApiText, ApiTime } from '../http/properties.js';

export class Policy {
  @ApiInteger()
  readonly policyVersion!: number;

  @ApiNullableInteger('Version it was trained from; null for the first version')
  readonly parentVersion!: number | null;

  @ApiInteger('Update that made this version; 0: none of this run')
  readonly updateNumber!: number;

  @ApiText("'' where a trainer outside has not named them")
  readonly weightsSha256!: string;

  @ApiInteger()
  readonly weightsSizeBytes!: number;

  @ApiText('Hash of architecture and tokenizer; of a trainer outside the name that it gives the model')
  readonly modelHash!: string;

  @ApiText(
    "Where a trainer outside keeps the weights, as it says; '' where they are in the checkpoint store, or nobody knows",
  )
  readonly location!: string;

  @ApiTime()
  readonly publishedAt!: string;
}
