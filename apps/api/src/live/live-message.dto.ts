import { ApiProperty } from '@nestjs/swagger';
import { METRIC_SOURCES, type MetricSource } from '../metrics/metrics.dto.js';
import { UPDATE_STAGES, type UpdateStage } from '../updates/updates.dto.js';

const RUN_END_REASONS = ['finished', 'stopped', 'failed'] as const;

/** Fields of every message. */
abstract class LiveData {
  @ApiProperty({ type: 'integer', description: 'Time of the event, milliseconds since the Unix epoch' })
  readonly time!: number;
}

/** Data of a message `metrics`. */
export class LiveMetrics extends LiveData {
  @ApiProperty({ type: String, enum: METRIC_SOURCES })
  readonly source!: MetricSource;

  @ApiProperty({ type: 'integer', description: 'Update, round or policy version, depending on the source' })
  readonly step!: number;

  @ApiProperty({ type: 'array', items: { type: 'string' } })
  readonly names!: readonly string[];

  @ApiProperty({
    type: 'array',
    items: { type: 'number', nullable: true },
    description: 'One value for each name; null = unavailable',
  })
  readonly values!: readonly (number | null)[];
}

/** Data of a message `policy`. */
export class LivePolicy extends LiveData {
  @ApiProperty({ type: 'integer' })
  readonly policyVersion!: number;

  @ApiProperty({ type: 'integer' })
  readonly updateNumber!: number;
}

/** Data of a message `update` when its batch is planned. */
export class LiveUpdatePlanned extends LiveData {
  @ApiProperty({ type: String, enum: ['planned'] })
  readonly state!: 'planned';

  @ApiProperty({ type: 'integer' })
  readonly updateNumber!: number;

  @ApiProperty({ type: 'integer' })
  readonly policyVersionIn!: number;

  @ApiProperty({ type: String, enum: UPDATE_STAGES })
  readonly stage!: UpdateStage;
}

/** Data of a message `update` when it is applied. */
export class LiveUpdateApplied extends LiveData {
  @ApiProperty({ type: String, enum: ['applied'] })
  readonly state!: 'applied';

  @ApiProperty({ type: 'integer' })
  readonly updateNumber!: number;

  @ApiProperty({ type: 'integer' })
  readonly policyVersionOut!: number;
}

/** Data of a message `run` when the run starts. */
export class LiveRunStarted extends LiveData {
  @ApiProperty({ type: String, enum: ['started'] })
  readonly state!: 'started';

  @ApiProperty({ type: String })
  readonly name!: string;
}

/** Data of a message `run` when the run ends. */
export class LiveRunEnded extends LiveData {
  @ApiProperty({ type: String, enum: ['ended'] })
  readonly state!: 'ended';

  @ApiProperty({ type: String, enum: RUN_END_REASONS })
  readonly reason!: (typeof RUN_END_REASONS)[number];
}

/** The data of every kind of message, for the OpenAPI document. */
export const LIVE_DATA = [
  LiveMetrics,
  LivePolicy,
  LiveUpdatePlanned,
  LiveUpdateApplied,
  LiveRunStarted,
  LiveRunEnded,
] as const;
