import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MetricWriter } from '../files/metric-writer.js';
import type { MetricRecord } from '../records/metric-record.js';
import { fileVersionEvent, scalarsEvent } from './event-message.js';
import { countFrames, frameRecord } from './record-frames.js';

interface TensorboardRun {
  readonly runId: string;
  /** Of the run's recipe. */
  readonly name: string;
}

/** Characters of the run's id in the name of its directory: the last ones, which differ between runs that started together. */
const SHOWN_ID = 8;

/** The event file of a run below a log directory of TensorBoard, which shows the runs by the names of their directories. */
export function tensorboardPath(directory: string, { runId, name }: TensorboardRun): string {
  const runName = `${name.replaceAll(/[^\w.-]+/g, '-')}-${runId.slice(-SHOWN_ID)}`;
  return join(directory, runName, `events.out.tfevents.${Math.floor(startSeconds(runId))}.retrace`);
}

/** Seconds since the Unix epoch at which a run began, from its id (UUIDv7, whose first 48 bits are milliseconds). */
function startSeconds(runId: string): number {
  return Number.parseInt(runId.replaceAll('-', '').slice(0, 12), 16) / 1000;
}

/** An event file of TensorBoard: one event for each record, with a scalar for each of its values. */
export class TensorboardFile implements MetricWriter {
  private constructor(
    private readonly file: FileHandle,
    readonly numPresent: number,
  ) {}

  /** Opens the event file, or makes it with its directories. What follows the last intact event is removed, and written again from the log. */
  static async open(path: string, runId: string): Promise<TensorboardFile> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, 'a+');
    try {
      const { numFrames, numBytes } = countFrames(await file.readFile());
      await file.truncate(numBytes);
      if (numFrames === 0) await file.appendFile(frameRecord(fileVersionEvent(startSeconds(runId))));
      return new TensorboardFile(file, Math.max(0, numFrames - 1));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async write(record: MetricRecord): Promise<void> {
    await this.file.appendFile(frameRecord(scalarsEvent(record)));
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
