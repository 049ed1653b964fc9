import type { EventLog, LogRecord } from '../event-log.js';

export function texts(...values: readonly string[]): Uint8Array[] {
  return values.map((value) => new TextEncoder().encode(value));
}

export function decodeText({ bytes }: LogRecord): string {
  return new TextDecoder().decode(bytes);
}

export async function readAll(log: EventLog, partition = 0): Promise<(readonly [number, string])[]> {
  const all: (readonly [number, string])[] = [];
  for (let next = 0; ;) {
    const records = await log.read('trajectories', partition, next);
    if (records.length === 0) return all;
    all.push(...records.map((record) => [record.offset, decodeText(record)] as const));
    next = records[records.length - 1].offset + 1;
  }
}

export async function collect(batches: AsyncIterable<LogRecord[]>): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}
