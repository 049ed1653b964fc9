import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RecordBuffer, type Buffered, type TakeOptions } from './record-buffer.js';

const NOW: TakeOptions = { maxRecords: 100, maxBytes: 1_000, lingerMs: 0, notBeforeMs: 0 };

function records(first: number, count: number, sizeBytes = 10): Buffered[] {
  return Array.from({ length: count }, (_, i) => ({ offset: first + i, sizeBytes }));
}

/** A source that gives what it is told to, when it is told to. */
class Source implements AsyncIterable<Buffered[]> {
  numGiven = 0;
  private readonly waiting: Buffered[][] = [];
  private ended = false;
  private wake: () => void = () => undefined;

  give(batch: Buffered[]): void {
    this.waiting.push(batch);
    this.wake();
  }

  end(): void {
    this.ended = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffered[]> {
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

function offsetsOf(batch: readonly Buffered[]): number[] {
  return batch.map(({ offset }) => offset);
}

describe('RecordBuffer', () => {
  it('joins what arrives within the linger into one batch', async () => {
    const buffer = new RecordBuffer<Buffered>(1_000);
    const source = new Source();
    const filled = buffer.fill(source);
    const taken = buffer.take({ ...NOW, lingerMs: 40 });
    source.give(records(0, 2));
    setTimeout(() => source.give(records(2, 1)), 10);
    expect(offsetsOf(await taken)).toEqual([0, 1, 2]);
    source.end();
    await filled;
    expect(await buffer.take(NOW)).toEqual([]);
  });

  it('lets a batch linger no longer once it holds the record that somebody waits for', async () => {
    const never = { ...NOW, lingerMs: 600_000 };
    const buffer = new RecordBuffer<Buffered>(1_000);
    const source = new Source();
    const filled = buffer.fill(source);
    let taken = buffer.take(never);
    source.give(records(0, 2));
    await setImmediate();
    buffer.hurry(3);
    source.give(records(2, 3));
    expect(offsetsOf(await taken)).toEqual([0, 1, 2, 3, 4]);
    taken = buffer.take({ ...NOW, lingerMs: 20 });
    const givenMs = performance.now();
    source.give(records(5, 1));
    expect(offsetsOf(await taken)).toEqual([5]);
    expect(performance.now() - givenMs).toBeGreaterThan(15);
    source.end();
    await filled;
  });

  it('cuts a batch at its number of records and its bytes, and keeps the order', async () => {
    const buffer = new RecordBuffer<Buffered>(1_000);
    const source = new Source();
    source.give(records(0, 7));
    source.end();
    await buffer.fill(source);
    expect(offsetsOf(await buffer.take({ ...NOW, maxRecords: 3 }))).toEqual([0, 1, 2]);
    // The record with which the size is reached still belongs to the batch.
    expect(offsetsOf(await buffer.take({ ...NOW, maxBytes: 11 }))).toEqual([3, 4]);
    expect(offsetsOf(await buffer.take(NOW))).toEqual([5, 6]);
  });

  it('does not give a batch before its time, unless it is full', async () => {
    const buffer = new RecordBuffer<Buffered>(1_000);
    const source = new Source();
    const filled = buffer.fill(source);
    source.give(records(0, 1));
    const startMs = performance.now();
    const early = buffer.take({ ...NOW, maxRecords: 2, notBeforeMs: startMs + 10_000 });
    source.give(records(1, 1));
    expect(offsetsOf(await early)).toEqual([0, 1]);
    source.give(records(2, 1));
    const late = await buffer.take({ ...NOW, notBeforeMs: startMs + 60 });
    expect(offsetsOf(late)).toEqual([2]);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(58);
    source.end();
    await filled;
  });

  it('stops reading ahead when it is full, and goes on when there is room', async () => {
    const buffer = new RecordBuffer<Buffered>(50);
    const source = new Source();
    for (let i = 0; i < 4; i++) source.give(records(3 * i, 3));
    source.end();
    const filled = buffer.fill(source);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(source.numGiven).toBe(2);
    expect(offsetsOf(await buffer.take({ ...NOW, maxRecords: 6 }))).toEqual([0, 1, 2, 3, 4, 5]);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(source.numGiven).toBe(4);
    expect(await buffer.take(NOW)).toHaveLength(6);
    await filled;
  });

  it('gives what came before a failure, then the failure', async () => {
    const buffer = new RecordBuffer<Buffered>(1_000);
    const source = (async function* () {
      yield records(0, 1);
      await Promise.resolve();
      throw new Error('the log is away');
    })();
    await buffer.fill(source);
    expect(offsetsOf(await buffer.take(NOW))).toEqual([0]);
    await expect(buffer.take(NOW)).rejects.toThrow('the log is away');
  });

  it('lets its filler end when the rest is discarded', async () => {
    const buffer = new RecordBuffer<Buffered>(10);
    const source = new Source();
    source.give(records(0, 3));
    source.end();
    const filled = buffer.fill(source);
    await new Promise((resolve) => setTimeout(resolve, 5));
    buffer.discard();
    await filled;
    expect(await buffer.take(NOW)).toEqual([]);
  });
});
