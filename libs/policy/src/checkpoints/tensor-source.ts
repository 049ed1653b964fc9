import { reorderRows } from '../model/join-parameter.js';
import { numElements, partShape } from '../model/parameter-spec.js';
import type { ParameterSpec } from '../model/parameter-spec.js';
import { PolicyError } from '../policy-error.js';
import { firstNotFinite } from './element-types.js';

/** Named tensors on disk, read one at a time. */
export interface TensorSource {
  /** @throws PolicyError `TENSOR_MISMATCH` when the tensor is missing or has another shape, `INVALID_FILE` when its type can't be read */
  requireTensor(name: string, shape: readonly number[]): void;
  /** Fills `values`, which has the tensor's size, with its elements as float32. */
  read(name: string, values: Float32Array): Promise<void>;
  /** The file that holds the tensor, for messages. */
  pathOf(name: string): string;
}

/** Under which name a part of a parameter lies in the source. */
export type NameInSource = (name: string) => string;

const asItIs: NameInSource = (name) => name;

/** Names and shapes of the parameters' parts, as float32, in the order of `splitParameter`: a header's entries. */
export function tensorEntries(
  specs: readonly ParameterSpec[],
  prefix = '',
): [string, { readonly type: 'F32'; readonly shape: readonly number[] }][] {
  return specs.flatMap((spec) =>
    spec.parts.map((part): [string, { type: 'F32'; shape: readonly number[] }] => [
      prefix + part.name,
      { type: 'F32', shape: partShape(spec, part) },
    ]),
  );
}

/** Throws what `requireTensor` throws, unless every part of the parameters is there. */
export function requireParameters(
  source: TensorSource,
  specs: readonly ParameterSpec[],
  nameOf: NameInSource = asItIs,
): void {
  for (const spec of specs) {
    for (const part of spec.parts) source.requireTensor(nameOf(part.name), partShape(spec, part));
  }
}

/**
 * The values of one device parameter, joined from its parts, which were required before.
 *
 * @throws PolicyError `NOT_FINITE` naming file, tensor and element
 */
export async function readParameter(
  source: TensorSource,
  spec: ParameterSpec,
  nameOf: NameInSource = asItIs,
): Promise<Float32Array> {
  const data = new Float32Array(numElements(spec.shape));
  let offset = 0;
  for (const part of spec.parts) {
    const name = nameOf(part.name);
    const rows = data.subarray(offset, offset + numElements(partShape(spec, part)));
    await source.read(name, rows);
    const bad = firstNotFinite(rows);
    if (bad >= 0) {
      throw new PolicyError(
        'NOT_FINITE',
        `${source.pathOf(name)}: tensor ${name} has ${rows[bad]} at element ${bad}; weights must be finite`,
      );
    }
    if (part.pairedHeadDim !== undefined) rows.set(reorderRows(rows, part, 'join'));
    offset += rows.length;
  }
  return data;
}
