import { LRUCache } from 'lru-cache';
import { asksAboutNow } from './asked-moment.js';
import { changedRuns, type ControlChanges, type DependsOn } from './control-changes.js';

interface KeptOfAskedRunsOptions<Value> {
  readonly changes: ControlChanges;
  readonly dependsOn: DependsOn;
  /** Reads the values of these runs from the store; runs without a value are left out. */
  readonly read: (runIds: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  /** Bound on the sizes of all kept values together. */
  readonly maxSize: number;
  /** At least 1. */
  readonly sizeOf: (value: Value) => number;
}

/** A store may be mended without a record in the log (a rebuild, dead letters taken again). */
const KEPT_AT_MOST_MS = 60_000;

/** As `KeptOfAllRuns`, for values that are too large or too slow to read to be kept of every run: those of the runs that were asked about last. */
export class KeptOfAskedRuns<Value> {
  private readonly kept: LRUCache<string, Promise<Value | undefined>>;
  private settledOffset = 0;

  constructor(private readonly options: KeptOfAskedRunsOptions<Value>) {
    this.kept = new LRUCache({ maxSize: options.maxSize, ttl: KEPT_AT_MOST_MS });
  }

  /** Values of those of the runs that have one. */
  async of(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const { changes, read, dependsOn } = this.options;
    const look = runIds.length > 0 && asksAboutNow() ? await changes.look() : null;
    if (look === null) return runIds.length === 0 ? new Map() : read(runIds);
    const isKnown = this.settledOffset <= look.storedOffset;
    const records = isKnown ? look.since(this.settledOffset) : null;
    if (records === null) this.kept.clear();
    else for (const runId of changedRuns(records, dependsOn)) this.kept.delete(runId);
    // Nothing was awaited since the look: another question sees both of these, or neither.
    this.settledOffset = look.storedOffset;
    const found = new Map<string, Value>();
    for (const [runId, reading] of this.readingsOf(runIds)) {
      const value = await reading;
      if (value !== undefined) found.set(runId, value);
    }
    return found;
  }

  /** Reads in one question what is not kept. */
  private readingsOf(runIds: readonly string[]): ReadonlyMap<string, Promise<Value | undefined>> {
    const readings = new Map<string, Promise<Value | undefined>>();
    for (const runId of runIds) {
      const kept = this.kept.get(runId);
      if (kept !== undefined) readings.set(runId, kept);
    }
    const missing = runIds.filter((runId) => !readings.has(runId));
    if (missing.length === 0) return readings;
    const values = this.options.read(missing);
    for (const runId of missing) {
      const reading = values.then((read) => read.get(runId));
      this.kept.set(runId, reading, { size: 1 });
      readings.set(runId, reading);
      void this.settle(runId, reading);
    }
    return readings;
  }

  /** Once the value of a kept reading is known, its size counts; a failure is not kept. */
  private async settle(runId: string, reading: Promise<Value | undefined>): Promise<void> {
    const isKept = () => this.kept.peek(runId) === reading;
    try {
      const value = await reading;
      if (value === undefined || !isKept()) return;
      this.kept.set(runId, reading, { size: this.options.sizeOf(value), noUpdateTTL: true });
    } catch {
      if (isKept()) this.kept.delete(runId);
    }
  }
}
