import { ApiProperty } from '@nestjs/swagger';

export class StoreHealth {
  @ApiProperty({ enum: ['starting', 'ready', 'unreachable', 'failed'] })
  readonly state!: string;

  @ApiProperty({ description: 'Why, where it is not ready' })
  readonly detail!: string;
}

export class SinkHealth {
  @ApiProperty({ enum: ['off', 'waiting', 'running', 'backingOff', 'failed'] })
  readonly state!: string;

  @ApiProperty()
  readonly detail!: string;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Records that the log has and the store lacks; null until known',
  })
  readonly lagRecords!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'From an event to its place in the store, 99th percentile',
  })
  readonly visibleAfterMsP99!: number | null;
}

export class LogHealth {
  @ApiProperty()
  readonly logId!: string;
}

export class Health {
  @ApiProperty({
    enum: ['ok', 'starting', 'degraded'],
    description: 'Always with status 200: the process itself is up',
  })
  readonly status!: 'ok' | 'starting' | 'degraded';

  @ApiProperty()
  readonly version!: string;

  @ApiProperty()
  readonly store!: StoreHealth;

  @ApiProperty()
  readonly log!: LogHealth;

  @ApiProperty()
  readonly sink!: SinkHealth;
}
