import { hash, randomFillSync } from 'node:crypto';
import { TrajectoryError } from '../trajectory-error.js';
import type { EpisodeEventKind, RetraceEvent } from '../events/event.js';
import { isUuid, uuidFromBytes, uuidToBytes, writeUuid } from '../fields/uuid.js';

/** Highest ordinal of an episode in a run. */
export const MAX_EPISODE_ORDINAL = 0xffff_ffff;

/** Time and randomness for ids; replaced in tests. */
export interface IdSource {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** Random bytes are drawn in advance, many at once, since a draw costs as much as the rest of an id. */
const stock = Buffer.alloc(4096);
let numTaken = stock.length;

function takeRandomBytes(size: number): Uint8Array {
  if (numTaken + size > stock.length) {
    randomFillSync(stock);
    numTaken = 0;
  }
  numTaken += size;
  return stock.subarray(numTaken - size, numTaken);
}

const systemSource: IdSource = { nowMs: Date.now, randomBytes: takeRandomBytes };

/** Used synchronously, so one is shared. */
const runIdBytes = Buffer.alloc(16);

/** Creates a run id: UUIDv7, so that ids of later runs sort after those of earlier ones (RFC 9562, 5.7). */
export function newRunId(source: IdSource = systemSource): string {
  return uuidV7(source);
}

/** Creates a control event id (UUIDv7); create one per event and keep it through retries of its append. */
export function newControlEventId(source: IdSource = systemSource): string {
  return uuidV7(source);
}

/**
 * Returns the id of the `ordinal`-th episode of a run, always the same.
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
  if (!isUuid(runId))
    throw new TrajectoryError('INVALID_ID', `runId is '${runId}'; must be a lower-case UUID`);
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal > MAX_EPISODE_ORDINAL) {
    throw new TrajectoryError(
      'INVALID_ID',
      `episode ordinal is ${ordinal}; must be an integer from 0 to ${MAX_EPISODE_ORDINAL}`,
    );
  }
  const bytes = hash('sha256', `episode/${runId}/${ordinal}`, 'buffer').subarray(0, 16);
  writeUuid(runIdBytes, 0, runId);
  runIdBytes.copy(bytes, 0, 0, 6);
  // Version (4 bits) and variant (2 bits) are constant, so the ordinal may be split around them and still sort.
  bytes.writeUInt16BE(0x8000 | (ordinal >>> 20), 6);
  const lowAndHash = bytes.readUInt32BE(8) & 0x3ff;
  bytes.writeUInt32BE(((0b10 << 30) | ((ordinal & 0xf_ffff) << 10) | lowAndHash) >>> 0, 8);
  return uuidFromBytes(bytes);
}

/**
 * Returns the id of an episode that evaluates a policy while the run goes on. The process that evaluates has its own count, so ordinals may be the
 * same as those of `episodeIdFor`. Ids differ because the bits of the hash are inverted; they still sort by ordinal.
 *
 * @throws TrajectoryError `INVALID_ID` as `episodeIdFor`
 */
export function evaluationEpisodeIdFor(place: { readonly runId: string; readonly ordinal: number }): string {
  const bytes = uuidToBytes(episodeIdFor(place));
  // The 42 bits after the ordinal.
  bytes.writeUInt16BE(bytes.readUInt16BE(10) ^ 0x03ff, 10);
  bytes.writeUInt32BE(~bytes.readUInt32BE(12) >>> 0, 12);
  return uuidFromBytes(bytes);
}

/** Whether an episode's id is one of `evaluationEpisodeIdFor`. */
export function isEvaluationEpisode(runId: string, episodeId: string): boolean {
  const ordinal = episodeOrdinal(runId, episodeId);
  return ordinal !== null && evaluationEpisodeIdFor({ runId, ordinal }) === episodeId;
}

/** Returns the ordinal in an episode's id; null when the id has another form, or another start time than the run's. */
export function episodeOrdinal(runId: string, episodeId: string): number | null {
  // Time of the run's start, then version 8 and the ordinal's high bits: xxxxxxxx-xxxx-8ooo-…
  if (episodeId.length !== 36 || !episodeId.startsWith(`${runId.slice(0, 14)}8`)) return null;
  const high = Number.parseInt(episodeId.slice(15, 18), 16);
  const low = Number.parseInt(episodeId.slice(19, 23) + episodeId.slice(24, 28), 16);
  return high * 2 ** 20 + ((low >>> 10) & 0xf_ffff);
}

/**
 * Returns a number by which the ids of a run's episodes are told apart and sorted: twice the ordinal, plus the first bit of the hash. Null as in
 * `episodeOrdinal`.
 */
export function episodeRank(runId: string, episodeId: string): number | null {
  const ordinal = episodeOrdinal(runId, episodeId);
  if (ordinal === null) return null;
  const hashBit = (Number.parseInt(episodeId.slice(25, 26), 16) >>> 1) & 1;
  return ordinal * 2 + hashBit;
}

/** Identifies an event of an episode. */
export type EpisodeEventKey = Pick<RetraceEvent<EpisodeEventKind>, 'runId' | 'episodeId' | 'seq' | 'kind'>;

let lastKey: EpisodeEventKey = { runId: '', episodeId: '', seq: -1, kind: 'EpisodeStarted' };
let lastEventId = '';

/**
 * Returns the id of an episode event: a UUIDv8 of SHA-256 over its key, so that a retried event keeps its id. The last id is
 * remembered, because an event is validated right after it was created.
 */
export function episodeEventId({ runId, episodeId, seq, kind }: EpisodeEventKey): string {
  const isLast =
    seq === lastKey.seq &&
    kind === lastKey.kind &&
    episodeId === lastKey.episodeId &&
    runId === lastKey.runId;
  if (isLast) return lastEventId;
  lastEventId = uuidV8(hash('sha256', `event/${runId}/${episodeId}/${seq}/${kind}`, 'hex'));
  lastKey = { runId, episodeId, seq, kind };
  return lastEventId;
}

/** Formats the first 128 bits of a hexadecimal hash, with version and variant in their places. */
function uuidV8(hex: string): string {
  const variant = (0b1000 | (parseInt(hex[16], 16) & 0b11)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function uuidV7({ nowMs, randomBytes: random }: IdSource): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs(), 0, 6);
  bytes.set(random(10), 6);
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return uuidFromBytes(bytes);
}
