import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PartitionProgress } from '@retrace/store';
import { LiveService } from '../live/live.service.js';
import { SinkService } from '../sink/sink.service.js';
import { StoreService } from '../store/store.service.js';

const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 10];
const PARTITION_LABELS = ['stream', 'partition'] as const;

/** Measures the process, in Prometheus' text format. */
@Injectable()
export class PrometheusService {
  private readonly registry = new Registry();
  private readonly requestDuration = new Histogram({
    name: 'retrace_http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  constructor(
    private readonly sink: SinkService,
    live: LiveService,
    store: StoreService,
  ) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'retrace_store_ready',
      help: '1 once the store has answered and has its schema',
      registers,
      collect() {
        this.set(store.current.phase === 'ready' ? 1 : 0);
      },
    });
    new Gauge({
      name: 'retrace_live_connections',
      help: 'Clients that follow a run live',
      registers,
      collect() {
        this.set(live.numConnections);
      },
    });
    new Gauge({
      name: 'retrace_sink_lag_records',
      help: 'Records that the log has and the store lacks',
      labelNames: PARTITION_LABELS,
      registers,
      collect() {
        for (const { stream, partition, lag } of sink.state.partitions) {
          if (lag !== null) this.set({ stream, partition: `${partition}` }, lag);
        }
      },
    });
    new Gauge({
      name: 'retrace_sink_partition_failed',
      help: '1 while a partition has failed or backs off; others go on',
      labelNames: PARTITION_LABELS,
      registers,
      collect() {
        for (const { stream, partition, state } of sink.state.partitions) {
          this.set(
            { stream, partition: `${partition}` },
            state === 'failed' || state === 'backingOff' ? 1 : 0,
          );
        }
      },
    });
    this.countPerPartition(
      'retrace_sink_rows_total',
      'Records carried into the store',
      ({ numRows }) => numRows,
    );
    this.countPerPartition(
      'retrace_sink_inserts_total',
      'Inserts, each one part',
      ({ numInserts }) => numInserts,
    );
    this.countPerPartition('retrace_sink_bytes_total', 'Bytes of records', ({ numBytes }) => numBytes);
    this.countPerPartition(
      'retrace_sink_dead_letters_total',
      'Records that hold no valid event',
      (each) => each.numDeadLetters,
    );
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  observeRequest(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { method: request.method, route, status: `${reply.statusCode}` };
    this.requestDuration.observe(labels, reply.elapsedTime / 1000);
  }

  private countPerPartition(
    name: string,
    help: string,
    countOf: (progress: PartitionProgress) => number,
  ): void {
    const { sink } = this;
    new Counter({
      name,
      help,
      labelNames: PARTITION_LABELS,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const progress of sink.state.partitions) {
          this.inc({ stream: progress.stream, partition: `${progress.partition}` }, countOf(progress));
        }
      },
    });
  }
}
