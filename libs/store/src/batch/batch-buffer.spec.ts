import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { LogRecord } from '@retrace/log';
import { RETRY } from '../admission/admission-result.js';
import { ACCEPTED } from './append-result.js';
import { BatchBuffer, type BufferedBatch, type TakeOptions } from './batch-buffer.js';

const NOW: TakeOptions = { lingerMs: 0, notBeforeMs: 0 };

function records(first: number, count: number, sizeBytes = 10): LogRecord[] {
  return Array.from({ length: count }, (_, i) => ({ offset: first + i, bytes: new Uint8Array(sizeBytes) }));
}

class Offsets implements BufferedBatch {
  readonly offsets: number[] = [];
  sizeBytes = 0;

  get firstOffset(): number {
    return this.offsets[0];
  }

  get lastOffset(): number {
    return this.offsets[this.offsets.length - 1];
  }

  get numRecords(): number {
    return this.offsets.length;
  }
}

function newBuffer(limits: { readonly maxRecords?: number; readonly maxBytes?: number } = {}) {
  return new BatchBuffer({
    maxRecords: 100,
    maxBytes: 1_000,
    ...limits,
    newBatch: () => new Offsets(),
    append: (batch, { offset, bytes }) => {
      batch.offsets.push(offset);
      batch.sizeBytes += bytes.length;
      return ACCEPTED;
    },
    learn: () => Promise.reject(new Error('nothing is to be learned')),
  });
}

/** A source that gives what it is told to, when it is told to. */
class Source implements AsyncIterable<LogRecord[]> {
  numGiven = 0;
  private readonly waiting: LogRecord[][] = [];
  private ended = false;
  private wake: () => void = () => undefined;

  give(batch: LogRecord[]): void {
    this.waiting.push(batch);
    this.wake();
  }

  end(): void {
    this.ended = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogRecord[]> {
    for (;;) {
      const batch = this.waiting.shift();
      if (batch !== undefined) {
        this.numGiven++;
        yield batch;
      } else if (this.ended) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

async function takeOffsets(buffer: BatchBuffer<Offsets>, options = NOW): Promise<number[] | 'ended'> {
  const taken = await buffer.take(options);
  return taken.kind === 'batch' ? taken.batch.offsets : taken.kind;
}

describe('BatchBuffer', () => {
  it('joins records that arrive within the linger into one batch', async () => {
    const buffer = newBuffer();
    const source = new Source();
    const filled = buffer.fill(source);
    const taken = takeOffsets(buffer, { ...NOW, lingerMs: 40 });
    source.give(records(0, 2));
    setTimeout(() => source.give(records(2, 1)), 10);
    expect(await taken).toEqual([0, 1, 2]);
    source.end();
    await filled;
    expect(await buffer.take(NOW)).toEqual({ kind: 'ended' });
  });

  it('gives a batch at once when it holds the record that somebody waits for', async () => {
    const never = { ...NOW, lingerMs: 600_000 };
    const buffer = newBuffer();
    const source = new Source();
    const filled = buffer.fill(source);
    let taken = takeOffsets(buffer, never);
    source.give(records(0, 2));
    await setImmediate();
    buffer.hurry(3);
    source.give(records(2, 3));
    expect(await taken).toEqual([0, 1, 2, 3, 4]);
    taken = takeOffsets(buffer, { ...NOW, lingerMs: 20 });
    const givenMs = performance.now();
    source.give(records(5, 1));
    expect(await taken).toEqual([5]);
    expect(performance.now() - givenMs).toBeGreaterThan(15);
    source.end();
    await filled;
  });

  it('ends a batch at the maximum number of records, and keeps the order', async () => {
    const buffer = newBuffer({ maxRecords: 3 });
    const source = new Source();
    source.give(records(0, 7));
    source.end();
    await buffer.fill(source);
    expect(await takeOffsets(buffer)).toEqual([0, 1, 2]);
    expect(await takeOffsets(buffer)).toEqual([3, 4, 5]);
    expect(await takeOffsets(buffer)).toEqual([6]);
    expect(await takeOffsets(buffer)).toBe('ended');
  });

  it('ends a batch with the record that reaches the maximum of bytes', async () => {
    const buffer = newBuffer({ maxBytes: 11 });
    const source = new Source();
    source.give(records(0, 3));
    source.end();
    const filled = buffer.fill(source);
    expect(await takeOffsets(buffer)).toEqual([0, 1]);
    expect(await takeOffsets(buffer)).toEqual([2]);
    await filled;
  });

  it('does not give a batch before its time, unless it is full', async () => {
    const buffer = newBuffer({ maxRecords: 2 });
    const source = new Source();
    const filled = buffer.fill(source);
    source.give(records(0, 1));
    const startMs = performance.now();
    const early = takeOffsets(buffer, { ...NOW, notBeforeMs: startMs + 10_000 });
    source.give(records(1, 1));
    expect(await early).toEqual([0, 1]);
    source.give(records(2, 1));
    const late = await takeOffsets(buffer, { ...NOW, notBeforeMs: startMs + 60 });
    expect(late).toEqual([2]);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(58);
    source.end();
    await filled;
  });

  it('stops reading ahead when it is full, and continues when there is room', async () => {
    const buffer = newBuffer({ maxBytes: 50 });
    const source = new Source();
    for (let i = 0; i < 4; i++) source.give(records(3 * i, 3));
    source.end();
    const filled = buffer.fill(source);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(source.numGiven).toBe(2);
    expect(await takeOffsets(buffer)).toEqual([0, 1, 2, 3, 4]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(source.numGiven).toBe(4);
    expect(await takeOffsets(buffer)).toEqual([5, 6, 7, 8, 9]);
    expect(await takeOffsets(buffer)).toEqual([10, 11]);
    await filled;
  });

  it('gives the batches read before a failure, then rejects with the failure', async () => {
    const buffer = newBuffer();
    const source = (async function* () {
      yield records(0, 1);
      await Promise.resolve();
      throw new Error('the log is unavailable');
    })();
    await buffer.fill(source);
    expect(await takeOffsets(buffer)).toEqual([0]);
    await expect(buffer.take(NOW)).rejects.toThrow('the log is unavailable');
  });

  it('ends fill when the rest is discarded', async () => {
    const buffer = newBuffer({ maxBytes: 10 });
    const source = new Source();
    source.give(records(0, 3));
    source.end();
    const filled = buffer.fill(source);
    await new Promise((resolve) => setTimeout(resolve, 5));
    buffer.discard();
    await filled;
    expect(await buffer.take(NOW)).toEqual({ kind: 'ended' });
  });

  it('learns before it retries a record, and gives no empty batch meanwhile', async () => {
    const learned: number[][] = [];
    let known = -1;
    let finishLearning: () => void = () => undefined;
    const buffer = new BatchBuffer({
      maxRecords: 100,
      maxBytes: 1_000,
      newBatch: () => new Offsets(),
      append: (batch: Offsets, { offset }) => {
        if (offset > known) return RETRY;
        batch.offsets.push(offset);
        return ACCEPTED;
      },
      learn: (lacking) =>
        new Promise<void>((resolve) => {
          learned.push(lacking.map(({ offset }) => offset));
          finishLearning = () => {
            known = lacking[0].offset + 1;
            resolve();
          };
        }),
    });
    const source = new Source();
    const filled = buffer.fill(source);
    source.give(records(0, 3));
    const taken = takeOffsets(buffer);
    await vi.waitUntil(() => learned.length === 1, { timeout: 120_000 });
    finishLearning();
    expect(await taken).toEqual([0, 1]);
    await vi.waitUntil(() => learned.length === 2, { timeout: 120_000 });
    finishLearning();
    source.end();
    await filled;
    expect(await takeOffsets(buffer)).toEqual([2]);
    expect(learned).toEqual([[0, 1, 2], [2]]);
  });
});
