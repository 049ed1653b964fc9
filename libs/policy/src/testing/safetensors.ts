import type { NamedTensor, NamedTensors } from '../parameters/named-tensors.js';
import { numElements } from '../parameters/parameter-spec.js';
import { PolicyError } from '../policy-error.js';
import { decodeElements } from '../checkpoints/element-types.js';
import {
  encodeSafetensorsHeader,
  parseSafetensorsHeader,
  PREFIX_BYTES,
  readHeaderLength,
  requireReadable,
} from '../checkpoints/safetensors-header.js';
import type { SafetensorsMetadata } from '../checkpoints/safetensors-header.js';

/**
 * A safetensors file (https://huggingface.co/docs/safetensors), all F32, in the order of the map. The same tensors and
 * metadata give the same bytes.
 */
export function encodeSafetensors(tensors: NamedTensors, metadata: SafetensorsMetadata = {}): Uint8Array {
  let dataBytes = 0;
  for (const [name, { shape, data }] of tensors) {
    if (data.length !== numElements(shape)) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `tensor ${name} has ${data.length} values for shape [${shape.join(', ')}]`,
      );
    }
    dataBytes += data.byteLength;
  }
  const header = encodeSafetensorsHeader(
    Array.from(tensors, ([name, { shape }]) => [name, { type: 'F32', shape }] as const),
    metadata,
  );
  const file = Buffer.alloc(header.length + dataBytes);
  header.copy(file);
  let offset = header.length;
  for (const { data } of tensors.values()) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset);
    offset += data.byteLength;
  }
  return file;
}

/**
 * Reads F32, F16 and BF16 tensors, all as float32.
 *
 * @param name the file's name in messages
 * @throws PolicyError `INVALID_FILE` when the file breaks the format or has a tensor of another type
 */
export function decodeSafetensors(
  file: Uint8Array,
  name = 'the file',
): {
  tensors: NamedTensors;
  metadata: SafetensorsMetadata;
} {
  const headerBytes = readHeaderLength(file.subarray(0, PREFIX_BYTES), file.length, name);
  const data = file.subarray(PREFIX_BYTES + headerBytes);
  const { entries, metadata } = parseSafetensorsHeader(
    file.subarray(PREFIX_BYTES, PREFIX_BYTES + headerBytes),
    data.length,
    name,
  );
  const tensors = new Map<string, NamedTensor>();
  for (const [tensor, entry] of entries) {
    const values = new Float32Array(numElements(entry.shape));
    decodeElements(requireReadable(entry, tensor, name), data.subarray(entry.start, entry.end), values);
    tensors.set(tensor, { shape: entry.shape, data: values });
  }
  return { tensors, metadata };
}
