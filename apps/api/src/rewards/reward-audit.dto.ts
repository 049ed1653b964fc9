import { ApiProperty } from '@nestjs/swagger';
import {
  ApiBoolean,
  ApiInteger,
  ApiNullableNumber,
  ApiNumber,
  ApiText,
  ApiWord,
} from '../http/properties.js';

export class AuditedStretch {
  @ApiInteger()
  readonly numEpisodes!: number;

  @ApiNullableNumber(
    'Share that reached their goal; null where no episode of the stretch says whether it did',
  )
  readonly success!: number | null;
}

export class AuditedRewardValue {
  @ApiWord(['total', 'component'])
  readonly kind!: 'total' | 'component';

  @ApiText('`total`, or the name of a component, whose values count times its weight')
  readonly name!: string;

  @ApiInteger('Episodes that have a total and the value')
  readonly numEpisodes!: number;

  @ApiNumber()
  readonly mean!: number;

  @ApiNullableNumber('Null where no success has the value')
  readonly meanOfSuccesses!: number | null;

  @ApiNullableNumber('Null where no failure has the value')
  readonly meanOfFailures!: number | null;

  @ApiBoolean('Whether failures got more of it than successes; false where either mean is missing')
  readonly paysFailures!: boolean;

  @ApiProperty({
    type: 'array',
    items: { type: 'number', nullable: true },
    description: 'Mean in each stretch; null where no episode of it has the value',
  })
  readonly byStretch!: readonly (number | null)[];
}

export class HackedRewardValue {
  @ApiWord(['total', 'component'])
  readonly kind!: 'total' | 'component';

  @ApiText()
  readonly name!: string;

  @ApiInteger('First of ten stretches in a row, counted from 0')
  readonly from!: number;

  @ApiInteger('Last of them')
  readonly to!: number;

  @ApiNumber('Spearman’s ρ of the value with time')
  readonly trend!: number;

  @ApiNumber('Spearman’s ρ of the success with time')
  readonly successTrend!: number;

  @ApiNumber('Mean of the first three of these stretches')
  readonly valueFrom!: number;

  @ApiNumber('Mean of the last three of them')
  readonly valueTo!: number;

  @ApiNumber('Success rate in the first three of these stretches')
  readonly successFrom!: number;

  @ApiNumber('Success rate in the last three of them')
  readonly successTo!: number;
}

export class EpisodeToRead {
  @ApiText()
  readonly episodeId!: string;

  @ApiNumber()
  readonly total!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'number', nullable: true },
    description: 'By name, before their weights; null where a component has no value',
  })
  readonly components!: Readonly<Record<string, number | null>>;
}

export class RewardAuditReport {
  @ApiText()
  readonly runId!: string;

  @ApiText()
  readonly version!: string;

  @ApiText()
  readonly name!: string;

  @ApiInteger('Ended episodes of the split that the version has scored')
  readonly numEpisodes!: number;

  @ApiInteger('Episodes with a total; those without are part of no other figure')
  readonly numWithTotal!: number;

  @ApiInteger('Episodes with a total that say whether they reached their goal')
  readonly numWithSuccess!: number;

  @ApiProperty({ type: [AuditedStretch], description: 'By time, of equally many episodes' })
  readonly stretches!: readonly AuditedStretch[];

  @ApiProperty({ type: [AuditedRewardValue], description: 'The total first, then the components by name' })
  readonly values!: readonly AuditedRewardValue[];

  @ApiInteger(
    'Windows of ten stretches in a row in which the success is known; 0: nothing can be said about reward hacking',
  )
  readonly numWindows!: number;

  @ApiProperty({
    type: [HackedRewardValue],
    description:
      'Values that rose while the success fell (ρ with time at least 0.6, and at most −0.6), each in its worst window; the steepest fall of the success first',
  })
  readonly hacked!: readonly HackedRewardValue[];

  @ApiNullableNumber(
    'Share of the failures with at least the median total of the successes; null where either is missing',
  )
  readonly paidFailures!: number | null;

  @ApiProperty({ type: [EpisodeToRead], description: 'Failures with the highest totals' })
  readonly richestFailures!: readonly EpisodeToRead[];

  @ApiProperty({ type: [EpisodeToRead], description: 'Successes with the lowest totals' })
  readonly poorestSuccesses!: readonly EpisodeToRead[];
}
