import type { NamedTensor, NamedTensors } from '../model/named-tensors.js';
import { numElements } from '../model/parameter-spec.js';
import { PolicyError } from '../policy-error.js';

/** Bytes of the length field before the header. */
const prefixBytes = 8;

/** Headers are padded so that the data starts at a multiple of this. */
const alignment = 8;

/** Longest header the format allows. */
const maxHeaderBytes = 100_000_000;

/** Free text entries of a file. */
export type SafetensorsMetadata = Readonly<Record<string, string>>;

interface TensorHeader {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/**
 * A safetensors file (https://huggingface.co/docs/safetensors), all F32, in the order of the map. The same tensors and
 * metadata give the same bytes.
 */
export function encodeSafetensors(tensors: NamedTensors, metadata: SafetensorsMetadata = {}): Uint8Array {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let dataBytes = 0;
  for (const [name, { shape, data }] of tensors) {
    if (data.length !== numElements(shape)) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `tensor ${name} has ${data.length} values for shape [${shape.join(', ')}]`,
      );
    }
    header[name] = { dtype: 'F32', shape, data_offsets: [dataBytes, dataBytes + data.byteLength] };
    dataBytes += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const headerBytes = Math.ceil(json.length / alignment) * alignment;
  const file = Buffer.alloc(prefixBytes + headerBytes + dataBytes, ' ');
  file.writeBigUInt64LE(BigInt(headerBytes), 0);
  json.copy(file, prefixBytes);
  let offset = prefixBytes + headerBytes;
  for (const { data } of tensors.values()) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

/**
 * Reads F32, F16 and BF16 tensors, all as float32.
 * Throws `PolicyError` (`INVALID_FILE`) when the file breaks the format or has a tensor of another type.
 */
export function decodeSafetensors(file: Uint8Array): {
  tensors: NamedTensors;
  metadata: SafetensorsMetadata;
} {
  const { header, data } = readHeader(file);
  const { __metadata__: metadata = {}, ...entries } = header;
  const tensors = new Map<string, NamedTensor>();
  let end = 0;
  const byOffset = (Object.entries(entries) as [string, TensorHeader][]).sort(
    ([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0],
  );
  for (const [name, entry] of byOffset) {
    if (entry.data_offsets[0] !== end)
      refuse(`tensor ${name} starts at ${entry.data_offsets[0]}, not where the last one ends, ${end}`);
    tensors.set(name, decodeTensor(name, entry, data));
    end = entry.data_offsets[1];
  }
  if (end !== data.length) refuse(`it has ${data.length} bytes of data, of which tensors use ${end}`);
  return { tensors, metadata: metadata as SafetensorsMetadata };
}

function readHeader(file: Uint8Array): { header: Record<string, unknown>; data: Uint8Array } {
  if (file.length < prefixBytes)
    refuse(`it has ${file.length} bytes; the header's length alone takes ${prefixBytes}`);
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  if (length > Math.min(maxHeaderBytes, file.length - prefixBytes)) {
    refuse(`its header claims ${length} bytes; the file has ${file.length - prefixBytes} after the length`);
  }
  const text = new TextDecoder().decode(file.subarray(prefixBytes, prefixBytes + length));
  try {
    return { header: JSON.parse(text) as Record<string, unknown>, data: file.subarray(prefixBytes + length) };
  } catch (cause) {
    throw new PolicyError('INVALID_FILE', 'not a safetensors file: its header is not JSON', { cause });
  }
}

function decodeTensor(
  name: string,
  { dtype, shape, data_offsets: [start, end] }: TensorHeader,
  data: Uint8Array,
): NamedTensor {
  const size = numElements(shape);
  const elementBytes = dtype === 'F32' ? 4 : 2;
  if (dtype !== 'F32' && dtype !== 'F16' && dtype !== 'BF16') {
    refuse(`tensor ${name} is of type ${dtype}; F32, F16 and BF16 can be read`);
  }
  if (end - start !== size * elementBytes || end > data.length) {
    refuse(`tensor ${name} of shape [${shape.join(', ')}] lies at ${start} … ${end} of ${data.length} bytes`);
  }
  // A copy, because the data need not be aligned in the file.
  const bytes = data.slice(start, end);
  if (dtype === 'F32') return { shape, data: new Float32Array(bytes.buffer, bytes.byteOffset, size) };
  const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, size);
  return { shape, data: dtype === 'BF16' ? fromBfloat16(halves) : fromFloat16(halves) };
}

function fromBfloat16(values: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(values, (bits) => bits << 16).buffer);
}

function fromFloat16(values: Uint16Array): Float32Array {
  return Float32Array.from(values, (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
}

function refuse(reason: string): never {
  throw new PolicyError('INVALID_FILE', `not a usable safetensors file: ${reason}`);
}
