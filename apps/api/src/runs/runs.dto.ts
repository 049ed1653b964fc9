import { ApiProperty } from '@nestjs/swagger';
import type { Json, Split } from '@retrace/trajectory';
import { ApiJson } from '../openapi/any-json.js';
import { SPLITS } from '../episodes/splits.js';
import {
  ApiInteger,
  ApiNullableInteger,
  ApiNullableTime,
  ApiNumber,
  ApiText,
  ApiTime,
  ApiWord,
} from '../openapi/properties.js';

const RUN_STATUSES = ['running', 'idle', 'finished', 'stopped', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const RUN_KINDS = ['trained', 'recorded'] as const;
type RunKind = (typeof RUN_KINDS)[number];

export class RunListItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiText()
  readonly name!: string;

  @ApiWord(RUN_KINDS, '`trained`: its policy is trained here; `recorded`: agents outside write its episodes')
  readonly kind!: RunKind;

  @ApiProperty({ type: [String] })
  readonly tags!: readonly string[];

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

export class RunDetail extends RunListItem {
  @ApiJson('The recipe that was saved with the run; null in recorded runs')
  readonly recipe!: Json;

  @ApiProperty({ type: [RunBaseline] })
  readonly baselines!: readonly RunBaseline[];

  @ApiText()
  readonly codeVersion!: string;

  @ApiJson('What its caller gave with the run; null = nothing')
  readonly metadata!: Json;
}
