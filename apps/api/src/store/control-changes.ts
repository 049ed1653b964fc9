import { Inject, Injectable, Optional } from '@nestjs/common';
import { SINK_GROUP, type EventLog } from '@retrace/log';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { EVENT_LOG } from '../log/log.module.js';

/** A control record of the log. */
export interface ControlChange {
  readonly offset: number;
  /** Empty for a record of no run. */
  readonly runId: string;
  readonly kind: string;
}

/** The control records at one moment. */
export interface ControlLook {
  /** The store had every control record before this offset. */
  readonly storedOffset: number;
  /** Control records from `offset` to the end of the log; null where some of them are no longer remembered. */
  readonly since: (offset: number) => readonly ControlChange[] | null;
}

/** With more records to look at, those who ask read everything from the store instead. */
const MOST_READ = 2_000;
const MOST_REMEMBERED = 10_000;
const LOOK_WITHIN_MS = 1_000;

/**
 * Tells which runs have new control records, by the log: what is kept of a run follows from its control events, so it is read from the store
 * again only where there are new ones. Records that the log has and the store lacks are told each time until the store has them.
 */
@Injectable()
export class ControlChanges {
  private remembered: ControlChange[] = [];
  private firstOffset = 0;
  /** Offset of the record that is read next; null before the first look. */
  private nextOffset: number | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(@Optional() @Inject(EVENT_LOG) private readonly log: EventLog | null = null) {}

  /** Looks at the log now. Null where nothing can be kept: there is no log, it does not answer, or the store is far behind it. */
  look(): Promise<ControlLook | null> {
    const { log } = this;
    if (log === null) return Promise.resolve(null);
    const looking = this.last.then(() => this.lookAt(log)).catch(() => null);
    this.last = looking;
    return withinMs(looking, LOOK_WITHIN_MS);
  }

  private async lookAt(log: EventLog): Promise<ControlLook | null> {
    // First: what the store has later than that is told once more, which is harmless.
    const storedOffset = (await log.readCursor(SINK_GROUP, 'control', 0)) ?? 0;
    const endOffset = await log.endOffset('control', 0);
    const isNear = this.nextOffset !== null && endOffset - this.nextOffset <= MOST_READ;
    if (!isNear || storedOffset < this.firstOffset) this.beginAt(storedOffset);
    if (endOffset - (this.nextOffset ?? 0) > MOST_READ) return null;
    await this.readTo(log, endOffset);
    const { remembered, firstOffset } = this;
    return {
      storedOffset,
      since: (offset) => (offset < firstOffset ? null : changesFrom(remembered, offset)),
    };
  }

  private beginAt(offset: number): void {
    this.remembered = [];
    this.firstOffset = offset;
    this.nextOffset = offset;
  }

  private async readTo(log: EventLog, endOffset: number): Promise<void> {
    let next = this.nextOffset ?? 0;
    while (next < endOffset) {
      const records = await log.read('control', 0, next, { maxRecords: endOffset - next });
      if (records.length === 0) break;
      for (const { offset, bytes } of records) {
        const { runId, kind } = peekEnvelope(bytes) ?? NO_ENVELOPE;
        this.remembered.push({ offset, runId, kind });
      }
      next = records[records.length - 1].offset + 1;
    }
    this.nextOffset = Math.max(next, endOffset);
    if (this.remembered.length <= MOST_REMEMBERED) return;
    this.remembered = this.remembered.slice(-MOST_REMEMBERED / 2);
    this.firstOffset = this.remembered[0].offset;
  }
}

/** A damaged record is a dead letter of no run. */
const NO_ENVELOPE = { runId: '', kind: '' };

/** The result if it comes in time, else null. */
async function withinMs<Result>(result: Promise<Result>, timeoutMs: number): Promise<Result | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      resolve(null);
    }, timeoutMs);
  });
  return Promise.race([result, late]).finally(() => {
    clearTimeout(timer);
  });
}

function changesFrom(changes: readonly ControlChange[], offset: number): readonly ControlChange[] {
  const first = changes.findLastIndex((change) => change.offset < offset) + 1;
  return first === changes.length ? [] : changes.slice(first);
}

/** Runs that were deleted by the log, but whose rows the store may still have: they are read again until it has none. */
export class Departures {
  private readonly leaving = new Set<string>();

  /** The runs to read again after these control records. */
  changedRuns(changes: readonly ControlChange[], dependsOn: (kind: string) => boolean): ReadonlySet<string> {
    const changed = new Set<string>();
    for (const { runId, kind } of changes) {
      if (kind === 'RunDeleted') this.leaving.add(runId);
      else if (dependsOn(kind)) changed.add(runId);
    }
    for (const runId of this.leaving) changed.add(runId);
    return changed;
  }

  /** After these runs were read. */
  saw(runIds: Iterable<string>, isThere: (runId: string) => boolean): void {
    for (const runId of runIds) if (!isThere(runId)) this.leaving.delete(runId);
  }
}
