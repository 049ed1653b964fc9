import { ApiProperty } from '@nestjs/swagger';
import {
  ApiBoolean,
  ApiInteger,
  ApiNullableBoolean,
  ApiNullableNumber,
  ApiNullableText,
  ApiNumber,
  ApiText,
} from '../http/properties.js';

export class ForkOrigin {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly episodeId!: string;

  @ApiInteger('Step that it begins at')
  readonly step!: number;
}

export class EpisodeFork extends ForkOrigin {
  @ApiNullableText('Its first action; null until it has one')
  readonly action!: string | null;

  @ApiText('Policy or scripted agent that plays on')
  readonly policy!: string;

  @ApiNullableNumber('Sum of its rewards, which begin at the step; null when unknown')
  readonly return!: number | null;

  @ApiNullableBoolean('null = unknown')
  readonly success!: boolean | null;
}

export class StepValue {
  @ApiInteger('Step of this episode that was forked')
  readonly step!: number;

  @ApiText('Policy or scripted agent that played on')
  readonly policy!: string;

  @ApiBoolean('Whether it took the likeliest tokens')
  readonly greedy!: boolean;

  @ApiNullableText('Action whose value it is; null = the policy chose, so it is the value of the step')
  readonly action!: string | null;

  @ApiInteger('Forks that it is estimated from')
  readonly numForks!: number;

  @ApiNumber('Mean of the returns from the step on, without discount')
  readonly meanReturn!: number;

  @ApiNullableNumber('Lower end of its 95 % interval (Student); null with one fork')
  readonly returnLow!: number | null;

  @ApiNullableNumber('Upper end')
  readonly returnHigh!: number | null;

  @ApiNullableNumber('Share of successes; null when none is known')
  readonly successRate!: number | null;

  @ApiNullableNumber('Lower end of its 95 % interval (Wilson)')
  readonly successLow!: number | null;

  @ApiNullableNumber('Upper end')
  readonly successHigh!: number | null;

  @ApiNullableNumber('What this episode got from the step on, to compare with; null when no reward is known')
  readonly returnFromStep!: number | null;
}
