import { PolicyError } from '../policy-error.js';
import type { NamedTensor, NamedTensors } from './named-tensors.js';
import { numElements, partShape } from './parameter-spec.js';
import type { ParameterPart, ParameterSpec } from './parameter-spec.js';

/** Cuts the values of one device parameter into its named parts. */
function splitParameter(spec: ParameterSpec, data: Float32Array): [string, NamedTensor][] {
  let offset = 0;
  return spec.parts.map((part) => {
    const shape = partShape(spec, part);
    const rows = data.subarray(offset, offset + numElements(shape));
    offset += rows.length;
    return [part.name, { shape, data: reorderRows(rows, part, 'split') }];
  });
}

/** Cuts the values of device parameters that follow each other in one vector into their named parts. */
export function splitParameters(
  specs: readonly ParameterSpec[],
  vector: Float32Array,
): [string, NamedTensor][] {
  let end = 0;
  return specs.flatMap((spec) => {
    const start = end;
    end += numElements(spec.shape);
    return splitParameter(spec, vector.subarray(start, end));
  });
}

/**
 * Joins named tensors into the values of one device parameter.
 *
 * @throws PolicyError `TENSOR_MISMATCH` when a part is missing or has another shape
 */
export function joinParameter(spec: ParameterSpec, tensors: NamedTensors): Float32Array {
  const data = new Float32Array(numElements(spec.shape));
  let offset = 0;
  for (const part of spec.parts) {
    const shape = partShape(spec, part);
    const tensor = tensors.get(part.name);
    if (tensor === undefined) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `tensor ${part.name} is missing; the model needs it as [${shape.join(', ')}]`,
      );
    }
    if (tensor.shape.join() !== shape.join() || tensor.data.length !== numElements(shape)) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `tensor ${part.name} has shape [${tensor.shape.join(', ')}]; the model needs [${shape.join(', ')}]`,
      );
    }
    data.set(reorderRows(tensor.data, part, 'join'), offset);
    offset += tensor.data.length;
  }
  return data;
}

/** Converts between the order of rows in a Hugging Face file and the order on the device (`pairedHeadDim`). */
export function reorderRows(
  data: Float32Array,
  part: ParameterPart,
  direction: 'split' | 'join',
): Float32Array {
  const { numRows, pairedHeadDim } = part;
  if (pairedHeadDim === undefined) return data;
  const rowSize = data.length / numRows;
  const half = pairedHeadDim / 2;
  const reordered = new Float32Array(data.length);
  for (let row = 0; row < numRows; row++) {
    const inHead = row % pairedHeadDim;
    const paired = row - inHead + (inHead < half ? 2 * inHead : 2 * (inHead - half) + 1);
    const [from, to] = direction === 'join' ? [row, paired] : [paired, row];
    reordered.set(data.subarray(from * rowSize, (from + 1) * rowSize), to * rowSize);
  }
  return reordered;
}
