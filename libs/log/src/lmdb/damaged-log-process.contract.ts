import {
  copyFileSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { TrajectoryError, type Stream } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import type { EventLog } from '../event-log.js';
import { openLmdbLog } from './open-lmdb-log.js';

/** Done to a copy of a log's data file. */
export type FileDamage =
  | { readonly kind: 'cut'; readonly sizeBytes: number }
  /** Bytes [from, end) are overwritten with `byte`. */
  | { readonly kind: 'fill'; readonly from: number; readonly end: number; readonly byte: number }
  /** A page is overwritten with another one. */
  | { readonly kind: 'copy'; readonly from: number; readonly to: number };

export interface DamagedLogReport {
  /** Why the log could not be opened, read or written. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Records of the whole log that are not there, or hold another valid event. */
  readonly numLost: number;
  /** Records whose bytes are no valid event any more. */
  readonly numInvalid: number;
}

const PAGE_BYTES = 4096;
const PLACES: readonly (readonly [Stream, number])[] = [
  ['control', 0],
  ['trajectories', 0],
  ['trajectories', 1],
];

function damageFile(path: string, damage: FileDamage): void {
  if (damage.kind === 'cut') {
    truncateSync(path, damage.sizeBytes);
    return;
  }
  const at = damage.kind === 'fill' ? damage.from : damage.to * PAGE_BYTES;
  const bytes =
    damage.kind === 'fill'
      ? Buffer.alloc(damage.end - damage.from, damage.byte)
      : readFileSync(path).subarray(damage.from * PAGE_BYTES, (damage.from + 1) * PAGE_BYTES);
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

async function readAll(log: EventLog): Promise<Map<string, Uint8Array>> {
  const records = new Map<string, Uint8Array>();
  for (const [stream, partition] of PLACES) {
    for (let next = 0; ;) {
      const read = await log.read(stream, partition, next);
      if (read.length === 0) break;
      for (const { offset, bytes } of read) records.set(`${stream}/${partition}/${offset}`, bytes);
      next = read[read.length - 1].offset + 1;
    }
  }
  return records;
}

/** Opens a damaged log as a process would, reads it, adds to it, releases from it, and opens it again. */
async function use(path: string, whole: ReadonlyMap<string, Uint8Array>): Promise<DamagedLogReport> {
  let numLost = 0;
  let numInvalid = 0;
  try {
    const log = await openLmdbLog({ path, createdBy: 'damage test' });
    try {
      for (const [stream, partition] of PLACES)
        await log.append(stream, partition, [new Uint8Array(100), new Uint8Array(9_000)]);
      const found = await readAll(log);
      for (const [place, bytes] of whole) {
        const now = found.get(place);
        if (now !== undefined && Buffer.compare(now, bytes) === 0) continue;
        if (now === undefined || decodeEvent(now).ok) numLost++;
        else numInvalid++;
      }
      await log.commitCursor('sink', 'control', 0, 1);
      await log.release?.('trajectories', 0, [{ from: 0, end: 10_000 }]);
      for (let i = 0; i < 5; i++) await log.append('trajectories', 0, [new Uint8Array(20_000)]);
    } finally {
      await log.close();
    }
    await (await openLmdbLog({ path, createdBy: 'damage test' })).close();
    return { error: null, numLost, numInvalid };
  } catch (error) {
    if (!(error instanceof TrajectoryError)) throw error;
    return { error: { code: error.code, message: error.message }, numLost, numInvalid };
  }
}

const [, , template, directory, damages] = process.argv;
const source = await openLmdbLog({ path: template, createdBy: 'damage test' });
const whole = await readAll(source);
await source.close();
for (const [i, damage] of (JSON.parse(damages) as FileDamage[]).entries()) {
  const path = join(directory, String(i));
  mkdirSync(path);
  copyFileSync(join(template, 'data.mdb'), join(path, 'data.mdb'));
  damageFile(join(path, 'data.mdb'), damage);
  process.stderr.write(`${JSON.stringify(damage)}\n`);
  process.stdout.write(`${JSON.stringify(await use(path, whole))}\n`);
  rmSync(path, { recursive: true });
}
