import type { EventLog } from '@retrace/log';
import type { MetricWriter } from '@retrace/process/metrics';

/** Options of the commands that train: where metrics go beside the log. */
export interface MetricsOptions {
  /** A file of JSON lines. */
  readonly metricsFile?: string;
  /** A log directory of TensorBoard. */
  readonly tensorboard?: string;
  /** Loopback port of the trainer's Prometheus endpoint; the collectors have the next ones, and the validator the one after them. */
  readonly metricsPort?: number;
}

interface MetricsExportRequest extends Pick<MetricsOptions, 'metricsFile' | 'tensorboard'> {
  readonly runId: string;
  /** Of the run's recipe. */
  readonly name: string;
  /** Called when a file can't be written any more; the next start completes it. */
  readonly onNotice: (message: string) => void;
}

/** Metrics that are being written to files beside a run. */
export interface MetricsExport {
  /** Writes what the log has by now, and closes the files. */
  end(): Promise<void>;
}

/**
 * Opens the files that the options name, and writes to them what the run measured, from its first update on, until `end` is called.
 *
 * @throws MetricsError `METRICS_FILE_INVALID`, and what the file system refuses, before anything is written
 */
export async function startMetricsExport(
  log: EventLog,
  request: MetricsExportRequest,
): Promise<MetricsExport> {
  const { runId, metricsFile, tensorboard, onNotice } = request;
  if (metricsFile === undefined && tensorboard === undefined) return { end: () => Promise.resolve() };
  const { exportMetrics, JsonLinesMetricsFile, TensorboardFile, tensorboardPath } =
    await import('@retrace/process/metrics');
  const writers: MetricWriter[] = [];
  if (metricsFile !== undefined) writers.push(await JsonLinesMetricsFile.open(metricsFile, runId));
  if (tensorboard !== undefined)
    writers.push(await TensorboardFile.open(tensorboardPath(tensorboard, request), runId));
  const over = new AbortController();
  const exportAll = async (): Promise<void> => {
    try {
      await exportMetrics(log, { runId, writers, signal: over.signal });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      onNotice(`metrics are no longer written to files: ${why}; the next start of the run completes them`);
    } finally {
      await Promise.all(writers.map((writer) => writer.close()));
    }
  };
  const exported = exportAll();
  return {
    end: async () => {
      over.abort();
      await exported;
    },
  };
}
