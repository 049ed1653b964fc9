import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parsedObject } from '@retrace/trajectory/json';
import { MetricsError } from '../metrics-error.js';
import type { MetricRecord } from '../records/metric-record.js';
import type { MetricWriter } from './metric-writer.js';

const LINE_END = 0x0a;
const READ_BYTES = 2 ** 20;
/** How every line begins. */
const LINE_START = '{"run":"';

/**
 * A file of metrics, one JSON object a line. Several runs may share it, one after the other; each line names its run.
 *
 *   {"run":"0193…","kind":"update","step":3,"time":"2026-11-24T12:00:00.000Z","train/loss":0.12,…}
 */
export class JsonLinesMetricsFile implements MetricWriter {
  private constructor(
    private readonly file: FileHandle,
    private readonly runId: string,
    readonly numPresent: number,
  ) {}

  /**
   * Opens the file, or makes it with its directories. A last line without an end, which a killed process leaves, is removed.
   *
   * @throws MetricsError `METRICS_FILE_INVALID` where a complete line is no record of metrics; the file is as it was
   */
  static async open(path: string, runId: string): Promise<JsonLinesMetricsFile> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, 'a+');
    try {
      const { numOfRun, completeBytes } = await readPresent(file, { path, runId });
      await file.truncate(completeBytes);
      return new JsonLinesMetricsFile(file, runId, numOfRun);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async write(record: MetricRecord): Promise<void> {
    await this.file.appendFile(`${JSON.stringify(formatLine(record, this.runId))}\n`);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

/** A record as the object of its line. Values that JSON does not have (infinite ones) are null. */
function formatLine(
  { kind, step, occurredAtUs, values }: MetricRecord,
  run: string,
): Record<string, unknown> {
  const time = new Date(occurredAtUs / 1000).toISOString();
  return { run, kind, step, time, ...Object.fromEntries(values) };
}

/** Counts the lines of a run, and the bytes of all complete lines. */
async function readPresent(
  file: FileHandle,
  { path, runId }: { readonly path: string; readonly runId: string },
): Promise<{ readonly numOfRun: number; readonly completeBytes: number }> {
  let [numOfRun, numLines, completeBytes, position] = [0, 0, 0, 0];
  let pending = Buffer.alloc(0);
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) {
      if (!isCutLine(pending.toString())) throw notMetrics(path, numLines + 1);
      return { numOfRun, completeBytes };
    }
    position += bytesRead;
    pending = Buffer.concat([pending, buffer.subarray(0, bytesRead)]);
    for (let end = pending.indexOf(LINE_END); end >= 0; end = pending.indexOf(LINE_END)) {
      numLines++;
      const run = runOfLine(pending.subarray(0, end).toString());
      if (run === null) throw notMetrics(path, numLines);
      if (run === runId) numOfRun++;
      completeBytes += end + 1;
      pending = pending.subarray(end + 1);
    }
  }
}

/** Whether a text may be the beginning of a line that was not written to its end; an empty one may. */
function isCutLine(text: string): boolean {
  return text.startsWith(LINE_START) || LINE_START.startsWith(text);
}

function notMetrics(path: string, lineNumber: number): MetricsError {
  const rule = 'every line must be an object with "run", "kind" and "step"; name another file';
  return new MetricsError(
    'METRICS_FILE_INVALID',
    `${path}, line ${lineNumber}: not metrics of Retrace: ${rule}`,
  );
}

/** The run that a line names; null where the line is no record of metrics. */
function runOfLine(line: string): string | null {
  const { run, kind, step } = parsedObject(line) ?? {};
  return typeof kind === 'string' && typeof step === 'number' && typeof run === 'string' ? run : null;
}
