import { hash } from 'node:crypto';
import type { EpisodeColumns } from './episode-columns.js';

/** Hexadecimal digits of a digest. */
const NUM_DIGITS = 16;
/** Bytes of an episode, and of a step, beside tokens and anchor. */
const EPISODE_BYTES = 16;
const STEP_BYTES = 32;
/** Of a token: its id, whether it is an action's, its logprob, its policy version. */
const TOKEN_BYTES = 13;
/** Length of an anchor that is null. */
const NO_ANCHOR = 0xffff_ffff;

/** Used synchronously, so one is shared; it grows to the largest episode. */
let scratch = Buffer.alloc(1 << 16);

/**
 * Digests of the episodes in columns, [E]: the first 64 bits of a SHA-256 over all that an update reads of an episode, apart from its group. What was
 * trained on and what a store shows can be compared by them.
 */
export function episodeDigests(columns: EpisodeColumns): string[] {
  return columns.episodeIds.map((_, e) => computeDigest(columns, e));
}

function computeDigest(columns: EpisodeColumns, e: number): string {
  const [firstStep, endStep] = [columns.stepOffsets[e], columns.stepOffsets[e + 1]];
  const [firstToken, endToken] = [columns.tokenOffsets[firstStep], columns.tokenOffsets[endStep]];
  const [firstFinal, endFinal] = [columns.finalTokenOffsets[e], columns.finalTokenOffsets[e + 1]];
  const anchors = columns.anchors.slice(firstStep, endStep);
  const anchorBytes = anchors.reduce((sum, anchor) => sum + 3 * (anchor?.length ?? 0), 0);
  const numTokens = endToken - firstToken + endFinal - firstFinal;
  const needed = EPISODE_BYTES + STEP_BYTES * anchors.length + anchorBytes + TOKEN_BYTES * numTokens;
  if (scratch.length < needed) scratch = Buffer.alloc(2 * needed);
  let at = writeSteps(columns, firstStep, endStep);
  at = copy(columns.tokenIds, firstToken, endToken, at);
  at = copy(columns.actionMask, firstToken, endToken, at);
  at = copy(withOneNaN(columns.tokenLogprobs.subarray(firstToken, endToken)), 0, endToken - firstToken, at);
  at = copy(columns.tokenPolicyVersions, firstToken, endToken, at);
  at = copy(columns.finalTokenIds, firstFinal, endFinal, at);
  at = scratch.writeInt32LE(columns.finalKeptPrefixTokens[e], at);
  at = scratch.writeUInt8(columns.endReasons[e], at);
  at = scratch.writeInt8(columns.successes[e], at);
  return hash('sha256', scratch.subarray(0, at), 'hex').slice(0, NUM_DIGITS);
}

/** Writes the steps of one episode from the start of the scratch memory; returns where they end. */
function writeSteps(columns: EpisodeColumns, firstStep: number, endStep: number): number {
  let at = scratch.writeUInt32LE(endStep - firstStep, 0);
  for (let s = firstStep; s < endStep; s++) {
    at = scratch.writeDoubleLE(columns.rewards[s], at);
    at = scratch.writeFloatLE(columns.temperatures[s], at);
    at = scratch.writeInt32LE(columns.keptPrefixTokens[s], at);
    at = scratch.writeInt32LE(columns.tokenOffsets[s + 1] - columns.tokenOffsets[s], at);
    at = scratch.writeUInt8(columns.actionValid[s], at);
    at = scratch.writeUInt8(columns.greedy[s], at);
    const anchor = columns.anchors[s];
    const length = anchor === null ? NO_ANCHOR : scratch.write(anchor, at + 4);
    scratch.writeUInt32LE(length, at);
    at += 4 + (anchor === null ? 0 : length);
  }
  return at;
}

function copy(column: Int32Array | Uint8Array | Float32Array, from: number, end: number, at: number): number {
  const width = column.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(column.buffer, column.byteOffset + from * width, (end - from) * width);
  scratch.set(bytes, at);
  return at + bytes.length;
}

/** NaN has many bit patterns, which are one value. */
function withOneNaN(values: Float32Array): Float32Array {
  return values.some(Number.isNaN)
    ? Float32Array.from(values, (value) => (Number.isNaN(value) ? NaN : value))
    : values;
}
