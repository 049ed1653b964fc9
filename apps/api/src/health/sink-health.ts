import { Injectable } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { SinkService, type SinkState } from '../sink/sink.service.js';
import type { SinkHealth } from './health.dto.js';

/** Reports whether the sink of this process runs, and how far the store is behind the log. */
@Injectable()
export class SinkHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly sink: SinkService,
  ) {}

  check(): { readonly sink: SinkHealth } {
    const indicator = this.indicators.check('sink');
    const { phase, detail, partitions } = this.sink.state;
    const data = {
      state: phase,
      detail,
      lagRecords: totalLag(partitions),
      visibleAfterMsP99: slowestVisibility(partitions),
    };
    const hasFault = phase === 'failed' || phase === 'backingOff';
    return hasFault ? indicator.degraded(data) : indicator.up(data);
  }
}

/** Records that the store does not have yet; null until every partition knows its lag. */
function totalLag(partitions: SinkState['partitions']): number | null {
  if (partitions.length === 0) return null;
  let total = 0;
  for (const { lag } of partitions) {
    if (lag === null) return null;
    total += lag;
  }
  return total;
}

function slowestVisibility(partitions: SinkState['partitions']): number | null {
  const known = partitions.flatMap(({ visibleAfterMs }) => visibleAfterMs?.p99 ?? []);
  return known.length === 0 ? null : Math.round(Math.max(...known));
}
