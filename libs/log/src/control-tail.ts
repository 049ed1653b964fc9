import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import type { EventLog, LogRecord } from './event-log.js';
import type { AnyEvent, ControlEventKind, PayloadOf } from '@retrace/trajectory';
import { ControlFold } from '@retrace/trajectory';
import type { RunState } from '@retrace/trajectory';
import { TrajectoryError } from '@retrace/trajectory';
import { newControlEvent } from '@retrace/trajectory';

/** A control event to append: what the envelope does not fill in. */
export type ControlEntry = {
  [K in ControlEventKind]: { readonly kind: K; readonly payload: PayloadOf<K> };
}[ControlEventKind];

/**
 * Follows stream `control` of a log and keeps its fold: how collector, trainer and API know where a run is.
 * One consumer a tail: calls must not overlap.
 */
export class ControlTail {
  /** Demonstrations may be sampled again and again; groups that a policy trains on are used once. */
  readonly state = new ControlFold({
    maxTimesSampled: (group) => (group.trainable ? 1 : Number.POSITIVE_INFINITY),
  });
  private following: AsyncIterator<LogRecord[]> | null = null;
  private pending: Promise<IteratorResult<LogRecord[]>> | null = null;
  private readonly stop = new AbortController();

  constructor(private readonly log: EventLog) {}

  /** @throws TrajectoryError `UNKNOWN_RUN` */
  run(runId: string): RunState {
    const run = this.state.run(runId);
    if (!run) throw new TrajectoryError('UNKNOWN_RUN', `run ${runId} is not in this log`);
    return run;
  }

  /** Reads and folds all that is committed now. */
  async catchUp(): Promise<void> {
    for (;;) {
      const records = await this.log.read('control', 0, this.state.nextOffset);
      if (records.length === 0) return;
      this.fold(records);
    }
  }

  /** Resolves when something new was folded, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    const before = this.state.nextOffset;
    const aborted = new Aborted(signal);
    try {
      this.following ??= this.follow();
      while (this.state.nextOffset === before) {
        this.pending ??= this.following.next();
        const next = await Promise.race([this.pending, aborted.promise]);
        if (next === null) return;
        this.pending = null;
        if (next.done) return;
        this.fold(next.value);
      }
    } finally {
      aborted.forget();
    }
  }

  /** Appends events of one run in one atomic append; resolves when they are acknowledged. */
  async append(runId: string, ...entries: readonly ControlEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const occurredAtUs = Date.now() * 1000;
    const records = entries.map((entry) =>
      encodeEvent(newControlEvent({ ...entry, logId: this.log.logId, runId, occurredAtUs }) as AnyEvent),
    );
    await this.log.append('control', 0, records);
  }

  close(): void {
    this.stop.abort();
  }

  private follow(): AsyncIterator<LogRecord[]> {
    const batches = this.log.follow('control', 0, this.state.nextOffset, { signal: this.stop.signal });
    return batches[Symbol.asyncIterator]();
  }

  private fold(records: readonly LogRecord[]): void {
    for (const { offset, bytes } of records) {
      if (offset < this.state.nextOffset) continue;
      const decoded = decodeEvent(bytes);
      // A control record that can't be read is a dead letter in the store; the fold goes on without it.
      if (decoded.ok) this.state.apply(decoded.event, offset);
      else this.state.skip(offset);
    }
  }
}

/** The abort of a signal as a promise of null, which leaves no listener behind once it is forgotten. */
class Aborted {
  readonly promise: Promise<null>;
  private listener: () => void = () => undefined;

  constructor(private readonly signal: AbortSignal) {
    this.promise = new Promise((resolve) => {
      this.listener = () => {
        resolve(null);
      };
      if (signal.aborted) this.listener();
      else signal.addEventListener('abort', this.listener);
    });
  }

  forget(): void {
    this.signal.removeEventListener('abort', this.listener);
  }
}
