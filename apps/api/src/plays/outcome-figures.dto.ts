import { ApiInteger, ApiNullableNumber, ApiNumber } from '../http/properties.js';

/** The part of `OutcomeFigures` that plays and validations tell alike. */
export class OutcomeFiguresDto {
  @ApiInteger()
  readonly numTasks!: number;

  @ApiInteger('Episodes of known outcome')
  readonly numEpisodes!: number;

  @ApiInteger()
  readonly numSuccesses!: number;

  @ApiInteger('Ended episodes whose outcome is unknown')
  readonly numUnknown!: number;

  @ApiNumber('95 %, Wilson, of the effective episodes')
  readonly successLow!: number;

  @ApiNumber()
  readonly successHigh!: number;

  @ApiNullableNumber()
  readonly meanReturn!: number | null;
}
