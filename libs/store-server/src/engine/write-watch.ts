import type { Engine } from './engine.js';
import { quoteIdentifier, quoteString } from '../statement/sql-literals.js';

/** Counts failed calls of write(2) by the engine; results whose reader disconnected do not count. */
const NUM_FAILED =
  "SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";

/** A part whose files were being written when a write failed becomes active within this time. */
const SUSPICION_MS = 600_000;

/** The engine reports the times of parts in whole seconds. */
const CLOCK_MARGIN_MS = 2_000;

interface NewPart {
  readonly database: string;
  readonly table: string;
  readonly name: string;
}

/**
 * Finds parts whose files the disk did not store completely.
 *
 * The engine (chDB 26.7.2) ignores the result of write(2) when it writes parts: on a full or failing disk an INSERT succeeds
 * with a truncated part, and so does a merge, whose sources are deleted later. But it counts failed writes. When the count
 * has increased, the parts created since are read and compared with their checksums.
 */
export class WriteWatch {
  private numFailed = 0;
  private lastCheckMs = Date.now();
  private suspectFromMs = 0;
  private suspectUntilMs = 0;
  private readonly sound = new Set<string>();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly engine: Engine) {}

  /** Returns the names of broken parts; checks run one after another. */
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

  /** Checks a part. One that a merge has replaced meanwhile passes, because its successor is in the next list. */
  private async isSound({ database, table, name }: NewPart): Promise<boolean> {
    const where = `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
    const rows = await this.engine
      .query(`CHECK TABLE ${where} PART ${quoteString(name)}`)
      .catch(() => [['', '1']]);
    return rows.every(([, isPassed]) => isPassed === '1');
  }
}
