import { ApiProperty } from '@nestjs/swagger';
import {
  ApiBoolean,
  ApiInteger,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiNullableText,
  ApiNumber,
  ApiText,
  ApiTime,
} from '../http/properties.js';
import { OutcomeFiguresDto } from './outcome-figures.dto.js';

export class PlayListItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly playId!: string;

  @ApiTime()
  readonly startedAt!: string;

  @ApiProperty({ type: [String], description: 'The policies, as they were named' })
  readonly policies!: readonly string[];

  @ApiProperty({ type: [String] })
  readonly environments!: readonly string[];
}

export class PriceOfPlay {
  @ApiNumber('US dollars for a million tokens read')
  readonly inputUsdPerMillion!: number;

  @ApiNumber('US dollars for a million tokens written')
  readonly outputUsdPerMillion!: number;
}

export class RunOfPlay {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiText('The policy, as it was named')
  readonly policy!: string;

  @ApiText('Which policy that was, such as `run:<id>@<version>`')
  readonly description!: string;

  @ApiText()
  readonly environment!: string;

  @ApiInteger()
  readonly numPlanned!: number;

  @ApiInteger('Episodes that have ended')
  readonly numEnded!: number;

  @ApiBoolean('Whether the likeliest tokens were taken')
  readonly greedy!: boolean;

  @ApiProperty({ type: PriceOfPlay, nullable: true })
  readonly price!: PriceOfPlay | null;
}

export class PassOfPlay {
  @ApiInteger()
  readonly k!: number;

  @ApiNumber('Chance that one of k attempts succeeds (Chen et al. 2021), mean over tasks')
  readonly pass!: number;

  @ApiInteger('Tasks with at least k attempts of known outcome')
  readonly numTasks!: number;
}

export class RowOfPlay extends OutcomeFiguresDto {
  @ApiText()
  readonly policy!: string;

  @ApiText()
  readonly environment!: string;

  @ApiText()
  readonly split!: string;

  @ApiNullableInteger('Seed that drew the tasks; null = all seeds')
  readonly seed!: number | null;

  @ApiNullableText('Family of the tasks; null = all families')
  readonly family!: string | null;

  @ApiInteger('Episodes in which environment, agent or server failed; part of no other figure but the cost')
  readonly numFailed!: number;

  @ApiNullableNumber()
  readonly successRate!: number | null;

  @ApiNumber('Episodes that the interval counts: attempts at one task resemble each other')
  readonly effectiveEpisodes!: number;

  @ApiProperty({ type: [PassOfPlay] })
  readonly passAtK!: readonly PassOfPlay[];

  @ApiNullableNumber()
  readonly meanSteps!: number | null;

  @ApiNullableNumber('Tokens that the model read in an episode; null = unknown')
  readonly meanInputTokens!: number | null;

  @ApiNullableNumber()
  readonly meanOutputTokens!: number | null;

  @ApiNullableNumber()
  readonly costUsd!: number | null;
}

export class ComparisonOfPlay {
  @ApiText()
  readonly environment!: string;

  @ApiText()
  readonly split!: string;

  @ApiText()
  readonly first!: string;

  @ApiText()
  readonly second!: string;

  @ApiInteger('Tasks that both have played')
  readonly numTasks!: number;

  @ApiNumber('Success rate of the second minus that of the first, each task counted once')
  readonly difference!: number;

  @ApiNullableNumber('95 %, adjusted Wald interval of paired data (Bonett and Price 2012)')
  readonly differenceLow!: number | null;

  @ApiNullableNumber()
  readonly differenceHigh!: number | null;

  @ApiNullableInteger('Tasks that only the first solved; null with several attempts at a task')
  readonly numOnlyFirst!: number | null;

  @ApiNullableInteger()
  readonly numOnlySecond!: number | null;

  @ApiNullableNumber('McNemar, exact, two-sided')
  readonly pValue!: number | null;
}

export class PlayDetail {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly playId!: string;

  @ApiTime()
  readonly startedAt!: string;

  @ApiBoolean('Whether every planned episode has ended')
  readonly isComplete!: boolean;

  @ApiProperty({ type: [RunOfPlay] })
  readonly runs!: readonly RunOfPlay[];

  @ApiProperty({ type: [RowOfPlay] })
  readonly rows!: readonly RowOfPlay[];

  @ApiProperty({ type: [ComparisonOfPlay] })
  readonly comparisons!: readonly ComparisonOfPlay[];
}
