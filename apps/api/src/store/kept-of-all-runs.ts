import { Logger } from '@nestjs/common';
import { asksAboutNow } from './asked-moment.js';
import {
  changedRuns,
  type ControlChange,
  type ControlChanges,
  type ControlLook,
  type DependsOn,
} from './control-changes.js';
import { Patience, type ReadValue } from './patience.js';
import { SharedAnswer } from './shared-answer.js';

interface KeptOfAllRunsOptions<Value> {
  readonly changes: ControlChanges;
  readonly dependsOn: DependsOn;
  /** Reads the values of these runs from the store, or of all runs (null); deleted runs (`isKeptRun`) and those without a value are left out. */
  readonly read: (runIds: readonly string[] | null) => Promise<ReadonlyMap<string, Value>>;
  /**
   * The value after a control record that the store has, where it follows from the one before; without this, the run is read again. A record that
   * the store refused as a dead letter counts too, until all values are read again.
   */
  readonly after?: (before: Value, change: ControlChange) => Value;
  /** Of these changes a question may be answered late: with the values of before, while new ones are being read (default: of none). */
  readonly mayBeLate?: DependsOn;
}

interface Kept<Value> {
  readonly values: Map<string, Value>;
  /** The values say all that the control records before it do. */
  settledOffset: number;
  /** By `performance.now()`. */
  readonly readAtMs: number;
  /** Age at which all values are read again, beside the questions; from twice the age on, questions wait for it. */
  readonly keptForMs: number;
}

/** The values that a question was answered with. */
interface Shown<Value> extends ReadValue<ReadonlyMap<string, Value>> {
  readonly settledOffset: number;
}

/** All values are read again after so many times as long as it took, since a store may be mended without a record in the log (a rebuild, dead letters taken again). */
const KEPT_TIMES = 200;
const KEPT_AT_LEAST_MS = 60_000;
const KEPT_AT_MOST_MS = 300_000;
const RETRY_MS = 10_000;

/**
 * Keeps one value of every run, which follows from the run's control events: a question reads those runs from the store that have events which are new
 * to it, and mostly none. Questions about an earlier moment read from the store.
 */
export class KeptOfAllRuns<Value> {
  private readonly logger = new Logger('store');
  private readonly answers = new SharedAnswer(() => this.bringUpToDate());
  private kept: Kept<Value> | null = null;
  /** The last ones; not those that were read beside the questions, before these are as new. */
  private shown: Shown<Value> | null = null;
  private isReadingAll = false;
  /** By `performance.now()`, after all values could not be read again; 0: they could. */
  private retryAtMs = 0;

  constructor(private readonly options: KeptOfAllRunsOptions<Value>) {}

  /** Values of all runs that have one. The map is the kept one: later questions change it. */
  all(): Promise<ReadonlyMap<string, Value>> {
    return asksAboutNow() ? this.share() : this.options.read(null);
  }

  /** As `all`, where only these runs are asked about: an earlier moment is read of them only. */
  of(runIds: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    return asksAboutNow() ? this.share(runIds) : this.options.read(runIds);
  }

  /** @param runIds that are asked about, for a store of which nothing can be kept; null: all */
  private async share(runIds: readonly string[] | null = null): Promise<ReadonlyMap<string, Value>> {
    const before = await this.findBefore();
    const answer = await new Patience(this.options.changes.patienceMs).wait(this.answers.ask(), before);
    if (answer !== null) return answer;
    const values = await this.options.read(runIds);
    // What was shown before must not be shown after this.
    this.shown = null;
    return values;
  }

  /** The values shown last, if all that has changed since may be late; else null. */
  private async findBefore(): Promise<Shown<Value> | null> {
    const { changes, dependsOn, mayBeLate } = this.options;
    const look = mayBeLate === undefined ? null : await changes.look();
    const { shown } = this;
    if (mayBeLate === undefined || look === null || shown === null) return null;
    const records = shown.settledOffset <= look.storedOffset ? look.since(shown.settledOffset) : null;
    if (records === null) return null;
    return changedRuns(records, (change) => dependsOn(change) && !mayBeLate(change)).size > 0 ? null : shown;
  }

  /** Null where nothing can be kept. */
  private async bringUpToDate(): Promise<ReadonlyMap<string, Value> | null> {
    const look = await this.options.changes.look();
    if (look === null) return null;
    const { kept } = this;
    const isKnown = kept !== null && kept.settledOffset <= look.storedOffset;
    const changes = isKnown ? look.since(kept.settledOffset) : null;
    const askedAtMs = performance.now();
    const ageMs = askedAtMs - (kept?.readAtMs ?? 0);
    if (kept === null || changes === null || ageMs > 2 * kept.keptForMs)
      return this.show(await this.readAll(look), askedAtMs);
    if (ageMs > kept.keptForMs) void this.readAllAgain(look);
    const changed = this.settle(kept.values, changes, look.storedOffset);
    if (changed.size > 0) {
      const values = await this.options.read([...changed]);
      // All values were read meanwhile, some of them before these.
      if (this.kept !== kept) return this.bringUpToDate();
      for (const runId of changed) {
        const value = values.get(runId);
        if (value === undefined) kept.values.delete(runId);
        else kept.values.set(runId, value);
      }
    }
    kept.settledOffset = look.storedOffset;
    return this.show(kept, askedAtMs);
  }

  private show({ values, settledOffset }: Kept<Value>, askedAtMs: number): ReadonlyMap<string, Value> {
    this.shown = { value: values, settledOffset, askedAtMs };
    return values;
  }

  /** Applies records to the values, and returns the runs that have to be read. */
  private settle(
    values: Map<string, Value>,
    changes: readonly ControlChange[],
    storedOffset: number,
  ): ReadonlySet<string> {
    const { dependsOn, after } = this.options;
    if (after === undefined) return changedRuns(changes, dependsOn);
    const unknown: ControlChange[] = [];
    for (const change of changes) {
      const value = values.get(change.runId);
      if (value === undefined || change.kind === 'RunDeleted') unknown.push(change);
      else if (change.offset < storedOffset && dependsOn(change))
        values.set(change.runId, after(value, change));
    }
    return changedRuns(unknown, dependsOn);
  }

  private async readAll({ storedOffset }: ControlLook): Promise<Kept<Value>> {
    const startedMs = performance.now();
    const values = new Map(await this.options.read(null));
    const readAtMs = performance.now();
    const keptForMs = Math.min(
      Math.max(KEPT_TIMES * (readAtMs - startedMs), KEPT_AT_LEAST_MS),
      KEPT_AT_MOST_MS,
    );
    const kept = { values, settledOffset: storedOffset, readAtMs, keptForMs };
    this.kept = kept;
    this.retryAtMs = 0;
    return kept;
  }

  /** Beside the questions, which are answered with the values of before. */
  private async readAllAgain(look: ControlLook): Promise<void> {
    if (this.isReadingAll || performance.now() < this.retryAtMs) return;
    this.isReadingAll = true;
    try {
      await this.readAll(look);
    } catch (error) {
      if (this.retryAtMs === 0)
        this.logger.warn(`what is kept of all runs can not be read again: ${(error as Error).message}`);
      this.retryAtMs = performance.now() + RETRY_MS;
    }
    this.isReadingAll = false;
  }
}
