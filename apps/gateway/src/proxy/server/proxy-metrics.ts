import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Sender } from '@retrace/client';
import { addGauges } from '../../http/metrics.js';
import type { CallRecorder } from '../record/call-recorder.js';

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25];

/** Counts of the proxy in Prometheus' text format. */
export class ProxyMetrics {
  readonly registry = new Registry();
  readonly calls = new Counter({
    name: 'retrace_proxy_calls_total',
    help: 'Calls of models that were passed on',
    labelNames: ['protocol', 'status'],
    registers: [this.registry],
  });
  readonly openCalls = new Gauge({
    name: 'retrace_proxy_open_calls',
    help: 'Calls under way',
    registers: [this.registry],
  });
  readonly unrecorded = new Counter({
    name: 'retrace_proxy_unrecorded_total',
    help: 'Calls that were passed on without being recorded',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly diskWait = new Histogram({
    name: 'retrace_proxy_disk_wait_seconds',
    help: 'Time that the end of an answer waited for the disk',
    buckets: SECONDS,
    registers: [this.registry],
  });

  constructor(sender: Sender, recorder: CallRecorder) {
    addGauges(this.registry, 'retrace_proxy', {
      open_episodes: ['Episodes that have not ended', () => recorder.numOpenEpisodes],
      recorded_calls: ['Calls that were recorded since the start', () => recorder.numCalls],
      disk_failures: [
        'How many of journal and spool could not be written last',
        () => Object.values(recorder.diskFailures).filter((failure) => failure !== null).length,
      ],
      lost_calls: ['Calls that found no room in journal or spool since the start', () => recorder.numLost],
      pending_records: ['Records that wait to be sent to Retrace', () => recorder.numPending],
      acknowledged_records: ['Records that Retrace has since the start', () => sender.stats.numAcknowledged],
      poorer_episodes: [
        'Episodes of which a record is stored without a part that Retrace does not take, since the start',
        () => sender.stats.numPoorerEpisodes,
      ],
      broken_episodes: [
        'Episodes of which a record is missing, since the start',
        () => sender.stats.numBrokenEpisodes,
      ],
      refused_records: ['Records that Retrace refused since the start', () => sender.stats.numRefused],
    });
  }
}
