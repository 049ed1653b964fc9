import { ApiProperty } from '@nestjs/swagger';
import {
  ApiBoolean,
  ApiNullableBoolean,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiText,
  ApiTime,
  ApiWord,
} from '../http/properties.js';

const BRANCH_KINDS = ['call', 'fork'] as const;

export class EpisodeBranch {
  @ApiWord(BRANCH_KINDS, 'call: an agent that the episode called; fork: plays on from one of its steps')
  readonly kind!: (typeof BRANCH_KINDS)[number];

  @ApiNullableInteger('Step that a fork begins at; null of a call, whose step is not recorded')
  readonly step!: number | null;

  @ApiProperty({ type: String, format: 'uuid', description: 'Run of the branch' })
  readonly runId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly episodeId!: string;

  @ApiText()
  readonly agent!: string;

  @ApiTime()
  readonly startedAt!: string;

  @ApiBoolean('The episode has ended')
  readonly sealed!: boolean;

  @ApiNullableBoolean('null = unknown')
  readonly success!: boolean | null;

  @ApiNullableNumber('Sum of its rewards; null until it ends, or when every reward is missing')
  readonly return!: number | null;

  @ApiNullableInteger('null until it ends')
  readonly numSteps!: number | null;
}

export class EpisodeBranches {
  @ApiProperty({ type: [EpisodeBranch], description: 'In the order in which they started, at most 1,000' })
  readonly items!: readonly EpisodeBranch[];

  @ApiBoolean('There are more than the items')
  readonly truncated!: boolean;
}
