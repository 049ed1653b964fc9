import { ApiProperty } from '@nestjs/swagger';
import { ApiBoolean, ApiInteger, ApiNullableNumber, ApiNumber, ApiText } from '../http/properties.js';

const NUMBERS = { type: 'array' as const, items: { type: 'number' } };

class ComparedGradient {
  @ApiNullableNumber('Cosine of both gradients; null where one of them is 0')
  readonly cosine!: number | null;

  @ApiNumber('L2 norm')
  readonly recordedNorm!: number;

  @ApiNumber('L2 norm')
  readonly changedNorm!: number;
}

class WhatIfLayer extends ComparedGradient {
  @ApiText('A layer, or a parameter that is in none')
  readonly layer!: string;
}

class WhatIfGradient extends ComparedGradient {
  @ApiProperty({ type: [WhatIfLayer] })
  readonly layers!: readonly WhatIfLayer[];
}

class WhatIfMetric {
  @ApiText()
  readonly name!: string;

  @ApiNullableNumber()
  readonly recorded!: number | null;

  @ApiNullableNumber()
  readonly changed!: number | null;
}

class WhatIfEpisode {
  @ApiText()
  readonly episodeId!: string;

  @ApiText()
  readonly groupId!: string;

  @ApiNullableNumber()
  readonly recordedReward!: number | null;

  @ApiNullableNumber()
  readonly changedReward!: number | null;

  @ApiNullableNumber('Mean over the tokens that the loss counts')
  readonly recordedAdvantage!: number | null;

  @ApiNullableNumber('Mean over the tokens that the loss counts')
  readonly changedAdvantage!: number | null;

  @ApiInteger('Tokens that the loss counts')
  readonly recordedTokens!: number;

  @ApiInteger('Tokens that the loss counts')
  readonly changedTokens!: number;
}

class WhatIfTokenTotals {
  @ApiInteger('Action tokens that either update trains')
  readonly numTokens!: number;

  @ApiInteger('Counted by one update only')
  readonly numCountedOnce!: number;

  @ApiNumber('Share of the tokens whose advantages have opposite signs')
  readonly flippedFraction!: number;

  @ApiNumber()
  readonly meanAdvantageDifference!: number;

  @ApiNumber()
  readonly maxAdvantageDifference!: number;

  @ApiNumber('Of the importance weights')
  readonly meanWeightDifference!: number;

  @ApiNumber('Of the importance weights')
  readonly maxWeightDifference!: number;
}

class WhatIfTokens {
  @ApiText()
  readonly episodeId!: string;

  @ApiProperty({
    ...{ type: 'array', items: { type: 'integer' } },
    description: 'The step that sampled each action token of the episode',
  })
  readonly steps!: readonly number[];

  @ApiProperty(NUMBERS)
  readonly recordedAdvantages!: readonly number[];

  @ApiProperty(NUMBERS)
  readonly changedAdvantages!: readonly number[];

  @ApiProperty(NUMBERS)
  readonly recordedWeights!: readonly number[];

  @ApiProperty(NUMBERS)
  readonly changedWeights!: readonly number[];

  @ApiProperty({
    ...NUMBERS,
    description: 'Share of its optimizer steps in which the loss clipped the token',
  })
  readonly recordedClips!: readonly number[];

  @ApiProperty(NUMBERS)
  readonly changedClips!: readonly number[];
}

/** One update as it was recorded and as it would have been, both from the same weights and on the same episodes. */
export class WhatIfUpdateDto {
  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger()
  readonly numEpisodes!: number;

  @ApiProperty({
    type: WhatIfGradient,
    description: 'Of the loss of the whole batch, at the start of the update',
  })
  readonly gradient!: WhatIfGradient;

  @ApiProperty({ type: [WhatIfMetric], description: 'After all optimizer steps of either update' })
  readonly metrics!: readonly WhatIfMetric[];

  @ApiProperty({ type: [WhatIfEpisode] })
  readonly episodes!: readonly WhatIfEpisode[];

  @ApiProperty({ type: WhatIfTokenTotals })
  readonly tokens!: WhatIfTokenTotals;

  @ApiProperty({ type: [WhatIfTokens], nullable: true, description: 'null unless `withTokens`' })
  readonly everyToken!: readonly WhatIfTokens[] | null;

  @ApiBoolean('Whether the update that was made again gave the recorded weights, bit for bit')
  readonly sameWeights!: boolean;
}
