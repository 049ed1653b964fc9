import { ApiProperty } from '@nestjs/swagger';
import { ApiNullableInteger, ApiText, ApiWord } from '../http/properties.js';

const PART_STATUSES = ['up', 'degraded'] as const;
const STORE_STATES = ['starting', 'ready', 'unreachable', 'failed'] as const;
const SINK_STATES = ['off', 'waiting', 'running', 'backingOff', 'failed'] as const;
const HEALTH_STATUSES = ['ok', 'starting', 'degraded'] as const;

abstract class PartHealth {
  @ApiWord(PART_STATUSES)
  readonly status!: (typeof PART_STATUSES)[number];
}

export class StoreHealth extends PartHealth {
  @ApiWord(STORE_STATES)
  readonly state!: (typeof STORE_STATES)[number];

  @ApiText('Why the store is not ready; empty when it is')
  readonly detail!: string;
}

export class SinkHealth extends PartHealth {
  @ApiWord(SINK_STATES, '`off`: the sink is another process')
  readonly state!: (typeof SINK_STATES)[number];

  @ApiText('Why the sink is not running; empty when it is')
  readonly detail!: string;

  @ApiNullableInteger('Records of the log that the store does not have yet; null until known')
  readonly lagRecords!: number | null;

  @ApiNullableInteger(
    '99th percentile of the time from an event to its row in the store, in ms; null until known',
  )
  readonly visibleAfterMsP99!: number | null;
}

class LogHealth {
  @ApiText()
  readonly logId!: string;
}

export class Health {
  @ApiWord(
    HEALTH_STATUSES,
    '`starting`: waiting for the store. `degraded`: the store or the sink has a fault',
  )
  readonly status!: (typeof HEALTH_STATUSES)[number];

  @ApiText()
  readonly version!: string;

  @ApiProperty({ type: StoreHealth })
  readonly store!: StoreHealth;

  @ApiProperty({ type: LogHealth })
  readonly log!: LogHealth;

  @ApiProperty({ type: SinkHealth })
  readonly sink!: SinkHealth;
}
