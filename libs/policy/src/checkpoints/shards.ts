import { PolicyError } from '../policy-error.js';
import type { FileRef } from './file-ref.js';
import {
  encodeSafetensorsHeader,
  parseSafetensorsHeader,
  PREFIX_BYTES,
  readHeaderLength,
  type SafetensorsMetadata,
} from './safetensors-header.js';

/*
 * A checkpoint in shards is an index, which is a safetensors file without a tensor of its own, and files beside it that have the tensors:
 * each shard some rows of each tensor, in the order of the index. The index has the texts of the whole.
 */

/** The text entry of an index: `<SHA-256>:<bytes>` of each shard, with commas. */
const SHARDS = 'retraceShards';
/** The text entry by which a shard is told from a whole checkpoint. */
const IS_SHARD = 'retraceShard';
const SHARD = /^([0-9a-f]{64}):(\d{1,15})$/;

/** No index is longer: it would have ten thousand shards. */
export const MAX_INDEX_BYTES = 2 ** 20;

/** Encodes an index of shards that are in the same `CheckpointFiles`. */
export function shardIndexContent(shards: readonly FileRef[], metadata: SafetensorsMetadata): Uint8Array {
  const listed = shards.map(({ sha256, sizeBytes }) => `${sha256}:${sizeBytes}`).join(',');
  return encodeSafetensorsHeader([], { ...metadata, [SHARDS]: listed });
}

export const isShard = (metadata: SafetensorsMetadata): boolean => metadata[IS_SHARD] !== undefined;

/**
 * The shards that the text entries of a file list; null for a file that is no index.
 *
 * @param path for the message
 * @throws PolicyError `INVALID_FILE` for a list in another form
 */
export function readShards(metadata: SafetensorsMetadata, path: string): readonly FileRef[] | null {
  const listed: unknown = metadata[SHARDS];
  if (listed === undefined) return null;
  if (typeof listed === 'string') {
    const shards = listed.split(',').map((shard) => SHARD.exec(shard));
    if (shards.every((shard) => shard !== null))
      return shards.map(([, sha256, sizeBytes]) => ({ sha256, sizeBytes: Number(sizeBytes) }));
  }
  throw new PolicyError(
    'INVALID_FILE',
    `${path}: metadata.${SHARDS} is ${JSON.stringify(listed).slice(0, 200)}; must list SHA-256:bytes`,
  );
}

/**
 * The shards of the index that these bytes are; none for the content of another file.
 *
 * @throws PolicyError `INVALID_FILE` for an index whose list is in another form
 */
export function shardsIn(bytes: Uint8Array, path: string): readonly FileRef[] {
  let metadata: SafetensorsMetadata;
  try {
    const length = readHeaderLength(bytes.subarray(0, PREFIX_BYTES), bytes.length, path);
    if (bytes.length !== PREFIX_BYTES + length) return [];
    ({ metadata } = parseSafetensorsHeader(bytes.subarray(PREFIX_BYTES), 0, path));
  } catch (error) {
    if (error instanceof PolicyError) return [];
    throw error;
  }
  return readShards(metadata, path) ?? [];
}
