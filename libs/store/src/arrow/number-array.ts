export type NumberArray =
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigInt64Array;

export type TypedArrayConstructor<A extends NumberArray> = new (length: number) => A;
