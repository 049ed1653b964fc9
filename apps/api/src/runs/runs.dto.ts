import { ApiProperty } from '@nestjs/swagger';
import type { Json } from '@retrace/trajectory';

const RUN_STATUSES = ['running', 'idle', 'finished', 'stopped', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export class RunSummary {
  @ApiProperty()
  readonly runId!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty()
  readonly environment!: string;

  @ApiProperty()
  readonly seed!: number;

  @ApiProperty()
  readonly recipeHash!: string;

  @ApiProperty({ enum: RUN_STATUSES, description: '`idle`: not ended, but no event for half a minute' })
  readonly status!: RunStatus;

  @ApiProperty({ format: 'date-time' })
  readonly startedAt!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly endedAt!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Newest control event' })
  readonly lastActivityAt!: string | null;

  @ApiProperty({ type: [Number], description: 'Rollout success rate over the run, at most 60 values' })
  readonly successCurve!: readonly number[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'Newest value of each metric',
  })
  readonly latest!: Readonly<Record<string, number>>;

  @ApiProperty({ type: Number, nullable: true, description: 'Newest published policy version' })
  readonly policyVersion!: number | null;
}

export class BaselineView {
  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ description: 'Success rate in [0, 1]' })
  readonly success!: number;

  @ApiProperty()
  readonly numEpisodes!: number;

  @ApiProperty()
  readonly split!: string;
}

export class RunDetail extends RunSummary {
  @ApiProperty({ description: 'Everything that defines the run, as it was saved with it' })
  readonly recipe!: Json;

  @ApiProperty({ type: [BaselineView] })
  readonly baselines!: readonly BaselineView[];

  @ApiProperty()
  readonly codeVersion!: string;
}
