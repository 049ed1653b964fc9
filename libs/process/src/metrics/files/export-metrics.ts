import type { EventLog, LogRecord } from '@retrace/log';
import { decodeEvent } from '@retrace/trajectory/codec';
import { MetricRecords } from '../records/metric-records.js';
import type { MetricWriter } from './metric-writer.js';

export interface MetricsExportOptions {
  readonly runId: string;
  readonly writers: readonly MetricWriter[];
  /** Ends the export once everything that is committed by then is written. */
  readonly signal: AbortSignal;
}

/**
 * Writes the metrics of a run as they are committed, beginning with those that the writers lack of what is in the log. The log decides
 * what was measured and in which order, so each writer has every update exactly once, whatever was stopped or killed when.
 *
 * @throws what a writer throws; the others are then incomplete until the next export
 */
export async function exportMetrics(log: EventLog, options: MetricsExportOptions): Promise<void> {
  const { writers, signal } = options;
  const records = new MetricRecords(options.runId);
  let numRecords = 0;
  const pass = async (batch: readonly LogRecord[]): Promise<void> => {
    for (const { offset, bytes } of batch) {
      const decoded = decodeEvent(bytes);
      if (!decoded.ok) records.skip(offset);
      const record = decoded.ok ? records.take(decoded.event, offset) : null;
      if (record === null) continue;
      for (const writer of writers) if (numRecords >= writer.numPresent) await writer.write(record);
      numRecords++;
    }
  };
  for await (const batch of log.follow('control', 0, 0, { signal })) await pass(batch);
  for (;;) {
    const rest = await log.read('control', 0, records.nextOffset);
    if (rest.length === 0) return;
    await pass(rest);
  }
}
