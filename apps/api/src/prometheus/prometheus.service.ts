import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PartitionProgress } from '@retrace/store';
import { Redaction } from '../ingest/redaction.js';
import { LiveService } from '../live/live.service.js';
import { SinkService } from '../sink/sink.service.js';
import { StoreService } from '../store/store.service.js';
import { TracesService } from '../traces/traces.service.js';

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
    redaction: Redaction,
    traces: TracesService,
  ) {
    collectDefaultMetrics({ register: this.registry });
    this.measureStore(store);
    this.gaugeConnections(live);
    this.gaugeSink();
    this.countSink();
    this.countRedactions(redaction);
    this.countTraces(traces);
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

  private countRedactions({ counts }: Redaction): void {
    new Counter({
      name: 'retrace_redactions_total',
      help: 'Texts of records that a redaction rule has hidden',
      labelNames: ['rule'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [rule, count] of counts) this.inc({ rule }, count);
      },
    });
  }

  private countTraces(traces: TracesService): void {
    new Gauge({
      name: 'retrace_open_traces',
      help: 'Traces of OpenTelemetry whose episodes are not in the log yet',
      registers: [this.registry],
      collect() {
        this.set(traces.numOpenTraces);
      },
    });
    new Counter({
      name: 'retrace_spans_total',
      help: 'Spans that came, by whether they had come before',
      labelNames: ['outcome'],
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc({ outcome: 'taken' }, traces.counts?.numSpans ?? 0);
        this.inc({ outcome: 'duplicate' }, traces.counts?.numDuplicates ?? 0);
      },
    });
    new Counter({
      name: 'retrace_traces_poorer_records_total',
      help: 'Records of traces that are stored without a part that can not be stored',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(traces.numPoorer);
      },
    });
    new Counter({
      name: 'retrace_traces_without_call_total',
      help: 'Complete traces, or parts of them, that became no episode, as no model was called in them',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(traces.counts?.numWithoutCall ?? 0);
      },
    });
    new Counter({
      name: 'retrace_traces_refused_total',
      help: 'Complete traces that the recorder refused; their spans are in the trace directory',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(traces.counts?.numRefused ?? 0);
      },
    });
  }

  private measureStore(store: StoreService): void {
    new Gauge({
      name: 'retrace_store_ready',
      help: '1 once the store has answered and has its schema',
      registers: [this.registry],
      collect() {
        this.set(store.current.phase === 'ready' ? 1 : 0);
      },
    });
    new Counter({
      name: 'retrace_store_queries_total',
      help: "Queries of the API's shared client",
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(store.numQueries);
      },
    });
  }

  private gaugeConnections(live: LiveService): void {
    new Gauge({
      name: 'retrace_live_connections',
      help: 'Clients that are connected to the live stream',
      registers: [this.registry],
      collect() {
        this.set(live.numConnections);
      },
    });
  }

  private gaugeSink(): void {
    const { sink } = this;
    new Gauge({
      name: 'retrace_sink_lag_records',
      help: 'Records of the log that the store does not have yet',
      labelNames: PARTITION_LABELS,
      registers: [this.registry],
      collect() {
        for (const { stream, partition, lag } of sink.state.partitions) {
          if (lag !== null) this.set({ stream, partition: `${partition}` }, lag);
        }
      },
    });
    new Gauge({
      name: 'retrace_sink_partition_failed',
      help: '1 while a partition has failed or waits to retry; the others continue',
      labelNames: PARTITION_LABELS,
      registers: [this.registry],
      collect() {
        for (const { stream, partition, state } of sink.state.partitions) {
          const hasFault = state === 'failed' || state === 'backingOff';
          this.set({ stream, partition: `${partition}` }, hasFault ? 1 : 0);
        }
      },
    });
  }

  private countSink(): void {
    this.countPerPartition(
      'retrace_sink_rows_total',
      'Records copied into the store',
      (each) => each.numRows,
    );
    this.countPerPartition(
      'retrace_sink_inserts_total',
      'Inserts, each of which makes one part',
      (each) => each.numInserts,
    );
    this.countPerPartition('retrace_sink_bytes_total', 'Bytes of copied records', (each) => each.numBytes);
    this.countPerPartition(
      'retrace_sink_dead_letters_total',
      'Records that contain no valid event',
      (each) => each.numDeadLetters,
    );
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
