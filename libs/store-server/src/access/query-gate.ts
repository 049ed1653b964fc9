import { ClickHouseException, type OwnExceptionName } from '../statement/clickhouse-exception.js';

export interface QueryGateOptions {
  readonly name: string;
  readonly maxRunning: number;
  readonly maxQueued: number;
  readonly maxQueueMs: number;
}

/** Limits how many statements run at once; the others wait in order, for a bounded time, in a bounded queue. */
export class QueryGate {
  private numRunning = 0;
  /** Starts each waiting task, in order. */
  private readonly waiters = new Set<() => void>();

  constructor(private readonly options: QueryGateOptions) {}

  /**
   * Runs a task as soon as a place is free.
   *
   * @throws ClickHouseException TOO_MANY_SIMULTANEOUS_QUERIES when the queue is full or the wait takes too long, ABORTED when `signal` aborts first
   */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.numRunning >= this.options.maxRunning) await this.wait(signal);
    else this.numRunning++;
    try {
      return await task();
    } finally {
      // The place passes directly to the next waiter, so that no newcomer can take it.
      const next = this.waiters.values().next();
      if (next.done) this.numRunning--;
      else next.value();
    }
  }

  private async wait(signal: AbortSignal): Promise<void> {
    const { name, maxQueued, maxRunning, maxQueueMs } = this.options;
    if (this.waiters.size >= maxQueued) {
      throw ClickHouseException.of(
        'TOO_MANY_SIMULTANEOUS_QUERIES',
        `Too many simultaneous queries (${name}): ${maxRunning} are running and ${maxQueued} are waiting, the maximum; try again later`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.waiters.delete(admit);
        finish();
      };
      const admit = () => settle(resolve);
      const refuse = (exception: OwnExceptionName, text: string) =>
        settle(() => reject(ClickHouseException.of(exception, text)));
      const onAbort = () => refuse('ABORTED', 'The request was aborted while it waited to start');
      const lateText = `Not started within ${maxQueueMs} ms (${name}): ${maxRunning} queries are running, the maximum; try again later`;
      const timer = setTimeout(() => refuse('TOO_MANY_SIMULTANEOUS_QUERIES', lateText), maxQueueMs);
      signal.addEventListener('abort', onAbort);
      this.waiters.add(admit);
      if (signal.aborted) onAbort();
    });
  }
}
