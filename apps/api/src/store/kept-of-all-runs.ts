import { asksAboutNow } from './asked-moment.js';
import { Departures, type ControlChanges, type ControlLook } from './control-changes.js';

interface KeptOfAllRunsOptions<Value> {
  readonly changes: ControlChanges;
  /** Whether a control event of this kind may change the value of its run. */
  readonly dependsOn: (kind: string) => boolean;
  /** Reads the values of these runs from the store, or of all runs (null); runs without a value are left out. */
  readonly read: (runIds: readonly string[] | null) => Promise<ReadonlyMap<string, Value>>;
}

interface Kept<Value> {
  readonly values: Map<string, Value>;
  /** The values say all that the control records before it do. */
  settledOffset: number;
  /** By `performance.now()`. */
  readonly staleAtMs: number;
}

/** All values are read again after so many times as long as it took, since a store may be mended without a record in the log (a rebuild, dead letters taken again). */
const KEPT_TIMES = 200;
const KEPT_AT_LEAST_MS = 60_000;

/**
 * Keeps one value of every run, which follows from the run's control events: a question reads those runs from the store that have events which are new
 * to it, and mostly none. Questions about an earlier moment read from the store.
 */
export class KeptOfAllRuns<Value> {
  private kept: Kept<Value> | null = null;
  private readonly departures = new Departures();
  private running: Promise<ReadonlyMap<string, Value>> | null = null;
  private queued: Promise<ReadonlyMap<string, Value>> | null = null;
  private isReadingAll = false;

  constructor(private readonly options: KeptOfAllRunsOptions<Value>) {}

  /** Values of all runs that have one. The map is the kept one: later questions change it. */
  all(): Promise<ReadonlyMap<string, Value>> {
    return asksAboutNow() ? this.share() : this.options.read(null);
  }

  /** As `all`, where only these runs are asked about: an earlier moment is read of them only. */
  of(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    return asksAboutNow() ? this.share(runIds) : this.options.read(runIds);
  }

  /** Questions that come while one is being answered share the next answer, which is from after they came. */
  private share(runIds: readonly string[] | null = null): Promise<ReadonlyMap<string, Value>> {
    if (this.running === null) {
      this.running = this.bringUpToDate(runIds).finally(() => {
        this.running = null;
      });
      return this.running;
    }
    this.queued ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.queued = null;
        return this.share();
      });
    return this.queued;
  }

  /** @param runIds that are asked about, for a store of which nothing can be kept; null: all */
  private async bringUpToDate(runIds: readonly string[] | null): Promise<ReadonlyMap<string, Value>> {
    const look = await this.options.changes.look();
    if (look === null) return this.options.read(runIds);
    const { kept } = this;
    const isKnown = kept !== null && kept.settledOffset <= look.storedOffset;
    const changes = isKnown ? look.since(kept.settledOffset) : null;
    if (kept === null || changes === null) return this.readAll(look);
    if (kept.staleAtMs < performance.now()) void this.readAllAgain(look);
    const changed = this.departures.changedRuns(changes, this.options.dependsOn);
    if (changed.size > 0) {
      const values = await this.options.read([...changed]);
      // All values were read meanwhile, some of them before these.
      if (this.kept !== kept) return this.bringUpToDate(runIds);
      for (const runId of changed) {
        const value = values.get(runId);
        if (value === undefined) kept.values.delete(runId);
        else kept.values.set(runId, value);
      }
      this.departures.saw(changed, (runId) => values.has(runId));
    }
    kept.settledOffset = look.storedOffset;
    return kept.values;
  }

  private async readAll({ storedOffset }: ControlLook): Promise<ReadonlyMap<string, Value>> {
    const startedMs = performance.now();
    const values = new Map(await this.options.read(null));
    const endedMs = performance.now();
    const staleAtMs = endedMs + Math.max(KEPT_TIMES * (endedMs - startedMs), KEPT_AT_LEAST_MS);
    this.kept = { values, settledOffset: storedOffset, staleAtMs };
    return values;
  }

  /** Beside the questions, which are answered with the values of before. */
  private async readAllAgain(look: ControlLook): Promise<void> {
    if (this.isReadingAll) return;
    this.isReadingAll = true;
    // A store that does not answer is asked again with the next question, which says so.
    await this.readAll(look).catch(() => undefined);
    this.isReadingAll = false;
  }
}
