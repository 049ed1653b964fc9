import { setTimeout as sleep } from 'node:timers/promises';

/** How old what a question is answered with may be, where the new is being read. */
const LATE_AT_MOST_MS = 10_000;

/** A value that was read. */
export interface ReadValue<Value> {
  readonly value: Value;
  /** When the store was asked for it, by `performance.now()`. */
  readonly askedAtMs: number;
}

/** Whether a question may still be answered with what the store was asked for then. @param askedAtMs by `performance.now()` */
export function mayStillAnswer(askedAtMs: number): boolean {
  return performance.now() - askedAtMs <= LATE_AT_MOST_MS;
}

/** One question's patience with the readings that it waits for. */
export class Patience {
  private end: Promise<void> | null = null;

  constructor(private readonly patienceMs: number) {}

  /** Returns what is being read, or what was read before if that takes longer than the patience and the one before is at most ten seconds old. */
  async wait<Value>(reading: Promise<Value>, before: ReadValue<Value> | null): Promise<Value> {
    if (before === null || !mayStillAnswer(before.askedAtMs)) return reading;
    this.end ??= sleep(this.patienceMs, undefined, { ref: false });
    return Promise.race([reading, this.end.then(() => before.value)]);
  }
}
