import { LRUCache } from 'lru-cache';
import { asksAboutNow } from './asked-moment.js';
import { changedRuns, type ControlChange, type ControlChanges, type DependsOn } from './control-changes.js';
import { mayStillAnswer, Patience, type ReadValue } from './patience.js';

interface KeptOfAskedRunsOptions<Value> {
  readonly changes: ControlChanges;
  readonly dependsOn: DependsOn;
  /** Of these changes a question may be answered late: with the value of before, while the new one is being read (default: of none). */
  readonly mayBeLate?: DependsOn;
  /**
   * Reads the values of these runs from the store; runs without a value are left out. Where only changes that may be late came since, `beforeOf` gives the
   * value of before, of which a reader may read the rest only: for a minute, then it has to read the whole.
   */
  readonly read: (
    runIds: readonly string[],
    beforeOf: (runId: string) => Value | undefined,
  ) => Promise<ReadonlyMap<string, Value>>;
  /** Bound on the sizes of all kept values together. */
  readonly maxSize: number;
  /** At least 1. */
  readonly sizeOf: (value: Value) => number;
  /** Whether a value stays until there is a change that may not be late, however old it is (default: no value). */
  readonly isLasting?: (value: Value) => boolean;
}

/** The value of a run: the one that is being read, or was read last. */
interface Kept<Value> {
  reading: Promise<Value | undefined>;
  /** When `reading` began, by `performance.now()`. */
  readonly askedAtMs: number;
  /** When the value was read from scratch, by `performance.now()`: the end of that reading, or its beginning while it goes on. */
  wholeAtMs: number;
  /** Whether `reading` reads the rest of a value of before. */
  isRest: boolean;
  isPending: boolean;
  /** Whether there was a change after `reading` began. */
  isOutdated: boolean;
  /** Whether the store answered a question about the run after `reading` began. */
  isOvertaken: boolean;
  /** Whether the run is being read again because of the value's age. */
  isReadAgain: boolean;
  /** By `performance.now()`, after the run could not be read again. */
  retryAtMs: number;
  /** The newest value that was read. */
  before: ReadValue<Value | undefined> | null;
}

/** Values of this age are read again, beside the questions, since a store may be mended without a record in the log (a rebuild, dead letters taken again). */
const KEPT_FOR_MS = 60_000;
/** From this age on questions wait for the reading. */
const KEPT_AT_MOST_MS = 300_000;
const RETRY_MS = 10_000;
/** However small the values are. */
const MOST_KEPT = 10_000;

const nothingBefore = (): undefined => undefined;

/** As `KeptOfAllRuns`, for values that are too large or too slow to read to be kept of every run: those of the runs that were asked about last. */
export class KeptOfAskedRuns<Value> {
  private readonly kept: LRUCache<string, Kept<Value>>;
  private settledOffset = 0;

  constructor(private readonly options: KeptOfAskedRunsOptions<Value>) {
    this.kept = new LRUCache({ max: MOST_KEPT, maxSize: options.maxSize, ttl: KEPT_AT_MOST_MS });
  }

  /** Values of those of the runs that have one. */
  async of(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    if (runIds.length === 0) return new Map();
    return (await this.follow()) ? this.answer(runIds) : this.readBesideKept(runIds);
  }

  /**
   * The value of a run if that is kept and needs no reading from scratch. Else undefined: then the caller asks the store, and what is kept of the run is
   * shown no more before it is as new.
   */
  async ofReady(runId: string): Promise<Value | undefined> {
    if (!asksAboutNow()) return undefined;
    const isFollowed = await this.follow();
    const kept = this.kept.peek(runId);
    if (kept === undefined) return undefined;
    if (isFollowed && this.isReady(kept)) return (await this.answer([runId])).get(runId);
    kept.isOutdated = true;
    kept.isOvertaken = true;
    if (kept.before !== null) kept.before = { value: kept.before.value, askedAtMs: -Infinity };
    return undefined;
  }

  /** Looks at the log. False where nothing can be kept. */
  private async follow(): Promise<boolean> {
    const look = asksAboutNow() ? await this.options.changes.look() : null;
    if (look === null) return false;
    const isKnown = this.settledOffset <= look.storedOffset;
    const records = isKnown ? look.since(this.settledOffset) : null;
    if (records === null) this.kept.clear();
    else this.outdate(records);
    // Nothing was awaited since the look: another question sees both of these, or neither.
    this.settledOffset = look.storedOffset;
    return true;
  }

  private async answer(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const found = new Map<string, Value>();
    const patience = new Patience(this.options.changes.patienceMs);
    for (const [runId, { reading, before }] of this.keptOf(runIds)) {
      const value = await patience.wait(reading, before);
      if (value !== undefined) found.set(runId, value);
    }
    return found;
  }

  /** Whether a question waits at most for the rest of the value. */
  private isReady(kept: Kept<Value>): boolean {
    const { before, isPending, isOutdated, isRest } = kept;
    if (before === null) return false;
    if (mayStillAnswer(before.askedAtMs)) return true;
    return isPending ? isRest : !isOutdated || !this.isAged(kept);
  }

  private isAged({ before, wholeAtMs }: Kept<Value>): boolean {
    return performance.now() - wholeAtMs > KEPT_FOR_MS && !this.isLasting(before?.value);
  }

  private isLasting(value: Value | undefined): boolean {
    return value !== undefined && (this.options.isLasting?.(value) ?? false);
  }

  private sizeOf(value: Value | undefined): number {
    return value === undefined ? 1 : this.options.sizeOf(value);
  }

  private async readBesideKept(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const values = await this.options.read(runIds, nothingBefore);
    // What was read before must not be shown after this.
    if (asksAboutNow()) for (const runId of runIds) this.kept.delete(runId);
    return values;
  }

  private outdate(records: readonly ControlChange[]): void {
    const { dependsOn, mayBeLate = () => false } = this.options;
    const late = records.filter((change) => change.kind !== 'RunDeleted' && mayBeLate(change));
    for (const runId of changedRuns(late, dependsOn)) {
      const kept = this.kept.peek(runId);
      if (kept !== undefined) kept.isOutdated = true;
    }
    const others = records.filter((change) => !late.includes(change));
    for (const runId of changedRuns(others, dependsOn)) this.kept.delete(runId);
  }

  /**
   * Reads in one question what is not kept. A value that is being read is not read a second time, however long that takes, since what is new in it may be
   * late: a slow reading that began again with each question would never end.
   */
  private keptOf(runIds: readonly string[]): ReadonlyMap<string, Kept<Value>> {
    const found = new Map<string, Kept<Value>>();
    const aged = new Map<string, Kept<Value>>();
    const nowMs = performance.now();
    for (const runId of runIds) {
      const kept = this.kept.get(runId);
      if (kept === undefined) continue;
      const { isPending, isOutdated, isReadAgain, retryAtMs } = kept;
      if (!isOutdated || isPending) found.set(runId, kept);
      const isIdle = !isPending && !isOutdated && !isReadAgain && nowMs >= retryAtMs;
      if (isIdle && this.isAged(kept)) aged.set(runId, kept);
    }
    if (aged.size > 0) void this.readAgain(aged);
    const missing = runIds.filter((runId) => !found.has(runId));
    if (missing.length > 0) for (const [runId, kept] of this.readMissing(missing)) found.set(runId, kept);
    return found;
  }

  private readMissing(runIds: readonly string[]): ReadonlyMap<string, Kept<Value>> {
    const begun = new Map<string, Kept<Value>>();
    const askedAtMs = performance.now();
    const lasts = new Map(runIds.map((runId) => [runId, this.kept.peek(runId)]));
    const restAtMs = new Map<string, number>();
    const values = this.options.read(runIds, (runId) => {
      const last = lasts.get(runId);
      if (last === undefined || last.before?.value === undefined || this.isAged(last)) return undefined;
      restAtMs.set(runId, last.wholeAtMs);
      const kept = begun.get(runId);
      if (kept !== undefined) {
        kept.wholeAtMs = last.wholeAtMs;
        kept.isRest = true;
      }
      return last.before.value;
    });
    for (const runId of runIds) {
      const before = lasts.get(runId)?.before ?? null;
      const kept: Kept<Value> = {
        reading: values.then((read) => read.get(runId)),
        ...{ askedAtMs, wholeAtMs: restAtMs.get(runId) ?? askedAtMs, isRest: restAtMs.has(runId), before },
        ...{ isPending: true, isOutdated: false, isOvertaken: false, isReadAgain: false, retryAtMs: 0 },
      };
      this.kept.set(runId, kept, { size: this.sizeOf(before?.value), start: kept.wholeAtMs });
      begun.set(runId, kept);
      void this.settle(runId, kept);
    }
    return begun;
  }

  /** Beside the questions, which are answered with the values of before. */
  private async readAgain(aged: ReadonlyMap<string, Kept<Value>>): Promise<void> {
    for (const kept of aged.values()) kept.isReadAgain = true;
    const askedAtMs = performance.now();
    try {
      const values = await this.options.read([...aged.keys()], nothingBefore);
      for (const [runId, kept] of aged) {
        // There was a change meanwhile, which this reading may lack.
        if (this.kept.peek(runId) !== kept || kept.isOutdated) continue;
        const value = values.get(runId);
        const newer: Kept<Value> = {
          ...{ reading: Promise.resolve(value), before: { value, askedAtMs }, retryAtMs: 0 },
          ...{ askedAtMs, wholeAtMs: performance.now(), isRest: false, isPending: false },
          ...{ isOutdated: false, isOvertaken: false, isReadAgain: false },
        };
        this.keep(runId, newer);
      }
    } catch {
      // A question tries again after a pause, until it has to wait for the values and fails with them.
      for (const kept of aged.values()) kept.retryAtMs = performance.now() + RETRY_MS;
    }
    for (const kept of aged.values()) kept.isReadAgain = false;
  }

  /** Once the value of a kept reading is known, its size counts; a failure is not kept. */
  private async settle(runId: string, kept: Kept<Value>): Promise<void> {
    const isKept = () => this.kept.peek(runId) === kept;
    try {
      const value = await kept.reading;
      kept.isPending = false;
      kept.before = { value, askedAtMs: kept.isOvertaken ? -Infinity : kept.askedAtMs };
      if (!kept.isRest) kept.wholeAtMs = performance.now();
      if (isKept()) this.keep(runId, kept);
    } catch {
      if (isKept()) this.kept.delete(runId);
    }
  }

  private keep(runId: string, kept: Kept<Value>): void {
    const value = kept.before?.value;
    const ttl = this.isLasting(value) ? 0 : KEPT_AT_MOST_MS;
    this.kept.set(runId, kept, { size: this.sizeOf(value), ttl, start: kept.wholeAtMs });
  }
}
