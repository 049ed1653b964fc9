import type { Engine } from './engine.js';
import { quoteIdentifier, quoteString } from '../statement/sql-literals.js';

/** Counts every write(2) of the engine that failed. Results whose reader went away don't move it. */
const NUM_FAILED =
  "SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";

/** A part whose files were being written when a write failed is there at the latest after this time. */
const SUSPICION_MS = 600_000;

/** The engine tells the times of parts in whole seconds. */
const CLOCK_MARGIN_MS = 2_000;

interface NewPart {
  readonly database: string;
  readonly table: string;
  readonly name: string;
}

/**
 * Finds parts whose files the disk did not take.
 *
 * The engine (chDB 26.7.2) does not look at the outcome of write(2) when it writes parts: on a full or failing disk an INSERT succeeds
 * and its part is cut short, and so does a merge, whose sources are deleted later. It counts such writes, though. After each that
 * is new, parts made since are read and compared with their checksums.
 */
export class WriteWatch {
  private numFailed = 0;
  private lastCheckMs = Date.now();
  private suspectFromMs = 0;
  private suspectUntilMs = 0;
  private readonly sound = new Set<string>();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly engine: Engine) {}

  /** Names of the parts that are broken; one check runs after the other. */
  findBrokenParts(): Promise<readonly string[]> {
    const checked = this.queue.then(() => this.check());
    this.queue = checked.catch(() => undefined);
    return checked;
  }

  private async check(): Promise<readonly string[]> {
    const nowMs = Date.now();
    const numFailed = Number((await this.engine.query(NUM_FAILED))[0]?.[0] ?? 0);
    if (numFailed > this.numFailed) {
      if (nowMs > this.suspectUntilMs) this.suspectFromMs = this.lastCheckMs - CLOCK_MARGIN_MS;
      this.suspectUntilMs = nowMs + SUSPICION_MS;
      this.numFailed = numFailed;
    }
    this.lastCheckMs = nowMs;
    if (nowMs > this.suspectUntilMs) {
      this.sound.clear();
      return [];
    }
    const broken: string[] = [];
    for (const part of await this.newParts()) {
      const key = `${part.database}.${part.table}/${part.name}`;
      if (this.sound.has(key)) continue;
      if (await this.isSound(part)) this.sound.add(key);
      else broken.push(key);
    }
    return broken;
  }

  private async newParts(): Promise<NewPart[]> {
    const fromSeconds = Math.floor(this.suspectFromMs / 1000);
    const rows = await this.engine.query(
      `SELECT database, table, name FROM system.parts WHERE active AND toUnixTimestamp(modification_time) >= ${fromSeconds}`,
    );
    return rows.map(([database, table, name]) => ({ database, table, name }));
  }

  /** A part that a merge has replaced meanwhile can't be checked any more; its successor is in the next list. */
  private async isSound({ database, table, name }: NewPart): Promise<boolean> {
    const where = `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
    const rows = await this.engine
      .query(`CHECK TABLE ${where} PART ${quoteString(name)}`)
      .catch(() => [['', '1']]);
    return rows.every(([, isPassed]) => isPassed === '1');
  }
}
