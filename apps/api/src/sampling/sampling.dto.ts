import { ApiInteger, ApiNumber, ApiText, ApiTime, ApiWord } from '../http/properties.js';

export const BLOCKED_SIDES = ['trainer', 'collector'] as const;

export class SamplingBlock {
  @ApiWord(BLOCKED_SIDES, 'Side that the limiter of samples and inserts made wait')
  readonly side!: (typeof BLOCKED_SIDES)[number];

  @ApiText('The figures, and the bound that would have been left')
  readonly reason!: string;

  @ApiInteger('Groups collected for training by then')
  readonly numInserted!: number;

  @ApiNumber('Samples of groups by then, with those that discarded groups would have given')
  readonly numSampled!: number;

  @ApiTime()
  readonly blockedAt!: string;
}
