import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { QueryGate } from './query-gate.js';

const never = new AbortController().signal;

describe('QueryGate', () => {
  const create = (options: Partial<ConstructorParameters<typeof QueryGate>[0]> = {}) =>
    new QueryGate({ name: 'reads', maxRunning: 2, maxQueued: 2, maxQueueMs: 10_000, ...options });

  it('runs up to the limit at once, and the others in order', async () => {
    const admission = create({ maxQueued: 10 });
    const started: number[] = [];
    let numRunning = 0;
    let mostRunning = 0;
    await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        admission.run(never, async () => {
          started.push(i);
          mostRunning = Math.max(mostRunning, ++numRunning);
          await sleep(2);
          numRunning--;
        }),
      ),
    );
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
    expect(mostRunning).toBe(2);
  });

  it('frees a place when a task fails', async () => {
    const admission = create({ maxRunning: 1 });
    await expect(admission.run(never, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await admission.run(never, () => Promise.resolve('next'))).toBe('next');
  });

  it('refuses when the queue is full', async () => {
    const admission = create({ maxRunning: 1, maxQueued: 1 });
    const blocked = new Promise<void>((resolve) => setTimeout(resolve, 20));
    const tasks = [admission.run(never, () => blocked), admission.run(never, () => Promise.resolve())];
    await expect(admission.run(never, () => Promise.resolve())).rejects.toMatchObject({
      exceptionName: 'TOO_MANY_SIMULTANEOUS_QUERIES',
    });
    await Promise.all(tasks);
  });

  it('refuses a task that waited too long or was aborted, and runs the next', async () => {
    const admission = create({ maxRunning: 1, maxQueueMs: 20 });
    let finish!: () => void;
    const first = admission.run(never, () => new Promise<void>((resolve) => (finish = resolve)));
    const gone = new AbortController();
    const waits = [
      admission.run(gone.signal, () => Promise.resolve()),
      admission.run(never, () => Promise.resolve()),
    ];
    gone.abort();
    await expect(waits[0]).rejects.toMatchObject({ exceptionName: 'ABORTED' });
    await expect(waits[1]).rejects.toMatchObject({ exceptionName: 'TOO_MANY_SIMULTANEOUS_QUERIES' });
    const last = admission.run(never, () => Promise.resolve('turn'));
    finish();
    await first;
    expect(await last).toBe('turn');
  });
});
