import { ApiProperty } from '@nestjs/swagger';
import type { Json, Split } from '@retrace/trajectory';
import { ApiJson } from '../http/any-json.js';
import { SPLITS } from './splits.js';
import {
  ApiBoolean,
  ApiInteger,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiNullableTime,
  ApiNumber,
  ApiText,
  ApiTime,
  ApiWord,
} from '../http/properties.js';

export const RUN_STATUSES = ['running', 'idle', 'finished', 'stopped', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_KINDS = ['trained', 'recorded'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** How far a trained run came. */
export class UpdateProgress {
  @ApiInteger('Newest update whose metrics are stored; 0 before the first')
  readonly updateNumber!: number;

  @ApiInteger('Updates that the recipe asks for, those of imitation included')
  readonly numUpdates!: number;

  @ApiNullableNumber(
    'Seconds until the last update if those that are left take as long as the median of the last twenty; null where fewer than two were made, and in a run that is not `running`',
  )
  readonly secondsLeft!: number | null;
}

/** Totals of what agents outside recorded; of a run with very many episodes they may be some seconds old. */
export class RecordedFigures {
  @ApiInteger('Episodes that have ended')
  readonly numEpisodes!: number;

  @ApiNullableNumber('Success rate of those that say whether they succeeded; null where none does')
  readonly success!: number | null;

  @ApiNullableNumber('Mean return of those that have one; null where none has')
  readonly meanReturn!: number | null;

  @ApiInteger('Steps of the episodes that have ended')
  readonly numSteps!: number;

  @ApiNullableNumber(
    'Cost in US dollars of all steps that say, those of episodes in progress too; null where none does',
  )
  readonly costUsd!: number | null;
}

export class RunOverview {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiText()
  readonly name!: string;

  @ApiWord(RUN_KINDS, '`trained`: its policy is trained here; `recorded`: agents outside write its episodes')
  readonly kind!: RunKind;

  @ApiProperty({ type: [String] })
  readonly tags!: readonly string[];

  @ApiBoolean('Marked as one of the important ones')
  readonly starred!: boolean;

  @ApiBoolean('Lists leave it out unless they are asked for it')
  readonly archived!: boolean;

  @ApiText('Empty where unknown')
  readonly environment!: string;

  @ApiInteger()
  readonly seed!: number;

  @ApiText('Empty in recorded runs')
  readonly recipeHash!: string;

  @ApiWord(RUN_STATUSES, '`idle`: the run has not ended, but it has logged nothing for 30 seconds')
  readonly status!: RunStatus;

  @ApiTime()
  readonly startedAt!: string;

  @ApiNullableTime('null while the run goes on')
  readonly endedAt!: string | null;

  @ApiNullableTime('Time of the newest control event')
  readonly lastActivityAt!: string | null;

  @ApiProperty({
    type: 'array',
    items: { type: 'number' },
    description: 'Success rate of rollouts over the run, at most 60 values',
  })
  readonly successCurve!: readonly number[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'Newest value of each metric',
  })
  readonly latest!: Readonly<Record<string, number>>;

  @ApiNullableInteger('Newest published policy version')
  readonly policyVersion!: number | null;

  @ApiProperty({ type: UpdateProgress, nullable: true, description: 'null where nothing is trained' })
  readonly progress!: UpdateProgress | null;
}

export class RunListItem extends RunOverview {
  @ApiProperty({
    type: RecordedFigures,
    nullable: true,
    description: 'null where the run is trained here; of a run with very many episodes some seconds old',
  })
  readonly recorded!: RecordedFigures | null;
}

export class RunBaseline {
  @ApiText()
  readonly name!: string;

  @ApiNumber('Success rate in [0, 1]')
  readonly success!: number;

  @ApiInteger()
  readonly numEpisodes!: number;

  @ApiWord(SPLITS)
  readonly split!: Split;
}

export class RunDetail extends RunOverview {
  @ApiJson('The recipe that was saved with the run; null in recorded runs')
  readonly recipe!: Json;

  @ApiProperty({ type: [RunBaseline] })
  readonly baselines!: readonly RunBaseline[];

  @ApiText()
  readonly codeVersion!: string;

  @ApiJson('What its caller gave with the run; null = nothing')
  readonly metadata!: Json;

  @ApiText('What people wrote about it; empty for nothing')
  readonly notes!: string;
}
