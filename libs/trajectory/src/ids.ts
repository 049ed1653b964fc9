import { hash, randomBytes } from 'node:crypto';
import { TrajectoryError } from './errors.js';
import type { EpisodeEventKind } from './events.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Most episodes that ids can tell apart in one run. */
export const MAX_EPISODE_ORDINAL = 0xffff_ffff;

/** Whether `text` is a UUID in the only form that events carry: 36 characters, lower case. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text);
}

/** Where ids take time and chance from; replaced in tests. */
export interface IdSource {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

const systemSource: IdSource = { nowMs: Date.now, randomBytes };

/** A new run id: UUIDv7, so that ids of later runs sort after those of earlier ones (RFC 9562, 5.7). */
export function newRunId(source: IdSource = systemSource): string {
  return uuidV7(source);
}

/** A new control event id (UUIDv7): minted once an event and kept through retries of its append. */
export function newControlEventId(source: IdSource = systemSource): string {
  return uuidV7(source);
}

/**
 * The id of the `ordinal`-th episode of a run, the same whenever it is asked for.
 *
 * A UUIDv8 (RFC 9562, 5.8): 48 bits of the run's start time, 32 bits ordinal, 42 bits hash of both. So ids sort by run
 * start, then by ordinal, and a collector that restarts gives an episode the id it had.
 *
 * @param ordinal integer in [0, 2³² − 1]
 * @throws TrajectoryError `INVALID_ID` when `runId` is no UUID or the ordinal is out of range
 */
export function episodeIdFor({
  runId,
  ordinal,
}: {
  readonly runId: string;
  readonly ordinal: number;
}): string {
  requireUuid('runId', runId);
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal > MAX_EPISODE_ORDINAL) {
    throw new TrajectoryError(
      'INVALID_ID',
      `episode ordinal is ${ordinal}; must be an integer from 0 to ${MAX_EPISODE_ORDINAL}`,
    );
  }
  const bytes = hash('sha256', `episode/${runId}/${ordinal}`, 'buffer').subarray(0, 16);
  bytes.write(runId.replaceAll('-', ''), 0, 6, 'hex');
  // Version (4 bits) and variant (2 bits) are constant, so the ordinal may be split around them and still sort.
  bytes.writeUInt16BE(0x8000 | (ordinal >>> 20), 6);
  const lowAndHash = bytes.readUInt32BE(8) & 0x3ff;
  bytes.writeUInt32BE(((0b10 << 30) | ((ordinal & 0xf_ffff) << 10) | lowAndHash) >>> 0, 8);
  return formatUuid(bytes);
}

/** What identifies an event inside its episode. */
export interface EpisodeEventKey {
  readonly runId: string;
  readonly episodeId: string;
  readonly seq: number;
  readonly kind: EpisodeEventKind;
}

/** The id of an episode event: a UUIDv8 of SHA-256 over its key, so that a retried event keeps its id. */
export function episodeEventId({ runId, episodeId, seq, kind }: EpisodeEventKey): string {
  const bytes = hash('sha256', `event/${runId}/${episodeId}/${seq}/${kind}`, 'buffer').subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return formatUuid(bytes);
}

function uuidV7({ nowMs, randomBytes: random }: IdSource): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs(), 0, 6);
  bytes.set(random(10), 6);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return formatUuid(bytes);
}

function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function requireUuid(name: string, value: string): void {
  if (!isUuid(value)) {
    throw new TrajectoryError('INVALID_ID', `${name} is '${value}'; must be a lower-case UUID`);
  }
}
