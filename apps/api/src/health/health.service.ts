import { Injectable } from '@nestjs/common';
import { HealthCheckService } from '@nestjs/terminus';
import type { EventLog } from '@retrace/log';
import { InjectEventLog } from '../log/log.module.js';
import { VERSION } from '../version.js';
import type { Health } from './health.dto.js';
import { SinkHealthIndicator } from './sink-health.js';
import { StoreHealthIndicator } from './store-health.js';

/**
 * Reports the health of what this process depends on.
 *
 * The answer is 200 for as long as the process serves: its supervisor must not restart it because the store is starting,
 * so an indicator is `up` or `degraded`, never `down`.
 */
@Injectable()
export class HealthService {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly store: StoreHealthIndicator,
    private readonly sink: SinkHealthIndicator,
    @InjectEventLog() private readonly log: EventLog,
  ) {}

  /** @throws ServiceUnavailableException while the process shuts down */
  async check(): Promise<Health> {
    const { status, details } = await this.checks.check([() => this.store.check(), () => this.sink.check()]);
    const { store, sink } = details;
    return {
      status: store.state === 'starting' ? 'starting' : status === 'ok' ? 'ok' : 'degraded',
      version: VERSION,
      store,
      log: { logId: this.log.logId },
      sink,
    };
  }
}
