import { reorderRows } from '../parameters/join-parameter.js';
import { numElements, partShape } from '../parameters/parameter-spec.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';
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

/** The name in the source of a parameter's part. */
type NameInSource = (name: string) => string;

const asItIs: NameInSource = (name) => name;

/** @throws PolicyError as `requireTensor` does, unless the source has every part of the parameters */
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
 * Reads one device parameter, joined from its parts; call `requireParameters` first.
 *
 * @throws PolicyError `NOT_FINITE` with file, tensor and element
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
    requireFiniteWeights(rows, name, source.pathOf(name));
    if (part.pairedHeadDim !== undefined) rows.set(reorderRows(rows, part, 'join'));
    offset += rows.length;
  }
  return data;
}

/** @throws PolicyError `NOT_FINITE` with file, tensor and element */
export function requireFiniteWeights(values: Float32Array, name: string, path: string): void {
  const bad = firstNotFinite(values);
  if (bad < 0) return;
  throw new PolicyError(
    'NOT_FINITE',
    `${path}: tensor ${name} has ${values[bad]} at element ${bad}; weights must be finite`,
  );
}
