import { Injectable } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { StoreService } from '../store/store.service.js';
import type { StoreHealth } from './health.dto.js';

/** Reports whether the store has its schema and answers now. */
@Injectable()
export class StoreHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly store: StoreService,
  ) {}

  async check(): Promise<{ readonly store: StoreHealth }> {
    const indicator = this.indicators.check('store');
    const { phase, detail } = this.store.current;
    if (phase !== 'ready') return indicator.degraded({ state: phase, detail });
    if (await this.store.answers()) return indicator.up({ state: phase, detail });
    return indicator.degraded({ state: 'unreachable' as const, detail: 'The store has stopped answering' });
  }
}
