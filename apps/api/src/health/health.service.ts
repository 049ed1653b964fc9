import { Injectable } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { InjectEventLog } from '../log/log.module.js';
import { SinkService, type SinkState } from '../sink/sink.service.js';
import { StoreService } from '../store/store.service.js';
import { VERSION } from '../version.js';
import type { Health, SinkHealth, StoreHealth } from './health.dto.js';

@Injectable()
export class HealthService {
  constructor(
    private readonly store: StoreService,
    private readonly sink: SinkService,
    @InjectEventLog() private readonly log: EventLog,
  ) {}

  async check(): Promise<Health> {
    const store = await this.storeHealth();
    const sink = sinkHealth(this.sink.state);
    return { status: statusOf(store, sink), version: VERSION, store, log: { logId: this.log.logId }, sink };
  }

  private async storeHealth(): Promise<StoreHealth> {
    const { phase, detail } = this.store.current;
    if (phase === 'ready' && !(await this.store.answers())) {
      return { state: 'unreachable', detail: 'the store was ready and does not answer now' };
    }
    return { state: phase, detail };
  }
}

function statusOf(store: StoreHealth, sink: SinkHealth): Health['status'] {
  if (store.state === 'starting') return 'starting';
  const isWell = store.state === 'ready' && sink.state !== 'failed' && sink.state !== 'backingOff';
  return isWell ? 'ok' : 'degraded';
}

function sinkHealth({ phase, detail, partitions }: SinkState): SinkHealth {
  const lags = partitions.map(({ lag }) => lag);
  const slowest = Math.max(
    ...partitions.map(({ visibleAfterMs }) => visibleAfterMs?.p99 ?? Number.NEGATIVE_INFINITY),
  );
  return {
    state: phase,
    detail,
    lagRecords:
      lags.length === 0 || lags.includes(null)
        ? null
        : lags.reduce<number>((sum, lag) => sum + (lag ?? 0), 0),
    visibleAfterMsP99: Number.isFinite(slowest) ? Math.round(slowest) : null,
  };
}
