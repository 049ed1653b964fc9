import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spool, type SpoolSettings } from './spool.js';

export const OWNER = '01890000-0000-7000-8000-000000000000';
export const HEADER_BYTES = 8 + OWNER.length;
export const PREFIX: SpoolSettings = { sync: true, keeps: 'prefix', owner: OWNER };

export const bytesOf = (text: string): Uint8Array => Buffer.from(text);
export const textsOf = (records: readonly Uint8Array[]): string[] =>
  records.map((bytes) => Buffer.from(bytes).toString());

/** A directory of its own for each test. */
export class SpoolDirectory {
  readonly path = mkdtempSync(join(tmpdir(), 'spool-'));

  remove(): void {
    rmSync(this.path, { recursive: true });
  }

  segment(number: number): string {
    return join(this.path, `${`${number}`.padStart(10, '0')}.spool`);
  }

  /** Appends these records one by one, and closes the spool. */
  async write(all: readonly string[], settings = PREFIX): Promise<void> {
    const spool = await Spool.open(this.path, settings);
    for (const each of all) await spool.append([bytesOf(each)]);
    await spool.close();
  }

  /** Opens the spool again, and returns what it tells. */
  async reopen(settings = PREFIX) {
    const records: string[] = [];
    const isEnds: boolean[] = [];
    const spool = await Spool.open(this.path, settings, {
      onRecord: (bytes) => records.push(bytes.toString()),
      onDamage: ({ isEnd }) => isEnds.push(isEnd),
    });
    const { numRecords, numCutBytes } = spool;
    const peeked = textsOf(await spool.peek(1e9));
    await spool.close();
    return { records, numRecords, peeked, numCutBytes, isEnds };
  }

  /** The methods of all open files. */
  async fileMethods() {
    const handle = await open(this.path, 'r');
    await handle.close();
    return Object.getPrototypeOf(handle) as typeof handle;
  }
}
