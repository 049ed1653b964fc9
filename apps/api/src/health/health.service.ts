import { Injectable } from '@nestjs/common';
import { HealthCheckService } from '@nestjs/terminus';
import type { EventLog } from '@retrace/log';
import { setTimeout as sleep } from 'node:timers/promises';
import { InjectEventLog } from '../log/log.module.js';
import { ProblemError } from '../problems/problem.js';
import { VERSION } from '../version.js';
import type { Health } from './health.dto.js';
import { SinkHealthIndicator } from './sink-health.js';
import { StoreHealthIndicator } from './store-health.js';

/** A log that does not answer within this time counts as unreachable: orchestrators give a probe about a second or two. */
const LOG_TIMEOUT_MS = 1000;

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

  /** @throws ProblemError `STORE_STARTING`, `STORE_UNAVAILABLE` or `LOG_UNAVAILABLE` when requests can't be answered in full */
  async checkReady(): Promise<void> {
    const { store } = await this.store.check();
    if (store.state !== 'ready') {
      const code = store.state === 'starting' ? 'STORE_STARTING' : 'STORE_UNAVAILABLE';
      throw new ProblemError(code, `The store is not ready: ${store.detail}`);
    }
    const fault = await this.faultOfLog();
    if (fault !== null) throw new ProblemError('LOG_UNAVAILABLE', `The log can not be read: ${fault}`);
  }

  private async faultOfLog(): Promise<string | null> {
    const waiting = new AbortController();
    try {
      return await Promise.race([
        this.log.endOffset('control', 0).then(() => null),
        sleep(LOG_TIMEOUT_MS, `no answer within ${LOG_TIMEOUT_MS} ms`, {
          signal: waiting.signal,
          ref: false,
        }),
      ]);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      waiting.abort();
    }
  }
}
