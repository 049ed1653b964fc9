import { ApiProperty, IntersectionType, OmitType } from '@nestjs/swagger';
import { METRIC_SOURCES, type MetricSource } from '../metrics/metrics.dto.js';
import { UPDATE_STAGES, type UpdateStage } from '../updates/updates.dto.js';
import { RunWarning } from '../warnings/warnings.dto.js';
import { ApiInteger, ApiText, ApiWord } from '../http/properties.js';

const RUN_END_REASONS = ['finished', 'stopped', 'failed'] as const;

/** Fields of every message. */
class LiveData {
  @ApiInteger('Time of the event, milliseconds since the Unix epoch')
  readonly time!: number;
}

/** Data of a message `metrics`. */
export class LiveMetrics extends LiveData {
  @ApiWord(METRIC_SOURCES)
  readonly source!: MetricSource;

  @ApiInteger('Update, round or policy version, depending on the source')
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
  @ApiInteger()
  readonly policyVersion!: number;

  @ApiInteger()
  readonly updateNumber!: number;
}

/** Data of a message `update` when its batch is planned. */
export class LiveUpdatePlanned extends LiveData {
  @ApiProperty({ type: String, enum: ['planned'] })
  readonly state!: 'planned';

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger()
  readonly policyVersionIn!: number;

  @ApiWord(UPDATE_STAGES)
  readonly stage!: UpdateStage;
}

/** Data of a message `update` when it is applied. */
export class LiveUpdateApplied extends LiveData {
  @ApiProperty({ type: String, enum: ['applied'] })
  readonly state!: 'applied';

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger()
  readonly policyVersionOut!: number;
}

/** Data of a message `warning`. */
export class LiveWarning extends IntersectionType(LiveData, OmitType(RunWarning, ['raisedAt'])) {}

/** Data of a message `run` when the run starts. */
export class LiveRunStarted extends LiveData {
  @ApiProperty({ type: String, enum: ['started'] })
  readonly state!: 'started';

  @ApiText()
  readonly name!: string;
}

/** Data of a message `run` when the run ends. */
export class LiveRunEnded extends LiveData {
  @ApiProperty({ type: String, enum: ['ended'] })
  readonly state!: 'ended';

  @ApiWord(RUN_END_REASONS)
  readonly reason!: (typeof RUN_END_REASONS)[number];
}

/** Data of a message `run` when its tags, notes, star or archive change. */
export class LiveRunAnnotated extends LiveData {
  @ApiProperty({ type: String, enum: ['annotated'] })
  readonly state!: 'annotated';
}

/** The data of every kind of message, for the OpenAPI document. */
export const LIVE_DATA = [
  LiveMetrics,
  LivePolicy,
  LiveUpdatePlanned,
  LiveUpdateApplied,
  LiveWarning,
  LiveRunStarted,
  LiveRunEnded,
  LiveRunAnnotated,
] as const;
