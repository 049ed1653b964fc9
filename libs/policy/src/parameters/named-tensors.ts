/** A tensor in host memory, row-major. */
export interface NamedTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Weights (or optimizer state) by Hugging Face parameter name. */
export type NamedTensors = ReadonlyMap<string, NamedTensor>;
