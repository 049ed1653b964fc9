import { numElements } from '../parameters/parameter-spec.js';
import { PolicyError } from '../policy-error.js';
import { ELEMENT_BYTES, isReadableType, READABLE_TYPES } from './element-types.js';
import type { ReadableType } from './element-types.js';

/** Bytes of the length field before the header. */
export const PREFIX_BYTES = 8;

/** Headers are padded so that the data starts at a multiple of this. */
const ALIGNMENT = 8;

/** Longest header the format allows. */
const MAX_HEADER_BYTES = 100_000_000;

/** Text entries of a file. */
export type SafetensorsMetadata = Readonly<Record<string, string>>;

/** The place of a tensor in the file. */
export interface TensorEntry {
  /** `F32`, `BF16` … */
  readonly type: string;
  readonly shape: readonly number[];
  /** Bytes from the start of the data. */
  readonly start: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  /** In the order of the data. */
  readonly entries: ReadonlyMap<string, TensorEntry>;
  readonly metadata: SafetensorsMetadata;
}

/** Encodes the length field and the header of a file whose tensors follow in the given order. */
export function encodeSafetensorsHeader(
  tensors: Iterable<readonly [string, { readonly type: 'F32' | 'BF16'; readonly shape: readonly number[] }]>,
  metadata: SafetensorsMetadata,
): Buffer {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let end = 0;
  for (const [name, { type, shape }] of tensors) {
    const start = end;
    end += numElements(shape) * ELEMENT_BYTES[type];
    header[name] = { dtype: type, shape, data_offsets: [start, end] };
  }
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const headerBytes = Math.ceil(json.length / ALIGNMENT) * ALIGNMENT;
  const encoded = Buffer.alloc(PREFIX_BYTES + headerBytes, ' ');
  encoded.writeBigUInt64LE(BigInt(headerBytes), 0);
  json.copy(encoded, PREFIX_BYTES);
  return encoded;
}

/**
 * Reads the length of the header from the first bytes of a file.
 *
 * @param file the file's name in messages
 * @throws PolicyError `INVALID_FILE` when the file is too short for a header of that length
 */
export function readHeaderLength(prefix: Uint8Array, fileBytes: number, file: string): number {
  if (fileBytes < PREFIX_BYTES || prefix.length < PREFIX_BYTES)
    refuse(file, `it has ${fileBytes} bytes; the length of the header takes ${PREFIX_BYTES}`);
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true));
  if (length > Math.min(MAX_HEADER_BYTES, fileBytes - PREFIX_BYTES)) {
    refuse(
      file,
      `its header claims ${length} bytes; the file has ${fileBytes - PREFIX_BYTES} after the length, and the format allows ${MAX_HEADER_BYTES}`,
    );
  }
  return length;
}

/**
 * Parses a header and checks it against the size of the data: tensors follow one another without gap or overlap, and each
 * has the size of its type and shape.
 *
 * @throws PolicyError `INVALID_FILE` with the tensor, what was found and what is required
 */
export function parseSafetensorsHeader(json: Uint8Array, dataBytes: number, file: string): SafetensorsHeader {
  const { __metadata__: metadata = {}, ...rest } = parseJson(json, file);
  const entries = Object.entries(rest)
    .map(([name, value]) => [name, parseEntry(name, value, file)] as const)
    .sort(([, a], [, b]) => a.start - b.start || a.end - b.end);
  let end = 0;
  for (const [name, entry] of entries) {
    if (entry.start !== end)
      refuse(file, `tensor ${name} starts at ${entry.start}, not where the last one ends, ${end}`);
    if (entry.end > dataBytes)
      refuse(file, `tensor ${name} ends at ${entry.end}; the file has ${dataBytes} bytes of data`);
    end = entry.end;
  }
  if (end !== dataBytes) refuse(file, `it has ${dataBytes} bytes of data, of which tensors use ${end}`);
  return { entries: new Map(entries), metadata: metadata as SafetensorsMetadata };
}

/** @throws PolicyError `INVALID_FILE` unless the tensor can be read as float32 */
export function requireReadable({ type }: TensorEntry, tensor: string, file: string): ReadableType {
  if (isReadableType(type)) return type;
  throw new PolicyError(
    'INVALID_FILE',
    `${file}: tensor ${tensor} is of type ${type}; ${READABLE_TYPES.join(', ').replace(', BF16', ' and BF16')} can be read`,
  );
}

function parseJson(json: Uint8Array, file: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (cause) {
    throw new PolicyError('INVALID_FILE', `${file} is not a safetensors file: its header is not JSON`, {
      cause,
    });
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header)) {
    refuse(file, 'its header is not a JSON object');
  }
  return header as Record<string, unknown>;
}

function parseEntry(name: string, value: unknown, file: string): TensorEntry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  if (typeof dtype !== 'string' || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
    refuse(file, `tensor ${name} lacks a dtype, a shape or data_offsets that are whole numbers`);
  }
  const [start, end] = offsets;
  const expectedBytes = numElements(shape) * (ELEMENT_BYTES[dtype] ?? NaN);
  if (end < start || (dtype in ELEMENT_BYTES && end - start !== expectedBytes)) {
    refuse(
      file,
      `tensor ${name} of type ${dtype} and shape [${shape.join(', ')}] lies at ${start} … ${end}; it takes ${expectedBytes} bytes`,
    );
  }
  return { type: dtype, shape, start, end };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);
}

function refuse(file: string, reason: string): never {
  throw new PolicyError('INVALID_FILE', `${file} is not a usable safetensors file: ${reason}`);
}
