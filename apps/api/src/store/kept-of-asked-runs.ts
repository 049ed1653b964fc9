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
   * value of before, of which a reader may read the rest only.
   */
  readonly read: (
    runIds: readonly string[],
    beforeOf: (runId: string) => Value | undefined,
  ) => Promise<ReadonlyMap<string, Value>>;
  /** Bound on the sizes of all kept values together. */
  readonly maxSize: number;
  /** At least 1. */
  readonly sizeOf: (value: Value) => number;
}

/** The value of a run: the one that is being read, or was read last. */
interface Kept<Value> {
  reading: Promise<Value | undefined>;
  /** When `reading` began, by `performance.now()`. */
  readonly askedAtMs: number;
  isPending: boolean;
  /** Whether there was a change after `reading` began. */
  isOutdated: boolean;
  /** Whether the run is being read again because of the value's age. */
  isReadAgain: boolean;
  /** The newest value that was read. */
  before: ReadValue<Value | undefined> | null;
}

/** Values of this age are read again, beside the questions, since a store may be mended without a record in the log (a rebuild, dead letters taken again). */
const KEPT_FOR_MS = 60_000;
/** From this age on questions wait for the reading. */
const KEPT_AT_MOST_MS = 300_000;

const nothingBefore = (): undefined => undefined;

/** As `KeptOfAllRuns`, for values that are too large or too slow to read to be kept of every run: those of the runs that were asked about last. */
export class KeptOfAskedRuns<Value> {
  private readonly kept: LRUCache<string, Kept<Value>>;
  private settledOffset = 0;

  constructor(private readonly options: KeptOfAskedRunsOptions<Value>) {
    this.kept = new LRUCache({ maxSize: options.maxSize, ttl: KEPT_AT_MOST_MS });
  }

  /** Values of those of the runs that have one. */
  async of(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const { changes } = this.options;
    const look = runIds.length > 0 && asksAboutNow() ? await changes.look() : null;
    if (look === null) return runIds.length === 0 ? new Map() : this.readBesideKept(runIds);
    const isKnown = this.settledOffset <= look.storedOffset;
    const records = isKnown ? look.since(this.settledOffset) : null;
    if (records === null) this.kept.clear();
    else this.outdate(records);
    // Nothing was awaited since the look: another question sees both of these, or neither.
    this.settledOffset = look.storedOffset;
    const found = new Map<string, Value>();
    const patience = new Patience(changes.patienceMs);
    for (const [runId, { reading, before }] of this.keptOf(runIds)) {
      const value = await patience.wait(reading, before);
      if (value !== undefined) found.set(runId, value);
    }
    return found;
  }

  /** Whether a value of the run was read: a question about it waits at most for what is new. */
  has(runId: string): boolean {
    return (this.kept.peek(runId)?.before ?? null) !== null;
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
   * Reads in one question what is not kept. A value that is being read is not read a second time, since what is new in it may be late; unless that reading
   * takes so long that it may not be as late.
   */
  private keptOf(runIds: readonly string[]): ReadonlyMap<string, Kept<Value>> {
    const found = new Map<string, Kept<Value>>();
    const aged = new Map<string, Kept<Value>>();
    for (const runId of runIds) {
      const kept = this.kept.get(runId);
      if (kept === undefined) continue;
      const { isPending, isOutdated, isReadAgain, askedAtMs } = kept;
      if (!isOutdated || (isPending && mayStillAnswer(askedAtMs))) found.set(runId, kept);
      const isAged = performance.now() - askedAtMs > KEPT_FOR_MS;
      if (isAged && !isPending && !isOutdated && !isReadAgain) aged.set(runId, kept);
    }
    if (aged.size > 0) void this.readAgain(aged);
    const missing = runIds.filter((runId) => !found.has(runId));
    if (missing.length === 0) return found;
    const askedAtMs = performance.now();
    const values = this.options.read(missing, (runId) => this.kept.peek(runId)?.before?.value);
    for (const runId of missing) {
      const kept = {
        reading: values.then((read) => read.get(runId)),
        ...{
          askedAtMs,
          isPending: true,
          isOutdated: false,
          isReadAgain: false,
          before: this.kept.peek(runId)?.before ?? null,
        },
      };
      this.kept.set(runId, kept, { size: 1 });
      found.set(runId, kept);
      void this.settle(runId, kept);
    }
    return found;
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
        const newer = {
          ...{ reading: Promise.resolve(value), before: { value, askedAtMs } },
          ...{ askedAtMs, isPending: false, isOutdated: false, isReadAgain: false },
        };
        this.kept.set(runId, newer, { size: value === undefined ? 1 : this.options.sizeOf(value) });
      }
    } catch {
      // The next question tries again, until it has to wait for the values and fails with them.
    }
    for (const kept of aged.values()) kept.isReadAgain = false;
  }

  /** Once the value of a kept reading is known, its size counts; a failure is not kept. */
  private async settle(runId: string, kept: Kept<Value>): Promise<void> {
    const isKept = () => this.kept.peek(runId) === kept;
    try {
      const value = await kept.reading;
      kept.isPending = false;
      kept.before = { value, askedAtMs: kept.askedAtMs };
      if (value === undefined || !isKept()) return;
      this.kept.set(runId, kept, { size: this.options.sizeOf(value), noUpdateTTL: true });
    } catch {
      if (isKept()) this.kept.delete(runId);
    }
  }
}
