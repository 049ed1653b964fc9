import { Logger } from '@nestjs/common';
import { LogError, SINK_GROUP, type EventLog } from '@retrace/log';
import { readNextOffset } from '@retrace/store';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { SharedAnswer } from './shared-answer.js';
import type { StoreService } from './store.service.js';

/** A control record of the log. */
export interface ControlChange {
  readonly offset: number;
  /** Empty for a record of no run. */
  readonly runId: string;
  readonly kind: string;
  /** Microseconds since the Unix epoch. */
  readonly occurredAtUs: number;
  /** Whether the run has ended before, and no trainer has claimed it since, as far as the log was followed. */
  readonly isAfterEnd: boolean;
}

/** Whether a control record may change what is kept of its run. */
export type DependsOn = (change: ControlChange) => boolean;

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
const PATIENCE_MS = 40;

/**
 * Tells which runs have new control records, by the log: what is kept of a run follows from its control events, so it is read from the store
 * again only where there are new ones. Records that the log has and the store lacks are told each time until the store has them.
 */
export class ControlChanges {
  private readonly logger = new Logger('store');
  private readonly looks = new SharedAnswer(() => this.lookAtLog());
  /** A look that took too long and has not ended. */
  private hanging: Promise<unknown> | null = null;
  private isFailing = false;
  private remembered: ControlChange[] = [];
  private firstOffset = 0;
  /** Runs that have ended since the log is followed. */
  private readonly ended = new Set<string>();
  /** Offset of the record that is read next; null before the first look. */
  private nextOffset: number | null = null;
  /** The last that was known; null before the first look. */
  private storedOffset: number | null = null;

  /**
   * @param log null: nothing is kept
   * @param patienceMs how long a question waits for values that may be late
   */
  constructor(
    private readonly log: EventLog | null,
    private readonly store: Pick<StoreService, 'now'>,
    readonly patienceMs: number = PATIENCE_MS,
  ) {}

  /**
   * Looks at the log now. Null where nothing can be kept: there is no log, it does not answer, or the store is far behind it.
   *
   * @throws ProblemError `STORE_STARTING`, StoreError
   */
  look(): Promise<ControlLook | null> {
    if (this.log === null || this.hanging !== null) return Promise.resolve(null);
    const looking = this.looks.ask();
    return withinMs(looking, LOOK_WITHIN_MS, () => {
      this.follow(`it did not answer within ${LOOK_WITHIN_MS / 1000} s`);
      this.hanging = looking;
      const end = () => {
        if (this.hanging === looking) this.hanging = null;
      };
      looking.then(end, end);
    });
  }

  private async lookAtLog(): Promise<ControlLook | null> {
    const { log } = this;
    if (log === null) return null;
    try {
      const look = await this.lookAt(log);
      this.follow(null);
      return look;
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      this.follow(error.message);
      return null;
    }
  }

  /** @param failure of the last look; null for none */
  private follow(failure: string | null): void {
    const isFailing = failure !== null;
    if (isFailing === this.isFailing) return;
    this.isFailing = isFailing;
    if (isFailing)
      this.logger.warn(`the log can not be followed, so questions are asked of the store: ${failure}`);
    else this.logger.log('the log is followed again');
  }

  private async lookAt(log: EventLog): Promise<ControlLook | null> {
    // First: what the store has later than that is told once more, which is harmless.
    const storedOffset = await this.readStoredOffset(log);
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

  /** The cursor of the sink. Kafka forgets one that nobody moves: the store has what it had before. */
  private async readStoredOffset(log: EventLog): Promise<number> {
    const position = { logId: log.logId, stream: 'control', partition: 0 } as const;
    const cursor = await log.readCursor(SINK_GROUP, 'control', 0);
    const storedOffset = cursor ?? this.storedOffset ?? (await readNextOffset(this.store.now, position));
    this.storedOffset = storedOffset;
    return storedOffset;
  }

  private beginAt(offset: number): void {
    this.remembered = [];
    this.ended.clear();
    this.firstOffset = offset;
    this.nextOffset = offset;
  }

  private async readTo(log: EventLog, endOffset: number): Promise<void> {
    let next = this.nextOffset ?? 0;
    while (next < endOffset) {
      const records = await log.read('control', 0, next, { maxRecords: endOffset - next });
      if (records.length === 0) break;
      for (const { offset, bytes } of records) {
        const { runId, kind, occurredAtUs } = readEnvelope(bytes);
        this.remembered.push({ offset, runId, kind, occurredAtUs, isAfterEnd: this.ended.has(runId) });
        if (kind === 'RunEnded') this.ended.add(runId);
        else if (kind === 'TrainerClaimed' || kind === 'RunDeleted') this.ended.delete(runId);
      }
      next = records[records.length - 1].offset + 1;
    }
    this.nextOffset = Math.max(next, endOffset);
    if (this.remembered.length <= MOST_REMEMBERED) return;
    this.remembered = this.remembered.slice(-MOST_REMEMBERED / 2);
    this.firstOffset = this.remembered[0].offset;
  }
}

const NO_ENVELOPE = { runId: '', kind: '', occurredAtUs: 0 };

/** A record that is damaged, or has a time that no event has, is a dead letter of no run. */
function readEnvelope(bytes: Uint8Array): Pick<ControlChange, 'runId' | 'kind' | 'occurredAtUs'> {
  const envelope = peekEnvelope(bytes);
  return envelope !== null && Number.isSafeInteger(envelope.occurredAtUs) ? envelope : NO_ENVELOPE;
}

/** The result if it comes in time; else null, after `onLate`. */
async function withinMs<Result>(
  result: Promise<Result>,
  timeoutMs: number,
  onLate: () => void,
): Promise<Result | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      onLate();
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

/** The runs to read again after these control records; of a deleted one nothing is found. */
export function changedRuns(changes: readonly ControlChange[], dependsOn: DependsOn): ReadonlySet<string> {
  const changed = changes.filter((change) => change.kind === 'RunDeleted' || dependsOn(change));
  return new Set(changed.map(({ runId }) => runId));
}
