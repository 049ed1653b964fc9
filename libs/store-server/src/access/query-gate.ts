import { ClickHouseException } from '../statement/clickhouse-exception.js';

export interface QueryGateOptions {
  readonly name: string;
  readonly maxRunning: number;
  readonly maxQueued: number;
  readonly maxQueueMs: number;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: Error) => void;
}

/** Lets a bounded number of statements run; the others wait in order, for a bounded time, in a bounded queue. */
export class QueryGate {
  private numRunning = 0;
  private readonly waiters = new Set<Waiter>();

  constructor(private readonly options: QueryGateOptions) {}

  /**
   * Runs a task once there is a place for it.
   *
   * @throws ClickHouseException TOO_MANY_SIMULTANEOUS_QUERIES when the queue is full or the wait too long, ABORTED when `signal` aborts first
   */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.numRunning >= this.options.maxRunning) await this.wait(signal);
    else this.numRunning++;
    try {
      return await task();
    } finally {
      // A waiter takes the place over, so that nobody can slip in between.
      const next = this.waiters.values().next();
      if (next.done) this.numRunning--;
      else next.value.admit();
    }
  }

  private async wait(signal: AbortSignal): Promise<void> {
    const { name, maxQueued, maxRunning, maxQueueMs } = this.options;
    if (this.waiters.size >= maxQueued) {
      throw ClickHouseException.of(
        'TOO_MANY_SIMULTANEOUS_QUERIES',
        `Too many simultaneous queries (${name}): ${maxRunning} run and ${maxQueued} wait, which is the maximum`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.waiters.delete(waiter);
        finish();
      };
      const waiter: Waiter = {
        admit: () => settle(resolve),
        refuse: (error) => settle(() => reject(error)),
      };
      const onAbort = () =>
        waiter.refuse(
          ClickHouseException.of('ABORTED', 'The request was aborted while it waited for its turn'),
        );
      const timer = setTimeout(
        () =>
          waiter.refuse(
            ClickHouseException.of(
              'TOO_MANY_SIMULTANEOUS_QUERIES',
              `No turn within ${maxQueueMs} ms (${name}): ${maxRunning} queries run`,
            ),
          ),
        maxQueueMs,
      );
      signal.addEventListener('abort', onAbort);
      this.waiters.add(waiter);
      if (signal.aborted) onAbort();
    });
  }
}
