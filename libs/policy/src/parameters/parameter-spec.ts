/**
 * One device parameter. Projections that read the same input are stored as one matrix, which takes one product: its
 * rows are those of its parts, one after the other. Matrices are [out, in], as Hugging Face has them.
 */
export interface ParameterSpec {
  readonly key: string;
  readonly shape: readonly number[];
  readonly parts: readonly ParameterPart[];
  /** Base weights of a model with adapters: they get no gradient, and optimizers do not see them. */
  readonly isFrozen: boolean;
}

/** A Hugging Face parameter inside a device parameter: `numRows` rows (or elements of a vector). */
export interface ParameterPart {
  readonly name: string;
  readonly numRows: number;
  readonly role: ParameterRole;
  /**
   * Set for queries and keys: Hugging Face rotates row i of a head with row i + headDim/2; on the device the two are
   * neighbours.
   */
  readonly pairedHeadDim?: number;
}

/** The role of a parameter, which decides how it is initialised. */
export type ParameterRole =
  | 'embedding'
  | 'projection'
  | 'residualProjection'
  | 'lmHead'
  | 'valueHead'
  | 'bias'
  | 'norm'
  | 'loraA'
  | 'loraB';

export function matrixSpec(key: string, numColumns: number, parts: readonly ParameterPart[]): ParameterSpec {
  return { key, shape: [sumRows(parts), numColumns], parts, isFrozen: false };
}

export function vectorSpec(key: string, parts: readonly ParameterPart[]): ParameterSpec {
  return { key, shape: [sumRows(parts)], parts, isFrozen: false };
}

function sumRows(parts: readonly ParameterPart[]): number {
  return parts.reduce((sum, part) => sum + part.numRows, 0);
}

export function numElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** The shape of a part. */
export function partShape(spec: ParameterSpec, part: ParameterPart): number[] {
  return [part.numRows, ...spec.shape.slice(1)];
}
