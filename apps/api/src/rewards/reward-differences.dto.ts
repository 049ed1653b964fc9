import { ApiProperty } from '@nestjs/swagger';
import { ApiInteger, ApiNullableNumber, ApiNumber, ApiText, ApiWord } from '../http/properties.js';

export class RewardValueDifference {
  @ApiWord(['total', 'component'])
  readonly kind!: 'total' | 'component';

  @ApiText('`total`, or the name of a component')
  readonly name!: string;

  @ApiInteger('Episodes that have a value under both versions')
  readonly numCompared!: number;

  @ApiInteger('Episodes that have a value under A only')
  readonly numOnlyA!: number;

  @ApiInteger('Episodes that have a value under B only')
  readonly numOnlyB!: number;

  @ApiInteger('Compared episodes whose value differs')
  readonly numChanged!: number;

  @ApiNullableNumber('Mean under A of the compared episodes; null where there are none')
  readonly meanA!: number | null;

  @ApiNullableNumber('Mean under B of the same episodes')
  readonly meanB!: number | null;

  @ApiNullableNumber('Mean of |B − A|')
  readonly meanAbsoluteChange!: number | null;

  @ApiNumber('Largest |B − A|; 0 where nothing is compared')
  readonly maxAbsoluteChange!: number;

  @ApiNullableNumber('Spearman’s ρ; null where either side is constant')
  readonly spearman!: number | null;

  @ApiNullableNumber('Kendall’s τ-b; null in the same cases')
  readonly kendall!: number | null;
}

export class EpisodeRewardChange {
  @ApiText()
  readonly episodeId!: string;

  @ApiText()
  readonly groupId!: string;

  @ApiNumber()
  readonly totalA!: number;

  @ApiNumber()
  readonly totalB!: number;
}

export class FlippedGroup {
  @ApiText()
  readonly groupId!: string;

  @ApiInteger()
  readonly numEpisodes!: number;

  @ApiInteger('Members above the mean of the group under one version and below it under the other')
  readonly numFlipped!: number;
}

export class RewardDifferences {
  @ApiText()
  readonly runId!: string;

  @ApiText()
  readonly versionA!: string;

  @ApiText()
  readonly versionB!: string;

  @ApiText()
  readonly nameA!: string;

  @ApiText()
  readonly nameB!: string;

  @ApiProperty({ type: [RewardValueDifference], description: 'The total first, then the components by name' })
  readonly values!: readonly RewardValueDifference[];

  @ApiProperty({ type: [EpisodeRewardChange], description: 'The largest change of the total first' })
  readonly mostChanged!: readonly EpisodeRewardChange[];

  @ApiInteger('Groups with members that both versions have scored')
  readonly numGroups!: number;

  @ApiInteger('Groups with members whose advantage changes its sign')
  readonly numGroupsFlipped!: number;

  @ApiProperty({ type: [FlippedGroup], description: 'Those with the most such members' })
  readonly mostFlipped!: readonly FlippedGroup[];
}
