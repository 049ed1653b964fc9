import { ApiInteger, ApiNullableInteger, ApiNullableNumber } from '../http/properties.js';

export class RunTotals {
  @ApiInteger()
  readonly numEpisodes!: number;

  @ApiInteger('Episodes that have not ended')
  readonly numOngoing!: number;

  @ApiInteger()
  readonly numSuccesses!: number;

  @ApiInteger('Episodes of which it is known that they failed')
  readonly numFailures!: number;

  @ApiNullableNumber('Mean return of the episodes that have one')
  readonly meanReturn!: number | null;

  @ApiInteger('Steps of the episodes that have ended')
  readonly numSteps!: number;

  @ApiNullableInteger('Tokens of prompts, as providers counted them; null where no step says')
  readonly inputTokens!: number | null;

  @ApiNullableInteger('Tokens of answers, as providers counted them; null where no step says')
  readonly outputTokens!: number | null;

  @ApiNullableNumber('Cost in US dollars of the steps that say; null where none does')
  readonly costUsd!: number | null;
}
