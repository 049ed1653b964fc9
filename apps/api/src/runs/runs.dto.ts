import { ApiProperty } from '@nestjs/swagger';
import type { Json, Split } from '@retrace/trajectory';
import { ApiJson } from '../openapi/any-json.js';
import { SPLITS } from '../episodes/splits.js';

const RUN_STATUSES = ['running', 'idle', 'finished', 'stopped', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export class RunListItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiProperty({ type: String })
  readonly name!: string;

  @ApiProperty({ type: String })
  readonly environment!: string;

  @ApiProperty({ type: 'integer' })
  readonly seed!: number;

  @ApiProperty({ type: String })
  readonly recipeHash!: string;

  @ApiProperty({
    type: String,
    enum: RUN_STATUSES,
    description: '`idle`: the run has not ended, but it has logged nothing for 30 seconds',
  })
  readonly status!: RunStatus;

  @ApiProperty({ type: String, format: 'date-time' })
  readonly startedAt!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'null while the run goes on',
  })
  readonly endedAt!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Time of the newest control event',
  })
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

  @ApiProperty({ type: 'integer', nullable: true, description: 'Newest published policy version' })
  readonly policyVersion!: number | null;
}

export class RunBaseline {
  @ApiProperty({ type: String })
  readonly name!: string;

  @ApiProperty({ type: Number, description: 'Success rate in [0, 1]' })
  readonly success!: number;

  @ApiProperty({ type: 'integer' })
  readonly numEpisodes!: number;

  @ApiProperty({ type: String, enum: SPLITS })
  readonly split!: Split;
}

export class RunDetail extends RunListItem {
  @ApiJson('The recipe that was saved with the run')
  readonly recipe!: Json;

  @ApiProperty({ type: [RunBaseline] })
  readonly baselines!: readonly RunBaseline[];

  @ApiProperty({ type: String })
  readonly codeVersion!: string;
}
