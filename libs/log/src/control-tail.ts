import {
  type AnyEvent,
  type ControlEventKind,
  ControlFold,
  isJsonObject,
  type Json,
  newControlEvent,
  nowUs,
  type PayloadOf,
  type RunState,
  TrajectoryError,
} from '@retrace/trajectory';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import type { EventLog, LogRecord } from './event-log.js';
import { orAborted } from './or-aborted.js';

/** The kind and payload of a control event to append. */
export type ControlEntry = {
  [K in ControlEventKind]: { readonly kind: K; readonly payload: PayloadOf<K> };
}[ControlEventKind];

/**
 * Follows stream `control` of a log and folds it, so that collector, trainer and API know the state of each run. Calls must not overlap,
 * except `append`: appends are made one after the other.
 */
export class ControlTail {
  /** Demonstrations may be sampled any number of times, other groups as often as the run's recipe says. */
  readonly state = new ControlFold({
    maxTimesSampled: (group, { recipe }) => (group.trainable ? ownLimit(recipe) : Number.POSITIVE_INFINITY),
  });
  private following: AsyncIterator<LogRecord[]> | null = null;
  private pending: Promise<IteratorResult<LogRecord[]>> | null = null;
  private readonly stop = new AbortController();
  private appended: Promise<unknown> = Promise.resolve();

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

  /** Resolves when a new record was folded, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    const before = this.state.nextOffset;
    this.following ??= this.follow();
    while (this.state.nextOffset === before) {
      this.pending ??= this.following.next();
      const next = await orAborted(this.pending, signal);
      if (next === null) return;
      this.pending = null;
      if (next.done) return;
      this.fold(next.value);
    }
  }

  /** Appends events of one run in one atomic append; resolves when they are acknowledged. */
  async append(runId: string, ...entries: readonly ControlEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const records = this.encode(runId, entries);
    await this.inTurn(() => this.log.append('control', 0, records));
  }

  /** The records that `append` would append now. */
  encode(runId: string, entries: readonly ControlEntry[]): Uint8Array[] {
    const { logId } = this.log;
    const occurredAtUs = nowUs();
    return entries.map((entry) =>
      encodeEvent(newControlEvent({ ...entry, logId, runId, occurredAtUs }) as AnyEvent),
    );
  }

  /** Makes an append of encoded records in its turn. */
  inTurn<T>(append: () => Promise<T>): Promise<T> {
    const appending = this.appended.then(append);
    this.appended = appending.catch(() => undefined);
    return appending;
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

/** Folds all control events that are committed now. */
export async function readControlState(log: EventLog): Promise<ControlFold> {
  const control = new ControlTail(log);
  await control.catchUp();
  return control.state;
}

/** How often updates may be trained on a group of the run itself: the recipe's `sampler.maxTimesSampled`, and once where it has none. */
function ownLimit(recipe: Json): number {
  const sampler = readField(recipe, 'sampler');
  const limit = readField(sampler, 'maxTimesSampled');
  return typeof limit === 'number' ? limit : 1;
}

function readField(json: Json, name: string): Json {
  return isJsonObject(json) ? (json[name] ?? null) : null;
}
